import { ENGINE_RATE_HZ, type SpokenWord, VAD_WINDOW_SAMPLES, type VoiceInfo } from '../../engine/contract.ts';
import type { ExpectedReading } from '../../engine/expected-reading.ts';
import type { RecogniserAbilities } from '../../engine/recogniser-abilities.ts';
import {
  type Detection,
  type DetectRequest,
  type Engine,
  EngineError,
  type EngineErrorCode,
  type SpeakRequest,
  type Speech,
  type TranscribeRequest,
  type Transcript,
  type TurnDecision,
  type TurnRequest,
} from '../../src/engine-client/engine.ts';
import type { Clock } from '../../src/foundation/clock.ts';
import { FAKE_VOICE } from './voices.ts';

const NO_COST = { waitMs: 0, runMs: 0, runs: 1 };
/** Word n is spoken as a constant level of LEVEL × n. */
const LEVEL = 100;
/** A fake voice takes this long for each character. */
const SPOKEN_CHAR_MS = 20;
/** A word is recognised from this much of it. */
const WORD_HEARD_SAMPLES = 1200;

/**
 * An engine in the test's own process. Out of the box it understands {@link spoken}: loud windows are speech, and the
 * words are the levels. Replace `hear` and `judge` to script other answers; set the latencies and the failure at any
 * time.
 */
export class FakeEngine implements Engine {
  load = 0;
  firmLoad = 0;
  /** Ms from a request to its answer, on the clock. */
  transcribeMs = 0;
  detectMs = 0;
  speakMs = 0;
  turnMs = 0;
  /** While set, requests that come due fail with it. */
  failure: EngineErrorCode | null = null;
  hear: (request: TranscribeRequest) => {
    text: string;
    tokens?: readonly number[];
    looped?: boolean;
    words?: readonly SpokenWord[];
    language?: string;
    logprobs?: Float32Array | null;
    isCalibrated?: boolean;
    expectedReadings?: readonly ExpectedReading[];
  } = ({ samples }) => ({
    text: wordsIn(samples),
  });
  judge: (window: Int16Array) => number = loudness;
  /**
   * Speech of 20 ms for each character at 16 kHz, its level the number of characters; replace it to script other sound.
   */
  utter: (request: SpeakRequest) => Int16Array = ({ text, speed }) =>
    level((SPOKEN_CHAR_MS * text.length) / speed, text.length);
  /** At which samples the sound is cut into stretches that are told early; not at all out of the box. */
  cuts: (samples: Int16Array) => readonly number[] = () => [];
  /** Ms from one stretch to the next. */
  stretchMs = 0;
  /** The probability that a turn is over; replace it to script pauses. */
  decide: (request: TurnRequest) => number = () => 1;
  voices: readonly VoiceInfo[] = [FAKE_VOICE, { ...FAKE_VOICE, name: 'slt' }];
  languages: readonly string[] = ['en'];
  abilities: RecogniserAbilities | null = {
    drafts: true,
    wordTimes: true,
    logprobs: false,
    confidence: false,
    languageGuess: false,
    hotWords: false,
    expectedWords: false,
    textDrafts: false,
    context: false,
    streams: false,
  };
  ttsModel: string | null = 'fake-tts-1';
  turnModel: string | null = null;
  wakes = 0;
  /** Requests without an answer. */
  pending = 0;
  readonly transcribed: TranscribeRequest[] = [];
  readonly detected: DetectRequest[] = [];
  readonly spoken: SpeakRequest[] = [];
  readonly turns: TurnRequest[] = [];
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get finalLoad(): number {
    return this.load;
  }

  start(): Promise<void> {
    return Promise.resolve();
  }

  wake(): void {
    this.wakes++;
  }

  /** The transcribe requests of one urgency, in order. */
  of(urgency: TranscribeRequest['urgency']): TranscribeRequest[] {
    return this.transcribed.filter((request) => request.urgency === urgency);
  }

  async transcribe(request: TranscribeRequest): Promise<Transcript> {
    this.transcribed.push(request);
    await this.#answerAfter(this.transcribeMs, request.signal);
    return { tokens: [], logprobs: null, looped: false, cost: NO_COST, ...this.hear(request) };
  }

