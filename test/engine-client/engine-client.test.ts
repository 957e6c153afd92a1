import { afterEach, describe, expect, it } from 'vitest';
import { createLog } from '../../src/foundation/log/log.ts';
import {
  closeEngineClients,
  count,
  DIES_LOADING,
  IGNORES_DRAIN,
  killEngine,
  LOADS_SLOWLY,
  NEVER_READY,
  open,
  outcome,
  restart,
  SETTINGS,
  say,
  withoutNode,
} from '../helpers/engine-client.ts';
import { eventually } from '../helpers/eventually.ts';
import { isAlive } from '../helpers/processes.ts';

afterEach(closeEngineClients);

describe('EngineClient: engines come and go', () => {
  it('is ready when the first engine is, and tells what it runs', async () => {
    const { engineClient, metrics } = open({ workers: 2 });
    expect(engineClient.status).toMatchObject({
      state: 'stopped',
      ready: 0,
      workers: 2,
      provider: null,
      models: null,
      pids: [],
    });
    const started = engineClient.start();
    expect(engineClient.status.state).toBe('starting');
    await started;
    expect(engineClient.status).toMatchObject({
      state: 'ready',
      provider: 'cpu',
      models: { asr: 'tone', vad: 'tone', tts: 'tone' },
    });
    await eventually(() => expect(engineClient.status.ready).toBe(2));
    expect(await count(metrics, 'trunkline_engines_ready')).toBe(2);
  });

  it('starts the engines for the first job', async () => {
    const { engineClient } = open();
    expect(await say(engineClient, 'hello')).toBe('hello');
    expect(engineClient.status.state).toBe('ready');
  });

  it('stops them after idleMs without work and starts them for the next job', async () => {
    const { engineClient, clock } = open({ idleMs: 60_000 });
    const firstPid = await say(engineClient, 'pid');
    clock.advance(59_999);
    expect(engineClient.status.state).toBe('ready');
    clock.advance(1);
    expect(engineClient.status).toMatchObject({ state: 'stopped', ready: 0 });
    await eventually(() => expect(engineClient.status.pids).toEqual([]));
    expect(isAlive(Number(firstPid))).toBe(false);
    expect(await say(engineClient, 'pid')).not.toBe(firstPid);
  });

  it('does not stop one that still loads its models, and lets it wait for work once it is ready', async () => {
    const { engineClient, clock } = open({ idleMs: 1000 });
    const started = engineClient.start();
    clock.advance(5500);
    expect(engineClient.status.state).toBe('starting');
    await started;
    clock.advance(999);
    expect(engineClient.status.state).toBe('ready');
    clock.advance(1000);
    expect(engineClient.status.state).toBe('stopped');
  });

  it('does not wait for an idle engine to be gone before it starts another', async () => {
    const { engineClient, clock } = open({ idleMs: 60_000, engineSettings: IGNORES_DRAIN });
    await engineClient.start();
    clock.advance(60_000);
    engineClient.wake();
    expect(engineClient.status.state).toBe('starting');
    expect(engineClient.status.pids).toHaveLength(2);
    await engineClient.start();
    clock.advance(5000);
    await eventually(() => expect(engineClient.status.pids).toHaveLength(1));
    expect(engineClient.status.state).toBe('ready');
  });

  it('does not stop an engine that works', async () => {
    const { engineClient, clock } = open({ idleMs: 1000 });
    await engineClient.start();
    const held = say(engineClient, 'hold');
    clock.advance(1000);
    expect(await say(engineClient, 'release')).toBe('release');
    expect(await held).toBe('released');
  });

  it('does not stop an engine while work is likely to come', async () => {
    const { engineClient, clock } = open({ idleMs: 1000 });
    let isCall = true;
    engineClient.keepWhile(() => isCall);
    await engineClient.start();
    clock.advance(60_000);
    expect(engineClient.status.state).toBe('ready');
    isCall = false;
    clock.advance(999);
    expect(engineClient.status.state).toBe('ready');
    clock.advance(1001);
    expect(engineClient.status.state).toBe('stopped');
  });

  it('reports a refusal once, fails everything that waits, and does not try again', async () => {
    const engineSettings = { ...SETTINGS, executionProvider: 'cuda' } as const;
    const { engineClient, clock, refusals, metrics } = open({ workers: 2, engineSettings });
    const waiting = outcome(say(engineClient, 'hello'));
    await expect(engineClient.start()).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('npm run gpu:install'),
    });
    expect(await waiting).toBe('unavailable');
    await eventually(() => expect(engineClient.status.pids).toEqual([]));
    clock.advance(60_000);
    expect(engineClient.status).toMatchObject({ state: 'failed', pids: [] });
    expect(refusals).toEqual(['CUDA libraries are missing: run npm run gpu:install']);
    expect(await outcome(say(engineClient, 'hello'))).toBe('unavailable');
    expect(await count(metrics, 'trunkline_engine_restarts_total')).toBe(0);
  });

  it('takes exit code 42 without a word as a refusal', async () => {
    const { engineClient, refusals } = open({
      engineSettings: { ...SETTINGS, executionProvider: 'cuda', cudaDevice: 1 },
    });
    await expect(engineClient.start()).rejects.toMatchObject({ code: 'unavailable' });
    expect(refusals).toHaveLength(1);
  });

  it('tries again with longer and longer waits when engines die while loading, and keeps nobody waiting after five', async () => {
    const { engineClient, clock } = open({ engineSettings: DIES_LOADING });
    const started = outcome(engineClient.start().then(() => 'ready'));
    const waiting = outcome(say(engineClient, 'hello'));
    for (const backoffMs of [100, 200, 400, 800]) {
      await restart(engineClient, clock, backoffMs - 1);
      expect(engineClient.status.pids).toEqual([]);
      clock.advance(1);
      expect(engineClient.status.pids).toHaveLength(1);
    }
    expect(await Promise.all([started, waiting])).toEqual(['unavailable', 'unavailable']);
    expect(engineClient.status.state).toBe('starting');
  });

  it('takes a process that the system cannot start for one that died, and forgets about it once an engine was ready', async () => {
    const { engineClient, clock, metrics } = open();
    let restarts = 0;
    const failToStart = async (begin: () => void, nextBackoffMs: number) => {
      withoutNode(begin);
      restarts++;
      await eventually(async () => expect(await count(metrics, 'trunkline_engine_restarts_total')).toBe(restarts));
      return () => clock.advance(nextBackoffMs);
    };
    let begin: () => void = () => engineClient.wake();
    for (const backoffMs of [100, 200, 400, 800]) begin = await failToStart(begin, backoffMs);
    const waiting = say(engineClient, 'hello');
    begin();
    expect(await waiting).toBe('hello');

    killEngine(engineClient);
    restarts++;
    await restart(engineClient, clock, 0);
    const patient = say(engineClient, 'hello');
    begin = await failToStart(() => clock.advance(1600), 3200);
    begin();
    expect(await patient).toBe('hello');
  });

  it('kills an engine that makes no progress with its start, and says where it was', async () => {
    const lines: string[] = [];
    const said: string[] = [];
    const log = createLog('warn', { write: (line) => lines.push(line) });
    const watcher = { onProgress: (text: string) => said.push(text), onReady: () => undefined };
    const { engineClient, clock } = open({ engineSettings: LOADS_SLOWLY, log, watcher });
    engineClient.wake();
    const [pid = 0] = engineClient.status.pids;
    clock.advance(50_000);
    await eventually(() => expect(said).toEqual(['the other models take a while']));
    clock.advance(50_000);
    expect(engineClient.status.pids).toEqual([pid]);
    process.kill(pid, 'SIGSTOP');
    clock.advance(70_000);
    await eventually(() => expect(isAlive(pid)).toBe(false));
    expect(engineClient.status.pids).not.toContain(pid);
    expect(lines.join()).toContain('made no progress for 60000 ms while it loaded (the other models)');
    expect(engineClient.status.state).toBe('starting');
  });
});

