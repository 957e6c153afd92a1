/** Requests to one server over kept-alive connections. `node:http`, for `fetch` takes four times the CPU time. */
import {
  Agent as HttpAgent,
  request as httpRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type RequestOptions,
} from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { readBounded } from '../../foundation/bounded-body.ts';
import { readRetryAfter } from '../../protocols/remote/retry-after.ts';
import { RemoteError } from './remote-recogniser.ts';

/** Connections without a request that are kept. */
const IDLE_SOCKETS_MAX = 64;
/** What a server does that closes a connection just when a request is sent on it. */
const STALE_CODES = ['ECONNRESET', 'EPIPE'];

/** What is posted. */
export interface HttpBody {
  readonly contentType: string;
  readonly body: Uint8Array;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The end of a request that was answered with a status below 300. */
export interface HttpAnswer {
  readonly headers: IncomingHttpHeaders;
  readonly body: Uint8Array;
}

/** A request failed before there was an answer; on a connection that was there before, it may be tried once more. */
class Unanswered extends Error {
  readonly isStale: boolean;

  constructor(code: string, isStale: boolean) {
    super(code);
    this.isStale = isStale;
  }
}

export class HttpClient {
  readonly #agent: HttpAgent;
  readonly #isSecure: boolean;
  readonly #authorization: { readonly authorization?: string };

  /** @param apiKey '' = none */
  constructor({ protocol }: URL, apiKey: string) {
    this.#isSecure = protocol === 'https:';
    const options = { keepAlive: true, maxFreeSockets: IDLE_SOCKETS_MAX };
    this.#agent = this.#isSecure ? new HttpsAgent(options) : new HttpAgent(options);
    this.#authorization = apiKey === '' ? {} : { authorization: `Bearer ${apiKey}` };
  }

  /**
   * Posts `sent` and reads the whole answer.
   * @throws RemoteError
   */
  async post(url: URL, sent: HttpBody, limits: { signal: AbortSignal; answerMaxBytes: number }): Promise<HttpAnswer> {
    const response = await this.open(url, sent, limits.signal);
    const body = await readBounded(response, limits.answerMaxBytes).catch(() => {
      throw new RemoteError('failed', 'it broke off in the middle of its answer');
    });
    if (body !== null) return { headers: response.headers, body };
    throw new RemoteError('unusable', `its answer has more than ${limits.answerMaxBytes} bytes`);
  }

  /**
   * Posts `sent`, and resolves when the answer begins. The body must be read, or destroyed.
   * @throws RemoteError for an error status, and when the server cannot be reached
   */
  async open(url: URL, { contentType, body, headers: more }: HttpBody, signal: AbortSignal): Promise<IncomingMessage> {
    const headers = {
      'content-type': contentType,
      'content-length': body.length,
      accept: '*/*',
      ...this.#authorization,
      ...more,
    };
    const options = { method: 'POST', headers, signal };
    const response = await this.#send(url, { ...options, agent: this.#agent }, body).catch((error: unknown) => {
      if (!(error instanceof Unanswered && error.isStale)) throw toRemoteError(error);
      return this.#send(url, { ...options, agent: false }, body).catch((again: unknown) => {
        throw toRemoteError(again);
      });
    });
    const { statusCode = 0 } = response;
    if (statusCode >= 200 && statusCode < 300) return response;
    response.destroy();
    throw errorOf(statusCode, response.headers);
  }

  close(): void {
    this.#agent.destroy();
  }

  #send(url: URL, options: RequestOptions, body: Uint8Array): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      const request = (this.#isSecure ? httpsRequest : httpRequest)(url, options);
      request.on('response', resolve);
      request.on('error', (error: NodeJS.ErrnoException) => {
        const { code = error.name } = error;
        reject(new Unanswered(code, request.reusedSocket && STALE_CODES.includes(code)));
      });
      request.end(body);
    });
  }
}

function toRemoteError(error: unknown): RemoteError {
  if (error instanceof Unanswered) return new RemoteError('failed', `it could not be reached (${error.message})`);
  throw error;
}

function errorOf(status: number, headers: IncomingHttpHeaders): RemoteError {
  const message = `it answered ${status}`;
  if (status === 429 || status === 503)
    return new RemoteError('busy', message, readRetryAfter(headers['retry-after'], headers.date));
  return new RemoteError(status >= 500 ? 'failed' : 'refused', message);
}
