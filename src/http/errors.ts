/** Turns any failure of a request into what the client hears (OpenAI's error body), a count and a log line. Handlers only throw. */
import type { Socket } from 'node:net';
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { hasZodFastifySchemaValidationErrors } from 'fastify-type-provider-zod';
import type { WebSocket } from 'ws';
import { z } from 'zod';
import { isDiskTrouble, toDiskFull } from '../disk.ts';
import { TrunklineError } from '../errors.ts';
import type { Log } from '../log.ts';
import type { Metrics } from '../metrics.ts';
import { clip, describe } from './echo.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The body holds a secret: an error never repeats what came. */
    readonly secretBody?: true;
    /** The route takes uploads, which may take longer than a request. */
    readonly upload?: true;
    /** Everybody may ask, and is answered at once: the request keeps no connection from giving way to others. */
    readonly open?: true;
    /** The route takes WebSockets; an upgrade of any other route is refused. */
    readonly socket?: true;
  }
}

/** The body of every error: OpenAI's `Error` schema, `code` being one of docs/errors.md. */
const errorSchema = z.object({
  error: z.object({ message: z.string(), type: z.string(), param: z.string().nullable(), code: z.string() }),
});

/** The `response` schemas of a route for the error statuses it can answer with. */
export function errorResponses<S extends number>(...statuses: readonly S[]): Record<S, typeof errorSchema> {
  return Object.fromEntries(statuses.map((status) => [status, errorSchema])) as Record<S, typeof errorSchema>;
}

/** Seconds after which a client that was refused for its many wrong keys may try again, and one that found a queue full. */
const RETRY_KEY_SECONDS = 60;
const RETRY_SOON_SECONDS = 2;

/** One place for every failure of one server. */
export class Failures {
  readonly #log: Log;
  readonly #metrics: Metrics;

  constructor(options: { log: Log; metrics: Metrics }) {
    this.#log = options.log;
    this.#metrics = options.metrics;
  }

  /** Counts what went wrong with `request` and logs it if it is a fault of ours. Returns it as the client may hear it. */
  note(error: unknown, request: FastifyRequest): TrunklineError {
    const failure = toTrunklineError(error, request);
    if (failure.code === 'internal' || failure.code === 'disk_full')
      this.#log.error({ err: error, route: request.routeOptions.url, requestId: request.id }, 'request failed');
    this.#metrics.refused.inc({ code: failure.code });
    return failure;
  }

  /** Answers `request` with the error body for `error`. */
  answer(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
    const failure = this.note(error, request);
    if (failure.status === 401) reply.header('www-authenticate', 'Bearer');
    if (failure.status === 429) reply.header('retry-after', failure.code === 'too_many_attempts' ? RETRY_KEY_SECONDS : RETRY_SOON_SECONDS);
    return reply.code(failure.status).type('application/json; charset=utf-8').send(JSON.stringify(failure.toBody()));
  }

  /** Closes `socket` with the close code for `error`. What a peer or the network did to the socket has closed it already. */
  close(error: unknown, socket: WebSocket): void {
    if (error instanceof TrunklineError) {
      this.#metrics.refused.inc({ code: error.code });
      socket.close(error.closeCode, error.code);
    } else if (isOfTransport(error)) {
      this.#log.debug({ err: error }, 'socket failed');
    } else {
      this.#log.error({ err: error }, 'socket handler failed');
      this.#metrics.refused.inc({ code: 'internal' });
      socket.close(new TrunklineError('internal', '').closeCode, 'internal');
    }
  }
}

/** Answers what Node could not read as HTTP: no request exists yet, so the bytes are written by hand. */
export function answerUnreadable(error: Error & { code?: string }, socket: Socket): void {
  if (!socket.writable) return void socket.destroy();
  const failure = new TrunklineError('invalid_request', `expected an HTTP/1.1 request, got something else (${error.code ?? 'no code'})`);
  const body = JSON.stringify(failure.toBody());
  const head = `HTTP/1.1 400 Bad Request\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(body)}`;
  socket.end(`${head}\r\nConnection: close\r\n\r\n${body}`, () => socket.destroy());
}

/** Errors of the socket itself (`ECONNRESET`, ws's `WS_ERR_…`) carry a string code; those of our code do not. */
function isOfTransport(error: unknown): boolean {
  return error instanceof Error && 'code' in error && typeof error.code === 'string';
}

function toTrunklineError(error: unknown, request: FastifyRequest): TrunklineError {
  if (error instanceof TrunklineError) return error;
  if (isDiskTrouble(error)) return toDiskFull(error);
  if (hasZodFastifySchemaValidationErrors(error)) return new TrunklineError('invalid_request', explainValidation(error, request));
  const { statusCode = 500, message = '', code = '' } = (error ?? {}) as Partial<FastifyError>;
  if (code === 'FST_ERR_NOT_FOUND') return routeNotFound(request);
  if (statusCode === 413) return new TrunklineError('message_too_large', message);
  if (code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') return mediaTypeUnknown(request);
  if (statusCode >= 400 && statusCode < 500) return new TrunklineError('invalid_request', message);
  return new TrunklineError('internal', `something went wrong in here; the log says what under request id ${request.id}`);
}

/** For a method and path that lead nowhere. */
export function routeNotFound(request: FastifyRequest): TrunklineError {
  const path = request.url.split('?', 1)[0] ?? '';
  return new TrunklineError('route_not_found', `there is no ${request.method} ${clip(path)}; /docs lists what there is`);
}

function mediaTypeUnknown(request: FastifyRequest): TrunklineError {
  const taken = request.routeOptions.schema?.consumes ?? ['application/json'];
  const came = request.headers['content-type'];
  return new TrunklineError('invalid_request', `header content-type: got ${describe(came)}, expected ${taken.join(' or ')}`);
}

/** What fastify-type-provider-zod throws. */
interface ZodValidation {
  readonly validation: readonly { readonly instancePath: string; readonly message?: string }[];
  readonly validationContext?: string;
}

const PLACES: Readonly<Record<string, string>> = { querystring: 'query', params: 'path', body: 'body', headers: 'headers' };

/** One clause for each wrong field: where it is, what came and what was expected. */
function explainValidation(error: ZodValidation, request: FastifyRequest): string {
  const { validation, validationContext = 'body' } = error;
  const came = { querystring: request.query, params: request.params, body: request.body, headers: {} }[validationContext];
  const isSecret = validationContext === 'body' && request.routeOptions.config.secretBody === true;
  return validation
    .map(({ instancePath, message = 'not allowed' }) => {
      const path = instancePath.split('/').filter((part) => part !== '');
      const field = clip([PLACES[validationContext] ?? validationContext, ...path].join('.'));
      const words = plainWords(message);
      if (isSecret || words.startsWith(UNKNOWN_FIELD)) return `${field}: ${clip(words)}`;
      return `${field}: got ${describe(valueAt(came, path))}${words.startsWith('expected') ? ',' : ';'} ${words}`;
    })
    .join('. ');
}

const UNKNOWN_FIELD = 'no such field: ';

/** Zod's message in the words of our own, and without what came, which is said before it. */
function plainWords(message: string): string {
  return message
    .replace(/^Invalid (?:input|option): (?=expected)/, '')
    .replace(/, received \w+$/, '')
    .replace(/^Unrecognized keys?: /, UNKNOWN_FIELD)
    .replaceAll('"|"', '", "');
}

function valueAt(root: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>(ownValue, root);
}

/** A name of the client's may be one that every object has: `constructor`. */
function ownValue(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, key) ? (value as Record<string, unknown>)[key] : undefined;
}
