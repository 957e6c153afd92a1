/**
 * How soon, how steadily and how obediently a whole gateway speaks into a simulated call: from `say` (or an app's
 * tokens) to the first frame, against the first stretch of the first sentence alone; gaps between frames, of one call
 * and of many at once; from `interrupt` to the last frame.
 */
import type { ManagedEngine } from '../../src/engine-client/managed-engine.ts';
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
import { benchVoice, compareStreamed, type Equality, longSentence, speakAtOnce } from './streamed-sentences.ts';

/** Calls that speak at once. */
const CALLS = 10;
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
const GOAL_NEW_MS = 60;

interface Measured {
  readonly firstFrameMs: number[];
  readonly clearMs: number[];
  /** Last frame after `interrupt` was asked for; 0 = none came any more. */
  readonly lastFrameMs: number[];
}

/** Runs the benchmark with `texts` utterances in each way, and `long` long ones played to their end. */
export async function benchSpeech(options: { readonly texts: number; readonly long: number }): Promise<Report> {
  const { voice, environment } = benchVoice();
  const texts = Array.from({ length: options.texts }, (_, index) => textAt(index, SENTENCES_PER_TEXT));
  const short = Array.from({ length: options.texts }, (_, index) => textAt(index, 1));
  const long = Array.from({ length: options.texts }, (_, index) => longSentence(index));
  const { floorMs, equality } = await withEngine(environment, async (engineClient) => ({
    floorMs: await measureFloor(engineClient, voice, texts),
    equality: await compareStreamed(engineClient, voice, [...short, ...long]),
  }));
  const uncached = await measureUncached(
    { ...environment, DEFAULT_VOICE: voice },
    { texts, short, long },
    options.long,
  );
  const cachedGateway = await startGateway({ ...environment, DEFAULT_VOICE: voice });
  const twice = (texts: readonly string[]) => (call: SpokenCall) => measureTwice(call, texts);
  const cached = {
    texts: await withCall(cachedGateway, twice(texts)),
    short: await withCall(cachedGateway, twice(short)),
    long: await withCall(cachedGateway, twice(long)),
  };
  await cachedGateway.stop();
  return report({ voice, floorMs, equality, cached, uncached });
}

/** A way to say something, measured with texts of three sentences and with single sentences. */
interface MeasuredTexts {
  readonly texts: Measured;
  readonly short: Measured;
  readonly long: Measured;
}

/** What is measured without a cache. */
interface MeasuredNew extends MeasuredTexts {
  readonly streamed: Measured;
  readonly steadiness: readonly Steadiness[];
  /** Of calls that speak at once. */
  readonly atOnce: readonly Steadiness[];
}

async function measureUncached(
  environment: Readonly<Record<string, string>>,
  { texts, short, long }: Readonly<Record<keyof MeasuredTexts, readonly string[]>>,
  longCount: number,
): Promise<MeasuredNew> {
  const app = await startApp();
  const gateway = await startGateway({ ...environment, PROMPT_CACHE_BYTES: '0', APP_URL: app.url });
  const say = (each: readonly string[]) => (call: SpokenCall) =>
    measureAll(call, each, (text) => sayAtOnce(call, text));
  const measured = {
    texts: await withCall(gateway, say(texts)),
    short: await withCall(gateway, say(short)),
    long: await withCall(gateway, say(long)),
    streamed: await withCall(gateway, (call) => measureAll(call, texts, (text) => sayInTokens(call, app, text))),
    steadiness: await withCall(gateway, (call) => measureLong(call, gateway.url, longCount)),
    atOnce: await speakAtOnce(
      gateway.url,
      CALLS,
      (index) => `${longSentence(index)} ${textAt(index, SENTENCES_PER_TEXT)}`,
    ),
  };
  await gateway.stop();
  await app.close();
  return measured;
}

