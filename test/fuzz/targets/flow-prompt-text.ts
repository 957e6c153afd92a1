import assert from 'node:assert/strict';
import {
  PAUSE_MAX_MS,
  type PromptPart,
  PromptTextError,
  readPromptText,
  VALUE_FORMATS,
} from '../../../src/flows/prompts/prompt-text.ts';
import type { FuzzTarget } from '../fuzz.ts';

/** Texts of prompts: refused with the place, or read into parts that, written again, are read as the same. */
export const target: FuzzTarget = {
  name: 'flow-prompt-text',
  seeds: [
    'Order {order:digits}:<break time="500ms"/> {state}.',
    `{call.from:phone}<break time='1.5s'>{{no}} value} < 3`,
    '{a}}{{{b:amount}{{{{}}}}<BREAK time = "10s" />',
    'Hello {name, <emphasis>you</emphasis>',
  ].map((text) => Buffer.from(text)),
  words: ['{', '}', '{{', '}}', '<', '</', '<break time="', 'ms"/>', 's">', ':', '.', '{a}', ...VALUE_FORMATS],
  run(input) {
    const text = Buffer.from(input).toString();
    try {
      const parts = readPromptText(text);
      for (const [index, part] of parts.entries()) {
        if (part.kind === 'pause') assert(part.ms >= 0 && part.ms <= PAUSE_MAX_MS);
        if (part.kind !== 'words') continue;
        assert(part.text !== '' && part.text.length <= text.length);
        assert.notEqual(parts[index + 1]?.kind, 'words');
      }
      assert.deepEqual(readPromptText(parts.map(written).join('')), parts);
    } catch (error) {
      if (!(error instanceof PromptTextError)) throw error;
      assert(error.at >= 0 && error.at < text.length);
    }
  },
};

function written(part: PromptPart): string {
  if (part.kind === 'words') return part.text.replaceAll('{', '{{').replaceAll('}', '}}');
  if (part.kind === 'pause') return `<break time="${part.ms}ms"/>`;
  return part.format === null ? `{${part.variable}}` : `{${part.variable}:${part.format}}`;
}
