/** The WebSocket of a Deepgram client: JSON goes out, and closing codes are Deepgram's. */
import type { FastifyRequest } from 'fastify';
import type { RawData, WebSocket } from 'ws';
import type { Clock, Timer } from '../../foundation/clock.ts';
import type { ErrorCode, TrunklineError } from '../../foundation/errors.ts';
import type { IdleWatch } from '../../foundation/idle-watch.ts';
import type { Settings } from '../../foundation/settings/settings.ts';
import { closeDrained } from '../../http/server/drain-codes.ts';
import type { Failures } from '../../http/server/errors.ts';
import { CommandBudget } from '../../listening/command-budget.ts';
import { Inbox } from '../../listening/inbox.ts';
import { watchSilence } from '../../listening/silence-watch.ts';

/** Largest message of such a socket: half a minute of audio at 16 kHz. */
export const DEEPGRAM_MESSAGE_MAX_BYTES = 1_048_576;

/**
 * Audio that is taken before other work runs: about a millisecond. A megabyte may be half a million packets of a byte
 * each.
 */
const SLICE_BYTES = 4096;
/** A message of a byte takes as long as so many bytes of a long one. */
const MESSAGE_BYTES = 64;
/** How often a client that is not read is written to: that it has gone is seen by nothing else. */
const PING_MS = 5000;
/** Longest reason of a close (RFC 6455 §5.5: a control frame has at most 125 bytes). */
const REASON_MAX_BYTES = 123;

/** How Deepgram closes a stream that failed: what the client sent is no audio, it went silent, or we failed. */
const CLOSES = {
  data: { code: 1008, reason: 'DATA-0000' },
  silent: { code: 1011, reason: 'NET-0001' },
  failed: { code: 1011, reason: 'NET-0000' },
} as const;

const CLOSE_OF: Partial<Readonly<Record<ErrorCode, keyof typeof CLOSES>>> = {
  audio_unreadable: 'data',
  codec_unsupported: 'data',
  invalid_request: 'data',
  media_timeout: 'silent',
  silent_session_ended: 'silent',
  message_malformed: 'data',
  too_many_requests: 'data',
};

/** What a socket works with. */
export interface StreamSocketOptions {
  readonly socket: WebSocket;
  /** The request that opened it. */
  readonly request: FastifyRequest;
  readonly settings: Pick<Settings, 'MEDIA_TIMEOUT_MS' | 'SEND_BUFFER_MAX_BYTES'>;
  readonly clock: Clock;
  readonly failures: Failures;
  /** A client that sends nothing for MEDIA_TIMEOUT_MS is to be closed. */
  readonly mustSend: boolean;
  /** Each binary message is passed on as it came; else it may be cut. */
  readonly areMessagesWhole: boolean;
  onAudio(bytes: Uint8Array): void;
  onText(text: string): void;
  /** The socket is over, whoever closed it. Called once. */
  onOver(): void;
}

/** See above. */
export class StreamSocket {
  readonly #options: StreamSocketOptions;
  readonly #idle: Pick<IdleWatch, 'note' | 'close'> | null;
  readonly #inbox: Inbox;
  readonly #commands: CommandBudget;
  #isOver = false;
  /** Whoever takes the audio wants no more for now. */
  #isFull = false;
  /** Audio is being decoded: what comes behind it waits, whatever it is. */
  #isBusy = false;
  #pings: Timer | null = null;

