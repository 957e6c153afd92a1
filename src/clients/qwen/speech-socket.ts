/** A WebSocket as the Qwen3-TTS server has it: requests come in as text, samples go out, one request at a time. */
import type { FastifyRequest } from 'fastify';
import type { RawData, WebSocket } from 'ws';
import type { Timer } from '../../foundation/clock.ts';
import { TrunklineError } from '../../foundation/errors.ts';
import { IN_PLAIN_WORDS } from '../../foundation/settings/plain-issues.ts';
import { requestFields, type SpeechRequest, toSpeechRequest } from '../../http/speech/request.ts';
import type { SpeechContext } from '../../http/speech/send-speech.ts';
import { READER_STALL_MS } from '../../http/speech/streamed-body.ts';

/** Most requests that wait behind the one that is being served. */
const WAITING_MAX = 16;

interface SpeechSocketOptions {
  readonly socket: WebSocket;
  readonly request: FastifyRequest;
  readonly context: SpeechContext;
  /** A socket without a request for this long is closed. */
  readonly idleMs: number;
}

/** Counts as one request for speech as long as it is open. */
export class SpeechSocket {
  readonly #options: SpeechSocketOptions;
  readonly #gone = new AbortController();
  readonly #waiting: string[] = [];
  #isBusy = false;
  #idle: Timer | null = null;

  constructor(options: SpeechSocketOptions) {
    this.#options = options;
  }

  /** @throws TrunklineError `too_many_requests` */
  open(): void {
    const { socket, context } = this.#options;
    const leave = context.service.enter();
    socket.on('message', (data, isBinary) => this.#receive(data, isBinary));
    socket.once('close', () => {
      this.#gone.abort();
      this.#waiting.length = 0;
      this.#idle?.cancel();
      leave();
    });
    this.#startIdleTimer();
  }

  #receive(data: RawData, isBinary: boolean): void {
    if (isBinary) this.#close(new TrunklineError('message_binary', 'expected a text message with a request in JSON'));
    else if (this.#waiting.length >= WAITING_MAX)
      this.#close(new TrunklineError('too_many_requests', `${WAITING_MAX} requests wait already`));
    else this.#waiting.push(data.toString());
    if (!this.#isBusy) void this.#serveAll();
  }

  async #serveAll(): Promise<void> {
    this.#isBusy = true;
    this.#idle?.cancel();
    for (let text = this.#waiting.shift(); text !== undefined; text = this.#waiting.shift()) await this.#serve(text);
    this.#isBusy = false;
    this.#startIdleTimer();
  }

  /** Never rejects. */
  async #serve(text: string): Promise<void> {
    const { context, request } = this.#options;
    const { signal } = this.#gone;
    try {
      const { chunks } = await context.service.open(readRequest(text, context.inputMaxChars), signal);
      for await (const chunk of chunks) await this.#send(chunk);
      if (signal.aborted) return;
      context.metrics.speechRequests.inc({ format: 'pcm', outcome: 'finished' });
      await this.#send(JSON.stringify({ event: 'done' }));
    } catch (error) {
      if (signal.aborted) return;
      context.metrics.speechRequests.inc({ format: 'pcm', outcome: 'failed' });
      await this.#send(JSON.stringify(toErrorEvent(context.failures.note(error, request), request.id)));
    }
  }

  /** Resolves when the data has been sent; a client that reads nothing is disconnected. */
  #send(data: Uint8Array | string): Promise<void> {
    const { socket, context } = this.#options;
    const timer = context.clock.after(READER_STALL_MS, () => socket.terminate(), true);
    return new Promise((resolve) => {
      socket.send(data, () => {
        timer.cancel();
        resolve();
      });
    });
  }

  #startIdleTimer(): void {
    if (this.#gone.signal.aborted) return;
    const { context, idleMs } = this.#options;
    const close = (): void => this.#close(new TrunklineError('media_timeout', `no request came for ${idleMs} ms`));
    this.#idle = context.clock.after(idleMs, close, true);
  }

  #close(error: TrunklineError): void {
    this.#options.context.failures.close(error, this.#options.socket);
  }
}

/** Clients of the Qwen3-TTS server read `detail`. */
function toErrorEvent(failure: TrunklineError, requestId: string): object {
  return { event: 'error', detail: failure.message, error: { ...failure.toBody().error, request_id: requestId } };
}

function readRequest(text: string, inputMaxChars: number): SpeechRequest {
  const parsed = requestFields(inputMaxChars).safeParse(parseJson(text), IN_PLAIN_WORDS);
  if (parsed.success) return toSpeechRequest(parsed.data, 'pcm');
  const { path = [], message = 'not allowed' } = parsed.error.issues[0] ?? {};
  throw new TrunklineError(
    'invalid_request',
    `${['request', ...path].join('.')}: ${message}`,
    path.length === 0 ? null : path.join('.'),
  );
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new TrunklineError('message_malformed', 'expected a request in JSON, such as {"input":"Hello."}');
  }
}
