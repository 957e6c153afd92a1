import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { EngineSettings } from '../../engine/contract.ts';
import type { TranscribeRequest } from '../../src/link/engine.ts';
import { Link, type LinkOptions } from '../../src/link/link.ts';
import { createLog } from '../../src/log.ts';
import { Metrics } from '../../src/metrics.ts';
import { FakeClock } from '../fakes/clock.ts';

/** A pretend engine process; the words that it obeys are listed in its file. */
const ENTRY = fileURLToPath(new URL('../fakes/engine-child.mjs', import.meta.url));

const SETTINGS: EngineSettings = {
  asrModel: 'tone',
  vadModel: 'tone',
  ttsModel: 'tone',
  executionProvider: 'cpu',
  cudaDevice: 0,
  threads: 1,
};

/** Settings with which the pretend engine misbehaves from the start. */
const DIES_LOADING = { ...SETTINGS, threads: 13 };
const NEVER_READY = { ...SETTINGS, threads: 14 };
const IGNORES_DRAIN = { ...SETTINGS, threads: 15 };

type Urgency = TranscribeRequest['urgency'];

const opened: Link[] = [];

function open(options: Partial<LinkOptions> = {}) {
  const clock = new FakeClock();
  const metrics = new Metrics();
  const refusals: string[] = [];
  const link = new Link({
    engineSettings: SETTINGS,
    workers: 1,
    idleMs: 0,
    entry: ENTRY,
    clock,
    log: createLog('silent'),
    metrics,
    onRefused: (message) => refusals.push(message),
    ...options,
  });
  opened.push(link);
  return { link, clock, metrics, refusals };
}

/** Asks the engine to obey `word`; the promise of the text that it answers. */
async function say(link: Link, word: string, urgency: Urgency = 'final', extra: Partial<TranscribeRequest> = {}): Promise<string> {
  const samples = Int16Array.from(word, (letter) => letter.charCodeAt(0));
  const { text } = await link.transcribe({ samples, urgency, dueInMs: 1000, draft: [], ...extra });
  return text;
}

/** Settled outcome as a word: the text, or the code of the error. */
const outcome = (promise: Promise<string>): Promise<string> => promise.catch((error: { code: string }) => error.code);

const eventually = (check: () => void | Promise<void>) => vi.waitFor(check, { interval: 5, timeout: 5000 });

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

function killEngine(link: Link): number {
  const pid = link.status.pids[0];
  if (pid === undefined) throw new Error('no engine runs');
  process.kill(pid, 'SIGKILL');
  return pid;
}

/** Runs `action` on a machine that cannot start a Node process. */
function withoutNode(action: () => void): void {
  const { execPath } = process;
  process.execPath = '/nonexistent/node';
  action();
  process.execPath = execPath;
}

/** Waits until the one engine was noticed to be dead, then lets the back-off pass. */
async function restart(link: Link, clock: FakeClock, backoffMs = 100): Promise<void> {
  await eventually(() => expect(link.status.pids).toEqual([]));
  clock.advance(backoffMs);
}

const count = async (metrics: Metrics, name: string) => (await metrics.registry.getSingleMetric(name)?.get())?.values[0]?.value;

afterEach(async () => {
  const pids = opened.flatMap((link) => link.status.pids);
  for (const pid of pids.filter(isAlive)) process.kill(pid, 'SIGKILL');
  await Promise.all(opened.splice(0).map((link) => link.close()));
});

