import type { VoiceInfo } from '../../../engine/contract.ts';
import type { Clock } from '../../foundation/clock.ts';
import type { Log } from '../../foundation/log/log.ts';
import type { Metrics } from '../../foundation/metrics.ts';
import type { RemoteUrl } from '../../foundation/settings/remote-urls.ts';
import { SpeechReader, speechRequest } from '../../protocols/remote/openai-speech.ts';
import type { SpeakRequest, Speech } from '../engine.ts';
import type { ServerReport } from '../engine-report.ts';
import { AnswerTimes } from './answer-times.ts';
import { Breaker } from './breaker.ts';
import { HttpClient } from './http-client.ts';
import { RemoteError } from './remote-recogniser.ts';
import { RequestPlaces } from './request-places.ts';
import { describeUrl } from './server-address.ts';

/** Begins the names of the voices of other servers. */
export const REMOTE_VOICE = 'remote:';
/** The voice that servers with OpenAI's API know, where the operator names none. */
const USUAL_VOICE = 'alloy';
const USUAL_LANGUAGE = 'en-US';
/** Of bare samples of these servers; a WAV file says its own. */
const USUAL_RATE_HZ = 24_000;
const IN_FLIGHT_MAX = 16;
/** A character takes a tenth of a second at most, and a line some silence: what is longer never ends. */
const CHAR_MAX_MS = 500;
const SILENCE_MAX_MS = 10_000;
/** A sound that does not go on for so long is broken. */
const STALL_MS = 10_000;

/** What a speaker works with. */
interface RemoteSpeakerOptions {
  readonly remote: RemoteUrl;
  /** For people, without credentials. */
  readonly name: string;
  /** '' = none. */
  readonly apiKey: string;
  readonly model: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** One server of TTS_URL. */
export class RemoteSpeaker {
  readonly name: string;
  readonly voices: readonly VoiceInfo[];
  readonly #options: RemoteSpeakerOptions;
  readonly #client: HttpClient;
  readonly #endpoint: URL;
  readonly #breaker: Breaker;
  readonly #places: RequestPlaces;
  /** Of its first sounds. */
  readonly #times = new AnswerTimes();
  #lastError: ServerReport['lastError'] = null;

