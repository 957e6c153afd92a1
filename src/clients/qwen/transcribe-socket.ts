/**
 * Live audio to text over the WebSocket of the Qwen3-ASR server: receives samples as binary messages and commands as
 * texts, and sends running text.
 */
import type { FastifyRequest } from 'fastify';
import type { RawData, WebSocket } from 'ws';
import type { Engine } from '../../engine-client/engine.ts';
import type { Clock } from '../../foundation/clock.ts';
import { TrunklineError } from '../../foundation/errors.ts';
import type { IdleWatch } from '../../foundation/idle-watch.ts';
import { languageName, titleCase } from '../../foundation/languages.ts';
import type { Metrics } from '../../foundation/metrics.ts';
import type { Settings } from '../../foundation/settings/settings.ts';
import { closeDrained } from '../../http/server/drain-codes.ts';
import type { Failures } from '../../http/server/errors.ts';
import { HOT_WORDS_WARNING } from '../../http/transcriptions/serve-upload.ts';
import { CommandBudget } from '../../listening/command-budget.ts';
import type { ListenerSession } from '../../listening/listener-place.ts';
import { ListeningSession, type ListeningSettings } from '../../listening/listening-session.ts';
import { watchSilence } from '../../listening/silence-watch.ts';
import type { TranscriberEvent, TranscriberMetrics } from '../../transcription/live-transcriber.ts';
import { errorOf } from './route-config.ts';
import { nameSocketError, readCommand, type SocketCommand, type SocketQuery } from './wire/commands.ts';

/** Largest message of such a socket: half a minute of audio at 16 kHz. */
export const TRANSCRIBE_MESSAGE_MAX_BYTES = 1_048_576;

/** Reported to the client, as the Qwen3-ASR server does. No buffer here has this size. */
const BUFFER_BYTES = 14_400;
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
  readonly settings: ListeningSettings & Pick<Settings, 'MEDIA_TIMEOUT_MS' | 'SEND_BUFFER_MAX_BYTES'>;
  readonly clock: Clock;
  readonly failures: Failures;
  readonly metrics: TranscriberMetrics;
  /** Counts text messages by action. */
  readonly orders: Metrics['transcribeOrders'];
}

/** A text message that may name a language, which only an engine that was ready can check. */
const NAMES_LANGUAGE = /"language"/;

/** One speaker. Its audio is live: like a call's, it has priority over recordings. */
export class TranscribeSocket implements ListenerSession {
  readonly #options: TranscribeSocketOptions;
  readonly #session: ListeningSession;
  readonly #commands: CommandBudget;
  #useServerVad: boolean;
  #language = 'auto';
  /** For each flush under way, whether the client waits for an answer. */
  readonly #flushes: boolean[] = [];
  /** Finals that the flush under way has given so far. */
  #flushedFinals = 0;
  #idle: Pick<IdleWatch, 'note' | 'close'> | null = null;
  #isOver = false;

  constructor(options: TranscribeSocketOptions) {
    const { engine, settings, clock, metrics, rateHz, useServerVad } = options;
    this.#options = options;
    this.#useServerVad = useServerVad;
    this.#commands = new CommandBudget(clock);
    this.#session = new ListeningSession({
      engine,
      settings,
      clock,
      metrics,
      format: { encoding: 'linear16', rateHz, channels: 1 },
      endpointMs: this.#endpointMs,
      events: {
        onEvent: (event, _channel, isFlushed) => this.#tell(event, isFlushed),
        onFlushed: () => this.#answerFlush(),
        onFailed: (error) => this.fail(error),
        onPausable: (isFull) => (isFull ? options.socket.pause() : options.socket.resume()),
      },
    });
  }

  /** Sends the greeting and begins to receive. */
  open(): void {
    const { socket, settings, clock, rateHz } = this.#options;
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
    const timeoutMs = settings.MEDIA_TIMEOUT_MS;
    this.#idle = watchSilence({ clock, timeoutMs, onIdle: (error) => this.fail(error) });
  }

  /** The server ends: the last finals, then the close. Never rejects. */
  async finish(): Promise<void> {
    await this.#session.end();
    if (this.#isOver) return;
    this.#release();
    closeDrained(this.#options.socket);
  }

  get #endpointMs(): number | null {
    return this.#useServerVad ? Math.max(this.#options.settings.ENDPOINT_MS, ENDPOINT_MIN_MS) : null;
  }

  #read(message: string | Uint8Array): void {
    if (this.#isOver) return;
    this.#idle?.note();
    const session = this.#session;
    if (typeof message !== 'string') {
      session.push(message);
      return;
    }
    try {
      this.#commands.take();
    } catch (error) {
      this.fail(error);
      return;
    }
    session.inOrder(
      () => this.#receive(message),
      () => session.areLanguagesKnown || !NAMES_LANGUAGE.test(message),
    );
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
      const failure = failures.note(error, request);
      this.#send(nameSocketError(failure, errorOf(failure, request)));
      return;
    }
    orders.inc({ action: command.action });
    this.#execute(command);
  }

  #execute(command: SocketCommand): void {
    if (command.action === 'config') this.#configure(command);
    else if (command.action === 'flush') this.#flush(true);
    else {
      this.#session.reset();
      this.#send({ status: 'buffer_reset' });
    }
  }

  #configure(command: Extract<SocketCommand, { action: 'config' }>): void {
    const { language = null, hotWords } = command;
    const useServerVad = command.useServerVad ?? this.#useServerVad;
    if (language !== null) this.#session.setLanguage(language || 'auto');
    this.#language = language ?? this.#language;
    if (hotWords !== null) this.#session.setHotWords(hotWords);
    if (useServerVad !== this.#useServerVad) {
      this.#useServerVad = useServerVad;
      this.#session.setEndpointMs(this.#endpointMs);
      this.#flush(false);
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

  #flush(mustAnswer: boolean): void {
    this.#flushes.push(mustAnswer);
    this.#session.flush();
  }

  /** A client that asked for a final gets one, empty where nothing was said. */
  #answerFlush(): void {
    const mustAnswer = this.#flushes.shift() ?? false;
    if (mustAnswer && this.#flushedFinals === 0) this.#send({ text: '', is_partial: false, is_final: true });
    this.#flushedFinals = 0;
  }

  #tell(event: TranscriberEvent, isFlushed: boolean): void {
    if (event.type !== 'caption') return;
    const { text, final, language } = event;
    if (final && isFlushed) this.#flushedFinals++;
    const named = typeof language === 'string' ? { language: titleCase(languageName(language)) } : {};
    this.#send({ text, is_partial: !final, is_final: final, ...named });
  }

  /** Closes the socket of a client that does not read. */
  #send(message: unknown): void {
    if (this.#isOver) return;
    const { socket, settings } = this.#options;
    socket.send(JSON.stringify(message));
    if (socket.bufferedAmount <= settings.SEND_BUFFER_MAX_BYTES) return;
    this.fail(new TrunklineError('reader_too_slow', 'the client does not read answers'));
    socket.terminate();
  }

  /**
   * Closes the socket for `error`. The client may take half a minute to answer; its messages until then are ignored,
   * but read.
   */
  fail(error: unknown): void {
    if (this.#isOver) return;
    const { failures, socket } = this.#options;
    failures.close(error, socket);
    this.#release();
    if (socket.isPaused) socket.resume();
  }

  #release(): void {
    this.#isOver = true;
    this.#idle?.close();
    this.#session.close();
  }
}

function bytesOf(data: RawData): Uint8Array {
  return Buffer.concat([data].flat().map((part) => new Uint8Array(part as Buffer)));
}
