/** One client of Deepgram's `WS /v1/speak`. */

import type { FastifyRequest } from 'fastify';
import type { RawData, WebSocket } from 'ws';
import type { Timer } from '../../foundation/clock.ts';
import { TrunklineError } from '../../foundation/errors.ts';
import { closeDrained } from '../../http/server/drain-codes.ts';
import type { SpeechContext } from '../../http/speech/send-speech.ts';
import { CommandBudget } from '../../listening/command-budget.ts';
import type { ListenerSession } from '../../listening/listener-place.ts';
import type { ResolvedVoice } from '../../speech/voice-resolver.ts';
import { SocketWriter } from '../shared/socket-writer.ts';
import { SpeechStream } from '../shared/speech-stream.ts';
import { modelOf, rawCodecOf } from './speak-format.ts';
import { deepgramCode } from './wire/errors.ts';
import {
  errorMessage,
  joinerOf,
  metadataMessage,
  readSpeakMessage,
  type SpeakMessage,
  sequenceMessage,
  warningMessage,
} from './wire/speak-messages.ts';
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
}

/** Is a listening session of the kind `speak` as long as it is open. */
export class SpeakSocket implements ListenerSession {
  readonly #options: SpeakSocketOptions;
  readonly #writer: SocketWriter;
  readonly #stream: SpeechStream;
  readonly #commands: CommandBudget;
  #idle: Timer;
  #sequenceId = 0;
  #warnings = 0;
  #isClosing = false;
  #hasFailed = false;

  constructor(options: SpeakSocketOptions) {
    this.#options = options;
    const { socket, context, query, voice } = options;
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
      send: (sound) => this.#writer.send(sound),
      onFlushed: () => this.#tellSequence('Flushed'),
      onSkipped: () => this.#warn('SPEECH_SKIPPED', 'a part of the text could not be spoken and is left out'),
      onFull: (isFull) => (isFull ? socket.pause() : socket.resume()),
      onFailed: (error) => this.fail(error),
    });
    this.#idle = this.#startIdleTimer();
  }

  /** To be called once. */
  open(): void {
    const { socket, context, request, voice } = this.#options;
    socket.on('message', (data, isBinary) => this.#receive(data, isBinary));
    socket.once('close', () => {
      this.#idle.cancel();
      this.#stream.close();
      context.metrics.speechRequests.inc({ format: 'pcm', outcome: this.#isClosing ? 'finished' : 'gone' });
    });
    void this.#writer.send(metadataMessage(request.id, modelOf(voice.voice)));
  }

  /** It speaks. */
  isBusy(): boolean {
    return this.#stream.isSpeaking;
  }

  /** The server ends: what is left is said, and clients are to come again. Never rejects. */
  async finish(): Promise<void> {
    if (this.#isClosing) return;
    this.#isClosing = true;
    await this.#stream.finish();
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
      this.#obey(readSpeakMessage(data.toString(), this.#options.context.inputMaxChars));
    } catch (error) {
      if (!(error instanceof TrunklineError)) throw error;
      this.#warn(deepgramCode(error.code), error.message);
    }
  }

  #obey(message: SpeakMessage): void {
    switch (message.type) {
      case 'Speak':
        // Texts are limited by what may wait to be spoken.
        if (message.text !== '') this.#commands.giveBack();
        this.#stream.write(joinerOf(this.#stream.openEnd, message.text) + message.text);
        break;
      case 'Flush':
        this.#stream.flush();
        break;
      case 'Clear':
        this.#stream.clear();
        void this.#tellSequence('Cleared');
        break;
      case 'Close':
        void this.#close();
    }
  }

  /** Says what is left, then closes. Never rejects. */
  async #close(): Promise<void> {
    this.#isClosing = true;
    await this.#stream.finish();
    this.#options.socket.close(CLOSE_NORMAL);
  }

  #tellSequence(type: 'Flushed' | 'Cleared'): Promise<void> {
    return this.#writer.send(sequenceMessage(type, this.#sequenceId++));
  }

  #warn(code: string, description: string): void {
    this.#warnings++;
    if (this.#warnings <= WARNINGS_MAX) void this.#writer.send(warningMessage(code, description));
  }

  /** Closes the socket with the code for `error`. */
  fail(error: unknown): void {
    const { context, request, socket } = this.#options;
    this.#hasFailed = true;
    const failure = context.failures.note(error, request);
    void this.#writer.send(errorMessage(deepgramCode(failure.code), failure.message));
    this.#stream.close();
    socket.close(failure.closeCode, failure.code);
  }

  #startIdleTimer(): Timer {
    return this.#options.context.clock.after(IDLE_MS, () => this.#options.socket.close(CLOSE_NORMAL, 'idle'), true);
  }
}
