/** The verb `gather`: an answer of some kind, by words or by keys. */
import type { FlowValue } from '../file/conditions.ts';
import type { FlowPrompt } from '../file/prompts.ts';
import type { VerbFields } from '../file/verbs.ts';
import { expectedAnswer } from '../understand/expected-answers.ts';
import type { Question } from '../understand/question.ts';
import { understand } from '../understand/understand.ts';
import { type Attempt, askForAnswer, isSure, timeoutOf } from './question.ts';
import type { InputRequest, StepExit, StepTools } from './step.ts';

type Gather = VerbFields['gather'];

/** Nobody types more. */
const KEYS_MAX = 64;
const INTER_DIGIT_MS = 3000;
const DIGITS = [...'0123456789'];

/** Kinds that are typed as they are said. */
const TYPED: readonly Gather['kind'][] = ['digits', 'number', 'phone', 'amount'];
/** Keys that answer a question for yes or no. */
const YES_NO: Readonly<Record<string, boolean>> = { '1': true, '2': false };

/** Asks for a value, and goes on where the step says. */
export async function runGather(fields: Gather, tools: StepTools): Promise<StepExit> {
  const outcome = await askForAnswer(fields, tools, (prompt) => askOnce(fields, tools, prompt));
  if ('exit' in outcome) return outcome.exit;
  tools.variables.set(fields.into, outcome.answer);
  return null;
}

async function askOnce(fields: Gather, tools: StepTools, prompt: FlowPrompt): Promise<Attempt<FlowValue>> {
  const input = await tools.ask(prompt, requestOf(fields, tools));
  if (input.type === 'silence') return { kind: 'none' };
  if (input.type === 'speech') {
    const { text, isAhead } = input;
    const isTaken = fields.kind === 'text' || isSure(input);
    const found = isTaken ? understand(text, questionOf(fields, tools)) : null;
    return { kind: 'speech', text, isAhead, understood: understoodAs(found) };
  }
  if (fields.kind === 'yesNo') {
    const value = YES_NO[input.key];
    const understood = value === undefined ? null : { value, answer: value };
    return { kind: 'keys', text: input.key, isAhead: false, understood };
  }
  const keys = await collect(fields, tools, input.key);
  return { kind: 'keys', text: keys, isAhead: false, understood: understoodAs(readKeys(keys, fields, tools)) };
}

function requestOf(fields: Gather, tools: StepTools): InputRequest {
  const { kind } = fields;
  const answer = expectedAnswer(questionOf(fields, tools));
  const shared = { timeoutMs: timeoutOf(fields), isPrivate: fields.private === true, answer };
  if (kind === 'yesNo') {
    const answersAside = (text: string) => understand(text, questionOf(fields, tools)) !== null;
    return { ...shared, accepts: 'any', keys: Object.keys(YES_NO), answersAside };
  }
  if (!TYPED.includes(kind)) return { ...shared, accepts: 'speech' };
  const request = { ...shared, accepts: 'any', keys: keysOf(fields) } as const;
  return kind === 'digits' ? { ...request, expectsDigits: { min: fields.min, max: fields.max } } : request;
}

/** The digits, the key that ends them, and of amounts the one that stands for the point. */
function keysOf(fields: Gather): string[] {
  const terminator = terminatorOf(fields);
  return [...DIGITS, ...(terminator === null ? [] : [terminator]), ...(pointOf(fields) === null ? [] : ['*'])];
}

function terminatorOf({ terminator = '#' }: Gather): string | null {
  return terminator === 'none' ? null : terminator;
}

function pointOf(fields: Gather): string | null {
  return fields.kind === 'amount' && terminatorOf(fields) !== '*' ? '*' : null;
}

/** Keys up to the one that ends them, as many as there may be, or a pause. `first` was pressed already. */
async function collect(fields: Gather, tools: StepTools, first: string): Promise<string> {
  const { interDigitMs = INTER_DIGIT_MS } = fields;
  const terminator = terminatorOf(fields);
  const max = fields.kind === 'digits' ? Math.min(fields.max ?? KEYS_MAX, KEYS_MAX) : KEYS_MAX;
  let keys = '';
  for (let key = first; key !== terminator; ) {
    keys += key;
    if (keys.length >= max) {
      if (terminator !== null) tools.passOver(terminator);
      break;
    }
    const next = await tools.ask(null, { ...requestOf(fields, tools), timeoutMs: interDigitMs, accepts: 'keys' });
    if (next.type !== 'key') break;
    ({ key } = next);
  }
  return keys;
}

/** What was typed, as a value; null = it is none, or not as long as it must be. */
function readKeys(keys: string, fields: Gather, tools: StepTools) {
  if (fields.kind !== 'digits')
    return understand(keys.replaceAll(pointOf(fields) ?? '*', '.'), questionOf(fields, tools));
  const isWhole = /^\d+$/.test(keys) && keys.length >= (fields.min ?? 1) && keys.length <= (fields.max ?? KEYS_MAX);
  return isWhole ? { value: keys } : null;
}

function questionOf({ kind, min, max, choices, currency }: Gather, tools: StepTools): Question {
  const { language, world, timeZone } = tools;
  const usual = currency ?? tools.currency ?? undefined;
  return { kind, language, min, max, choices, currency: usual, now: world.wall(), timeZone };
}

function understoodAs(found: { readonly value: FlowValue } | null) {
  return found === null ? null : { value: found.value, answer: found.value };
}