  constructor(options: RemoteSpeakerOptions) {
    const { remote, name, apiKey, clock, metrics } = options;
    this.name = name;
    this.#options = options;
    this.voices = voicesOf(options);
    this.#client = new HttpClient(remote.url, apiKey);
    this.#endpoint = endpointOf(remote.url);
    this.#breaker = new Breaker(clock, (isOpen) => this.#onBreaker(isOpen));
    this.#places = new RequestPlaces(clock, remote.inFlightMax ?? IN_FLIGHT_MAX);
    metrics.speakers.watch(name, () => ({ isUp: !this.#breaker.isOpen, inFlight: this.#places.taken }));
  }

  /** Whether a line may be sent, be it only to see whether the server is back. */
  admits(isBatch: boolean): boolean {
    return this.#breaker.admits && (isBatch ? this.#places.hasBatchRoom : this.#places.hasRoom);
  }

  get report(): ServerReport {
    return {
      setting: 'TTS_URL',
      ...describeUrl(this.#options.remote.url),
      state: this.#breaker.state,
      inFlight: this.#places.taken,
      inFlightMax: this.#places.limit,
      p50Ms: this.#times.usualMs,
      p95Ms: this.#times.slowMs,
      lastError: this.#lastError,
      languages: [...new Set(this.voices.map(({ language }) => language))],
    };
  }

  /** The less, the sooner it should be asked. */
  get rank(): number {
    return this.#places.taken / this.#options.remote.weight;
  }

  /** After this many ms without a sound another voice speaks instead. */
  get hedgeMs(): number {
    return this.#times.hedgeMs;
  }

  /**
   * Speaks a line in one of {@link voices}; `onSound` is given all of the sound as it comes.
   * @param lateMs when the first sound is late, which is a failure of the server
   * @throws RemoteError, and anything once `signal` is aborted
   */
  async speak(
    request: SpeakRequest,
    terms: { signal: AbortSignal; lateMs: number; onSound: NonNullable<SpeakRequest['onSound']> },
  ): Promise<Speech> {
    const { clock, metrics } = this.#options;
    const isBatch = request.urgency === 'batch';
    const sentMs = clock.nowMs();
    const progress = { firstMs: null as number | null };
    this.#breaker.begin();
    this.#places.take(isBatch);
    let result = 'answered';
    try {
      const rateHz = await this.#stream(request, terms.signal, (samples, rate) => {
        progress.firstMs ??= this.#onFirst(clock.nowMs() - sentMs);
        terms.onSound(samples, rate);
      });
      this.#breaker.succeed();
      this.#places.grow();
      const cost = { waitMs: progress.firstMs ?? 0, runMs: clock.nowMs() - sentMs - (progress.firstMs ?? 0), runs: 1 };
      return { samples: new Int16Array(0), rateHz, cost };
    } catch (error) {
      const isLate = progress.firstMs === null && clock.nowMs() - sentMs >= terms.lateMs;
      result = terms.signal.aborted && !isLate ? 'cancelled' : this.#onFailure(error, isLate);
      throw error;
    } finally {
      this.#places.leave(isBatch);
      metrics.speakers.requests.inc({ backend: this.name, result });
    }
  }

  close(): void {
    this.#client.close();
  }

  async #stream(
    { text, voice, speed }: SpeakRequest,
    signal: AbortSignal,
    onSound: NonNullable<SpeakRequest['onSound']>,
  ): Promise<number> {
    const { remote, model, clock } = this.#options;
    const order = { model, text, voice: voice.slice(REMOTE_VOICE.length), speed, rateHz: remote.rateHz };
    const sent = { contentType: 'application/json', body: Buffer.from(speechRequest(order)) };
    const response = await this.#client.open(this.#endpoint, sent, signal);
    const reader = new SpeechReader(remote.rateHz);
    const maxMs = SILENCE_MAX_MS + (text.length * CHAR_MAX_MS) / speed;
    let [soundMs, rateHz] = [0, remote.rateHz ?? USUAL_RATE_HZ];
    const stall = () => clock.after(STALL_MS, () => response.destroy(new Error('it stalled')));
    let timer = stall();
    try {
      for await (const bytes of response) {
        timer.cancel();
        timer = stall();
        const part = readPart(reader, bytes as Uint8Array);
        if (part === null) continue;
        soundMs += (part.samples.length * 1000) / part.rateHz;
        if (soundMs > maxMs) throw new RemoteError('unusable', 'its sound does not end');
        rateHz = part.rateHz;
        onSound(part.samples, rateHz);
      }
    } catch (error) {
      throw error instanceof RemoteError ? error : new RemoteError('failed', 'it broke off in the middle of its sound');
    } finally {
      timer.cancel();
    }
    if (soundMs === 0) throw new RemoteError('unusable', 'it answered no sound');
    return rateHz;
  }

  #onFirst(firstMs: number): number {
    this.#times.note(firstMs, null);
    this.#options.metrics.speakers.seconds.observe({ backend: this.name, urgency: 'speak' }, firstMs / 1000);
    return firstMs;
  }

  #onFailure(error: unknown, isLate: boolean): string {
    const message = error instanceof RemoteError ? error.message : 'it failed';
    this.#lastError = { at: this.#options.clock.wall(), message: isLate ? 'it did not begin in time' : message };
    if (!isLate && error instanceof RemoteError && error.failure === 'busy') {
      this.#places.shrink(error.retryAfterMs);
      return 'busy';
    }
    this.#breaker.fail();
    if (isLate) return 'late';
    return error instanceof RemoteError ? error.failure : 'failed';
  }

  #onBreaker(isOpen: boolean): void {
    const { log } = this.#options;
    if (isOpen) log.warn({ backend: this.name }, `a server of TTS_URL is left alone: ${this.#lastError?.message}`);
    else log.info({ backend: this.name }, 'a server of TTS_URL answers again');
  }
}

function voicesOf({ remote, name, model }: RemoteSpeakerOptions): VoiceInfo[] {
  const { voices, languages, rateHz } = remote;
  return (voices.length === 0 ? [USUAL_VOICE] : voices).map((voice) => ({
    name: `${REMOTE_VOICE}${voice}`,
    language: languages[0] ?? USUAL_LANGUAGE,
    rateHz: rateHz ?? USUAL_RATE_HZ,
    model: `remote-${name}-${model}`,
    licence: 'not known',
    cost: null,
  }));
}

function readPart(reader: SpeechReader, bytes: Uint8Array): ReturnType<SpeechReader['push']> {
  try {
    return reader.push(bytes);
  } catch {
    throw new RemoteError('unusable', 'what it answered is no sound that was asked for');
  }
}

function endpointOf(url: URL): URL {
  const endpoint = new URL(url);
  const path = url.pathname.replace(/(?<!\/)\/+$/, '');
  endpoint.pathname = path.endsWith('/audio/speech') ? path : `${path === '' ? '/v1' : path}/audio/speech`;
  return endpoint;
}
