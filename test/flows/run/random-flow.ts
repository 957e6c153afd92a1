/** Flows that nobody would write, from a seed: they lead in circles, to nowhere, and ask for what cannot be. */
import type { Flow, FlowSet } from '../../../src/flows/file/flow.ts';
import { type FlowFile, flowSchema } from '../../../src/flows/file/flow-file.ts';
import { toFlow } from '../../../src/flows/file/to-flow.ts';
import type { Random } from '../../fuzz/random.ts';

const NAMES = ['s1', 's2', 's3', 's4', 's5', 's6'];
const FLOWS = ['shop', 'inner', 'other'];
const KEYS = [...'0123456789*#'];
const BARGE_IN = ['any', 'keys', 'speech', 'none'];
const KINDS = ['digits', 'text', 'number', 'date', 'time', 'yesNo', 'phone', 'amount', 'choice'];

/** A flow and two that it may call, which may call each other. */
export function randomFlows(random: Random): FlowSet {
  const flows = new Map(FLOWS.map((name) => [name, randomFlow(name, random)]));
  const main = flows.get('shop');
  if (main === undefined) throw new Error('there is no flow');
  return { name: 'shop', version: '00000000', main, flows };
}

function randomFlow(name: string, random: Random): Flow {
  const maybe = <T>(value: T): T | undefined => (random.below(2) === 0 ? value : undefined);
  const file = {
    version: 1,
    start: random.pick(NAMES),
    bargeIn: random.pick(BARGE_IN),
    keys: Object.fromEntries([0, 1].map(() => [random.pick(KEYS), target(random)])),
    parameters: { p: 'x' },
    variables: { v: 1, w: null },
    failed: maybe(random.pick(NAMES)),
    failedPrompt: maybe('Sorry.'),
    limits: { steps: 1 + random.below(60), visits: 1 + random.below(9), timeMs: 60_000 },
    steps: Object.fromEntries(NAMES.map((step) => [step, { ...randomVerb(random), next: maybe(target(random)) }])),
  };
  return toFlow(flowSchema.parse(JSON.parse(JSON.stringify(file))) as FlowFile, name, '');
}

function target(random: Random): string {
  return random.pick([...NAMES, 'end', 'back', 'repeat']);
}

function randomVerb(random: Random): Record<string, unknown> {
  const text = random.pick([
    'Hello {v}.',
    'One <break time="200ms"/> two',
    '{w}',
    '{p:digits}',
    'Broken {',
    '{call.to}',
  ]);
  const prompt = { text, bargeIn: random.pick(BARGE_IN) };
  const question = {
    prompt,
    retries: random.below(3),
    timeoutMs: random.below(6000),
    ...(random.below(2) === 0 && { noInput: { prompts: ['Hello?'], next: target(random) } }),
    ...(random.below(2) === 0 && { noMatch: { prompts: [prompt] } }),
  };
  const choices = { yes: { key: '1', say: ['yes', 'bravo'] }, no: { key: '2', next: target(random) } };
  switch (random.below(11)) {
    case 0:
      return { say: prompt };
    case 1:
      return { play: { recording: 'jingle', loop: 1 + random.below(3) } };
    case 2:
      return { menu: { ...question, choices, into: 'v' } };
    case 3: {
      const kind = random.pick(KINDS);
      const digits = { min: random.below(4), max: 1 + random.below(5) };
      const more = kind === 'choice' ? { choices: { a: ['yes'], b: ['no'] } } : digits;
      return { gather: { ...question, kind, into: 'v', private: random.below(2) === 0, ...more } };
    }
    case 4:
      return { confirm: { ...question, yes: target(random), no: target(random) } };
    case 5:
      return { branch: { when: [{ if: { variable: 'v', atLeast: 1 }, next: target(random) }], else: target(random) } };
    case 6:
      return { set: { v: random.below(3), w: '{v}{w}{v}{w}' } };
    case 7:
      return {
        hours: { timeZone: random.pick(['UTC', 'Nowhere/At']), week: {}, open: target(random), closed: target(random) },
      };
    case 8:
      return { language: { to: random.pick(['en', 'de-DE', 'xx']) } };
    case 9:
      return { hangup: random.below(2) === 0 ? {} : { prompt } };
    default:
      return { flow: { name: random.pick(FLOWS), with: { p: '{v}' }, into: { v: 'w' } } };
  }
}
