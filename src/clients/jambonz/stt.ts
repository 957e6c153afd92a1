/** One recognition of jambonz: `WS /jambonz/stt`. */
import type { FastifyRequest } from 'fastify';
import type { RawData, WebSocket } from 'ws';
import { toTranscriberMetrics } from '../../calls/inbound/track.ts';
import { TrunklineError } from '../../foundation/errors.ts';
import { boundHotWords, tidyHotWords } from '../../foundation/hot-words.ts';
import type { IdleWatch } from '../../foundation/idle-watch.ts';
import { closeDrained } from '../../http/server/drain-codes.ts';
import { requireLanguage } from '../../http/transcriptions/languages.ts';
import { CommandBudget } from '../../listening/command-budget.ts';
import type { ListenerSession } from '../../listening/listener-place.ts';
import { ListeningSession } from '../../listening/listening-session.ts';
import { watchSilence } from '../../listening/silence-watch.ts';
import type { TranscriberEvent } from '../../transcription/live-transcriber.ts';
import type { ListenContext } from '../shared/context.ts';
import { errorMessage, readRecogniserMessage, type StartMessage, transcriptionMessage } from './wire/messages.ts';

interface RecognitionOptions {
  readonly socket: WebSocket;
  readonly request: FastifyRequest;
  readonly context: ListenContext;
}

/** jambonz opens one for each turn of a caller, and waits for us to close it. */
export class Recognition implements ListenerSession {
  readonly #options: RecognitionOptions;
  readonly #idle: Pick<IdleWatch, 'note' | 'close'>;
  readonly #commands: CommandBudget;
  #session: ListeningSession | null = null;
  #language = '';
  #isEnding = false;
  #isOver = false;

  constructor(options: RecognitionOptions) {
    const { socket, context } = options;
    this.#options = options;
    const { clock, settings } = context;
    this.#commands = new CommandBudget(clock);
    this.#idle = watchSilence({ clock, timeoutMs: settings.MEDIA_TIMEOUT_MS, onIdle: (error) => this.fail(error) });
    socket.on('message', (data, isBinary) => this.#receive(data, isBinary));
    socket.once('close', () => this.#release());
  }

  /** The server ends: the last transcriptions, then the close. Never rejects. */
  async finish(): Promise<void> {
    if (this.#isEnding) return;
    this.#isEnding = true;
    await this.#session?.end();
    if (this.#isOver) return;
    this.#release();
    closeDrained(this.#options.socket);
  }

  #receive(data: RawData, isBinary: boolean): void {
    if (this.#isOver || this.#isEnding) return;
    this.#idle.note();
    try {
      if (!isBinary) this.#commands.take();
      if (!isBinary) this.#obey(data.toString());
      else if (this.#session !== null) this.#session.push(data as Buffer);
      else throw new TrunklineError('media_before_start', 'got audio, expected {"type":"start"} before it');
    } catch (error) {
      this.fail(error);
    }
  }

  #obey(text: string): void {
    const message = readRecogniserMessage(text);
    if (message?.type === 'stop') void this.#end();
    if (message?.type !== 'start') return;
    if (this.#session !== null) throw new TrunklineError('start_repeated', 'got a second start on one socket');
    requireLanguage(message.language, this.#options.context.engine.languages);
    this.#session = this.#open(message);
  }

  #open({ language, rateHz, interimResults, hints }: StartMessage): ListeningSession {
    const { socket, context } = this.#options;
    this.#language = language;
    return new ListeningSession({
      ...context,
      metrics: toTranscriberMetrics(context.metrics),
      format: { encoding: 'linear16', rateHz, channels: 1 },
      language,
      partials: interimResults,
      hotWords: boundHotWords(tidyHotWords(hints)),
      events: {
        onEvent: (event) => this.#tell(event),
        onFlushed: () => undefined,
        onFailed: (error) => this.fail(error),
        onPausable: (isFull) => {
          if (isFull) socket.pause();
          else if (socket.isPaused) socket.resume();
        },
      },
    });
  }

  /** An empty final would start jambonz's timers and stop what it plays. */
  #tell(event: TranscriberEvent): void {
    if (event.type === 'caption' && event.text.trim() !== '') this.#send(transcriptionMessage(event, this.#language));
  }

  async #end(): Promise<void> {
    this.#isEnding = true;
    await this.#session?.end();
    this.#close(1000);
  }

  /** Closes the socket with the code for `error`. */
  fail(error: unknown): void {
    if (this.#isOver) return;
    const { context, request } = this.#options;
    const failure = context.failures.note(error, request);
    this.#send(errorMessage(failure.message));
    this.#close(failure.closeCode);
  }

  /** A client that does not read is disconnected. */
  #send(text: string): void {
    const { socket, context } = this.#options;
    if (this.#isOver) return;
    socket.send(text);
    if (socket.bufferedAmount > context.settings.SEND_BUFFER_MAX_BYTES) socket.terminate();
  }

  #close(code: number): void {
    if (this.#isOver) return;
    this.#release();
    this.#options.socket.close(code);
    // The close that the client answers with has to be read.
    if (this.#options.socket.isPaused) this.#options.socket.resume();
  }

  #release(): void {
    this.#isOver = true;
    this.#idle.close();
    this.#session?.close();
  }
}