describe('Link: engines come and go', () => {
  it('is ready when the first engine is, and tells what it runs', async () => {
    const { link, metrics } = open({ workers: 2 });
    expect(link.status).toMatchObject({ state: 'stopped', ready: 0, workers: 2, provider: null, models: null, pids: [] });
    const started = link.start();
    expect(link.status.state).toBe('starting');
    await started;
    expect(link.status).toMatchObject({ state: 'ready', provider: 'cpu', models: { asr: 'tone', vad: 'tone', tts: 'tone' } });
    await eventually(() => expect(link.status.ready).toBe(2));
    expect(await count(metrics, 'trunkline_engines_ready')).toBe(2);
  });

  it('starts the engines for the first job', async () => {
    const { link } = open();
    expect(await say(link, 'hello')).toBe('hello');
    expect(link.status.state).toBe('ready');
  });

  it('stops them after idleMs without work and starts them for the next job', async () => {
    const { link, clock } = open({ idleMs: 60_000 });
    const firstPid = await say(link, 'pid');
    clock.advance(59_999);
    expect(link.status.state).toBe('ready');
    clock.advance(1);
    expect(link.status).toMatchObject({ state: 'stopped', ready: 0 });
    await eventually(() => expect(link.status.pids).toEqual([]));
    expect(isAlive(Number(firstPid))).toBe(false);
    expect(await say(link, 'pid')).not.toBe(firstPid);
  });

  it('does not wait for an idle engine to be gone before it starts another', async () => {
    const { link, clock } = open({ idleMs: 60_000, engineSettings: IGNORES_DRAIN });
    await link.start();
    clock.advance(60_000);
    link.wake();
    expect(link.status.state).toBe('starting');
    expect(link.status.pids).toHaveLength(2);
    await link.start();
    clock.advance(5000);
    await eventually(() => expect(link.status.pids).toHaveLength(1));
    expect(link.status.state).toBe('ready');
  });

  it('does not stop an engine that works', async () => {
    const { link, clock } = open({ idleMs: 1000 });
    await link.start();
    const held = say(link, 'hold');
    clock.advance(10_000);
    expect(await say(link, 'release')).toBe('release');
    expect(await held).toBe('released');
  });

  it('reports a refusal once, fails everything that waits, and does not try again', async () => {
    const engineSettings = { ...SETTINGS, executionProvider: 'cuda' } as const;
    const { link, clock, refusals, metrics } = open({ workers: 2, engineSettings });
    const waiting = outcome(say(link, 'hello'));
    await expect(link.start()).rejects.toMatchObject({ code: 'unavailable', message: expect.stringContaining('npm run gpu:install') });
    expect(await waiting).toBe('unavailable');
    await eventually(() => expect(link.status.pids).toEqual([]));
    clock.advance(60_000);
    expect(link.status).toMatchObject({ state: 'failed', pids: [] });
    expect(refusals).toEqual(['CUDA libraries are missing: run npm run gpu:install']);
    expect(await outcome(say(link, 'hello'))).toBe('unavailable');
    expect(await count(metrics, 'trunkline_engine_restarts_total')).toBe(0);
  });

  it('takes exit code 42 without a word as a refusal', async () => {
    const { link, refusals } = open({ engineSettings: { ...SETTINGS, executionProvider: 'cuda', cudaDevice: 1 } });
    await expect(link.start()).rejects.toMatchObject({ code: 'unavailable' });
    expect(refusals).toHaveLength(1);
  });

  it('tries again with longer and longer waits when engines die while loading, and keeps nobody waiting after five', async () => {
    const { link, clock } = open({ engineSettings: DIES_LOADING });
    const started = outcome(link.start().then(() => 'ready'));
    const waiting = outcome(say(link, 'hello'));
    for (const backoffMs of [100, 200, 400, 800]) {
      await restart(link, clock, backoffMs - 1);
      expect(link.status.pids).toEqual([]);
      clock.advance(1);
      expect(link.status.pids).toHaveLength(1);
    }
    expect(await Promise.all([started, waiting])).toEqual(['unavailable', 'unavailable']);
    expect(link.status.state).toBe('starting');
  });

  it('takes a process that the system cannot start for one that died, and forgets about it once an engine was ready', async () => {
    const { link, clock, metrics } = open();
    let restarts = 0;
    const failToStart = async (begin: () => void, nextBackoffMs: number) => {
      withoutNode(begin);
      restarts++;
      await eventually(async () => expect(await count(metrics, 'trunkline_engine_restarts_total')).toBe(restarts));
      return () => clock.advance(nextBackoffMs);
    };
    let begin: () => void = () => link.wake();
    for (const backoffMs of [100, 200, 400, 800]) begin = await failToStart(begin, backoffMs);
    const waiting = say(link, 'hello');
    begin();
    expect(await waiting).toBe('hello');

    killEngine(link);
    restarts++;
    await restart(link, clock, 0);
    const patient = say(link, 'hello');
    begin = await failToStart(() => clock.advance(1600), 3200);
    begin();
    expect(await patient).toBe('hello');
  });

  it('kills an engine that never gets ready', async () => {
    const { link, clock } = open({ engineSettings: NEVER_READY });
    link.wake();
    const [pid] = link.status.pids;
    clock.advance(59_999);
    expect(link.status.pids).toEqual([pid]);
    clock.advance(1);
    await eventually(() => expect(link.status.pids).toEqual([]));
    expect(link.status.state).toBe('starting');
  });
});

