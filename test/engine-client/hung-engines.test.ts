import { afterEach, describe, expect, it } from 'vitest';
import type { EngineClient } from '../../src/engine-client/engine-client.ts';
import { createLog } from '../../src/foundation/log/log.ts';
import { closeEngineClients, count, open, outcome, say } from '../helpers/engine-client.ts';
import { eventually } from '../helpers/eventually.ts';
import { isAlive } from '../helpers/processes.ts';

afterEach(closeEngineClients);

/** So long at most a live job stays with an engine that gives no sign of life. */
const TAKEN_BACK_MS = 2000;
/** Then another engine is started in its place. */
const REPLACED_MS = 3500;

const strays: number[] = [];
afterEach(() => {
  for (const pid of strays.splice(0).filter(isAlive)) process.kill(pid, 'SIGKILL');
});

/** A client whose two engines are ready. Where both are as busy as each other, the first one is given the job. */
async function openTwo() {
  const opened = open({ workers: 2 });
  await opened.engineClient.start();
  await eventually(() => expect(opened.engineClient.status.ready).toBe(2));
  const [first = 0, second = 0] = opened.engineClient.status.pids;
  return { ...opened, first, second };
}

async function openOne() {
  const opened = open();
  await opened.engineClient.start();
  const [pid = 0] = opened.engineClient.status.pids;
  return { ...opened, pid };
}

/** As one does that is stuck in a driver. */
const hang = (pid: number) => process.kill(pid, 'SIGSTOP');

/** Lets `pid` run on, and waits until `ready` engines answer. */
async function goOn(engineClient: EngineClient, pid: number, ready: number): Promise<void> {
  process.kill(pid, 'SIGCONT');
  await eventually(() => expect(engineClient.status.ready).toBe(ready));
}

describe('EngineClient: an engine that hangs while another one answers', () => {
  it.each(['final', 'eager'] as const)(
    'has its jobs taken back within 2 s and given to the other: %s',
    async (urgency) => {
      const { engineClient, clock, metrics, first } = await openTwo();
      hang(first);
      const held = say(engineClient, 'hold', urgency);
      clock.advance(TAKEN_BACK_MS);
      expect(engineClient.status.ready).toBe(1);
      expect(await count(metrics, 'trunkline_engines_ready')).toBe(1);
      expect(await say(engineClient, 'release')).toBe('release');
      expect(await held).toBe('released');
      expect(await count(metrics, 'trunkline_engine_jobs_resent_total')).toBe(1);
      expect(await count(metrics, 'trunkline_engine_restarts_total')).toBe(0);
    },
  );

  it('has speech that somebody waits for taken back', async () => {
    const { engineClient, clock, first } = await openTwo();
    hang(first);
    const spoken = engineClient.speak({ text: 'hello', voice: 'rms', speed: 1, urgency: 'speak', dueInMs: 500 });
    clock.advance(TAKEN_BACK_MS);
    expect((await spoken).samples).toHaveLength(5);
  });

  it('has speech taken back that somebody came to wait for', async () => {
    const { engineClient, clock, first } = await openTwo();
    hang(first);
    const hurry = new AbortController();
    const spoken = engineClient.speak({
      text: 'hello',
      voice: 'rms',
      speed: 1,
      urgency: 'batch',
      dueInMs: 500,
      hurry: hurry.signal,
    });
    clock.advance(TAKEN_BACK_MS);
    expect(engineClient.status.ready).toBe(2);
    hurry.abort();
    clock.advance(250);
    expect((await spoken).samples).toHaveLength(5);
  });

  it('has voice detection taken back with the state that it had, and no other windows wait for those', async () => {
    const { engineClient, clock, first } = await openTwo();
    const detect = () => engineClient.detect({ samples: new Int16Array(512).fill(500), state: Float32Array.of(40) });
    hang(first);
    const held = detect();
    clock.advance(5);
    await detect();
    clock.advance(TAKEN_BACK_MS);
    const { probabilities, state } = await held;
    expect([...probabilities, ...state]).toEqual([0.5, 41]);
  });

  it('loses its partials: newer audio brings newer ones', async () => {
    const { engineClient, clock, metrics, first } = await openTwo();
    hang(first);
    const partial = outcome(say(engineClient, 'hold', 'partial'));
    clock.advance(TAKEN_BACK_MS);
    expect(await partial).toBe('stale');
    await goOn(engineClient, first, 2);
    expect(await say(engineClient, 'seen')).toBe('hold:partial cancelled seen:final');
    expect(await count(metrics, 'trunkline_engine_jobs_resent_total')).toBe(0);
  });

  it('is given nothing until it answers', async () => {
    const { engineClient, clock, first, second } = await openTwo();
    hang(first);
    const held = say(engineClient, 'hold');
    clock.advance(TAKEN_BACK_MS);
    const pids = await Promise.all([1, 2, 3, 4].map(() => say(engineClient, 'pid')));
    expect(new Set(pids)).toEqual(new Set([String(second)]));
    await goOn(engineClient, first, 2);
    await say(engineClient, 'release');
    expect(await held).toBe('released');
  });

  it('was slow when it answers first: that answer counts, and the other forgets the job', async () => {
    const { engineClient, clock, first } = await openTwo();
    hang(first);
    const held = say(engineClient, 'hold');
    clock.advance(TAKEN_BACK_MS);
    await goOn(engineClient, first, 2);
    await say(engineClient, 'release');
    expect(await held).toBe('released');
    const abort = new AbortController();
    const busy = outcome(say(engineClient, 'hold', 'final', { signal: abort.signal }));
    await eventually(async () => expect(await say(engineClient, 'seen')).toContain('cancelled'));
    abort.abort();
    expect(await busy).toBe('cancelled');
  });

  it('cannot fail a job that the other has by then', async () => {
    const { engineClient, clock, first } = await openTwo();
    hang(first);
    const held = outcome(say(engineClient, 'hold'));
    clock.advance(TAKEN_BACK_MS);
    await goOn(engineClient, first, 2);
    await say(engineClient, 'fail');
    const abort = new AbortController();
    const busy = [1, 2].map(() => outcome(say(engineClient, 'hold', 'final', { signal: abort.signal })));
    await say(engineClient, 'release');
    expect(await held).toBe('released');
    abort.abort();
    expect(await Promise.all(busy)).toEqual(['cancelled', 'cancelled']);
  });

  it('may hang as well: then nothing is handed from one to the other', async () => {
    const { engineClient, clock, metrics, first, second } = await openTwo();
    hang(first);
    hang(second);
    const held = [say(engineClient, 'hold'), say(engineClient, 'hold')];
    clock.advance(TAKEN_BACK_MS);
    expect(engineClient.status).toMatchObject({ state: 'starting', ready: 0 });
    expect(await count(metrics, 'trunkline_engine_jobs_resent_total')).toBe(2);
    await goOn(engineClient, first, 1);
    expect(await say(engineClient, 'seen')).toBe('hold:final hold:final seen:final');
    await say(engineClient, 'release');
    expect(await Promise.all(held)).toEqual(['released', 'released']);
  });

  it('keeps recordings for 15 s, then it is killed and the other is given them', async () => {
    const { engineClient, clock, first } = await openTwo();
    hang(first);
    const piece = say(engineClient, 'piece', 'batch');
    clock.advance(15_000);
    expect(isAlive(first)).toBe(true);
    clock.advance(1000);
    expect(await piece).toBe('piece');
    expect(engineClient.status.pids).not.toContain(first);
  });
});