  /** The state counts the track's windows, so that a test can see that it travels along. */
  async detect(request: DetectRequest): Promise<Detection> {
    this.detected.push(request);
    await this.#answerAfter(this.detectMs, undefined);
    const windows = request.samples.length / VAD_WINDOW_SAMPLES;
    const window = (n: number): Int16Array =>
      request.samples.subarray(n * VAD_WINDOW_SAMPLES, (n + 1) * VAD_WINDOW_SAMPLES);
    return {
      probabilities: Float32Array.from({ length: windows }, (_, n) => this.judge(window(n))),
      state: Float32Array.of((request.state?.[0] ?? 0) + windows),
    };
  }

  async speak(request: SpeakRequest): Promise<Speech> {
    this.spoken.push(request);
    await this.#answerAfter(this.speakMs, request.signal);
    const samples = this.utter(request);
    let from = 0;
    for (const to of request.onSound === undefined ? [] : this.cuts(samples)) {
      request.onSound?.(samples.subarray(from, to), ENGINE_RATE_HZ);
      from = to;
      await this.#answerAfter(this.stretchMs, request.signal);
    }
    return { samples: samples.subarray(from), rateHz: ENGINE_RATE_HZ, cost: NO_COST };
  }

  async turn(request: TurnRequest): Promise<TurnDecision> {
    this.turns.push(request);
    await this.#answerAfter(this.turnMs, request.signal);
    return { probability: this.decide(request), cost: NO_COST };
  }

  async #answerAfter(delayMs: number, signal: AbortSignal | undefined): Promise<void> {
    this.pending++;
    try {
      await this.#wait(delayMs, signal);
    } finally {
      this.pending--;
    }
    if (this.failure !== null) throw new EngineError(this.failure, 'the fake engine was told to fail');
  }

  #wait(delayMs: number, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const cancelled = (): void => {
        timer?.cancel();
        reject(new EngineError('cancelled', 'the request was aborted'));
      };
      const done = (): void => {
        signal?.removeEventListener('abort', cancelled);
        resolve();
      };
      const timer = delayMs > 0 ? this.#clock.after(delayMs, done) : null;
      if (signal?.aborted) cancelled();
      else if (timer === null) resolve();
      else signal?.addEventListener('abort', cancelled, { once: true });
    });
  }
}

/**
 * Audio that says word `n` for each number given (1–300), 200 ms each unless said otherwise, with short gaps between
 * them.
 */
export function spoken(
  words: readonly number[],
  { wordMs = 200, gapMs = 50 }: { wordMs?: number; gapMs?: number } = {},
): Int16Array {
  const parts = words.flatMap((word) => [level(wordMs, word * LEVEL), silence(gapMs)]);
  return concat(...parts.slice(0, -1));
}

/** `durationMs` of digital silence. */
export function silence(durationMs: number): Int16Array {
  return level(durationMs, 0);
}

/** One stretch made of several. */
export function concat(...parts: readonly Int16Array[]): Int16Array {
  const whole = new Int16Array(parts.reduce((length, part) => length + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/** What {@link FakeEngine} writes for words said by {@link spoken}: `W1 w2 w3.` */
export function written(words: readonly number[]): string {
  const text = words.map((word) => `w${word}`).join(' ');
  return text === '' ? '' : `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

function level(durationMs: number, value: number): Int16Array {
  return new Int16Array(Math.round((durationMs * ENGINE_RATE_HZ) / 1000)).fill(value);
}

function wordsIn(samples: Int16Array): string {
  const words: number[] = [];
  for (let from = 0; from < samples.length; ) {
    const value = samples[from] ?? 0;
    let to = from;
    while (to < samples.length && samples[to] === value) to++;
    if (value !== 0 && to - from >= WORD_HEARD_SAMPLES) words.push(value / LEVEL);
    from = to;
  }
  return written(words);
}

function loudness(window: Int16Array): number {
  return window.reduce((sum, sample) => sum + Math.abs(sample), 0) / window.length >= LEVEL / 2 ? 0.95 : 0.02;
}
