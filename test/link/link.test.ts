import { describe, expect, it } from 'vitest';
import { createLog } from '../../src/log.ts';
import { eventually } from '../helpers/eventually.ts';
import {
  count,
  DIES_LOADING,
  IGNORES_DRAIN,
  killEngine,
  NEVER_READY,
  open,
  outcome,
  restart,
  SETTINGS,
  say,
  withoutNode,
} from '../helpers/link.ts';
import { isAlive } from '../helpers/processes.ts';

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
    clock.advance(1000);
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
