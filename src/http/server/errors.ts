/**
 * Turns any failure of a request into the client's error body (OpenAI's), a count and a log line. Handlers only throw.
 */
import { type IncomingMessage, maxHeaderSize } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { TLSSocket } from 'node:tls';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest, FastifySchemaCompiler } from 'fastify';
import type { WebSocket } from 'ws';
import { z } from 'zod';
import type { Clock } from '../../foundation/clock.ts';
import { DatabaseAway } from '../../foundation/database/trouble.ts';
import { ERRORS, type ErrorCode, TrunklineError } from '../../foundation/errors.ts';
import { isDiskTrouble, toDiskFull } from '../../foundation/folders/disk.ts';
import type { Log } from '../../foundation/log/log.ts';
import type { Metrics } from '../../foundation/metrics.ts';
import { IN_PLAIN_WORDS, UNKNOWN_FIELD } from '../../foundation/settings/plain-issues.ts';
import { type ClientFamilies, fieldsOf } from './client-families.ts';
import { clip, describe } from './echo.ts';
import { RefusedHandshakes } from './refused-handshakes.ts';
import { newRequestId, REQUEST_ID_HEADER } from './request-ids.ts';

/** An error in the shape of some protocol; absent = as usual. */
export interface Refusal {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: object;
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The body has a secret: an error never repeats its values. */
    readonly secretBody?: true;
    /** The route takes uploads, which may take longer than a request. */
    readonly upload?: true;
    /** The route needs no secret and answers at once: its connection counts as idle. */
    readonly open?: true;
    /** The route takes WebSockets; an upgrade of any other route is refused. */
    readonly socket?: true;
    /** How clients of this route expect errors, before a socket is open too; absent = as OpenAI's do. */
    readonly refusal?: (failure: TrunklineError, request: FastifyRequest) => Refusal;
    /** The schema of these bodies, for the description. */
    readonly errorBody?: z.ZodType;
  }
}

const ERROR_CODES = Object.keys(ERRORS) as [ErrorCode, ...ErrorCode[]];

/**
 * The body of every error: OpenAI's `Error` schema with a `code` of docs/reference/errors.md, and the request's id.
 */
export const errorSchema = z.object({
  error: z.object({
    message: z.string().describe('What came and what was expected'),
    type: z.string(),
    param: z.string().nullable().describe('The field of the request that it is about'),
    code: z.enum(ERROR_CODES).describe('Later versions may have more'),
    request_id: z.string().describe('As in the header `x-request-id` and in the log'),
  }),
});

/** The `response` schemas of a route for the error statuses it can answer with. */
export function errorResponses<S extends number>(...statuses: readonly S[]): Record<S, typeof errorSchema> {
  return Object.fromEntries(statuses.map((status) => [status, errorSchema])) as Record<S, typeof errorSchema>;
}

/** `Retry-After` in seconds, after too many wrong keys and after any other 429. */
const RETRY_KEY_SECONDS = 60;
const RETRY_SOON_SECONDS = 2;

/** What is better in a moment, beside every 429. */
const RETRIED: ReadonlySet<ErrorCode> = new Set(['too_many_calls', 'too_many_listeners', 'draining']);

/** Handles all failures of one server. */
export class Failures {
  readonly #families: ClientFamilies;
  readonly #log: Log;
  readonly #metrics: Metrics;
  readonly #handshakes: RefusedHandshakes;

  constructor(options: { families: ClientFamilies; clock: Clock; log: Log; metrics: Metrics }) {
    this.#families = options.families;
    this.#log = options.log;
    this.#metrics = options.metrics;
    this.#handshakes = new RefusedHandshakes(options);
  }

  /**
   * Counts a failure of `request`, and logs it if the server caused it. Returns the error for the client.
   */
  note(error: unknown, request: FastifyRequest): TrunklineError {
    const failure = toTrunklineError(error, request);
    if (failure.code === 'internal' || failure.code === 'disk_full')
      this.#log.error({ err: error, route: request.routeOptions.url, requestId: request.id }, 'request failed');
    this.#metrics.refused.inc({ code: failure.code });
    return failure;
  }

  /**
   * As {@link note}, but returns the body that the client of `request` expects: that of the route's protocol, OpenAI's,
   * that of another family of clients, or all in one when the client is unknown.
   */
  tell(error: unknown, request: FastifyRequest): object {
    return this.#refuse(this.note(error, request), request).body;
  }

