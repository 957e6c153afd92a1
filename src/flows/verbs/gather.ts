/** The verb `gather`: an answer of some kind, by words or by keys. */
import { z } from 'zod';
import type { YamlPath } from '../../foundation/yaml-document.ts';
import { type FlowValue, variableSchema } from '../file/conditions.ts';
import type { FlowFinding } from '../file/flow-finding.ts';
import { type FlowPrompt, nameSchema } from '../file/prompts.ts';
import { expectedAnswer } from '../understand/expected-answers.ts';
import { ANSWER_KINDS, type Question } from '../understand/question.ts';
import { understand } from '../understand/understand.ts';
import { sharedPhrases } from './check-phrases.ts';
import {
  type Attempt,
  askForAnswer,
  fallbackExits,
  isSure,
  QUESTION_SHAPE,
  questionPrompts,
  timeoutOf,
} from './question.ts';
import { currencySchema, durationMs, wordsSchema } from './schemas.ts';
import type { InputRequest, StepExit, StepTools } from './step.ts';
import { defineVerb } from './verb.ts';

const schema = z.strictObject({
  ...QUESTION_SHAPE,
  kind: z.enum(ANSWER_KINDS),
  into: variableSchema,
  min: z
    .number()
    .optional()
    .describe('Fewest digits, the smallest number, or of dates the first day in days from today: 0 = not in the past'),
  max: z
    .number()
    .optional()
    .describe('Most digits, the greatest number, or of dates the last day in days from today: 1 = tomorrow'),
  terminator: z.enum(['#', '*', 'none']).optional().describe('The key that ends digits: # unless given'),
  interDigitMs: durationMs(30_000).optional().describe('How long the next key may take: 3000'),
  choices: z.record(nameSchema, wordsSchema).optional(),
  currency: currencySchema.optional().describe('Of an amount that names none: that of the flow unless given'),
  private: z.boolean().optional().describe('The answer is in no event and no log'),
});
type Gather = z.infer<typeof schema>;

/** Asks for a value, and goes on where the step says. */
export const gather = defineVerb({
  schema: schema.describe('Asks for digits, a date, a number, …'),
  takes: 'caller',
  shape: ['{{', '}}'],
  isQuestion: true,
  exits: fallbackExits,
  prompts: questionPrompts,
  check: checkGather,
  leavesUnanswered: ({ kind, noInput, noMatch }) =>
    noInput?.next === undefined || (noMatch?.next === undefined && kind !== 'text'),
  run: runGather,
});

/** Kinds of answers that `min` and `max` say something of. */
const WITH_BOUNDS: readonly Gather['kind'][] = ['digits', 'number', 'amount', 'phone', 'date'];
const MOST_DIGITS = 100;
/** Nobody types more. */
const KEYS_MAX = 64;
const INTER_DIGIT_MS = 3000;
const DIGITS = [...'0123456789'];

/** Kinds that are typed as they are said. */
const TYPED: readonly Gather['kind'][] = ['digits', 'number', 'phone', 'amount'];
/** Keys that answer a question for yes or no. */
const YES_NO: Readonly<Record<string, boolean>> = { '1': true, '2': false };

async function runGather(fields: Gather, tools: StepTools): Promise<StepExit> {
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

/** Bounds, choices and currencies that a kind has no use for. */
function checkGather(gather: Gather, path: YamlPath): FlowFinding[] {
  const { kind, choices = {}, min, max } = gather;
  const findings: FlowFinding[] = [];
  const refuse = (field: keyof Gather, message: string): void => {
    findings.push({ path: [...path, field], message });
  };
  const names = Object.entries(choices);
  if (kind === 'choice' && names.length === 0)
    refuse('choices', 'is missing, expected at least one for the kind choice');
  if (kind !== 'choice' && gather.choices !== undefined) refuse('choices', `has no meaning for the kind ${kind}`);
  if (kind !== 'amount' && gather.currency !== undefined) refuse('currency', `has no meaning for the kind ${kind}`);
  findings.push(...sharedPhrases(names, (name, at) => [...path, 'choices', name, at]));
  for (const field of ['min', 'max'] as const) {
    const bound = gather[field];
    if (bound === undefined) continue;
    if (!WITH_BOUNDS.includes(kind)) refuse(field, `has no meaning for the kind ${kind}`);
    const isCount = Number.isInteger(bound) && bound >= 1 && bound <= MOST_DIGITS;
    if (kind === 'date' && !Number.isInteger(bound)) refuse(field, `got ${bound}, expected whole days from today`);
    if (kind === 'digits' && !isCount) refuse(field, `got ${bound}, expected 1 to ${MOST_DIGITS} digits`);
  }
  if (min !== undefined && max !== undefined && min > max) refuse('max', `got ${max}, expected at least min (${min})`);
  return findings;
}
