import { describe, expect, it } from 'vitest';
import { eventually } from '../helpers/eventually.ts';
import { count, killEngine, open, outcome, restart, say } from '../helpers/link.ts';
import { isAlive } from '../helpers/processes.ts';

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