async function measureTwice(call: SpokenCall, texts: readonly string[]): Promise<Measured> {
  await measureAll(call, texts, (text) => sayAtOnce(call, text));
  return measureAll(call, texts, (text) => sayAtOnce(call, text));
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

async function withEngine<T>(
  environment: Readonly<Record<string, string>>,
  measure: (engineClient: ManagedEngine) => Promise<T>,
): Promise<T> {
  const engineClient = await startEngineClient(1, environment);
  try {
    return await measure(engineClient);
  } finally {
    await engineClient.close();
  }
}

/**
 * Until the first stretch of the first sentence of each text, by an engine that does nothing else, through the engine
 * client: the best of some rounds.
 */
async function measureFloor(engineClient: ManagedEngine, voice: string, texts: readonly string[]): Promise<number[]> {
  const bestMs = texts.map(() => Number.POSITIVE_INFINITY);
  for (let round = 0; round < FLOOR_ROUNDS; round++) {
    for (const [index, text] of texts.entries()) {
      const startedMs = systemClock.nowMs();
      const note = (): void => {
        bestMs[index] = Math.min(bestMs[index] ?? 0, systemClock.nowMs() - startedMs);
      };
      let isTold = false;
      const onSound = (): void => {
        if (!isTold) note();
        isTold = true;
      };
      const line = { text: firstPiece(text), voice, speed: 1 };
      await engineClient.speak({ ...line, urgency: 'speak', dueInMs: 0, onSound });
      if (!isTold) note();
      await sleep(systemClock, SILENCE_MS);
    }
  }
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
  readonly voice: string;
  readonly floorMs: readonly number[];
  readonly equality: Equality;
  readonly cached: MeasuredTexts;
  readonly uncached: MeasuredNew;
}

const quantiles = (tookMs: readonly number[]) => [0.5, 0.95, 1].map((share) => figure(quantile(tookMs, share), 1));

const row = (what: string, tookMs: readonly number[]) => [what, tookMs.length, ...quantiles(tookMs)];

function steadinessRow(what: string, steadiness: readonly Steadiness[]) {
  const gapsMs = steadiness.flatMap((each) => each.gapsMs);
  return [
    what,
    steadiness.length,
    gapsMs.length + steadiness.length,
    ...[0.5, 0.99, 1].map((share) => figure(quantile(gapsMs, share), 1)),
    figure(Math.min(...steadiness.map((each) => each.leastLeadMs))),
    dryTimes(steadiness),
  ];
}

function dryTimes(steadiness: readonly Steadiness[]): number {
  return steadiness.reduce((sum, each) => sum + each.dry, 0);
}

function report(found: Found): Report {
  const { voice, equality, cached, uncached } = found;
  const all = [
    cached.texts,
    cached.short,
    cached.long,
    uncached.texts,
    uncached.short,
    uncached.long,
    uncached.streamed,
  ];
  return {
    name: 'speech',
    about:
      `A whole gateway speaks into one simulated Twilio call (voice ${voice}, ${SENTENCES_PER_TEXT} sentences each ` +
      'unless said otherwise): from `POST …/say` until the carrier has the ' +
      `first frame, HTTP and sockets included; for text that an app streams (a piece every ${TOKEN_MS} ms) from ` +
      'the piece with which the first sentence is certain. ' +
      'The floor is the first stretch of the first sentence alone, by an engine with nothing else to do (the best of ' +
      `${FLOOR_ROUNDS}). ${equality.sentences} sentences, told in ${equality.stretches} stretches, were compared ` +
      'with the same ones made whole. Gateway, engine and caller share this machine.',
    tables: [
      {
        title: 'To the first frame',
        heads: ['text', 'utterances', 'p50, ms', 'p95', 'most'],
        rows: [
          row('floor: first stretch of the first sentence', found.floorMs),
          row('said before (cache)', cached.texts.firstFrameMs),
          row('said before, one short sentence', cached.short.firstFrameMs),
          row('said before, one long sentence', cached.long.firstFrameMs),
          row('new', uncached.texts.firstFrameMs),
          row('new, one short sentence', uncached.short.firstFrameMs),
          row('new, one long sentence', uncached.long.firstFrameMs),
          row('new, streamed by an app', uncached.streamed.firstFrameMs),
        ],
      },
      {
        title: `Between frames of ${FRAME_MS} ms`,
        heads: ['', 'utterances', 'frames', 'gap p50, ms', 'p99', 'most', 'least sound ahead, ms', 'carrier ran dry'],
        rows: [
          steadinessRow('long texts, one call', uncached.steadiness),
          steadinessRow(`${CALLS} calls at once`, uncached.atOnce),
        ],
      },
      {
        title: 'From interrupt',
        heads: ['to', 'times', 'p50, ms', 'p95', 'most'],
        rows: [
          row(
            'clear at the carrier',
            all.flatMap(({ clearMs }) => clearMs),
          ),
          row(
            'last frame at the carrier (0 = none came)',
            all.flatMap(({ lastFrameMs }) => lastFrameMs),
          ),
        ],
      },
    ],
    goals: goalsOf(found),
  };
}

function goalsOf({ floorMs, equality, cached, uncached }: Found): Report['goals'] {
  const beyondMs = quantile(uncached.texts.firstFrameMs, 0.5) - quantile(floorMs, 0.5);
  const cachedMs = quantile(cached.texts.firstFrameMs, 0.95);
  const newMs = Math.max(...[uncached.short, uncached.long].map(({ firstFrameMs }) => quantile(firstFrameMs, 0.5)));
  const dry = dryTimes([...uncached.steadiness, ...uncached.atOnce]);
  return [
    {
      goal: `first frame of a cached prompt ≤ ${GOAL_CACHED_MS} ms (p95)`,
      found: `${figure(cachedMs, 1)} ms`,
      met: cachedMs <= GOAL_CACHED_MS,
    },
    {
      goal: `first frame of a new sentence, short or long, ≤ ${GOAL_NEW_MS} ms (p50)`,
      found: `${figure(newMs, 1)} ms`,
      met: newMs <= GOAL_NEW_MS,
    },
    {
      goal: `first frame of a new one ≤ floor + ${GOAL_BEYOND_MS} ms (p50)`,
      found: `floor + ${figure(beyondMs, 1)} ms`,
      met: beyondMs <= GOAL_BEYOND_MS,
    },
    { goal: 'the carrier never runs dry', found: `${dry} times`, met: dry === 0 },
    {
      goal: 'sentences told in stretches have the bytes of the whole ones',
      found: `${equality.different} of ${equality.sentences} differ`,
      met: equality.different === 0,
    },
  ];
}