describe('EngineClient: the only engine hangs', () => {
  it('keeps the job, and is not given it twice, when it answers again', async () => {
    const { engineClient, clock, pid } = await openOne();
    hang(pid);
    const held = say(engineClient, 'hold');
    clock.advance(TAKEN_BACK_MS);
    const started = engineClient.start();
    await goOn(engineClient, pid, 1);
    await started;
    expect(await say(engineClient, 'seen')).toBe('hold:final seen:final');
    await say(engineClient, 'release');
    expect(await held).toBe('released');
  });

  it('is replaced after 3 s, and killed when it has not answered 5 s later', async () => {
    const { engineClient, clock, metrics, pid } = await openOne();
    hang(pid);
    const waiting = say(engineClient, 'word');
    clock.advance(REPLACED_MS);
    clock.advance(100);
    expect(await waiting).toBe('word');
    expect(await count(metrics, 'trunkline_engine_restarts_total')).toBe(1);
    expect(engineClient.status).toMatchObject({ state: 'ready', ready: 1 });
    expect(isAlive(pid)).toBe(true);
    clock.advance(5000);
    await eventually(() => expect(engineClient.status.pids).toHaveLength(1));
    expect(isAlive(pid)).toBe(false);
    expect(engineClient.status.pids).not.toContain(pid);
    expect(await count(metrics, 'trunkline_engine_restarts_total')).toBe(1);
    expect(await count(metrics, 'trunkline_engine_jobs_resent_total')).toBe(1);
  });

  it('may still answer what it has when it was replaced', async () => {
    const { engineClient, clock, pid } = await openOne();
    hang(pid);
    const waiting = say(engineClient, 'pid');
    clock.advance(REPLACED_MS);
    process.kill(pid, 'SIGCONT');
    expect(await waiting).toBe(String(pid));
    await eventually(() => expect(engineClient.status.pids).toEqual([]));
    clock.advance(100);
    expect(await say(engineClient, 'seen')).toBe('seen:final');
  });

  it('is not suspected when the gateway itself stood still', async () => {
    const { engineClient, clock, pid } = await openOne();
    const held = say(engineClient, 'hold');
    clock.stall(60_000);
    clock.stall(60_000);
    expect(engineClient.status).toMatchObject({ ready: 1, pids: [pid] });
    await say(engineClient, 'release');
    expect(await held).toBe('released');
  });

  it('is given up when it cannot even be killed', async () => {
    const lines: string[] = [];
    const { engineClient, clock } = open({ log: createLog('warn', { write: (line) => lines.push(line) }) });
    await engineClient.start();
    const stuck = outcome(say(engineClient, 'cling', 'partial'));
    await eventually(() => expect(lines.join('')).toMatch(/keeper \d+/));
    strays.push(Number(/keeper (\d+)/.exec(lines.join(''))?.[1]));
    const [pid = 0] = engineClient.status.pids;
    const waiting = say(engineClient, 'word');
    clock.advance(REPLACED_MS);
    expect(await stuck).toBe('stale');
    clock.advance(100);
    expect(await waiting).toBe('word');
    clock.advance(5000);
    await eventually(() => expect(isAlive(pid)).toBe(false));
    expect(engineClient.status.pids).toContain(pid);
    clock.advance(1000);
    expect(engineClient.status.pids).not.toContain(pid);
    await engineClient.close();
    expect(clock.pending).toBe(0);
  });
});