  /** Answers `request` with the error body for `error`. */
  answer(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
    const failure = this.note(error, request);
    this.#handshakes.note(failure, request);
    reply.header(REQUEST_ID_HEADER, request.id);
    if (failure.status === 401) reply.header('www-authenticate', 'Bearer');
    if (failure.status === 429 || RETRIED.has(failure.code))
      reply.header('retry-after', failure.code === 'too_many_attempts' ? RETRY_KEY_SECONDS : RETRY_SOON_SECONDS);
    const { status = failure.status, headers = {}, body } = this.#refuse(failure, request);
    return reply.code(status).headers(headers).type('application/json; charset=utf-8').send(JSON.stringify(body));
  }

  #refuse(failure: TrunklineError, request: FastifyRequest): Refusal {
    const ofRoute = request.routeOptions.config?.refusal?.(failure, request);
    if (ofRoute !== undefined) return ofRoute;
    const { family, possible } = this.#families.senderOfRequest(request);
    const status = family?.statusFor(failure) ?? failure.status;
    const answered = { requestId: request.id, status, fields: fieldsOf(request) };
    const bodies = possible.map((each) => each.errorBody(failure, answered));
    return { status, body: Object.assign(family === null ? openAiBody(failure, request.id) : {}, ...bodies) };
  }

  /**
   * Closes `socket` with the close code for `error`. After an error of the connection the socket is closed already.
   */
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

function openAiBody(failure: TrunklineError, requestId: string): object {
  return { error: { ...failure.toBody().error, request_id: requestId } };
}

/** Messages for Node's error codes of unreadable requests, other than invalid HTTP. */
const UNREADABLE: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: `the request headers have more than ${maxHeaderSize} bytes, the most allowed`,
  ERR_HTTP_REQUEST_TIMEOUT: 'the request was not complete in time',
};

/** Answers bytes that Node could not read as HTTP: no request exists yet. */
export function answerUnreadable({ code = 'no code' }: Error & { code?: string }, socket: Socket): void {
  // Without a handshake there is nothing to answer through. `getProtocol` does not tell: it has a name for every
  // connection, and of one that is gone Node 20 ends the process with SIGSEGV.
  if (socket instanceof TLSSocket && socket.alpnProtocol === null) return void socket.destroy();
  const message = UNREADABLE[code] ?? `expected an HTTP/1.1 request, got something else (${code})`;
  answerByHand(socket, new TrunklineError('invalid_request', message), newRequestId());
}

/**
 * Answers invalid WebSocket handshakes with the usual error body; ws would send a line of HTML. `idOf` returns a
 * request's id.
 */
export function answerBadHandshakes(app: FastifyInstance, idOf: (message: IncomingMessage) => string): void {
  app.websocketServer.on('wsClientError', (error, socket, message) => {
    const failure = new TrunklineError(
      'invalid_request',
      `expected a WebSocket handshake (RFC 6455, version 13): ${error.message}`,
    );
    answerByHand(socket, failure, idOf(message));
  });
}

/** Writes an answer without fastify, and ends the connection. */
function answerByHand(socket: Duplex, failure: TrunklineError, requestId: string): void {
  if (!socket.writable) return void socket.destroy();
  const body = JSON.stringify(openAiBody(failure, requestId));
  const type = `Content-Type: application/json; charset=utf-8\r\nX-Request-ID: ${requestId}`;
  const head = `HTTP/1.1 400 Bad Request\r\n${type}\r\nContent-Length: ${Buffer.byteLength(body)}`;
  socket.end(`${head}\r\nConnection: close\r\n\r\n${body}`, () => socket.destroy());
}

/** Errors of the socket itself (`ECONNRESET`, ws's `WS_ERR_…`) carry a string code; those of our code do not. */
function isOfTransport(error: unknown): boolean {
  return error instanceof Error && 'code' in error && typeof error.code === 'string';
}

