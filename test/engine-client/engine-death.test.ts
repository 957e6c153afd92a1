import { afterEach, describe, expect, it } from 'vitest';
import { closeEngineClients, count, killEngine, open, outcome, restart, say } from '../helpers/engine-client.ts';
import { eventually } from '../helpers/eventually.ts';
import { isAlive } from '../helpers/processes.ts';

afterEach(closeEngineClients);

describe('EngineClient: the death of an engine', () => {
  it('sends the jobs in flight again and nobody notices', async () => {
    const { engineClient, clock, metrics } = open();
    await engineClient.start();
    const held = (['final', 'eager', 'batch'] as const).map((urgency) => say(engineClient, 'hold', urgency));
    const pid = killEngine(engineClient);
    await restart(engineClient, clock);
    await engineClient.start();
    expect(engineClient.status.pids).not.toContain(pid);
    expect(await say(engineClient, 'release')).toBe('release');
    expect(await Promise.all(held)).toEqual(['released', 'released', 'released']);
    expect(await count(metrics, 'trunkline_engine_jobs_resent_total')).toBe(3);
    expect(await count(metrics, 'trunkline_engine_restarts_total')).toBe(1);
  });

  it('sends them to another engine at once when there is one', async () => {
    const { engineClient } = open({ workers: 2 });
    await engineClient.start();
    await eventually(() => expect(engineClient.status.ready).toBe(2));
    const lost = say(engineClient, 'hold');
    const other = await say(engineClient, 'pid');
    const victim = engineClient.status.pids.find((pid) => String(pid) !== other) ?? 0;
    process.kill(victim, 'SIGKILL');
    await eventually(() => expect(engineClient.status.pids).toEqual([Number(other)]));
    expect(await say(engineClient, 'release')).toBe('release');
    expect(await lost).toBe('released');
  });

  it('sends voice detection again with the state that it had', async () => {
    const { engineClient, clock } = open();
    await engineClient.start();
    const samples = new Int16Array(1024).fill(500, 0, 512).fill(250, 512);
    const detected = engineClient.detect({ samples, state: Float32Array.of(40) });
    killEngine(engineClient);
    await restart(engineClient, clock);
    const { probabilities, state } = await detected;
    expect([...probabilities]).toEqual([0.5, 0.25]);
    expect([...state]).toEqual([42]);
  });

  it('fails partials as stale: newer audio brings newer ones', async () => {
    const { engineClient, metrics } = open();
    await engineClient.start();
    const partial = outcome(say(engineClient, 'hold', 'partial'));
    killEngine(engineClient);
    expect(await partial).toBe('stale');
    expect(await count(metrics, 'trunkline_engine_jobs_resent_total')).toBe(0);
  });

  it('gives up a job that kills three engines and saves the jobs that travelled with it', async () => {
    const { engineClient, clock, metrics } = open();
    await engineClient.start();
    const poison = outcome(say(engineClient, 'die'));
    const innocent = [say(engineClient, 'one'), say(engineClient, 'two')];
    for (const backoffMs of [100, 200, 400]) await restart(engineClient, clock, backoffMs);
    expect(await poison).toBe('unavailable');
    expect(await Promise.all(innocent)).toEqual(['one', 'two']);
    expect(await count(metrics, 'trunkline_engine_restarts_total')).toBe(3);
  });

  it('gives nothing else to an engine that has a job on its last chance', async () => {
    const { engineClient, clock } = open();
    await engineClient.start();
    const abort = new AbortController();
    const held = outcome(say(engineClient, 'hold', 'final', { signal: abort.signal }));
    for (const backoffMs of [100, 200]) {
      killEngine(engineClient);
      await restart(engineClient, clock, backoffMs);
      await engineClient.start();
    }
    const seen = say(engineClient, 'seen');
    abort.abort();
    expect(await held).toBe('cancelled');
    expect(await seen).toBe('hold:final cancelled seen:final');
  });

  it('gives a job its last chance only on an engine that has nothing else', async () => {
    const { engineClient, clock } = open();
    await engineClient.start();
    const abort = new AbortController();
    const suspect = outcome(say(engineClient, 'hold', 'eager', { signal: abort.signal }));
    killEngine(engineClient);
    await restart(engineClient, clock, 100);
    await engineClient.start();
    killEngine(engineClient);
    await eventually(() => expect(engineClient.status.pids).toEqual([]));
    const urgent = say(engineClient, 'hold', 'final');
    clock.advance(200);
    await engineClient.start();
    expect(await say(engineClient, 'seen')).toBe('hold:final seen:final');
    expect(await say(engineClient, 'release')).toBe('release');
    expect(await urgent).toBe('released');
    const next = say(engineClient, 'seen', 'batch');
    abort.abort();
    expect(await next).toBe('hold:final seen:final release:final hold:eager cancelled seen:batch');
    expect(await suspect).toBe('cancelled');
  });

  it('takes an exit that nobody asked for as a death', async () => {
    const { engineClient, clock } = open();
    await engineClient.start();
    const lost = outcome(say(engineClient, 'quit', 'partial'));
    expect(await lost).toBe('stale');
    await restart(engineClient, clock);
    expect(await say(engineClient, 'back')).toBe('back');
  });

  it('kills an engine that closed its channel and lives on', async () => {
    const { engineClient, clock } = open();
    await engineClient.start();
    const [pid = 0] = engineClient.status.pids;
    const lost = outcome(say(engineClient, 'deaf', 'partial'));
    await eventually(() => expect(engineClient.status.ready).toBe(0));
    expect(isAlive(pid)).toBe(true);
    clock.advance(1000);
    expect(await lost).toBe('stale');
    expect(isAlive(pid)).toBe(false);
  });

  it('leaves an engine alone that has no work, however long it is silent', async () => {
    const { engineClient, clock } = open();
    await engineClient.start();
    const pid = await say(engineClient, 'pid');
    clock.advance(3_600_000);
    expect(await say(engineClient, 'pid')).toBe(pid);
  });
});
