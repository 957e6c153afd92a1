/** The world of a test: its time, and what answers in place of the network. */
import type { Clock } from '../../foundation/clock.ts';
import type { FlowSet } from '../file/flow.ts';
import type { FlowAnswer, FlowRequest, FlowWorld } from '../verbs/flow-world.ts';
import type { FlowTest, HttpStandIn } from './test-file.ts';
import { wallTimeIn } from './wall-time.ts';

/** What a test says of the world around its call. */
export type Circumstances = Pick<FlowTest, 'at' | 'http' | 'transfer' | 'app' | 'variables'>;

interface TestWorldOptions {
  readonly clock: Clock;
  /** IANA; of times that name no offset. */
  readonly timeZone: string;
  readonly onSet: NonNullable<FlowWorld['onSet']>;
}

/** A world that never reaches the network: a request that no answer is given for has none. */
export function testWorld(test: Circumstances, { clock, timeZone, onSet }: TestWorldOptions): FlowWorld {
  const startMs = test.at === undefined ? null : wallTimeIn(test.at, timeZone).getTime();
  const beganMs = clock.nowMs();
  return {
    wall: () => (startMs === null ? clock.wall() : new Date(startMs + clock.nowMs() - beganMs)),
    request: (request, signal) => answer(request, test.http ?? [], { clock, signal }),
    takesMessages: true,
    transfer: () => Promise.resolve(test.transfer !== 'failed'),
    app: () => Promise.resolve(test.app ?? null),
    onSet,
    ...(test.variables !== undefined && { variables: test.variables }),
  };
}

async function answer(
  request: FlowRequest,
  given: readonly HttpStandIn[],
  { clock, signal }: { clock: Clock; signal: AbortSignal },
): Promise<FlowAnswer> {
  const found = given.find(
    ({ url, method }) => fits(request.url, url) && (method ?? request.method) === request.method,
  );
  if (found === undefined) throw new Error(`the test has no answer to ${request.method} ${request.url}`);
  if (found.delayMs !== undefined) await delay(found.delayMs, clock, signal);
  if (found.fails === true) throw new Error('the test lets this request fail');
  return { status: found.status ?? 200, body: found.text ?? JSON.stringify(found.json ?? null) };
}

/** Rejects with the signal's reason when it aborts before. */
function delay(delayMs: number, clock: Clock, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = clock.after(delayMs, resolve);
    const onAbort = (): void => {
      timer.cancel();
      reject(signal.reason);
    };
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
  });
}

function fits(url: string, pattern: string): boolean {
  const parts = pattern.split('*').map((part) => part.replace(/[.+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${parts.join('.*')}$`, 's').test(url);
}

/** Where a flow's clocks are: its time zone, or that of its first `hours` step. */
export function timeZoneOf({ main, flows }: Pick<FlowSet, 'main' | 'flows'>): string {
  if (main.timeZone !== null) return main.timeZone;
  for (const flow of flows.values())
    for (const step of flow.steps.values())
      if (step.verb === 'hours' && step.fields.timeZone !== undefined) return step.fields.timeZone;
  return 'UTC';
}
