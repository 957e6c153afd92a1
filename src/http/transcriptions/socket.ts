/**
 * Live audio to text over the WebSocket of the Qwen3-ASR server: receives samples as binary messages and commands as
 * texts, and sends running text.
 */
import type { FastifyRequest } from 'fastify';
import type { RawData, WebSocket } from 'ws';
import { ENGINE_RATE_HZ } from '../../../engine/contract.ts';
import { pcm16ToSamples } from '../../audio/pcm.ts';
import { Resampler } from '../../audio/resample.ts';
import type { Engine } from '../../engine-client/engine.ts';
import type { Clock, Timer } from '../../foundation/clock.ts';
import { TrunklineError } from '../../foundation/errors.ts';
import { languageName, matchLanguage, titleCase } from '../../foundation/languages.ts';
import type { Metrics } from '../../foundation/metrics.ts';
import type { Settings } from '../../foundation/settings/settings.ts';
import { msToSamples, samplesToMs } from '../../foundation/units.ts';
import { languagesOf } from '../../recordings/transcribe.ts';
import {
  LiveTranscriber,
  type TranscriberMetrics,
  type TranscriberSettings,
} from '../../transcription/live-transcriber.ts';
import { TrackLanguage } from '../../transcription/track-language.ts';
import { UnreadTime } from '../../transcription/unread-time.ts';
import type { Failures } from '../server/errors.ts';
import { readCommand, type SocketCommand, type SocketQuery, toSocketError } from './commands.ts';
import { Inbox, type Message } from './inbox.ts';
import { isLanguageGiven } from './languages.ts';
import { HOT_WORDS_WARNING } from './serve-upload.ts';

/** Largest message of such a socket: half a minute of audio at 16 kHz. */
export const TRANSCRIBE_MESSAGE_MAX_BYTES = 1_048_576;

/** Reported to the client, as the Qwen3-ASR server does. No buffer here has this size. */
const BUFFER_BYTES = 14_400;
/** Audio that may wait for the engine before the socket is read no further. */
const BACKLOG_MAX_MS = 5000;
/** Without voice detection only a command or the longest utterance ends an utterance. */
const NO_ENDPOINT_MS = 600_000;
/** Longest audio that is processed at once. */
const SLICE_MS = 1000;
/**
 * Least silence that ends an utterance if ENDPOINT_MS is shorter. The Qwen3-ASR server waits for 450 to 900 ms, and its
 * clients use one final only. Somebody who reads slowly pauses for more than 400 ms within a sentence; the sentence
 * would be split, and its parts would be recognised worse.
 */
const ENDPOINT_MIN_MS = 600;

/** Options of a socket and the services that it uses. */
export interface TranscribeSocketOptions extends SocketQuery {
  readonly socket: WebSocket;
  /** The request that opened the socket. */
  readonly request: FastifyRequest;
  readonly engine: Engine;
  readonly settings: TranscriberSettings &
    Pick<Settings, 'DEFAULT_LANGUAGE' | 'MEDIA_TIMEOUT_MS' | 'SEND_BUFFER_MAX_BYTES'>;
  readonly clock: Clock;
  readonly failures: Failures;
  readonly metrics: TranscriberMetrics;
  /** Counts text messages by action. */
  readonly orders: Metrics['transcribeOrders'];
}

/** A text message that may name a language, which only an engine that was ready can check. */
const NAMES_LANGUAGE = /"language"/;

/** Stands for any audio, to ask whether audio may be taken. */
const NO_AUDIO = new Uint8Array(0);

/** The audio between two commands. */
interface Stretch {
  readonly transcriber: LiveTranscriber;
  /** Samples at the engine's rate. */
  sampleCount: number;
  finals: number;
}

/** One speaker. Its audio is live: like a call's, it has priority over recordings. */
export class TranscribeSocket {
  readonly #options: TranscribeSocketOptions;
  #useServerVad: boolean;
  #language = 'auto';
  readonly #expected = { language: new TrackLanguage(), hotWords: [] as readonly string[] };
  #areLanguagesKnown = false;
  #current: Stretch;
  /** The current stretch, and those that are ending. */
  readonly #stretches = new Set<Stretch>();
  #ended: Promise<void> = Promise.resolve();
  /** One for the whole socket: creating one can take as long as resampling seconds of audio. */
  readonly #resampler: Resampler;
  readonly #unread: UnreadTime;
  #receivedMs = 0;
  /** The first byte of a sample whose second one has not come. */
  #rest: Uint8Array = new Uint8Array(0);
  #idle: Timer | null = null;
  #isOver = false;
  readonly #inbox: Inbox;

