/** Models that have a row in the table are seen by the gateway, without anything else that names them. */
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { VAD_WINDOW_SAMPLES } from '../../engine/contract.ts';
import { EngineClient } from '../../src/engine-client/engine-client.ts';
import { systemClock } from '../../src/foundation/clock.ts';
import { createLog } from '../../src/foundation/log/log.ts';
import { Metrics } from '../../src/foundation/metrics.ts';
import { TONE } from '../engine/settings.ts';
import { tone } from '../engine/speech.ts';
import { ADDED_NAMES } from '../fakes/added-models.ts';

let engineClient: EngineClient;

beforeEach(() => {
  engineClient = new EngineClient({
    engineSettings: { ...TONE, ...ADDED_NAMES },
    workers: 1,
    idleMs: 0,
    entry: fileURLToPath(new URL('../fakes/engine-with-added-models.mjs', import.meta.url)),
    clock: systemClock,
    log: createLog('silent'),
    metrics: new Metrics(),
    onRefused: () => undefined,
  });
});

afterEach(() => engineClient.close());

it('knows their languages, abilities and voices once an engine is ready', async () => {
  expect([engineClient.languages, engineClient.abilities, engineClient.voices]).toEqual([[], null, []]);
  expect(engineClient.turnModel).toBeNull();
  await engineClient.start();
  expect(engineClient.languages).toEqual(['en', 'de', 'ja', 'ar']);
  expect(engineClient.abilities).toMatchObject({ wordTimes: false, languageGuess: true });
  expect(engineClient.voices).toMatchObject([{ name: 'hum', language: 'de-AT', rateHz: 8000 }]);
  expect(engineClient.turnModel).toBe('undecided-1');
  expect(engineClient.status.models).toEqual({ asr: 'two-languages-1', vad: 'always-1', tts: 'hummer-1' });
});

it('transcribes, detects, decides and speaks with them', async () => {
  const samples = tone(400, 320);
  expect(await engineClient.transcribe({ samples, urgency: 'final', dueInMs: 100, draft: [] })).toMatchObject({
    text: 'ja',
    language: 'de',
  });
  const named = { samples, urgency: 'final', dueInMs: 100, draft: [], language: 'ja', hotWords: ['Müller'] } as const;
  const { text, language } = await engineClient.transcribe(named);
  expect([text, language]).toEqual(['はい、お願いします。 Müller', undefined]);
  const window = samples.subarray(0, VAD_WINDOW_SAMPLES);
  expect((await engineClient.detect({ samples: window, state: null })).probabilities).toEqual(Float32Array.of(1));
  expect(await engineClient.turn({ samples, dueInMs: 200 })).toMatchObject({ probability: 0.5, cost: { runs: 2 } });
  const speech = await engineClient.speak({ text: 'Servus', voice: 'hum', speed: 1, urgency: 'speak', dueInMs: 100 });
  expect(speech).toMatchObject({ rateHz: 8000, samples: { length: 6 } });
});
