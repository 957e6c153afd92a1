import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FlowFolder } from '../../../src/flows/file/flow-folder.ts';
import { FakeClock } from '../../fakes/clock.ts';

const flow = (...steps: string[]): string => ['version: 1', 'start: main', 'steps:', ...steps, ''].join('\n');
const SUB = `${flow('  main: { set: { found: "{order}" } }')}parameters: { order: '' }\n`;

describe('what a flow needs of other files', () => {
  let folder: string;
  const write = (file: string, text: string): void => writeFileSync(join(folder, file), text);
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'trunkline-test-'));
    mkdirSync(join(folder, 'prompts', 'de'), { recursive: true });
    write('prompts/de/hello.wav', '');
    write('prompts/de/hello.txt', '');
    write('prompts/de/notes.txt', '');
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  async function findingsOf(text: string): Promise<{ errors: string[]; warnings: string[] }> {
    write('shop.yaml', text);
    const { flows } = await FlowFolder.inspect(folder, new FakeClock());
    const state = flows.find(({ name }) => name === 'shop');
    const told = (problems: readonly { line: number; column: number; message: string }[] = []): string[] =>
      problems.map(({ line, column, message }) => `${line}:${column}: ${message}`);
    return { errors: told(state?.errors), warnings: told(state?.warnings) };
  }

  it.each([
    [
      'a recording that is missing',
      '  main: { play: { recording: helo } }',
      '4:30: steps.main.play.recording: there is no recording helo in prompts/, did you mean hello?, and no text',
    ],
    [
      'a recording of which only the text is there',
      '  main: { say: { recording: notes } }',
      '4:29: steps.main.say.recording: there is no recording notes in prompts/',
    ],
    [
      'a flow that is missing',
      '  main: { flow: { name: sbu } }',
      '4:25: steps.main.flow.name: there is no flow sbu, did you mean sub?',
    ],
    [
      'a flow that calls itself',
      '  main: { flow: { name: shop } }',
      '4:25: steps.main.flow.name: flows call each other in a circle: shop → shop',
    ],
    [
      'a parameter that the other flow does not have',
      '  main: { flow: { name: sub, with: { oder: 1 } } }',
      '4:38: steps.main.flow.with.oder: flow sub has no such parameter, did you mean order?',
    ],
    [
      'a variable that the other flow never sets',
      '  main: { flow: { name: sub, into: { a: fund } } }',
      '4:41: steps.main.flow.into.a: flow sub never sets fund, did you mean found?',
    ],
  ])('is looked for: %s', async (_what, step, message) => {
    write('sub.yaml', SUB);
    const { errors } = await findingsOf(flow(step));
    expect(errors).toEqual([expect.stringContaining(message)]);
  });

  it.each([
    ['with a text in its place', 'en', '{ recording: other, text: Hi. }', 'there is no recording other in prompts/'],
    ['of another language', 'en-US', '{ recording: hello }', 'there is no recording hello in the language en-US'],
  ])('warns of a recording that is missing %s', async (_what, language, prompt, message) => {
    const { errors, warnings } = await findingsOf(`${flow(`  main: { say: ${prompt} }`)}language: ${language}\n`);
    expect([errors, warnings]).toEqual([[], [expect.stringContaining(message)]]);
  });

  it.each([
    ['fr', '{ recording: hello }', ['there is no recording hello in the language fr: that of de is played there']],
    ['fr', '{ recording: hello, text: Salut. }', []],
    ['de-AT', '{ recording: hello }', []],
  ])('warns of a recording that another language stands in for: %s, %s', async (to, say, expected) => {
    const steps = ['  main: { play: { recording: hello }, next: b }', `  b: { language: { to: ${to} }, next: c }`];
    const { errors, warnings } = await findingsOf(`${flow(...steps, `  c: { say: ${say} }`)}language: de\n`);
    expect([errors, warnings]).toEqual([[], expected.map((text) => expect.stringContaining(text))]);
  });

  it('warns of a text whose recording does not say the values in it', async () => {
    const { warnings } = await findingsOf(flow('  main: { say: { recording: hello, text: "Hi {call.from}." } }'));
    expect(warnings).toEqual([
      '4:29: steps.main.say.recording: the recording is played as it is, so {call.from} of the text is not said: put ' +
        'that into a step of its own',
    ]);
  });

  it('warns of a text that is said in two languages', async () => {
    const english = ['  main: { language: en-US, next: a }', '  a: { say: Hello., next: b }'];
    const german = ['  b: { language: de-DE, next: c }', '  c: { say: Guten Tag. }'];
    const one = `${flow(...english, ...german)}failedPrompt: Sorry.\n`;
    expect((await findingsOf(one)).warnings).toEqual([]);
    expect((await findingsOf(`${one}keys: { 0: a }\n`)).warnings).toEqual([
      '5:3: steps.a: is said in en-US and in de-DE, with the same text: expected a step for each language',
    ]);
  });

  it.each([
    ['nothing', '{ prompt: A, kind: date, into: a }', '', 1],
    ['only who says nothing', '{ prompt: A, kind: date, into: a, noInput: { next: end } }', '', 1],
    ['both', '{ prompt: A, kind: date, into: a, noInput: { next: end }, noMatch: { next: end } }', '', 0],
    ['who says nothing where anything fits', '{ prompt: A, kind: text, into: a, noInput: { next: end } }', '', 0],
    ['all that fails', '{ prompt: A, kind: date, into: a }', 'failed: main\n', 0],
    ['all that fails with words', '{ prompt: A, kind: date, into: a }', 'failedPrompt: Sorry.\n', 0],
  ])('warns of questions that end a call without a word: %s is caught', async (_what, gather, top, count) => {
    const { errors, warnings } = await findingsOf(`${flow(`  main: { gather: ${gather} }`)}${top}`);
    expect(errors).toEqual([]);
    expect(warnings).toEqual(
      Array(count).fill(expect.stringMatching(/^4:3: steps\.main: ends the call without a word/)),
    );
  });

  it('leaves it to the flow that calls another what becomes of the questions of that', async () => {
    write(
      'sub.yaml',
      flow(
        '  main: { gather: { prompt: A, kind: date, into: a }, next: b }',
        '  b: { confirm: { prompt: B, yes: end, no: main } }',
      ),
    );
    const calls = flow('  main: { flow: sub }');
    expect((await findingsOf(`${calls}failedPrompt: Sorry.\n`)).warnings).toEqual([]);
    expect((await findingsOf(calls)).warnings).toEqual([
      expect.stringMatching(/^4:3: steps\.main: ends the call without a word/),
    ]);
    const { flows } = await FlowFolder.inspect(folder, new FakeClock());
    expect(flows.find(({ name }) => name === 'sub')?.warnings).toEqual([]);
  });

  it('warns of names that nothing can name, or that are easily mistaken', async () => {
    write('Shop.yaml', flow('  main: { say: Hi. }'));
    write('two words.yaml', flow('  main: { say: Hi. }'));
    expect((await findingsOf(flow('  main: { say: Hi. }'))).warnings).toEqual([
      '1:1: the file: only small and capital letters tell it from Shop.yaml, expected another name',
    ]);
    const { flows } = await FlowFolder.inspect(folder, new FakeClock());
    expect(flows.find(({ name }) => name === 'two words')?.warnings[0]?.message).toMatch(/cannot name "two words"/);
  });

  it('has nothing against what is there', async () => {
    write('sub.yaml', SUB);
    const steps = ['  main: { flow: { name: sub, with: { order: 1 }, into: { a: found } }, next: b }'];
    const text = flow(...steps, '  b: { say: "{a}", next: c }', '  c: { play: { recording: hello } }');
    expect(await findingsOf(`${text}language: de-AT\n`)).toEqual({ errors: [], warnings: [] });
  });
});