describe('Link: the death of an engine', () => {
  it('sends the jobs in flight again and nobody notices', async () => {
    const { link, clock, metrics } = open();
    await link.start();
    const held = (['final', 'eager', 'batch'] as const).map((urgency) => say(link, 'hold', urgency));
    const pid = killEngine(link);
    await restart(link, clock);
    await link.start();
    expect(link.status.pids).not.toContain(pid);
    expect(await say(link, 'release')).toBe('release');
    expect(await Promise.all(held)).toEqual(['released', 'released', 'released']);
    expect(await count(metrics, 'trunkline_engine_jobs_resent_total')).toBe(3);
    expect(await count(metrics, 'trunkline_engine_restarts_total')).toBe(1);
  });

  it('sends them to another engine at once when there is one', async () => {
    const { link } = open({ workers: 2 });
    await link.start();
    await eventually(() => expect(link.status.ready).toBe(2));
    const lost = say(link, 'hold');
    const other = await say(link, 'pid');
    const victim = link.status.pids.find((pid) => String(pid) !== other) ?? 0;
    process.kill(victim, 'SIGKILL');
    await eventually(() => expect(link.status.pids).toEqual([Number(other)]));
    expect(await say(link, 'release')).toBe('release');
    expect(await lost).toBe('released');
  });

  it('sends voice detection again with the state that it had', async () => {
    const { link, clock } = open();
    await link.start();
    const samples = new Int16Array(1024).fill(500, 0, 512).fill(250, 512);
    const detected = link.detect({ samples, state: Float32Array.of(40) });
    killEngine(link);
    await restart(link, clock);
    const { probabilities, state } = await detected;
    expect([...probabilities]).toEqual([0.5, 0.25]);
    expect([...state]).toEqual([42]);
  });

  it('fails partials as stale: newer audio brings newer ones', async () => {
    const { link, metrics } = open();
    await link.start();
    const partial = outcome(say(link, 'hold', 'partial'));
    killEngine(link);
    expect(await partial).toBe('stale');
    expect(await count(metrics, 'trunkline_engine_jobs_resent_total')).toBe(0);
  });

  it('gives up a job that kills three engines and saves the jobs that travelled with it', async () => {
    const { link, clock, metrics } = open();
    await link.start();
    const poison = outcome(say(link, 'die'));
    const innocent = [say(link, 'one'), say(link, 'two')];
    for (const backoffMs of [100, 200, 400]) await restart(link, clock, backoffMs);
    expect(await poison).toBe('unavailable');
    expect(await Promise.all(innocent)).toEqual(['one', 'two']);
    expect(await count(metrics, 'trunkline_engine_restarts_total')).toBe(3);
  });

  it('gives nothing else to an engine that has a job on its last chance', async () => {
    const { link, clock } = open();
    await link.start();
    const abort = new AbortController();
    const held = outcome(say(link, 'hold', 'final', { signal: abort.signal }));
    for (const backoffMs of [100, 200]) {
      killEngine(link);
      await restart(link, clock, backoffMs);
      await link.start();
    }
    const seen = say(link, 'seen');
    abort.abort();
    expect(await held).toBe('cancelled');
    expect(await seen).toBe('hold:final cancelled seen:final');
  });

  it('gives a job its last chance only on an engine that has nothing else', async () => {
    const { link, clock } = open();
    await link.start();
    const abort = new AbortController();
    const suspect = outcome(say(link, 'hold', 'eager', { signal: abort.signal }));
    killEngine(link);
    await restart(link, clock, 100);
    await link.start();
    killEngine(link);
    await eventually(() => expect(link.status.pids).toEqual([]));
    const urgent = say(link, 'hold', 'final');
    clock.advance(200);
    await link.start();
    expect(await say(link, 'seen')).toBe('hold:final seen:final');
    expect(await say(link, 'release')).toBe('release');
    expect(await urgent).toBe('released');
    const next = say(link, 'seen', 'batch');
    abort.abort();
    expect(await next).toBe('hold:final seen:final release:final hold:eager cancelled seen:batch');
    expect(await suspect).toBe('cancelled');
  });

  it('takes an exit that nobody asked for as a death', async () => {
    const { link, clock } = open();
    await link.start();
    const lost = outcome(say(link, 'quit', 'partial'));
    expect(await lost).toBe('stale');
    await restart(link, clock);
    expect(await say(link, 'back')).toBe('back');
  });

  it('kills an engine that has work and says nothing for 15 s', async () => {
    const { link, clock } = open();
    await link.start();
    const [pid = 0] = link.status.pids;
    const stuck = outcome(say(link, 'hang', 'partial'));
    const behind = say(link, 'behind');
    clock.advance(14_999);
    expect(link.status.pids).toEqual([pid]);
    clock.advance(1);
    expect(await stuck).toBe('stale');
    expect(isAlive(pid)).toBe(false);
    await restart(link, clock);
    expect(await behind).toBe('behind');
  });

  it('kills an engine that closed its channel and lives on', async () => {
    const { link, clock } = open();
    await link.start();
    const [pid = 0] = link.status.pids;
    const lost = outcome(say(link, 'deaf', 'partial'));
    await eventually(() => expect(link.status.ready).toBe(0));
    expect(isAlive(pid)).toBe(true);
    clock.advance(1000);
    expect(await lost).toBe('stale');
    expect(isAlive(pid)).toBe(false);
  });

  it('leaves an engine alone that has no work, however long it is silent', async () => {
    const { link, clock } = open();
    await link.start();
    const pid = await say(link, 'pid');
    clock.advance(3_600_000);
    expect(await say(link, 'pid')).toBe(pid);
  });
});

