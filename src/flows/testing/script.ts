/** A scripted caller follows the lines of a test, whatever line the call goes over. */
import { type AnswerTime, findUnmet, findUnmetOfTest } from './expectations.ts';
import type { ObservedCall } from './observed-call.ts';
import type { Expectation, FlowTest, ScriptLine } from './test-file.ts';

/** How long something that is expected is waited for. */
const WAIT_MS = 30_000;
/** How long the flow may take to do something with what the caller did, before the caller does something else. */
const REACTION_MS = 2500;
/** After keys it may wait for a further one, and speech must be recognised, which a busy machine does late. */
const ANSWER_MS = 8000;
/** How much of a prompt a caller who cuts in listens to. */
const LISTEN_MS = 500;

/** A caller on the line. */
export interface ScriptedCaller {
  readonly observed: ObservedCall;
  /** Whether the flow waits for the caller and says nothing. */
  readonly isListenedTo: boolean;
  /** Whether the caller hears something. */
  readonly isSpokenTo: boolean;
  /** From the end of what the caller did last to the first sound after it. */
  readonly answerMs: AnswerTime;
  /** Resolves when `text` has been said. */
  say(text: string): Promise<void>;
  /** Resolves when all `keys` have been pressed. */
  press(keys: string): Promise<void>;
  /** Resolves when the beep of an answering machine, or the tone of a fax machine, is over. */
  sound(tone: 'beep' | 'fax'): Promise<void>;
  wait(durationMs: number): Promise<void>;
  /** Resolves with true as soon as `holds` does, with false when it has not within `timeoutMs`. */
  until(holds: () => boolean, timeoutMs: number): Promise<boolean>;
  hangUp(): void;
}

/** How a test went. */
export interface ScriptReport {
  /** What was expected and did not come, in words, with the number of the line; empty = the test passed. */
  readonly failures: readonly string[];
  /** From the end of what the caller did to the flow's next sound, for each line that was measured. */
  readonly answersMs: readonly number[];
}

/**
 * Follows the script and hangs up at its end, unless the flow has ended or is to end by itself. `lines` = where each
 * line of the script stands in its file, from 1.
 */
export async function runScript(
  test: FlowTest,
  caller: ScriptedCaller,
  lines: readonly number[],
): Promise<ScriptReport> {
  const failures: string[] = [];
  const answersMs: number[] = [];
  let isAnswer = false;
  for (const [index, line] of test.script.entries()) {
    const failure = await follow(line, caller, isAnswer);
    if (line.expect === undefined) isAnswer = line.silent === undefined;
    const { answerMs } = caller;
    if (line.expect !== undefined && typeof answerMs === 'number' && answersMs.at(-1) !== answerMs)
      answersMs.push(answerMs);
    if (failure === null) continue;
    failures.push(`line ${lines[index]}, ${describeLine(line)}: ${failure}`);
    break;
  }
  if (failures.length === 0 && test.outcome !== undefined && test.outcome !== 'hangup')
    await caller.until(() => caller.observed.outcome !== null, WAIT_MS);
  if (!caller.observed.isOver) caller.hangUp();
  await caller.until(() => caller.observed.isOver, WAIT_MS);
  if (failures.length === 0) failures.push(...findUnmetOfTest(test, caller.observed));
  return { failures, answersMs };
}

/**
 * Does what a line says, when the flow has done something with what the caller did before. Resolves with what was wrong
 * with it; null = nothing. `isAnswer` = that was something that a question makes something of.
 */
async function follow(line: ScriptLine, caller: ScriptedCaller, isAnswer: boolean): Promise<string | null> {
  if (line.expect !== undefined) return expectOf(line.expect, caller);
  if (line.cutIn !== undefined) return cutIn(line.cutIn, caller);
  if (line.hangup === true) {
    caller.observed.begin('hangs up');
    caller.hangUp();
    return null;
  }
  const { observed } = caller;
  if (line.beep === true || line.fax === true) {
    await caller.until(() => observed.isAt('leaveMessage') || isOver(observed), line.beep === true ? REACTION_MS : 0);
    if (isOver(observed)) return 'the flow was over before that';
    observed.begin(line.beep === true ? 'beeps' : 'sends the tone of a fax machine');
    await caller.sound(line.beep === true ? 'beep' : 'fax');
    return null;
  }
  const reactionMs = isAnswer && observed.isAnswered ? ANSWER_MS : REACTION_MS;
  await caller.until(() => observed.hasReacted || isOver(observed), reactionMs);
  const isReady = await caller.until(() => caller.isListenedTo || isOver(observed), WAIT_MS);
  if (isOver(observed)) return 'the flow was over before that';
  if (!isReady) return `the flow does not listen, it is at the step ${observed.step ?? 'none'}`;
  await act(line, caller);
  return null;
}

async function act({ say, press, silent }: ScriptLine, caller: ScriptedCaller): Promise<void> {
  if (say !== undefined) {
    caller.observed.begin(`says "${say}"`);
    await caller.say(say);
  } else if (press !== undefined) {
    caller.observed.begin(`presses ${press}`);
    await caller.press(String(press));
  } else if (silent !== undefined) {
    caller.observed.begin(`is silent for ${silent} ms`);
    await caller.wait(silent);
  }
}

async function cutIn(line: NonNullable<ScriptLine['cutIn']>, caller: ScriptedCaller): Promise<string | null> {
  const { observed } = caller;
  const isSpoken = await caller.until(() => caller.isSpokenTo || isOver(observed), WAIT_MS);
  if (isOver(observed)) return 'the flow was over before that';
  if (!isSpoken) return 'the flow says nothing that could be cut off';
  await caller.wait(line.afterMs ?? LISTEN_MS);
  if (!caller.isSpokenTo) return 'the flow had said all before the caller could cut in';
  await act({ say: line.say, press: line.press }, caller);
  return null;
}

async function expectOf(expected: Expectation, caller: ScriptedCaller): Promise<string | null> {
  const { observed } = caller;
  const unmet = (): string[] => findUnmet(expected, observed, caller.answerMs);
  // What must not be said is looked for when the flow has said all that it says.
  const isSettled = (): boolean => expected.notSaid === undefined || caller.isListenedTo || isOver(observed);
  await caller.until(() => isSettled() && (unmet().length === 0 || observed.isOver), expected.withinMs ?? WAIT_MS);
  const problems = unmet();
  return problems.length === 0 ? null : problems.join('; ');
}

function isOver({ isOver, outcome }: ObservedCall): boolean {
  return isOver || outcome !== null;
}

function describeLine(line: ScriptLine): string {
  const [name = 'nothing', value] = Object.entries(line).find(([, given]) => given !== undefined) ?? [];
  return `${name} ${JSON.stringify(value)}`;
}
