/** Turns of a caller as an app gets them, through a whole gateway, on a turn model that goes by the last tone. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { systemClock } from '../../src/foundation/clock.ts';
import { MULAW_8K, msToSamples } from '../../src/foundation/units.ts';
import { TwilioCaller } from '../../src/simulator/twilio-caller.ts';
import { startApp, type TestApp } from '../helpers/app.ts';
import { type FeedReader, readFeed } from '../helpers/feed.ts';
import { type GatewayProcess, startGateway } from '../helpers/gateway.ts';

/** The turn model has half a second to answer on a busy machine, and a turn is held as long again. */
const TIMES = { ENDPOINT_MS: '800', TURN_HOLD_MS: '1600' };
const TONE = { ASR_MODEL: 'tone', VAD_MODEL: 'tone', TTS_MODEL: 'tone', TURN_MODEL: 'tone', ...TIMES };
/** The tone turn model takes the first for the middle of a sentence, the second for its end. */
const ALPHA_HZ = 400;
const LIMA_HZ = 2600;
const TONE_MS = 600;
/** Longer than the silence that ends an utterance, and far from what a turn is held. */
const PAUSE_MS = 1000;
/** A busy machine's; the difference that is looked for is 800. */
const SLACK_MS = 300;

let app: TestApp;
let gateway: GatewayProcess;
let feed: FeedReader;
beforeEach(async () => {
  app = await startApp();
  gateway = await startGateway({ ...TONE, APP_URL: app.url, APP_PARTIAL_PROMPTS: 'false' });
  feed = await readFeed(gateway.url);
});
afterEach(async () => {
  feed.close();
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

/** When the next final caption and the prompt come, in ms of this machine. */
async function timesOf(finals: number, prompts: number): Promise<{ captionMs: number; promptMs: number }> {
  let seen = 0;
  const caption = feed
    .until((event) => {
      if (event.type === 'caption' && event.final) seen += 1;
      return seen === finals;
    })
    .then(() => performance.now());
  const prompt = app.until(({ frames }) => frames.filter(isPrompt).length === prompts).then(() => performance.now());
  const [captionMs, promptMs] = await Promise.all([caption, prompt]);
  return { captionMs, promptMs };
}

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
    { ms: 2000 },
  );
  const { captionMs, promptMs } = await timesOf(2, 1);
  await ended;
  expect(texts()).toEqual([[['alpha', 'lima'], true]]);
  expect(promptMs - captionMs).toBeLessThan(SLACK_MS);
  expect(await gateway.metrics()).toMatch(/trunkline_turns_continued_total 1\n/);
});

it('a turn that is complete is told with its caption, one that is held 800 ms later', async () => {
  const ended = call(
    { ms: 500 },
    { hz: LIMA_HZ, ms: TONE_MS },
    { ms: 3000 },
    { hz: ALPHA_HZ, ms: TONE_MS },
    { ms: 3000 },
  );
  const complete = await timesOf(1, 1);
  const held = await timesOf(2, 2);
  await ended;
  expect(texts()).toEqual([
    [['lima'], true],
    [['alpha'], true],
  ]);
  expect(complete.promptMs - complete.captionMs).toBeLessThan(SLACK_MS);
  expect(held.promptMs - held.captionMs).toBeGreaterThan(800 - SLACK_MS);
});

it('a caller who hangs up in a turn that is held is heard', async () => {
  await call({ ms: 500 }, { hz: ALPHA_HZ, ms: TONE_MS }, { ms: 1200 });
  await app.until(({ closeCodes }) => closeCodes.length === 1);
  expect(texts()).toEqual([[['alpha'], true]]);
});
