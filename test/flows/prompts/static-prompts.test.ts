import { describe, expect, it } from 'vitest';
import type { Flow, FlowSet } from '../../../src/flows/file/flow.ts';
import { flowSetOf } from '../../../src/flows/file/flow-set.ts';
import { readFlow } from '../../../src/flows/file/read-flow.ts';
import { inOrder, promptsOf, staticTextsOf } from '../../../src/flows/prompts/static-prompts.ts';

const NOTHING = { find: () => null };

function setOf(texts: Readonly<Record<string, string>>): FlowSet {
  const flows = new Map<string, Flow>();
  for (const [name, text] of Object.entries(texts)) {
    const { flow, errors } = readFlow(`version: 1\n${text}`, name);
    if (flow === null) throw new Error(JSON.stringify(errors));
    flows.set(name, flow);
  }
  const set = flowSetOf(Object.keys(texts)[0] ?? '', flows);
  if (set === null) throw new Error('a flow is missing');
  return set;
}

const promptsOfFlows = (texts: Readonly<Record<string, string>>) => promptsOf(setOf(texts), 'en-US');

describe('what a flow says', () => {
  const shop = `
start: ask
voice: slt
variables: {count: 2}
failedPrompt: That did not work.
steps:
  ask:
    menu:
      prompt: Press one for boats.
      noInput: {prompts: [I heard nothing.], next: bye}
      noMatch: {prompts: [Please press one., One is for boats.], next: bye}
      choices: {boats: {key: "1", next: boats}}
  boats: {say: {text: "You have {count} boats. Goodbye.", voice: rms, speed: 1.2}, next: bye}
  bye: {hangup: {prompt: {text: Bye., recording: bye}}}
  never: {say: Nobody hears this.}
`;

  it('is every prompt of the steps that are reached, with its place', () => {
    const found = promptsOfFlows({ shop }).map(({ step, part, prompt, voice }) => [step, part, prompt.text, voice]);
    expect(found).toEqual([
      ['ask', 'prompt', 'Press one for boats.', 'slt'],
      ['ask', 'noInput', 'I heard nothing.', 'slt'],
      ['ask', 'noMatch 1', 'Please press one.', 'slt'],
      ['ask', 'noMatch 2', 'One is for boats.', 'slt'],
      [null, 'failedPrompt', 'That did not work.', 'slt'],
      ['boats', 'prompt', 'You have {count} boats. Goodbye.', 'slt'],
      ['bye', 'prompt', 'Bye.', 'slt'],
    ]);
  });

  it('is listed in the order of the files', () => {
    const found = inOrder(promptsOfFlows({ shop }).toReversed(), setOf({ shop }));
    expect(found.map(({ step }) => step)).toEqual(['ask', 'ask', 'ask', 'ask', 'boats', 'bye', null]);
  });

  it('is made ahead as it will be said: without values, and without what is recorded', () => {
    const recordings = {
      find: (name: string) => (name === 'bye' ? { samples: new Int16Array(1), rateHz: 8000 } : null),
    };
    const texts = staticTextsOf(promptsOfFlows({ shop }), recordings);
    expect(texts.map(({ text }) => text)).not.toContain('Bye.');
    expect(texts.at(-1)).toEqual({ text: 'Goodbye.', lang: 'en-US', voice: 'rms', voiceIsWish: true, speed: 1.2 });
    expect(staticTextsOf(promptsOfFlows({ shop }), NOTHING).map(({ text }) => text)).toContain('Bye.');
  });

  it('is in the language that a step before has chosen, in flows that are called too', () => {
    const main = `
start: ask
language: en-US
steps:
  ask: {menu: {prompt: Press two for German., choices: {de: {key: "2", next: german}, en: {key: "1", next: hello}}, noMatch: {next: hello}}}
  german: {language: {to: de-DE, voice: anna}, next: hello}
  hello: {say: Hello., next: call}
  call: {flow: {name: sub}}
`;
    const sub = 'start: bye\nsteps: {bye: {say: Bye.}}';
    const styles = (text: string) =>
      promptsOfFlows({ main, sub })
        .filter(({ prompt }) => prompt.text === text)
        .map(({ language, voice }) => `${language} ${voice}`);
    expect(styles('Press two for German.')).toEqual(['en-US null']);
    expect(styles('Hello.').toSorted()).toEqual(['de-DE anna', 'en-US null']);
    expect(styles('Bye.').toSorted()).toEqual(['de-DE anna', 'en-US null']);
  });
});
