/** One client of Deepgram's `WS /v1/speak` or `WS /v2/speak`. */

import type { FastifyRequest } from 'fastify';
import type { RawData, WebSocket } from 'ws';
import type { Timer } from '../../foundation/clock.ts';
import { TrunklineError } from '../../foundation/errors.ts';
import { bytesToMs } from '../../foundation/units.ts';
import { closeDrained } from '../../http/server/drain-codes.ts';
import type { SpeechContext } from '../../http/speech/send-speech.ts';
import { CommandBudget } from '../../listening/command-budget.ts';
import type { ListenerSession } from '../../listening/listener-place.ts';
import type { ResolvedVoice } from '../../speech/voice-resolver.ts';
import { SocketWriter } from '../shared/socket-writer.ts';
import { SpeechStream } from '../shared/speech-stream.ts';
import type { SpeakDialect } from './speak-dialect.ts';
import { modelOf, rawCodecOf } from './speak-format.ts';
import { deepgramCode } from './wire/errors.ts';
import { joinerOf, readSpeakMessage, type SpeakMessage } from './wire/speak-messages.ts';
import type { SpeakQuery } from './wire/speak-query.ts';

/** As at Deepgram, a socket that says nothing for an hour is closed. Programs keep one open between sentences. */
const IDLE_MS = 3_600_000;
/** Text that waits to be spoken, in texts of the largest size. */
const WAITING_TEXTS_MAX = 4;
/** Warnings are answers to what a client sends; of more it is told nothing. */
const WARNINGS_MAX = 100;
/** SDKs take every other code as a loss, and connect again. */
const CLOSE_NORMAL = 1000;

interface SpeakSocketOptions {
  readonly socket: WebSocket;
  readonly request: FastifyRequest;
  readonly context: SpeechContext;
  readonly query: SpeakQuery;
  readonly voice: ResolvedVoice;
  readonly dialect: SpeakDialect;
}

/** Is a listening session of the kind `speak` as long as it is open. */
export class SpeakSocket implements ListenerSession {
  readonly #options: SpeakSocketOptions;
  readonly #writer: SocketWriter;
  readonly #stream: SpeechStream;
  readonly #commands: CommandBudget;
  #idle: Timer;
  #warnings = 0;
  #isClosing = false;
  #hasFailed = false;

  constructor(options: SpeakSocketOptions) {
    this.#options = options;
    const { socket, context, query, voice, dialect } = options;
    const codec = rawCodecOf(query.format);
    if (codec === null) throw new Error(`${query.format.encoding} is no encoding of a socket`);
    this.#commands = new CommandBudget(context.clock);
    this.#writer = new SocketWriter(socket, context.clock);
    this.#stream = new SpeechStream({
      service: context.service,
      clock: context.clock,
      voice,
      codec,
      waitingMaxChars: context.inputMaxChars * WAITING_TEXTS_MAX,
      send: (sound) => {
        dialect.onSound(bytesToMs(sound.length, codec));
        return this.#writer.send(sound);
      },
      onFlushed: () => this.#tell(dialect.onFlushed()),
      onSkipped: () => this.#warn('SPEECH_SKIPPED', 'a part of the text could not be spoken and is left out'),
      onFull: (isFull) => (isFull ? socket.pause() : socket.resume()),
      onFailed: (error) => this.fail(error),
    });
    this.#idle = this.#startIdleTimer();
  }

  /** To be called once. */
  open(): void {
    const { socket, context, request, voice, dialect } = this.#options;
    socket.on('message', (data, isBinary) => this.#receive(data, isBinary));
    socket.once('close', () => {
      this.#idle.cancel();
      this.#stream.close();
      context.metrics.speechRequests.inc({ format: 'pcm', outcome: this.#isClosing ? 'finished' : 'gone' });
    });
    void this.#writer.send(dialect.greeting(request.id, modelOf(voice.voice)));
  }

  /** It speaks. */
  isBusy(): boolean {
    return this.#stream.isSpeaking;
  }

  /** The server ends: what is left is said, and clients are to come again. Never rejects. */
  async finish(): Promise<void> {
    if (this.#isClosing) return;
    this.#isClosing = true;
    await this.#sayRest();
    closeDrained(this.#options.socket);
  }

  #receive(data: RawData, isBinary: boolean): void {
    if (this.#isClosing || this.#hasFailed) return;
    this.#idle.cancel();
    this.#idle = this.#startIdleTimer();
    try {
      this.#commands.take();
    } catch (error) {
      this.fail(error);
      return;
    }
    try {
      if (isBinary)
        throw new TrunklineError('message_binary', 'got a binary message, expected text with one JSON object');
      const { context, dialect } = this.#options;
      this.#obey(readSpeakMessage(data.toString(), context.inputMaxChars, dialect.commands));
    } catch (error) {
      if (!(error instanceof TrunklineError)) throw error;
      this.#warn(deepgramCode(error.code), error.message);
    }
  }

  #obey(message: SpeakMessage): void {
    switch (message.type) {
      case 'Speak':
        this.#write(message.text);
        break;
      case 'Flush':
        this.#flush();
        break;
      case 'Clear':
        this.#stream.clear();
        void this.#tell(this.#options.dialect.onCleared());
        break;
      case 'Close':
        void this.#close();
    }
  }

  #write(text: string): void {
    if (text === '') return;
    // Texts are limited by what may wait to be spoken.
    this.#commands.giveBack();
    void this.#tell(this.#options.dialect.onText(text));
    this.#stream.write(joinerOf(this.#stream.openEnd, text) + text);
  }

  #flush(): void {
    if (this.#options.dialect.onFlush()) this.#stream.flush();
    else this.#warn('NO_ACTIVE_SPEECH', 'got Flush without any text before it, expected Speak first');
  }

  /** Says what is left, then closes. Never rejects. */
  async #close(): Promise<void> {
    this.#isClosing = true;
    await this.#sayRest();
    this.#options.socket.close(CLOSE_NORMAL);
  }

  async #sayRest(): Promise<void> {
    await this.#stream.finish();
    if (!this.#hasFailed) void this.#tell(this.#options.dialect.onEnd());
  }

  /** Resolves when all was handed to the system. */
  async #tell(messages: readonly string[]): Promise<void> {
    await Promise.all(messages.map((message) => this.#writer.send(message)));
  }

  #warn(code: string, description: string): void {
    this.#warnings++;
    if (this.#warnings <= WARNINGS_MAX) void this.#tell([this.#options.dialect.warning(code, description)]);
  }

  /** Closes the socket with the code for `error`. */
  fail(error: unknown): void {
    const { context, request, socket, dialect } = this.#options;
    this.#hasFailed = true;
    const failure = context.failures.note(error, request);
    void this.#tell([dialect.error(failure.code, failure.message)]);
    this.#stream.close();
    socket.close(failure.closeCode, failure.code);
  }

  #startIdleTimer(): Timer {
    return this.#options.context.clock.after(IDLE_MS, () => this.#options.socket.close(CLOSE_NORMAL, 'idle'), true);
  }
}
