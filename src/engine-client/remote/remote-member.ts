import { isDroppable } from '../../../engine/contract.ts';
import type { Clock } from '../../foundation/clock.ts';
import { matchLanguage } from '../../foundation/languages.ts';
import type { Log } from '../../foundation/log/log.ts';
import type { Metrics } from '../../foundation/metrics.ts';
import { findTextFault, type TextFault } from '../../protocols/remote/text-faults.ts';
import { anyOf } from '../answer.ts';
import { EngineError, type TranscribeRequest, type Transcript } from '../engine.ts';
import type { ServerReport } from '../engine-report.ts';
import { AnswerTimes } from './answer-times.ts';
import { Breaker } from './breaker.ts';
import { RemoteError, type RemoteFailure, type RemoteRecogniser, type RemoteText } from './remote-recogniser.ts';
import { RequestPlaces } from './request-places.ts';
import { describeUrl } from './server-address.ts';

/** A server, how much of the work it is to get, and what it understands. */
export interface RemoteMemberOptions {
  readonly recogniser: RemoteRecogniser;
  /** For people: log, metrics, health. Without credentials. */
  readonly name: string;
  readonly url: URL;
  readonly weight: number;
  /** Null = what suits the recogniser. */
  readonly inFlightMax: number | null;
  /** Empty = what the embedded recogniser understands. */
  readonly languages: readonly string[];
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** When a request is late, which is a failure of the server, and when it is given up. In ms from its start. */
interface Patience {
  readonly lateMs: number;
  readonly expireMs: number;
}

/** A piece of a recording that was being read there gave its place to a call: it is to be sent again. */
export class GaveWay extends EngineError {
  constructor(server: string) {
    super('unavailable', `${server}: gave way to a call`);
  }
}

/** What a server answered has no words, or words that nobody said: somebody else is to read it. */
export class Unheard extends EngineError {
  readonly fault: TextFault;
  /** What is left of the answer where nobody else can read it: no words. */
  readonly transcript: Transcript;

  constructor(server: string, fault: TextFault, tookMs: number) {
    super('unavailable', `${server}: ${fault}`);
    this.fault = fault;
    this.transcript = toTranscript({ text: '' }, tookMs);
  }
}

/** What came of a request, in metrics. */
type Result = 'answered' | 'late' | 'cancelled' | RemoteFailure;

/** The first answer may take as long as the server needs to load and warm its model. */
const WARM_UP_MAX_MS = 60_000;
/** One second of silence. */
const WARM_UP_SAMPLES = 16_000;

/** One server of ASR_URL: whether it can be asked, and how it has answered so far. */
export class RemoteMember {
  readonly name: string;
  readonly weight: number;
  readonly languages: readonly string[];
  readonly #options: RemoteMemberOptions;
  readonly #breaker: Breaker;
  /** Open when it often has no words for speech that has some. */
  readonly #words: Breaker;
  readonly #places: RequestPlaces;
  readonly #times = new AnswerTimes();
  /** Requests so far, so that servers with nothing to do take turns. */
  #asked = 0;
  /** End the pieces of recordings that are being read, the latest last. */
  readonly #batches: AbortController[] = [];
  #lastError: ServerReport['lastError'] = null;