describe('Link: order', () => {
  it('hands over what waited in the order of urgency', async () => {
    const { link } = open();
    const answers = [say(link, 'd', 'batch'), say(link, 'c', 'partial'), say(link, 'b', 'eager'), say(link, 'a', 'final')];
    const detected = link.detect({ samples: new Int16Array(512), state: null });
    expect(await Promise.all(answers)).toEqual(['d', 'c', 'b', 'a']);
    await detected;
    expect(await say(link, 'seen')).toBe('detect:1 a:final b:eager c:partial d:batch seen:final');
  });

  it('hands over batch jobs one at a time, live jobs at once', async () => {
    const { link } = open();
    await link.start();
    const batch = ['hold', 'second'].map((word) => say(link, word, 'batch'));
    expect(await say(link, 'seen')).toBe('hold:batch seen:final');
    await say(link, 'release');
    expect(await Promise.all(batch)).toEqual(['released', 'second']);
  });

  it('gives a live job to the engine with the least live work', async () => {
    const { link } = open({ workers: 2 });
    await link.start();
    await eventually(() => expect(link.status.ready).toBe(2));
    const abort = new AbortController();
    const held = outcome(say(link, 'hold', 'final', { signal: abort.signal }));
    const free = await say(link, 'pid');
    expect(await say(link, 'pid', 'partial')).toBe(free);
    expect(await say(link, 'pid', 'batch')).toBe(free);
    abort.abort();
    expect(await held).toBe('cancelled');
  });

  it('judges the windows of many tracks in one job', async () => {
    const { link, clock } = open();
    const [first, ...others] = [100, 200, 300, 400].map((level) => link.detect({ samples: new Int16Array(512).fill(level), state: null }));
    await first;
    clock.advance(5);
    const levels = (await Promise.all(others)).map(({ probabilities }) => probabilities[0]?.toFixed(1));
    expect(levels).toEqual(['0.2', '0.3', '0.4']);
    expect(await say(link, 'seen')).toBe('detect:1 detect:3 seen:final');
  });

  it('fails a partial as stale when no engine is ready in time', async () => {
    const { link, clock } = open({ engineSettings: NEVER_READY });
    const partial = outcome(say(link, 'late', 'partial', { dueInMs: 300 }));
    clock.advance(300);
    expect(await partial).toBe('stale');
  });

  it('keeps a bounded queue: partials go first, then newcomers are refused', async () => {
    const { link, clock } = open({ engineSettings: NEVER_READY });
    const partial = outcome(say(link, 'partial', 'partial'));
    const finals = Array.from({ length: 513 }, () => outcome(say(link, 'final')));
    expect(await partial).toBe('stale');
    expect(await finals[512]).toBe('unavailable');
    await link.close();
    expect(new Set(await Promise.all(finals))).toEqual(new Set(['unavailable']));
    expect(clock.pending).toBe(0);
  });

  it('is loaded by live jobs alone', async () => {
    const { link } = open();
    await say(link, 'piece', 'batch');
    expect(link.load).toBe(0);
    await say(link, 'word');
    expect(link.load).toBeCloseTo(10 / 5000);
  });

  it('counts what jobs waited and ran, by urgency', async () => {
    const { link, metrics } = open();
    await say(link, 'word', 'eager');
    const text = await metrics.registry.metrics();
    expect(text).toContain('trunkline_engine_run_seconds_sum{urgency="eager"} 0.01');
    expect(text).toContain('trunkline_engine_wait_seconds_count{urgency="eager"} 1');
  });
});

