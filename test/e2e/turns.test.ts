/** Turns of a caller as an app gets them, through a whole gateway, on a turn model that goes by the last tone. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { systemClock } from '../../src/foundation/clock.ts';
import { MULAW_8K, msToSamples } from '../../src/foundation/units.ts';
import { TwilioCaller } from '../../src/simulator/twilio-caller.ts';
import { startApp, type TestApp } from '../helpers/app.ts';
import { type GatewayProcess, startGateway } from '../helpers/gateway.ts';

/** The turn model has more than a second to answer on a busy machine, and a turn is held as long again. */
const TIMES = { ENDPOINT_MS: '1500', TURN_HOLD_MS: '3000' };
const TONE = { ASR_MODEL: 'tone', VAD_MODEL: 'tone', TTS_MODEL: 'tone', TURN_MODEL: 'tone', ...TIMES };
/** The tone turn model takes the first for the middle of a sentence, the second for its end. */
const ALPHA_HZ = 400;
const LIMA_HZ = 2600;
const TONE_MS = 600;
/** Longer than the silence that ends an utterance, and far from what a turn is held. */
const PAUSE_MS = 2000;

let app: TestApp;
let gateway: GatewayProcess;
beforeEach(async () => {
  app = await startApp();
  gateway = await startGateway({ ...TONE, APP_URL: app.url, APP_PARTIAL_PROMPTS: 'false' });
});
afterEach(async () => {
  await gateway.stop('SIGKILL');
  await app.close();
});

/** A caller who says tones and pauses, then hangs up. */
function call(...parts: readonly { readonly hz?: number; readonly ms: number }[]): Promise<unknown> {
  const inbound = Int16Array.from(parts.flatMap(({ hz = 0, ms }) => [...tone(hz, ms)]));
  const url = `${gateway.url.replace(/^http/, 'ws')}/twilio/media`;
  return new TwilioCaller({ url, tracks: { inbound }, pace: 'realtime', clock: systemClock }).run();
}

function tone(hz: number, ms: number): Int16Array {
  return Int16Array.from({ length: msToSamples(ms, MULAW_8K.rateHz) }, (_, i) =>
    Math.round(8000 * Math.sin((2 * Math.PI * hz * i) / MULAW_8K.rateHz)),
  );
}

/** Until the app has so many prompts. */
const prompts = (count: number) => app.until(({ frames }) => frames.filter(isPrompt).length === count);
const isPrompt = ({ type }: { readonly type: string }): boolean => type === 'prompt';
/** The prompts, each with its words; a tone is a word for every 200 ms. */
const texts = (): unknown[] =>
  app.frames.filter(isPrompt).map(({ voicePrompt, last }) => [[...new Set(String(voicePrompt).split(' '))], last]);

it('a pause in the middle of a sentence does not end the turn: one prompt, with all its words', async () => {
  const ended = call(
    { ms: 500 },
    { hz: ALPHA_HZ, ms: TONE_MS },
    { ms: PAUSE_MS },
    { hz: LIMA_HZ, ms: TONE_MS },
    { ms: 4000 },
  );
  await prompts(1);
  await ended;
  expect(texts()).toEqual([[['alpha', 'lima'], true]]);
  expect(await gateway.metrics()).toMatch(/trunkline_turns_continued_total 1\n/);
});

it('a turn that is complete ends with its utterance, one that is not is held first', async () => {
  const ended = call(
    { ms: 500 },
    { hz: LIMA_HZ, ms: TONE_MS },
    { ms: 4000 },
    { hz: ALPHA_HZ, ms: TONE_MS },
    { ms: 4000 },
  );
  await prompts(2);
  await ended;
  expect(texts()).toEqual([
    [['lima'], true],
    [['alpha'], true],
  ]);
  const metrics = await gateway.metrics();
  expect(metrics).toContain('trunkline_turns_total{by="endpoint"} 1\n');
  expect(metrics).toContain('trunkline_turns_total{by="held"} 1\n');
});

it('a caller who hangs up in a turn that is held is heard', async () => {
  await call({ ms: 500 }, { hz: ALPHA_HZ, ms: TONE_MS }, { ms: 2200 });
  await app.until(({ closeCodes }) => closeCodes.length === 1);
  expect(texts()).toEqual([[['alpha'], true]]);
});
