import assert from 'node:assert/strict';
import { readHint } from '../../../src/hints/model-question.ts';
import type { FuzzTarget } from '../fuzz.ts';

/** What a language model writes when it is asked for a hint. */
export const target: FuzzTarget = {
  name: 'hint-answer',
  seeds: [
    '{"title": "Reset", "text": "Hold the button."}',
    '<think>{}</think>Sure:\n```json\n{"title": "A", "text": "B", "link": "javascript:0"}\n```',
    '{"title": null}',
    '{}',
  ].map((text) => Buffer.from(text)),
  words: ['</think>', '{', '}', '\\u202e', '\\ud800', '\\n', 'null', '[', '"title":', '1e999'],
  run(input) {
    const hint = readHint(Buffer.from(input).toString('utf8'));
    if (hint === undefined || hint === null) return;
    for (const [text, max] of [[hint.title, 100] as const, [hint.text, 500] as const]) {
      assert(text.length > 0 && text.length <= max);
      assert(!/[\p{Cc}\u202a-\u202e\u2066-\u2069]/u.test(text));
    }
  },
};