  constructor(options: StreamSocketOptions) {
    const { socket, clock, settings } = options;
    this.#options = options;
    this.#commands = new CommandBudget(clock);
    this.#idle = options.mustSend
      ? watchSilence({ clock, timeoutMs: settings.MEDIA_TIMEOUT_MS, onIdle: (error) => this.fail(error) })
      : null;
    this.#inbox = this.#openInbox();
    socket.on('message', (data, isBinary) => this.#receive(data, isBinary));
    socket.once('close', () => this.#release());
  }

  /** Whether nothing is received or sent any more. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** A client that does not read is disconnected. */
  send(messages: readonly object[]): void {
    const { socket, settings } = this.#options;
    for (const message of messages) {
      if (this.#isOver) return;
      socket.send(JSON.stringify(message));
      if (socket.bufferedAmount <= settings.SEND_BUFFER_MAX_BYTES) continue;
      this.#release();
      socket.terminate();
    }
  }

  /** Passes audio on, or not: what comes meanwhile waits in order, and no more is read. */
  setFull(isFull: boolean): void {
    this.#isFull = isFull;
    this.#inbox.run();
    this.#setPaused();
  }

  /** Passes everything on, or nothing: what comes meanwhile waits in order, and no more is read. */
  setBusy(isBusy: boolean): void {
    this.#isBusy = isBusy;
    // One that is being handed out may call this.
    if (!isBusy) this.#inbox.run();
    this.#setPaused();
  }

  #openInbox(): Inbox {
    const { areMessagesWhole, onAudio } = this.#options;
    return new Inbox({
      sliceBytes: SLICE_BYTES,
      messageBytes: MESSAGE_BYTES,
      wholeBytes: areMessagesWhole ? ({ length }) => length : undefined,
      mayTake: (message) => !this.#isBusy && !(message instanceof Uint8Array && this.#isFull),
      take: (message) => {
        this.#idle?.note();
        if (message instanceof Uint8Array) onAudio(message);
        else message.run();
      },
      onFailure: (error) => this.fail(error),
      onRun: () => this.#setPaused(),
    });
  }

  /** Who is not read cannot be waited for. */
  #setPaused(): void {
    const { socket } = this.#options;
    const isPaused = !this.#isOver && (this.#isFull || this.#isBusy || !this.#inbox.isEmpty);
    if (isPaused === socket.isPaused) return;
    this.#idle?.note();
    if (isPaused) socket.pause();
    else socket.resume();
    if (isPaused) this.#pingLater();
    else this.#pings?.cancel();
  }

  #pingLater(): void {
    const { clock, socket } = this.#options;
    this.#pings = clock.after(
      PING_MS,
      () => {
        socket.ping();
        this.#pingLater();
      },
      true,
    );
  }

  /** All is said. Some SDKs take every other code, and none, for a loss, and connect again. */
  finish(): void {
    if (this.#isOver) return;
    this.#release();
    this.#options.socket.close(1000);
    // The close that the client answers with has to be read.
    this.#setPaused();
  }

  /** The server ends, and all is said. */
  finishDrained(): void {
    if (this.#isOver) return;
    this.#release();
    closeDrained(this.#options.socket);
    this.#setPaused();
  }

  /** Closes with the code for `error`, which is counted; nothing more is received or sent. */
  fail(error: unknown): void {
    if (this.#isOver) return;
    const { failures, request, socket } = this.#options;
    this.#release();
    const noted = failures.note(error, request);
    const { code, reason } = CLOSES[CLOSE_OF[noted.code] ?? 'failed'];
    socket.close(code, noted.code === 'audio_unreadable' ? explained(reason, noted) : reason);
    this.#setPaused();
  }

  #receive(data: RawData, isBinary: boolean): void {
    if (this.#isOver) return;
    this.#idle?.note();
    try {
      if (!isBinary) this.#commands.take();
      this.#inbox.push(isBinary ? bytesOf(data) : { isReady: () => true, run: () => this.#readText(data) });
    } catch (error) {
      this.fail(error);
    }
  }

  #readText(data: RawData): void {
    this.#options.onText(data.toString());
  }

  #release(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#idle?.close();
    this.#inbox.close();
    this.#pings?.cancel();
    this.#options.onOver();
  }
}

/** Programs in a browser see nothing else of the failure. */
function explained(reason: string, { message }: TrunklineError): string {
  return `${reason}: ${message.replaceAll(/[^ -~]+/g, ' ')}`.slice(0, REASON_MAX_BYTES);
}

function bytesOf(data: RawData): Uint8Array {
  if (data instanceof Uint8Array) return data;
  return Buffer.concat([data].flat().map((part) => new Uint8Array(part as Buffer)));
}