function toTrunklineError(error: unknown, request: FastifyRequest): TrunklineError {
  if (error instanceof TrunklineError) return error;
  if (isDiskTrouble(error)) return toDiskFull(error);
  if (error instanceof DatabaseAway) return new TrunklineError('records_unavailable', error.message);
  if (isOfSchema(error))
    return new TrunklineError('invalid_request', explainValidation(error, request), wrongField(error));
  const { statusCode = 500, message = '', code = '' } = (error ?? {}) as Partial<FastifyError>;
  if (code === 'FST_ERR_NOT_FOUND') return routeNotFound(request);
  if (statusCode === 413) return bodyTooLarge(request);
  if (code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') return mediaTypeUnknown(request);
  if (statusCode >= 400 && statusCode < 500) return new TrunklineError('invalid_request', message);
  return new TrunklineError('internal', `the server failed; its log has the cause under request id ${request.id}`);
}

/** Paths that clients of other services ask for, and what to use here. */
const KNOWN_ELSEWHERE: readonly (readonly [RegExp, string])[] = [
  [
    /^\/v1\/agent(?:\/|$)/,
    'use WS /v1/realtime with the program that talks, or WS /v2/listen and WS /v1/speak, one for each direction',
  ],
  [
    /^\/v1\/realtime\/(?:calls|translations)(?:\/|$)/,
    'WebRTC is not there: use WS /v1/realtime, or SIP for telephone calls',
  ],
  [
    /^\/v1\/realtime\/(?:sessions|transcription_sessions)(?:\/|$)/,
    'use POST /v1/realtime/client_secrets, and then WS /v1/realtime',
  ],
  [
    /^\/v1\/(?:chat\/completions|responses|completions|embeddings)(?:\/|$)/,
    'a language model is not there: ask the server of LLM_BASE_URL itself',
  ],
];

/** The error for an unknown method and path. */
export function routeNotFound(request: FastifyRequest): TrunklineError {
  const path = request.url.split('?', 1)[0] ?? '';
  const wanted = request.ws ? `WebSocket at ${clip(path)}` : `${request.method} ${clip(path)}`;
  const instead = KNOWN_ELSEWHERE.find(([pattern]) => pattern.test(path))?.[1] ?? '/docs lists all routes';
  return new TrunklineError('route_not_found', `there is no ${wanted}; ${instead}`);
}

function bodyTooLarge({ headers, routeOptions: { bodyLimit } }: FastifyRequest): TrunklineError {
  const came = headers['content-length'] === undefined ? `more than ${bodyLimit}` : clip(headers['content-length']);
  return new TrunklineError('message_too_large', `body: got ${came} bytes, expected at most ${bodyLimit}`);
}

function mediaTypeUnknown(request: FastifyRequest): TrunklineError {
  const taken = request.routeOptions.schema?.consumes ?? ['application/json'];
  const came = request.headers['content-type'];
  const message = `header content-type: got ${describe(came)}, expected ${taken.join(' or ')}`;
  return new TrunklineError('invalid_request', message, request.routeOptions.config.upload === true ? 'file' : null);
}

/** Checks requests with their routes' schemas; its messages are plain English. */
export const requestValidator: FastifySchemaCompiler<z.ZodType> =
  ({ schema }) =>
  (data) => {
    const { success, data: value, error } = schema.safeParse(data, IN_PLAIN_WORDS);
    return success ? { value } : { error };
  };

/** An error of {@link requestValidator}; fastify adds `validationContext`. */
interface WrongRequest extends z.ZodError {
  readonly validationContext: string;
}

function isOfSchema(error: unknown): error is WrongRequest {
  return error instanceof z.ZodError && 'validationContext' in error;
}

const PLACES: Readonly<Record<string, string>> = {
  querystring: 'query',
  params: 'path',
  body: 'body',
  headers: 'headers',
};

/** One clause for each wrong field: its place, its value and the expected value. */
function explainValidation({ issues, validationContext }: WrongRequest, request: FastifyRequest): string {
  const came = { querystring: request.query, params: request.params, body: request.body, headers: {} }[
    validationContext
  ];
  const isSecret = validationContext === 'body' && request.routeOptions.config.secretBody === true;
  return issues
    .map(({ path, message }) => {
      const field = clip([PLACES[validationContext] ?? validationContext, ...path].join('.'));
      if (isSecret || message.startsWith(UNKNOWN_FIELD)) return `${field}: ${clip(message)}`;
      return `${field}: got ${describe(valueAt(came, path))}${message.startsWith('expected') ? ',' : ';'} ${message}`;
    })
    .join('. ');
}

/** The first wrong field, for OpenAI's `param`; null when the whole value is wrong. */
function wrongField({ issues }: WrongRequest): string | null {
  const path = issues[0]?.path ?? [];
  return path.length === 0 ? null : clip(path.join('.'));
}

function valueAt(root: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(ownValue, root);
}

/** A client's field name may be a property of every object, such as `constructor`. */
function ownValue(value: unknown, key: PropertyKey): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, key)
    ? (value as Record<PropertyKey, unknown>)[key]
    : undefined;
}
