import { afterEach, describe, expect, it } from 'vitest';
import { createLog } from '../../src/foundation/log/log.ts';
import { closeEngineClients, killEngine, open, restart, SETTINGS, say } from '../helpers/engine-client.ts';
import { eventually } from '../helpers/eventually.ts';

afterEach(closeEngineClients);

describe('the report of engines', () => {
  it('says how each engine is before and after its start', async () => {
    const { engineClient } = open();
    expect(engineClient.report.engines).toEqual([
      {
        role: 'live',
        state: 'stopped',
        pid: null,
        device: null,
        busyShare: 0,
        jobs: 0,
        restarts: 0,
        lastRestart: null,
      },
    ]);
    await engineClient.start();
    const pid = engineClient.status.pids[0];
    expect(engineClient.report.engines[0]).toMatchObject({ state: 'ready', pid, device: 'cpu' });
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

describe('engines on several GPUs', () => {
  const ON_GPUS = { engineSettings: { ...SETTINGS, executionProvider: 'auto' as const }, workers: 4 };
  const devicesOf = (engineClient: ReturnType<typeof open>['engineClient']) =>
    engineClient.report.engines.map(({ device }) => device);

  it('take turns with them', async () => {
    const { engineClient } = open({ ...ON_GPUS, cudaDevices: [0, 2, 3] });
    await engineClient.start();
    await eventually(() => expect(devicesOf(engineClient)).toEqual(['cuda:0', 'cuda:2', 'cuda:3', 'cuda:0']));
    expect(engineClient.status).toMatchObject({ provider: 'cuda', devices: ['cuda:0', 'cuda:2', 'cuda:3'] });
  });

  it('keep theirs when they are started again', async () => {
    const { engineClient, clock } = open({ ...ON_GPUS, workers: 2, cudaDevices: [3, 2] });
    await engineClient.start();
    await eventually(() => expect(devicesOf(engineClient)).toEqual(['cuda:3', 'cuda:2']));
    for (const pid of engineClient.status.pids) process.kill(pid, 'SIGKILL');
    await restart(engineClient, clock);
    await eventually(() => expect(devicesOf(engineClient)).toEqual(['cuda:3', 'cuda:2']));
  });

  it('run on the CPU where theirs is broken, and say so once', async () => {
    const lines: string[] = [];
    const log = createLog('warn', { write: (line: string) => void lines.push(line) });
    const { engineClient } = open({ ...ON_GPUS, cudaDevices: [0, 1], log });
    await engineClient.start();
    await eventually(() => expect(devicesOf(engineClient)).toEqual(['cuda:0', 'cpu', 'cuda:0', 'cpu']));
    expect(engineClient.status.devices).toEqual(['cuda:0', 'cpu']);
    expect(lines.filter((line) => line.includes('CUDA device 1 cannot be used'))).toHaveLength(1);
  });
});
