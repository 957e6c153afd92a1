/** Compares what was expected of a call with what is seen of it. */
import type { FlowValue } from '../file/conditions.ts';
import type { ObservedCall } from './observed-call.ts';
import type { Expectation, FlowTest } from './test-file.ts';

/** How long the flow's answer took; null = it has not come. `untimed` = nobody measures it. */
export type AnswerTime = number | null | 'untimed';

/** What of `expected` has not come true, in words; empty = all has. */
export function findUnmet(expected: Expectation, call: ObservedCall, answerMs: AnswerTime): string[] {
  const { step, said = [], notSaid, variables = {}, ended, answerWithinMs } = expected;
  const unmet: string[] = [];
  if (step !== undefined && !call.recentSteps.includes(step))
    unmet.push(`expected the step ${step}, the flow is at ${call.step ?? 'none'}`);
  for (const text of [said].flat())
    if (!includesWords(call.heard, text)) unmet.push(`expected to hear "${text}", heard ${quoted(call.heard)}`);
  if (notSaid !== undefined && includesWords(call.heard, notSaid)) unmet.push(`expected not to hear "${notSaid}"`);
  for (const [name, value] of Object.entries(variables)) {
    const came = call.variables.get(name) ?? null;
    if (!isSame(came, value))
      unmet.push(`expected the variable ${name} to be ${JSON.stringify(value)}, it is ${JSON.stringify(came)}`);
  }
  if (ended !== undefined && ended !== (call.outcome !== null))
    unmet.push(ended ? 'expected the flow to be over, it goes on' : 'expected the flow to go on, it is over');
  if (answerWithinMs !== undefined && answerMs !== 'untimed' && (answerMs ?? Number.POSITIVE_INFINITY) > answerWithinMs)
    unmet.push(`expected an answer within ${answerWithinMs} ms, ${took(answerMs)}`);
  return unmet;
}

/** What of the test as a whole did not come true, when the call is over. */
export function findUnmetOfTest({ outcome, steps = [], notSteps = [] }: FlowTest, call: ObservedCall): string[] {
  const unmet: string[] = [];
  if (outcome !== undefined && call.outcome !== outcome) {
    const why = call.reason === null ? '' : ` (${call.reason})`;
    unmet.push(`expected the outcome ${outcome}, it is ${call.outcome ?? 'that the flow goes on'}${why}`);
  }
  const taken = call.steps.map(({ step }) => step);
  let from = 0;
  for (const step of steps) {
    const at = taken.indexOf(step, from);
    if (at === -1) {
      unmet.push(
        `expected the step ${step}${from === 0 ? '' : ` after ${taken[from - 1]}`}, came to ${taken.join(', ')}`,
      );
      break;
    }
    from = at + 1;
  }
  for (const step of notSteps) if (taken.includes(step)) unmet.push(`expected not to come to the step ${step}`);
  return unmet;
}

/** Whether `text` has the words of `part` in a row, whatever the case and the punctuation. */
function includesWords(text: string, part: string): boolean {
  return ` ${wordsOf(text)} `.includes(` ${wordsOf(part)} `);
}

function wordsOf(text: string): string {
  return text
    .toLowerCase()
    .replace(/['’]/g, '')
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();
}

function isSame(came: FlowValue, expected: FlowValue): boolean {
  return typeof came === 'string' && typeof expected === 'string'
    ? asWritten(came) === asWritten(expected)
    : came === expected;
}

/** In small letters; `9:30` is the time `09:30`. */
function asWritten(text: string): string {
  return text.toLowerCase().replace(/^\d:\d\d$/, '0$&');
}

const took = (ms: number | null): string => (ms === null ? 'none came' : `it took ${Math.round(ms)} ms`);

const quoted = (text: string): string => (text === '' ? 'nothing' : `"${text}"`);
