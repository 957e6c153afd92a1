/** What the guide to flows shows is what the program takes. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { flowSchema } from '../../src/flows/file/flow-file.ts';
import { flowNumbersSchema } from '../../src/flows/file/flow-numbers.ts';
import { readFlow } from '../../src/flows/file/read-flow.ts';
import { testFileSchema } from '../../src/flows/testing/test-file.ts';
import { packagePath } from '../../src/foundation/folders/paths.ts';

const guide = readFileSync(packagePath('docs', 'guide', 'flows.md'), 'utf8');
const EXAMPLES = [...guide.matchAll(/```yaml\n(.*?)```/gs)].map(([, text = '']) => text);

/** What a part of a flow or of a test stands in; null = the example is whole, or a comment. */
function wholeOf(text: string): { readonly kind: 'flow' | 'test' | 'numbers'; readonly text: string } {
  const steps = 'version: 1\nstart: a\nsteps:\n';
  if (text.startsWith('numbers:')) return { kind: 'numbers', text };
  if (/^at:/m.test(text))
    return { kind: 'test', text: `version: 1\n${text}tests: [{name: a, script: [{hangup: true}]}]` };
  if (/^tests:/m.test(text)) return { kind: 'test', text };
  if (text.startsWith('  ') && !text.startsWith('    ')) return { kind: 'flow', text: steps + text };
  if (text.startsWith('    ')) return { kind: 'flow', text: `${steps}  a:\n${text}` };
  if (text.startsWith('version:')) return { kind: 'flow', text };
  return { kind: 'flow', text: `${steps}  a: { say: a }\n${text}` };
}

const SCHEMAS = { flow: flowSchema, test: testFileSchema, numbers: flowNumbersSchema } as const;

describe('the guide to flows', () => {
  it('has a first flow that can be used as it is', () => {
    const { flow, errors, warnings } = readFlow(EXAMPLES[0] ?? '', 'bakery');
    expect([flow?.steps.size, errors, warnings]).toEqual([4, [], []]);
  });

  it.each(EXAMPLES.map((text) => [text.trim().split('\n')[0] ?? '', text]))('shows what is taken: %s', (_, text) => {
    const { kind, text: whole } = wholeOf(text);
    const { error } = SCHEMAS[kind].safeParse(parse(whole));
    expect(error?.issues ?? []).toEqual([]);
  });
});