describe('Link: cancelling', () => {
  it('takes a waiting job out of the queue', async () => {
    const { link, clock } = open({ engineSettings: NEVER_READY });
    const abort = new AbortController();
    const waiting = outcome(say(link, 'word', 'partial', { signal: abort.signal }));
    abort.abort();
    expect(await waiting).toBe('cancelled');
    await link.close();
    expect(clock.pending).toBe(0);
  });

  it('tells the engine to forget a job in flight', async () => {
    const { link } = open();
    await link.start();
    const abort = new AbortController();
    const held = outcome(say(link, 'hold', 'eager', { signal: abort.signal }));
    abort.abort();
    expect(await held).toBe('cancelled');
    expect(await say(link, 'seen')).toBe('hold:eager cancelled seen:final');
  });

  it('does not send a cancelled job again', async () => {
    const { link, clock, metrics } = open();
    await link.start();
    const abort = new AbortController();
    const held = outcome(say(link, 'hang', 'final', { signal: abort.signal }));
    abort.abort();
    killEngine(link);
    expect(await held).toBe('cancelled');
    await restart(link, clock);
    expect(await say(link, 'seen')).toBe('seen:final');
    expect(await count(metrics, 'trunkline_engine_jobs_resent_total')).toBe(0);
  });

  it('sends nothing for a signal that was aborted before', async () => {
    const { link } = open();
    expect(await outcome(say(link, 'word', 'final', { signal: AbortSignal.abort() }))).toBe('cancelled');
    expect(link.status.state).toBe('stopped');
  });
});

describe('Link: closing', () => {
  it('lets the engine finish what it has, refuses what waits, and leaves no process and no timer', async () => {
    const { link, clock } = open({ workers: 2, idleMs: 60_000 });
    await link.start();
    await eventually(() => expect(link.status.ready).toBe(2));
    const inFlight = [say(link, 'hold', 'batch'), say(link, 'hold', 'batch'), say(link, 'hold')];
    const waiting = outcome(say(link, 'word', 'batch'));
    const { pids } = link.status;
    const closed = link.close();
    expect(await waiting).toBe('unavailable');
    expect(await outcome(say(link, 'late'))).toBe('unavailable');
    await expect(link.detect({ samples: new Int16Array(512), state: null })).rejects.toMatchObject({ code: 'unavailable' });
    expect(await Promise.all(inFlight)).toEqual(['released', 'released', 'released']);
    await closed;
    expect(pids.map(isAlive)).toEqual([false, false]);
    expect(link.status).toMatchObject({ state: 'stopped', pids: [] });
    expect(clock.pending).toBe(0);
  });

  it('kills an engine that does not drain within 5 s and refuses what it had', async () => {
    const { link, clock } = open({ engineSettings: IGNORES_DRAIN });
    await link.start();
    const [pid = 0] = link.status.pids;
    const inFlight = outcome(say(link, 'hold'));
    const closed = link.close();
    clock.advance(4999);
    expect(isAlive(pid)).toBe(true);
    clock.advance(1);
    await closed;
    expect(await inFlight).toBe('unavailable');
    expect(isAlive(pid)).toBe(false);
    expect(clock.pending).toBe(0);
  });

  it('does not wait for an engine that is still loading', async () => {
    const lines: string[] = [];
    const log = createLog('warn', { write: (line) => lines.push(line) });
    const { link, clock } = open({ engineSettings: NEVER_READY, log });
    const started = expect(link.start()).rejects.toMatchObject({ code: 'unavailable' });
    const [pid = 0] = link.status.pids;
    await link.close();
    await started;
    expect(isAlive(pid)).toBe(false);
    expect(lines).toEqual([]);
    expect(clock.pending).toBe(0);
  });

  it('starts nothing afterwards', async () => {
    const { link, clock } = open({ engineSettings: DIES_LOADING });
    link.wake();
    await eventually(() => expect(link.status.pids).toEqual([]));
    await link.close();
    clock.advance(60_000);
    link.wake();
    await expect(link.start()).rejects.toMatchObject({ code: 'unavailable' });
    expect(link.status).toMatchObject({ state: 'stopped', pids: [] });
  });
});
