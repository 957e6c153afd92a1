import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { TranscribeRequest } from '../../src/engine-client/engine.ts';
import type { EngineClient } from '../../src/engine-client/engine-client.ts';
import { closeEngineClients, open, outcome, say } from '../helpers/engine-client.ts';
import { eventually } from '../helpers/eventually.ts';

const STREAM = { stream: 7 };

let engineClient: EngineClient;

const pid = (extra: Partial<TranscribeRequest> = {}) => say(engineClient, 'pid', 'final', extra);

/** Keeps the engine that has the stream at work, on something that a final goes before or waits for. */
async function occupy(urgency: TranscribeRequest['urgency']): Promise<void> {
  void outcome(say(engineClient, 'hold', urgency, STREAM));
  await eventually(() => expect(engineClient.report.engines.map(({ jobs }) => jobs)).toContain(1));
}

beforeEach(async () => {
  ({ engineClient } = open({ workers: 2 }));
  await engineClient.start();
  await eventually(() => expect(engineClient.status.ready).toBe(2));
});

afterEach(closeEngineClients);

describe('a stream', () => {
  it('stays with its engine while that costs less than what it remembers', async () => {
    const place = await pid(STREAM);
    await occupy('eager');
    expect(await pid(STREAM)).toBe(place);
    expect(await pid()).not.toBe(place);
  });

  it('goes to the other one, and stays there, where it would wait as long as it takes', async () => {
    const place = await pid(STREAM);
    await occupy('final');
    const other = await pid(STREAM);
    expect(other).not.toBe(place);
    expect(await pid(STREAM)).toBe(other);
  });

  it('goes to the other one where it would be late', async () => {
    const place = await pid(STREAM);
    await occupy('eager');
    expect(await pid({ ...STREAM, dueInMs: 1 })).not.toBe(place);
  });

  it('goes on elsewhere when its engine dies', async () => {
    const place = await pid(STREAM);
    process.kill(Number(place), 'SIGKILL');
    await eventually(() => expect(engineClient.status.ready).toBe(1));
    expect(await pid(STREAM)).not.toBe(place);
  });
});