describe('EngineClient: closing', () => {
  it('lets the engine finish what it has, refuses what waits, and leaves no process and no timer', async () => {
    const { engineClient, clock } = open({ workers: 2, idleMs: 60_000 });
    await engineClient.start();
    await eventually(() => expect(engineClient.status.ready).toBe(2));
    const inFlight = [
      say(engineClient, 'hold', 'batch'),
      say(engineClient, 'hold', 'batch'),
      say(engineClient, 'hold'),
    ];
    const waiting = outcome(say(engineClient, 'word', 'batch'));
    const { pids } = engineClient.status;
    const closed = engineClient.close();
    expect(await waiting).toBe('unavailable');
    expect(await outcome(say(engineClient, 'late'))).toBe('unavailable');
    await expect(engineClient.detect({ samples: new Int16Array(512), state: null })).rejects.toMatchObject({
      code: 'unavailable',
    });
    expect(await Promise.all(inFlight)).toEqual(['released', 'released', 'released']);
    await closed;
    expect(pids.map(isAlive)).toEqual([false, false]);
    expect(engineClient.status).toMatchObject({ state: 'stopped', pids: [] });
    expect(clock.pending).toBe(0);
  });

  it('kills an engine that does not drain within 5 s and refuses what it had', async () => {
    const { engineClient, clock } = open({ engineSettings: IGNORES_DRAIN });
    await engineClient.start();
    const [pid = 0] = engineClient.status.pids;
    const inFlight = outcome(say(engineClient, 'hold'));
    const closed = engineClient.close();
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
    const { engineClient, clock } = open({ engineSettings: NEVER_READY, log });
    const started = expect(engineClient.start()).rejects.toMatchObject({ code: 'unavailable' });
    const [pid = 0] = engineClient.status.pids;
    await engineClient.close();
    await started;
    expect(isAlive(pid)).toBe(false);
    expect(lines).toEqual([]);
    expect(clock.pending).toBe(0);
  });

  it('starts nothing afterwards', async () => {
    const { engineClient, clock } = open({ engineSettings: DIES_LOADING });
    engineClient.wake();
    await eventually(() => expect(engineClient.status.pids).toEqual([]));
    await engineClient.close();
    clock.advance(60_000);
    engineClient.wake();
    await expect(engineClient.start()).rejects.toMatchObject({ code: 'unavailable' });
    expect(engineClient.status).toMatchObject({ state: 'stopped', pids: [] });
  });
});
