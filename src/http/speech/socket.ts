/** A socket of the Qwen3-TTS server's kind: orders in as texts, samples out, one order after the other. */
import type { FastifyRequest } from 'fastify';
import type { RawData, WebSocket } from 'ws';
import type { Timer } from '../../foundation/clock.ts';
import { TrunklineError } from '../../foundation/errors.ts';
import { IN_PLAIN_WORDS } from '../../foundation/settings/plain-issues.ts';
import type { SpeechServices } from './answer.ts';
import { READER_STALL_MS } from './deliver.ts';
import { requestFields, type SpeechRequest, toSpeechRequest } from './request.ts';

/** Orders that may wait behind the one that is being served. */
const WAITING_MAX = 16;

interface SpeechSocketOptions {
  readonly socket: WebSocket;
  readonly request: FastifyRequest;
  readonly doors: SpeechServices;
  /** A socket that orders nothing for this long is closed. */
  readonly idleMs: number;
}

/** Holds a place at the desk as long as it is open. */
export class SpeechSocket {
  readonly #options: SpeechSocketOptions;
  readonly #gone = new AbortController();
  readonly #waiting: string[] = [];
  #isBusy = false;
  #idle: Timer | null = null;

  constructor(options: SpeechSocketOptions) {
    this.#options = options;
  }

  /** Listens from now on. @throws TrunklineError `too_many_requests` */
  open(): void {
    const { socket, doors } = this.#options;
    const leave = doors.service.enter();
    socket.on('message', (data, isBinary) => this.#receive(data, isBinary));
    socket.once('close', () => {
      this.#gone.abort();
      this.#waiting.length = 0;
      this.#idle?.cancel();
      leave();
    });
    this.#rest();
  }

  #receive(data: RawData, isBinary: boolean): void {
    if (isBinary) this.#close(new TrunklineError('message_binary', 'expected a text message with an order in JSON'));
    else if (this.#waiting.length >= WAITING_MAX)
      this.#close(new TrunklineError('too_many_requests', `${WAITING_MAX} orders wait already`));
    else this.#waiting.push(data.toString());
    if (!this.#isBusy) void this.#serveAll();
  }

  async #serveAll(): Promise<void> {
    this.#isBusy = true;
    this.#idle?.cancel();
    for (let text = this.#waiting.shift(); text !== undefined; text = this.#waiting.shift()) await this.#serve(text);
    this.#isBusy = false;
    this.#rest();
  }

  /** Never rejects. */
  async #serve(text: string): Promise<void> {
    const { doors, request } = this.#options;
    const { signal } = this.#gone;
    try {
      const { chunks } = await doors.service.open(readOrder(text, doors.inputMaxChars), signal);
      for await (const chunk of chunks) await this.#send(chunk);
      if (signal.aborted) return;
      doors.metrics.speechRequests.inc({ format: 'pcm', outcome: 'finished' });
      await this.#send(JSON.stringify({ event: 'done' }));
    } catch (error) {
      if (signal.aborted) return;
      doors.metrics.speechRequests.inc({ format: 'pcm', outcome: 'failed' });
      await this.#send(JSON.stringify(toErrorEvent(doors.failures.note(error, request), request.id)));
    }
  }

  /** Resolves when it has left; a peer that takes nothing is cut off. */
  #send(data: Uint8Array | string): Promise<void> {
    const { socket, doors } = this.#options;
    const timer = doors.clock.after(READER_STALL_MS, () => socket.terminate(), true);
    return new Promise((resolve) => {
      socket.send(data, () => {
        timer.cancel();
        resolve();
      });
    });
  }

  #rest(): void {
    if (this.#gone.signal.aborted) return;
    const { doors, idleMs } = this.#options;
    const close = (): void => this.#close(new TrunklineError('media_timeout', `nothing was ordered for ${idleMs} ms`));
    this.#idle = doors.clock.after(idleMs, close, true);
  }

  #close(error: TrunklineError): void {
    this.#options.doors.failures.close(error, this.#options.socket);
  }
}

/** `detail` is what clients of the Qwen3-TTS server read. */
function toErrorEvent(failure: TrunklineError, requestId: string): object {
  return { event: 'error', detail: failure.message, error: { ...failure.toBody().error, request_id: requestId } };
}

function readOrder(text: string, inputMaxChars: number): SpeechRequest {
  const parsed = requestFields(inputMaxChars).safeParse(parseJson(text), IN_PLAIN_WORDS);
  if (parsed.success) return toSpeechRequest(parsed.data, 'pcm');
  const { path = [], message = 'not allowed' } = parsed.error.issues[0] ?? {};
  throw new TrunklineError(
    'invalid_request',
    `${['order', ...path].join('.')}: ${message}`,
    path.length === 0 ? null : path.join('.'),
  );
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new TrunklineError('message_malformed', 'expected an order in JSON, such as {"input":"Hello."}');
  }
}
