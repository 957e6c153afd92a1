/** Runs tests in text: the flow alone, without sound, on a clock of its own. */
import { randomUUID } from 'node:crypto';
import type { CallContext } from '../../calls/context.ts';
import type { FlowSet } from '../../flows/file/flow.ts';
import type { PromptRecordings } from '../../flows/prompts/prompt-pieces.ts';
import { FlowApp } from '../../flows/run/flow-app.ts';
import { type CallNews, ObservedCall } from '../../flows/testing/observed-call.ts';
import { runScript } from '../../flows/testing/script.ts';
import { CALLED_NUMBER, CALLER_NUMBER, parametersOf } from '../../flows/testing/test-file.ts';
import { testWorld, timeZoneOf } from '../../flows/testing/test-world.ts';
import { TextCaller } from '../../flows/testing/text-caller.ts';
import { TextLine } from '../../flows/testing/text-line.ts';
import type { FlowWorld } from '../../flows/verbs/flow-world.ts';
import { STEP_RUNNERS } from '../../flows/verbs/table.ts';
import { type Clock, systemClock } from '../../foundation/clock.ts';
import { createLog, type Log } from '../../foundation/log/log.ts';
import { Metrics } from '../../foundation/metrics.ts';
import type { Settings } from '../../foundation/settings/settings.ts';
import { MULAW_8K } from '../../foundation/units.ts';
import { VirtualClock } from '../../foundation/virtual-clock.ts';
import type { TestResult, TestRun } from './test-result.ts';

/** As fast as people speak. */
const PACE = 1;

/** They are read as what they say, or as what they are called. */
const NO_RECORDINGS: PromptRecordings = { find: () => ({ samples: new Int16Array(0), rateHz: MULAW_8K.rateHz }) };

interface TextCall {
  readonly set: FlowSet;
  readonly settings: Settings;
  readonly clock: Clock;
  /** How fast the flow speaks: 1 = as people do, 0 = all is said at once. */
  readonly pace: number;
  readonly from: string;
  readonly to: string;
  readonly parameters: Readonly<Record<string, string>>;
  readonly world: FlowWorld;
  /** What the flow tells of its trouble; nobody hears it unless given. */
  readonly log?: Log;
  onNews(news: CallNews): void;
}

/** Calls a flow, in text. */
export function openTextLine({
  set,
  settings,
  clock,
  world,
  from,
  to,
  log = createLog('fatal'),
  ...call
}: TextCall): TextLine {
  // What else a call has no step of a flow uses.
  const feed = { subscribeOwn: () => () => undefined };
  const context = { settings, clock, log, feed, metrics: new Metrics() } as unknown as CallContext;
  return new TextLine({
    ...call,
    context,
    log,
    start: { callId: randomUUID(), from, to, parameters: call.parameters },
    open: (options) => new FlowApp({ set, call: options, world, runners: STEP_RUNNERS, recordings: NO_RECORDINGS }),
  });
}

/** Makes the call of a test. It never rejects. */
export async function runTextTest({ file, tests, test, set, lines }: TestRun, settings: Settings): Promise<TestResult> {
  const startMs = systemClock.nowMs();
  const clock = new VirtualClock();
  const observed = new ObservedCall();
  const onSet: FlowWorld['onSet'] = (_flow, name, value) => observed.note({ type: 'set', name, value });
  const line = openTextLine({
    set,
    settings,
    clock,
    pace: PACE,
    from: test.from ?? CALLER_NUMBER,
    to: test.to ?? CALLED_NUMBER,
    parameters: parametersOf(test),
    world: testWorld(test, { clock, timeZone: timeZoneOf(set), onSet }),
    onNews: (news) => observed.note(news),
  });
  const { failures, answersMs } = await runScript(test, new TextCaller({ observed, clock, line }), lines);
  const { dialogue, steps } = observed;
  const durationMs = systemClock.nowMs() - startMs;
  return { file, flow: tests.flow, name: test.name, failures, dialogue, durationMs, answersMs, steps };
}
