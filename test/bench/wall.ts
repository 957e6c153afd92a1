/**
 * What the console costs a browser: the wall of a hundred calls that change three times a second each, and one call of
 * hours, in Chromium by its own trace.
 */
import type { Browser, Page } from 'playwright-core';
import type { CaptionEvent, FeedEvent } from '../../src/calls/feed/events.ts';
import { systemClock } from '../../src/foundation/clock.ts';
import { launchBrowser } from '../browser/chromium.ts';
import { StubGateway } from '../browser/stub-gateway.ts';
import { callView } from '../helpers/call-view.ts';
import { figure, type Report } from './report.ts';

const CALLS = 100;
const EVENTS_PER_CALL_AND_SECOND = 3;
const TICK_MS = 20;
const WARM_UP_MS = 3000;
const LONG_CALL_CAPTIONS = 5000;
const GOAL_UPDATE_MS = 8;

/** What is counted as an update: script, style and layout on the page's main thread. */
const COUNTED = new Set([
  'FireAnimationFrame',
  'EventDispatch',
  'FunctionCall',
  'TimerFire',
  'UpdateLayoutTree',
  'Layout',
  'RunMicrotasks',
]);
const PAINT = new Set(['PrePaint', 'Paint', 'Layerize']);
/** The last step of each frame on the main thread. */
const FRAME_END = 'Layerize';
const LONG_TASK_MS = 50;

interface TraceEvent {
  readonly name: string;
  readonly ph: string;
  readonly ts: number;
  readonly dur?: number;
  /** Time on the processor, which other programs do not lengthen. */
  readonly tdur?: number;
  readonly tid: number;
  readonly args?: { readonly name?: string };
}

interface Cost {
  readonly frames: number;
  readonly p50Ms: number;
  readonly p95Ms: number;
  readonly maxMs: number;
  readonly paintP95Ms: number;
  readonly longTasks: number;
  readonly busyShare: number;
}

const WORDS = 'well I have been waiting for the new router since Tuesday and nobody has called me back yet so'.split(
  ' ',
);

/** Runs the benchmark; each page is measured for `seconds`. */
export async function benchWall({ seconds }: { readonly seconds: number }): Promise<Report> {
  const browser = await launchBrowser();
  try {
    const near = await measureWall(browser, seconds, { width: 1440, height: 900 });
    const all = await measureWall(browser, seconds, { width: 3840, height: 2800 });
    const long = await measureLongCall(browser, seconds);
    return toReport(near, all, long);
  } finally {
    await browser.close();
  }
}

function toReport(near: Cost, all: Cost, long: Cost & { readonly openMs: number }): Report {
  const row = (name: string, cost: Cost) => [
    name,
    cost.frames,
    figure(cost.p50Ms, 2),
    figure(cost.p95Ms, 2),
    figure(cost.maxMs, 1),
    figure(cost.paintP95Ms, 2),
    figure(cost.busyShare * 100, 0),
    cost.longTasks,
  ];
  const heads = ['page', 'updates', 'p50, ms', 'p95, ms', 'max, ms', 'paint p95, ms', 'main thread, %', 'long tasks'];
  return {
    name: 'wall',
    about:
      `The console in headless Chromium. ${CALLS} live calls, ${EVENTS_PER_CALL_AND_SECOND} events a second each: ` +
      'partial and final captions, speech. An update is all script, style and layout on the main thread between two ' +
      'frames, in time on the processor by the trace of the browser; painting beside it. A long task takes more than ' +
      `${LONG_TASK_MS} ms of it.`,
    tables: [
      {
        title: 'Updates',
        heads,
        rows: [
          row('wall, 1440 × 900', near),
          row('wall, all cards in sight', all),
          row(`one call of ${LONG_CALL_CAPTIONS} captions`, long),
        ],
      },
      { title: 'Opening the long call', heads: ['ms until its words are there'], rows: [[figure(long.openMs, 0)]] },
    ],
    goals: [
      {
        goal: `wall: script and layout per update p95 ≤ ${GOAL_UPDATE_MS} ms`,
        found: `${figure(near.p95Ms, 2)} ms`,
        met: near.p95Ms <= GOAL_UPDATE_MS,
      },
      { goal: 'wall: no long task', found: String(near.longTasks), met: near.longTasks === 0 },
    ],
  };
}

async function measureWall(
  browser: Browser,
  seconds: number,
  viewport: { width: number; height: number },
): Promise<Cost> {
  const gateway = new StubGateway();
  await gateway.listen();
  gateway.calls = Array.from({ length: CALLS }, (_, n) =>
    callView(`CA${n}`, {
      names: { inbound: `Caller ${n}`, outbound: `Agent ${n % 20}` },
      queue: n % 3 === 0 ? 'Sales' : 'Support',
      durationMs: n * 1000,
      startedAt: new Date(n * 1000).toISOString(),
    }),
  );
  const page = await openPage(browser, gateway, '#/live', viewport);
  await page
    .locator('.card')
    .nth(CALLS - 1)
    .waitFor({ state: 'attached' });
  const eventOf = talk();
  let at = 0;
  const next = () => eventOf(`CA${at % CALLS}`, Math.floor(at++ / CALLS));
  const cost = await measure(browser, page, seconds, { gateway, perSecond: CALLS * EVENTS_PER_CALL_AND_SECOND, next });
  await page.context().close();
  await gateway.close();
  return cost;
}

