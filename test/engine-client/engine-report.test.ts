import { afterEach, describe, expect, it } from 'vitest';
import { closeEngineClients, killEngine, open, restart, say } from '../helpers/engine-client.ts';
import { eventually } from '../helpers/eventually.ts';

afterEach(closeEngineClients);

describe('the report of engines', () => {
  it('says how each engine is before and after its start', async () => {
    const { engineClient } = open();
    expect(engineClient.report.engines).toEqual([
      { role: 'live', state: 'stopped', pid: null, busyShare: 0, jobs: 0, restarts: 0, lastRestart: null },
    ]);
    await engineClient.start();
    expect(engineClient.report.engines[0]).toMatchObject({ state: 'ready', pid: engineClient.status.pids[0] });
  });

  it('counts the jobs of each urgency, with and without an engine', async () => {
    const { engineClient } = open();
    const early = say(engineClient, 'early');
    const queueOf = (urgency: string) => engineClient.report.queue.find((each) => each.urgency === urgency);
    expect(queueOf('final')).toEqual({ urgency: 'final', waiting: 1, assigned: 0 });
    await early;
    const held = say(engineClient, 'hold', 'eager');
    expect(queueOf('eager')).toEqual({ urgency: 'eager', waiting: 0, assigned: 1 });
    expect(engineClient.report.engines[0]).toMatchObject({ jobs: 1 });
    await say(engineClient, 'release');
    await held;
  });

  it('measures how busy an engine is by the runs of its answers', async () => {
    const { engineClient, clock } = open();
    await engineClient.start();
    for (let n = 0; n < 10; n++) await say(engineClient, 'word');
    expect(engineClient.report.engines[0]?.busyShare).toBeCloseTo(100 / 5000);
    clock.advance(6000);
    expect(engineClient.report.engines[0]?.busyShare).toBe(0);
  });

  it('says how often an engine was started again, when and why', async () => {
    const { engineClient, clock } = open();
    await engineClient.start();
    const at = clock.wall();
    killEngine(engineClient);
    await restart(engineClient, clock);
    await eventually(() => expect(engineClient.report.engines[0]?.state).toBe('ready'));
    const [engine] = engineClient.report.engines;
    expect(engine).toMatchObject({ restarts: 1, lastRestart: { at, reason: 'was ended by SIGKILL' } });
  });
});
