/** Decisions about turns on their way to an engine and back. */
import { afterEach, expect, it } from 'vitest';
import type { EngineClient } from '../../src/engine-client/engine-client.ts';
import { closeEngineClients, NEVER_READY, open, outcome, SETTINGS, say } from '../helpers/engine-client.ts';

afterEach(closeEngineClients);

/** Asks for a decision whose probability the pretend engine reads from the first sample, in thousandths. */
const decide = (engineClient: EngineClient, thousandths: number, signal?: AbortSignal) =>
  engineClient
    .turn({ samples: Int16Array.of(thousandths, 0, 0), dueInMs: 200, ...(signal === undefined ? {} : { signal }) })
    .then(({ probability }) => String(probability));

it('is answered with a probability', async () => {
  const { engineClient } = open({ engineSettings: { ...SETTINGS, turnModel: 'tone' } });
  expect(await decide(engineClient, 250)).toBe('0.25');
  expect(engineClient.turnModel).toBe('tone');
});

it('is given up when no engine is ready in time', async () => {
  const { engineClient, clock } = open({ engineSettings: NEVER_READY });
  const decision = outcome(decide(engineClient, 250));
  clock.advance(200);
  expect(await decision).toBe('stale');
});

it('is cancelled before it is sent', async () => {
  const { engineClient } = open();
  expect(await outcome(decide(engineClient, 250, AbortSignal.abort()))).toBe('cancelled');
  expect(await say(engineClient, 'seen')).not.toContain('turn');
});

it('is no load that must be carried', async () => {
  const { engineClient } = open();
  await decide(engineClient, 250);
  expect(engineClient.load).toBeGreaterThan(0);
  expect(engineClient.firmLoad).toBe(0);
});
