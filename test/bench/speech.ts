/**
 * How soon, how steadily and how obediently a whole gateway speaks into a simulated call: from `say` (or an app's
 * tokens) to the first frame, against the synthesis of the first sentence alone; gaps between frames; from `interrupt`
 * to the last frame.
 */
import { sleep, systemClock } from '../../src/foundation/clock.ts';
import { FRAME_MS } from '../../src/foundation/units.ts';
import { normaliseText } from '../../src/speech/normalise.ts';
import { cutToPieces } from '../../src/speech/pieces.ts';
import { SentenceSplitter } from '../../src/speech/sentences.ts';
import { startApp, type TestApp } from '../helpers/app.ts';
import { readFeed } from '../helpers/feed.ts';
import { type GatewayProcess, startGateway } from '../helpers/gateway.ts';
import { PHONE_SENTENCES } from './phone-sentences.ts';
import { figure, quantile, type Report } from './report.ts';
import { SpokenCall, type Steadiness, steadinessOf } from './spoken-call.ts';
import { startEngineClient } from './start-engine-client.ts';

const VOICE = 'rms';
const SENTENCES_PER_TEXT = 3;
const SENTENCES_PER_LONG_TEXT = 8;
/** Each utterance is interrupted after this, and what may still come is waited for that long. */
const LISTEN_MS = 700;
const SILENCE_MS = 200;
/** An app that streams a language model's answer: 40 pieces of up to five letters a second. */
const TOKEN = /\s*\S{1,5}/g;
const TOKEN_MS = 25;
const FLOOR_ROUNDS = 3;
const GOAL_CACHED_MS = 5;
const GOAL_BEYOND_MS = 10;

interface Measured {
  readonly firstFrameMs: number[];
  readonly clearMs: number[];
  /** Last frame after `interrupt` was asked for; 0 = none came any more. */
  readonly lastFrameMs: number[];
}

/** Runs the benchmark with `texts` utterances in each way, and `long` long ones played to their end. */
export async function benchSpeech(options: { readonly texts: number; readonly long: number }): Promise<Report> {
  const texts = Array.from({ length: options.texts }, (_, index) => textAt(index, SENTENCES_PER_TEXT));
  const floorMs = await measureFloor(texts);
  const app = await startApp();
  const uncachedGateway = await startGateway({ PROMPT_CACHE_BYTES: '0', DEFAULT_VOICE: VOICE, APP_URL: app.url });
  const uncached = await withCall(uncachedGateway, (call) => measureAll(call, texts, (text) => sayAtOnce(call, text)));
  const streamed = await withCall(uncachedGateway, (call) =>
    measureAll(call, texts, (text) => sayInTokens(call, app, text)),
  );
  const steadiness = await withCall(uncachedGateway, (call) => measureLong(call, uncachedGateway.url, options.long));
  await uncachedGateway.stop();
  await app.close();
  const cachedGateway = await startGateway({ DEFAULT_VOICE: VOICE });
  const cached = await withCall(cachedGateway, async (call) => {
    await measureAll(call, texts, (text) => sayAtOnce(call, text));
    return measureAll(call, texts, (text) => sayAtOnce(call, text));
  });
  await cachedGateway.stop();
  return report({ floorMs, cached, uncached, streamed, steadiness });
}

function textAt(index: number, sentences: number): string {
  return Array.from({ length: sentences }, (_, i) => PHONE_SENTENCES[(index + 7 * i) % PHONE_SENTENCES.length]).join(
    ' ',
  );
}

/** What is made before the first sound. */
function firstPiece(text: string): string {
  const splitter = new SentenceSplitter();
  const [sentence = ''] = [...splitter.push(text), ...splitter.flush()];
  return cutToPieces(sentence, normaliseText)[0]?.spoken ?? '';
}

/**
 * The first sentence of each text by an engine that does nothing else, through the engine client: the best of some
 * rounds.
 */
async function measureFloor(texts: readonly string[]): Promise<number[]> {
  const engineClient = await startEngineClient(1);
  const bestMs = texts.map(() => Number.POSITIVE_INFINITY);
  for (let round = 0; round < FLOOR_ROUNDS; round++) {
    for (const [index, text] of texts.entries()) {
      const startedMs = systemClock.nowMs();
      await engineClient.speak({ text: firstPiece(text), voice: VOICE, speed: 1, urgency: 'speak', dueInMs: 0 });
      bestMs[index] = Math.min(bestMs[index] ?? 0, systemClock.nowMs() - startedMs);
      await sleep(systemClock, SILENCE_MS);
    }
  }
  await engineClient.close();
  return bestMs;
}

async function withCall<T>(gateway: GatewayProcess, measure: (call: SpokenCall) => Promise<T>): Promise<T> {
  const feed = await readFeed(gateway.url);
  const call = new SpokenCall(gateway.url);
  await feed.until((event) => event.type === 'call.started' && event.callId === call.caller.callSid);
  await say(call, 'Hello.');
  await feed.until((event) => event.type === 'spoken' && event.callId === call.caller.callSid);
  const found = await measure(call);
  await call.hangUp();
  feed.close();
  return found;
}

function say(call: SpokenCall, text: string): Promise<void> {
  return call.post('say', { text });
}

/** Each way of saying something resolves when that from which the first sound is counted has happened. */
type Way = (text: string) => Promise<number>;

async function sayAtOnce(call: SpokenCall, text: string): Promise<number> {
  const askedMs = systemClock.nowMs();
  await say(call, text);
  return askedMs;
}