  constructor(options: TranscribeSocketOptions) {
    this.#options = options;
    this.#useServerVad = options.useServerVad;
    this.#unread = new UnreadTime(options.clock);
    this.#resampler = new Resampler(options.rateHz, ENGINE_RATE_HZ);
    this.#current = this.#openStretch();
    this.#inbox = new Inbox({
      sliceBytes: 2 * msToSamples(SLICE_MS, options.rateHz),
      mayTake: (message) => this.#mayTake(message),
      take: (message) => (typeof message === 'string' ? this.#receive(message) : this.#receiveAudio(message)),
      onFailure: (error) => this.#fail(error),
      onRun: () => this.#readOrPause(),
    });
  }

  /** Sends the greeting and begins to receive. */
  open(): void {
    const { socket, settings, rateHz } = this.#options;
    socket.on('message', (data, isBinary) => this.#read(isBinary ? bytesOf(data) : data.toString()));
    socket.once('close', () => this.#release());
    this.#send({
      status: 'connected',
      sample_rate: rateHz,
      format: 'pcm_s16le',
      buffer_size: BUFFER_BYTES,
      window_max_s: settings.MAX_UTTERANCE_MS / 1000,
      use_server_vad: this.#useServerVad,
      max_message_bytes: TRANSCRIBE_MESSAGE_MAX_BYTES,
    });
    this.#awaitMore();
    void this.#awaitLanguages();
  }

  /** If no engine becomes ready, no language is refused. */
  async #awaitLanguages(): Promise<void> {
    await languagesOf(this.#options.engine).catch(() => undefined);
    this.#areLanguagesKnown = true;
    if (!isLanguageGiven(this.#language)) this.#nameLanguage(this.#options.settings.DEFAULT_LANGUAGE);
    if (!this.#isOver) this.#inbox.run();
  }

  #read(message: Message): void {
    if (this.#isOver) return;
    this.#awaitMore();
    try {
      this.#inbox.push(message);
    } catch (error) {
      this.#fail(error);
    }
  }

  /** Whether no final is due, and a language can be checked or the transcriber can take audio. */
  #mayTake(message: Message): boolean {
    if (this.#stretches.size > 1) return false;
    if (typeof message === 'string') return this.#areLanguagesKnown || !NAMES_LANGUAGE.test(message);
    return this.#current.transcriber.backlogMs <= BACKLOG_MAX_MS;
  }

  #receiveAudio(data: Uint8Array): void {
    const bytes = Buffer.concat([this.#rest, data]);
    this.#rest = bytes.subarray(bytes.length - (bytes.length % 2));
    const samples = pcm16ToSamples(bytes);
    this.#receivedMs += samplesToMs(samples.length, this.#options.rateHz);
    this.#push(this.#resampler.push(samples), this.#unread.arrivedAtMs(this.#receivedMs));
  }

  #push(samples: Int16Array, arrivedAtMs?: number): void {
    if (samples.length === 0) return;
    this.#current.sampleCount += samples.length;
    this.#current.transcriber.push(samples, arrivedAtMs);
  }

  /**
   * Reads the socket only while messages can be taken. A socket that is closing is read until the other side closes.
   */
  #readOrPause(): void {
    const { socket } = this.#options;
    if (!this.#isOver && (!this.#inbox.isEmpty || !this.#mayTake(NO_AUDIO))) {
      this.#unread.pause();
      socket.pause();
    } else {
      this.#unread.resume();
      if (socket.isPaused) socket.resume();
    }
  }

  /** Answers an invalid message with an error; the socket stays open. */
  #receive(text: string): void {
    const { failures, request, rateHz, orders, engine } = this.#options;
    let command: SocketCommand;
    try {
      command = readCommand(text, rateHz, engine.languages);
    } catch (error) {
      if (!(error instanceof TrunklineError)) throw error;
      orders.inc({ action: 'refused' });
      this.#send(toSocketError(failures.note(error, request), request));
      return;
    }
    orders.inc({ action: command.action });
    this.#execute(command);
  }

  #execute(command: SocketCommand): void {
    if (command.action === 'config') this.#configure(command);
    else if (command.action === 'flush') this.#flush();
    else this.#reset();
  }

  #nameLanguage(language: string): void {
    this.#expected.language.name(matchLanguage(language, this.#options.engine.languages));
  }

  #configure(command: Extract<SocketCommand, { action: 'config' }>): void {
    const { language = null, hotWords } = command;
    const useServerVad = command.useServerVad ?? this.#useServerVad;
    if (language !== null) this.#nameLanguage(language);
    this.#language = language ?? this.#language;
    if (hotWords !== null) this.#expected.hotWords = hotWords;
    if (useServerVad !== this.#useServerVad) {
      this.#useServerVad = useServerVad;
      this.#push(this.#resampler.flush());
      this.#end(this.#begin(), false);
    }
    const { engine } = this.#options;
    this.#send({
      status: 'configured',
      language: this.#language,
      use_server_vad: useServerVad,
      ...(hotWords !== null && { hot_words: hotWords.length }),
      ...(hotWords !== null && engine.abilities?.hotWords === false && { warning: HOT_WORDS_WARNING }),
    });
  }

  #reset(): void {
    this.#resampler.flush();
    if (this.#current.sampleCount > 0) this.#forget(this.#begin());
    this.#rest = new Uint8Array(0);
    this.#send({ status: 'buffer_reset' });
  }

  /**
   * Ends the utterance. If no final results, sends an empty one. Begins no new stretch if no audio came.
   */
  #flush(): void {
    this.#push(this.#resampler.flush());
    this.#end(this.#current.sampleCount > 0 ? this.#begin() : null, true);
  }

  /** Sends the last finals of `stretch` after those of earlier stretches. */
  #end(stretch: Stretch | null, mustAnswer: boolean): void {
    const finalsBefore = stretch?.finals;
    this.#ended = this.#ended
      .then(async () => {
        await stretch?.transcriber.end();
        if (mustAnswer && stretch?.finals === finalsBefore) this.#send({ text: '', is_partial: false, is_final: true });
        if (stretch !== null) this.#forget(stretch);
        this.#inbox.runAfterFinal();
      })
      .catch((error) => this.#fail(error));
  }

  #forget(stretch: Stretch): void {
    stretch.transcriber.close();
    this.#stretches.delete(stretch);
  }

  /** Begins a new stretch and returns the previous one. */
  #begin(): Stretch {
    const stretch = this.#current;
    this.#current = this.#openStretch();
    this.#rest = new Uint8Array(0);
    return stretch;
  }

  #openStretch(): Stretch {
    const { engine, clock, metrics, settings } = this.#options;
    const transcriber = new LiveTranscriber({
      engine,
      clock,
      metrics,
      settings: {
        ...settings,
        ENDPOINT_MS: this.#useServerVad ? Math.max(settings.ENDPOINT_MS, ENDPOINT_MIN_MS) : NO_ENDPOINT_MS,
        // A final cannot be taken back here.
        JOIN_MS: 0,
      },
      expected: this.#expected,
      originMs: 0,
      emit: (event) => {
        if (event.type !== 'caption') return;
        if (event.final) stretch.finals++;
        const { text, final, language } = event;
        const named = typeof language === 'string' ? { language: titleCase(languageName(language)) } : {};
        this.#send({ text, is_partial: !final, is_final: final, ...named });
      },
    });
    const stretch: Stretch = { transcriber, sampleCount: 0, finals: 0 };
    this.#stretches.add(stretch);
    transcriber.onDrained(() => this.#inbox.run());
    return stretch;
  }

  /** Closes the socket of a client that does not read. */
  #send(message: unknown): void {
    if (this.#isOver) return;
    const { socket, settings } = this.#options;
    socket.send(JSON.stringify(message));
    if (socket.bufferedAmount <= settings.SEND_BUFFER_MAX_BYTES) return;
    this.#fail(new TrunklineError('reader_too_slow', 'the client does not read answers'));
    socket.terminate();
  }

  #awaitMore(): void {
    const { clock, settings } = this.#options;
    this.#idle?.cancel();
    const timeoutMs = settings.MEDIA_TIMEOUT_MS;
    this.#idle = clock.after(
      timeoutMs,
      () => this.#fail(new TrunklineError('media_timeout', `no message came for ${timeoutMs} ms`)),
      true,
    );
  }

  /**
   * Closes the socket for `error`. The client may take half a minute to answer; its messages until then are ignored.
   */
  #fail(error: unknown): void {
    if (this.#isOver) return;
    const { failures, socket } = this.#options;
    failures.close(error, socket);
    this.#release();
    this.#readOrPause();
  }

  #release(): void {
    this.#isOver = true;
    this.#idle?.cancel();
    this.#inbox.close();
    for (const { transcriber } of this.#stretches) transcriber.close();
  }
}

function bytesOf(data: RawData): Uint8Array {
  return Buffer.concat([data].flat().map((part) => new Uint8Array(part as Buffer)));
}