async function measureLongCall(browser: Browser, seconds: number): Promise<Cost & { openMs: number }> {
  const gateway = new StubGateway();
  await gateway.listen();
  gateway.calls = [callView('CA0', { durationMs: 7_200_000 })];
  gateway.events.set(
    'CA0',
    Array.from({ length: LONG_CALL_CAPTIONS }, (_, n) => caption('CA0', n + 1, WORDS.join(' '), true)),
  );
  const started = systemClock.nowMs();
  const page = await openPage(browser, gateway, '#/calls/CA0', { width: 1440, height: 900 });
  await page.locator(`[data-key="inbound ${LONG_CALL_CAPTIONS}"]`).waitFor();
  const openMs = systemClock.nowMs() - started;
  const eventOf = talk(LONG_CALL_CAPTIONS + 1);
  let at = 0;
  const next = () => eventOf('CA0', at++);
  const cost = await measure(browser, page, seconds, { gateway, perSecond: 10, next });
  await page.context().close();
  await gateway.close();
  return { ...cost, openMs };
}

async function openPage(
  browser: Browser,
  gateway: StubGateway,
  address: string,
  viewport: { width: number; height: number },
): Promise<Page> {
  const page = await (await browser.newContext({ viewport })).newPage();
  await page.goto(gateway.url + address);
  return page;
}

/** The step-th event of a call: an utterance grows word by word, and every sixth event ends one. */
function talk(first = 1): (callId: string, step: number) => FeedEvent {
  return (callId, step) => {
    const utterance = first + Math.floor(step / 6);
    const part = step % 6;
    if (part === 0) return { type: 'speech.started', callId, track: 'inbound', atMs: utterance * 1000 };
    return caption(callId, utterance, WORDS.slice(0, part * 3).join(' '), part === 5);
  };
}

function caption(callId: string, utterance: number, text: string, final: boolean): CaptionEvent {
  const startMs = utterance * 1000;
  const [stable, tail] = final ? [text, ''] : [text.slice(0, -8), text.slice(-8)];
  const times = { startMs, endMs: startMs + 900, lagMs: 85 };
  return { type: 'caption', callId, track: 'inbound', utterance, stable, tail, text, final, ...times };
}

/** Has the events published evenly while the browser is traced. */
async function measure(
  browser: Browser,
  page: Page,
  seconds: number,
  load: { gateway: StubGateway; perSecond: number; next: () => FeedEvent },
): Promise<Cost> {
  let isOver = false;
  const publish = async () => {
    const started = systemClock.nowMs();
    for (let sent = 0; !isOver; ) {
      const due = ((systemClock.nowMs() - started) / 1000) * load.perSecond;
      for (; sent < due; sent++) load.gateway.publish(load.next());
      await new Promise<void>((resolve) => systemClock.after(TICK_MS, resolve));
    }
  };
  const publishing = publish();
  await page.waitForTimeout(WARM_UP_MS);
  await browser.startTracing(page, {
    categories: ['devtools.timeline', 'disabled-by-default-devtools.timeline', '__metadata'],
  });
  await page.waitForTimeout(seconds * 1000);
  const trace = JSON.parse((await browser.stopTracing()).toString()) as { traceEvents: TraceEvent[] };
  isOver = true;
  await publishing;
  return costOf(trace.traceEvents, seconds);
}

/** The work between two frames, on the main thread of the renderer that worked most. */
function costOf(events: readonly TraceEvent[], seconds: number): Cost {
  const mains = new Set(
    events.filter(({ name, args }) => name === 'thread_name' && args?.name === 'CrRendererMain').map(({ tid }) => tid),
  );
  const main = events.filter(({ tid }) => mains.has(tid)).toSorted((a, b) => a.ts - b.ts);
  const frames = main.filter(({ name }) => name === FRAME_END).map(({ ts }) => ts);
  const updates = workPerFrame(main, frames, COUNTED).filter((ms) => ms > 0);
  const paints = workPerFrame(main, frames, PAINT).filter((ms) => ms > 0);
  const sum = [...updates, ...paints].reduce((total, ms) => total + ms, 0);
  return {
    frames: updates.length,
    p50Ms: quantile(updates, 0.5),
    p95Ms: quantile(updates, 0.95),
    maxMs: quantile(updates, 1),
    paintP95Ms: quantile(paints, 0.95),
    busyShare: sum / (seconds * 1000),
    longTasks: main.filter(isLongTask).length,
  };
}

function isLongTask({ name, dur = 0, tdur = dur }: TraceEvent): boolean {
  return name === 'RunTask' && tdur > LONG_TASK_MS * 1000;
}

/** Ms of events with these names in each frame; what lies inside another one of them is not counted twice. */
function workPerFrame(events: readonly TraceEvent[], frames: readonly number[], names: ReadonlySet<string>): number[] {
  const work = new Array<number>(frames.length + 1).fill(0);
  let frame = 0;
  let coveredTo = 0;
  for (const { name, ph, ts, dur = 0, tdur = dur } of events) {
    if (ph !== 'X' || !names.has(name) || ts < coveredTo) continue;
    while (frame < frames.length && (frames[frame] ?? 0) <= ts) frame += 1;
    work[frame] = (work[frame] ?? 0) + tdur / 1000;
    coveredTo = ts + dur;
  }
  return work;
}

function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}