/** Counted from the token with which the first sentence is certain. */
async function sayInTokens(call: SpokenCall, app: TestApp, text: string): Promise<number> {
  await app.until((known) => known.frames.some((frame) => frame['callSid'] === call.caller.callSid));
  const splitter = new SentenceSplitter();
  let certainMs = 0;
  for (const [token] of text.matchAll(TOKEN)) {
    if (certainMs === 0 && splitter.push(token).length > 0) certainMs = systemClock.nowMs();
    app.say({ type: 'text', token, last: false });
    await sleep(systemClock, TOKEN_MS);
  }
  app.say({ type: 'text', token: '', last: true });
  return certainMs;
}

async function measureAll(call: SpokenCall, texts: readonly string[], way: Way): Promise<Measured> {
  const measured: Measured = { firstFrameMs: [], clearMs: [], lastFrameMs: [] };
  for (const text of texts) {
    call.forget();
    const firstFrame = call.next('frame');
    const askedMs = await way(text);
    measured.firstFrameMs.push((await firstFrame) - askedMs);
    await sleep(systemClock, LISTEN_MS);
    const interruptedMs = systemClock.nowMs();
    const clear = call.next('clear');
    await call.post('interrupt');
    measured.clearMs.push((await clear) - interruptedMs);
    await sleep(systemClock, SILENCE_MS);
    measured.lastFrameMs.push(Math.max((call.frames.at(-1) ?? 0) - interruptedMs, 0));
  }
  return measured;
}

/** Long texts to their end, each sentence made while the one before it plays. */
async function measureLong(call: SpokenCall, url: string, count: number): Promise<Steadiness[]> {
  const feed = await readFeed(url);
  const found: Steadiness[] = [];
  for (let index = 0; index < count; index++) {
    call.forget();
    await say(call, textAt(3 * index, SENTENCES_PER_LONG_TEXT));
    await feed.until(() => feed.events.filter((event) => event.type === 'spoken').length > index);
    found.push(steadinessOf(call.frames));
  }
  feed.close();
  return found;
}

interface Found {
  readonly floorMs: readonly number[];
  readonly cached: Measured;
  readonly uncached: Measured;
  readonly streamed: Measured;
  readonly steadiness: readonly Steadiness[];
}

function report({ floorMs, cached, uncached, streamed, steadiness }: Found): Report {
  const row = (what: string, tookMs: readonly number[]) => [
    what,
    tookMs.length,
    ...[0.5, 0.95, 1].map((share) => figure(quantile(tookMs, share), 1)),
  ];
  const gapsMs = steadiness.flatMap((each) => each.gapsMs);
  const dry = steadiness.reduce((sum, each) => sum + each.dry, 0);
  const clearMs = [cached, uncached, streamed].flatMap((each) => each.clearMs);
  const lastFrameMs = [cached, uncached, streamed].flatMap((each) => each.lastFrameMs);
  const beyondMs = quantile(uncached.firstFrameMs, 0.5) - quantile(floorMs, 0.5);
  const cachedMs = quantile(cached.firstFrameMs, 0.95);
  return {
    name: 'speech',
    about:
      `A whole gateway speaks into one simulated Twilio call (voice ${VOICE}, ${SENTENCES_PER_TEXT} sentences each): ` +
      'from `POST …/say` until the carrier has the ' +
      `first frame, HTTP and sockets included; for text that an app streams (a piece every ${TOKEN_MS} ms) from ` +
      'the piece with which the first sentence is certain. ' +
      'The floor is the synthesis of the first sentence alone, by an engine with nothing else to do (the best of ' +
      `${FLOOR_ROUNDS}). Gateway, engine and caller share this machine.`,
    tables: [
      {
        title: 'To the first frame',
        heads: ['text', 'utterances', 'p50, ms', 'p95', 'most'],
        rows: [
          row('floor: synthesis of the first sentence', floorMs),
          row('said before (cache)', cached.firstFrameMs),
          row('new', uncached.firstFrameMs),
          row('new, streamed by an app', streamed.firstFrameMs),
        ],
      },
      {
        title: `Between frames of ${FRAME_MS} ms`,
        heads: ['long utterances', 'frames', 'gap p50, ms', 'p99', 'most', 'least sound ahead, ms', 'carrier ran dry'],
        rows: [
          [
            steadiness.length,
            gapsMs.length + steadiness.length,
            ...[0.5, 0.99, 1].map((share) => figure(quantile(gapsMs, share), 1)),
            figure(Math.min(...steadiness.map((each) => each.leastLeadMs))),
            dry,
          ],
        ],
      },
      {
        title: 'From interrupt',
        heads: ['to', 'times', 'p50, ms', 'p95', 'most'],
        rows: [row('clear at the carrier', clearMs), row('last frame at the carrier (0 = none came)', lastFrameMs)],
      },
    ],
    goals: [
      {
        goal: `first frame of a cached prompt ≤ ${GOAL_CACHED_MS} ms (p95)`,
        found: `${figure(cachedMs, 1)} ms`,
        met: cachedMs <= GOAL_CACHED_MS,
      },
      {
        goal: `first frame of a new one ≤ floor + ${GOAL_BEYOND_MS} ms (p50)`,
        found: `floor + ${figure(beyondMs, 1)} ms`,
        met: beyondMs <= GOAL_BEYOND_MS,
      },
      { goal: 'the carrier never runs dry', found: `${dry} times`, met: dry === 0 },
    ],
  };
}