  constructor(options: RemoteMemberOptions) {
    const { name, weight, languages, recogniser, inFlightMax, clock, metrics } = options;
    this.name = name;
    this.weight = weight;
    this.languages = languages;
    this.#options = options;
    this.#breaker = new Breaker(clock, (isOpen) => this.#onBreaker(isOpen));
    this.#words = new Breaker(clock, (isOpen) => this.#onBreaker(isOpen));
    this.#places = new RequestPlaces(clock, inFlightMax ?? recogniser.inFlightMax);
    metrics.recognisers.watch(name, () => ({ isUp: !this.isDown, inFlight: this.#places.taken }));
  }

  /** It has failed, or had no words for speech, and is asked only now and then whether it is back. */
  get isDown(): boolean {
    return this.#breaker.isOpen || this.#words.isOpen;
  }

  /** Whether a request of a call may be sent, be it only to see whether the server is back. */
  get admits(): boolean {
    return this.#isAskable && this.#places.hasRoomForCalls;
  }

  /** The same of a piece of a recording. */
  get admitsBatch(): boolean {
    return this.#isAskable && this.#places.hasBatchRoom;
  }

  /** Pieces of recordings that it would have at the same time. */
  get batchMax(): number {
    return this.#places.batchMax;
  }

  /** Requests of calls that it may have at once now. */
  get places(): number {
    return this.#places.limit;
  }

  /** How much calls ask of it, 0 to 1 and above: by its places, and by how long partial captions take. */
  get use(): number {
    return Math.max(this.#places.liveShare, this.#times.partialShare);
  }

  get report(): ServerReport {
    return {
      setting: 'ASR_URL',
      ...describeUrl(this.#options.url),
      state: (this.#breaker.isOpen ? this.#breaker : this.#words).state,
      inFlight: this.#places.taken,
      inFlightMax: this.#places.limit,
      p50Ms: this.#times.usualMs,
      p95Ms: this.#times.slowMs,
      lastError: this.#lastError,
      languages: this.languages,
    };
  }

  /** The less, the sooner it should be asked. */
  get rank(): readonly [number, number] {
    return [this.#places.taken / this.weight, this.#asked / this.weight];
  }

  /** After this many ms without an answer somebody else is asked as well. */
  get hedgeMs(): number {
    return this.#times.hedgeMs;
  }

  /** How much calls ask of it, 0–1: by their requests, and by how long partial captions take beside their cadence. */
  get load(): number {
    return Math.min(Math.max(this.#places.liveNow, this.#times.partialShare), 1);
  }

  /** Whether it understands `language`. @param embedded what the embedded recogniser understands */
  reads(language: string | undefined, embedded: readonly string[]): boolean {
    const known = this.languages.length > 0 ? this.languages : embedded;
    return language === undefined || matchLanguage(language, known) !== null;
  }

  /**
   * Reads `request`, once.
   * @throws EngineError `cancelled` when its signal is aborted, else `stale` for what may be dropped, {@link Unheard}
   * for the rest where there are no words, {@link GaveWay}, and `unavailable`
   */
  async read(request: TranscribeRequest, patience: Patience): Promise<Transcript> {
    const { heard, tookMs } = await this.#request(request, patience);
    const fault = findTextFault(heard.text, request.samples.length);
    const mayBeEmpty = isDroppable(request.urgency) && fault === 'empty' && !this.#words.isOpen;
    if (fault === null) this.#onWords(request);
    if (fault === null || mayBeEmpty) return toTranscript(heard, tookMs);
    if (isDroppable(request.urgency)) throw toEngineError(request, `${this.name}: ${fault}`);
    throw new Unheard(this.name, fault, tookMs);
  }

  /**
   * Takes note of what somebody else made of speech that was {@link Unheard} here: coughs and noise have no words for
   * anybody, and say nothing against the server.
   */
  compare({ fault }: Unheard, text: string, samples: number): void {
    const isMissed = findTextFault(text, samples) === null;
    this.#options.metrics.remoteEmpty.inc({ backend: this.name, reason: fault, missed: isMissed ? 'yes' : 'no' });
    if (!isMissed) return;
    this.#note('it had no words for speech that has some, or words that nobody said');
    this.#words.fail();
  }

  /** Has the server load its model and do a first run, which would make the first caller wait. */
  async warmUp(): Promise<void> {
    const samples = new Int16Array(WARM_UP_SAMPLES);
    const patience = { lateMs: WARM_UP_MAX_MS, expireMs: WARM_UP_MAX_MS };
    await this.#request({ samples, urgency: 'batch', dueInMs: WARM_UP_MAX_MS, draft: [] }, patience).catch(() => {
      this.#options.log.warn(
        { backend: this.name },
        `a server of ASR_URL did not answer at the start: ${this.#lastError?.message}`,
      );
    });
  }

  close(): void {
    this.#options.recogniser.close();
  }

  get #isAskable(): boolean {
    return this.#breaker.admits && this.#words.admits;
  }

  async #request(request: TranscribeRequest, patience: Patience): Promise<{ heard: RemoteText; tookMs: number }> {
    const { clock, metrics } = this.#options;
    const isBatch = request.urgency === 'batch';
    const sentMs = clock.nowMs();
    const [expiry, giving] = [new AbortController(), new AbortController()];
    const timer = clock.after(patience.expireMs, () => expiry.abort());
    this.#begin(isBatch, giving);
    let result: Result = 'answered';
    try {
      const heard = await this.#ask(request, anyOf(request.signal, expiry.signal, giving.signal));
      const tookMs = clock.nowMs() - sentMs;
      this.#onAnswer(request, tookMs);
      return { heard, tookMs };
    } catch (error) {
      const isLate = clock.nowMs() - sentMs >= patience.lateMs;
      const isWanted = request.signal?.aborted !== true && !giving.signal.aborted;
      result = isWanted || isLate ? this.#onFailure(error, expiry.signal.aborted || isLate, isBatch) : 'cancelled';
      if (giving.signal.aborted && request.signal?.aborted !== true) throw new GaveWay(this.name);
      throw toEngineError(request, `${this.name}: ${result}`);
    } finally {
      timer.cancel();
      this.#end(isBatch, giving);
      metrics.recognisers.requests.inc({ backend: this.name, result });
    }
  }

  #begin(isBatch: boolean, giving: AbortController): void {
    this.#asked++;
    this.#breaker.begin();
    this.#words.begin();
    this.#places.take(isBatch);
    if (isBatch) this.#batches.push(giving);
    else if (this.#places.isOverfull) this.#batches.pop()?.abort();
  }

  #end(isBatch: boolean, giving: AbortController): void {
    this.#places.leave(isBatch);
    const at = this.#batches.indexOf(giving);
    if (at >= 0) this.#batches.splice(at, 1);
  }

  /** The recogniser's answer, and none once `signal` is aborted, whatever the recogniser does. */
  #ask({ samples, urgency, language, hotWords, context }: TranscribeRequest, signal: AbortSignal): Promise<RemoteText> {
    const known = { ...(language !== undefined && { language }), ...(hotWords !== undefined && { hotWords }) };
    return new Promise((resolve, reject) => {
      const onAbort = () => reject(new Error('aborted'));
      signal.addEventListener('abort', onAbort, { once: true });
      if (signal.aborted) onAbort();
      else
        this.#options.recogniser
          .recognise({ samples, urgency, ...known, ...(context !== undefined && { context }), signal })
          .then(resolve, reject)
          .finally(() => signal.removeEventListener('abort', onAbort));
    });
  }

  #onAnswer({ urgency, dueInMs }: TranscribeRequest, tookMs: number): void {
    this.#breaker.succeed();
    this.#places.grow(urgency === 'batch');
    this.#options.metrics.recognisers.seconds.observe({ backend: this.name, urgency }, tookMs / 1000);
    if (urgency !== 'batch') this.#times.note(tookMs, urgency === 'partial' ? dueInMs : null);
  }

  /** There are words; one that was left alone for having none is back. Partial captions count for that alone. */
  #onWords({ urgency }: TranscribeRequest): void {
    if (!isDroppable(urgency) || this.#words.isOpen) this.#words.succeed();
  }

  #onFailure(error: unknown, isLate: boolean, isBatch: boolean): Result {
    if (!isLate && error instanceof RemoteError && error.failure === 'busy') {
      this.#places.shrink(error.retryAfterMs, isBatch);
      this.#note(error.message);
      return 'busy';
    }
    if (isLate) this.#note('it did not answer in time');
    else this.#note(error instanceof RemoteError ? error.message : 'it failed');
    if (!isLate && !(error instanceof RemoteError))
      this.#options.log.error({ err: error }, 'a remote recogniser broke');
    this.#breaker.fail();
    if (isLate) return 'late';
    return error instanceof RemoteError ? error.failure : 'failed';
  }

  #note(message: string): void {
    this.#lastError = { at: this.#options.clock.wall(), message };
  }

  #onBreaker(isOpen: boolean): void {
    const { log } = this.#options;
    if (isOpen) log.warn({ backend: this.name }, `a server of ASR_URL is left alone: ${this.#lastError?.message}`);
    else log.info({ backend: this.name }, 'a server of ASR_URL answers again');
  }
}

function toTranscript({ text, language }: RemoteText, tookMs: number): Transcript {
  const cost = { waitMs: 0, runMs: tookMs, runs: 1 };
  return { text, tokens: [], logprobs: null, looped: false, ...(language !== undefined && { language }), cost };
}

function toEngineError({ urgency, signal }: TranscribeRequest, message: string): EngineError {
  if (signal?.aborted) return new EngineError('cancelled', message);
  return new EngineError(isDroppable(urgency) ? 'stale' : 'unavailable', message);
}
