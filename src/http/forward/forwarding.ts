/** Passes requests on to the gateway that can answer them, and its answers back. */
import type { IncomingMessage } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ForwardClient } from '../../cluster/forward/forward-client.ts';
import type { Owner, Owners } from '../../cluster/forward/owners.ts';
import { TrunklineError } from '../../foundation/errors.ts';
import type { Metrics } from '../../foundation/metrics.ts';
import type { Access } from '../access/access.ts';
import { goneSignal } from '../server/gone-signal.ts';
import { notePassedOn } from './forwarded.ts';

/** Headers of a request that its answer may depend on. */
const REQUEST_HEADERS = [
  'accept',
  'content-type',
  'idempotency-key',
  'if-range',
  'range',
  'user-agent',
  'x-request-id',
];
/** Headers of an answer that the client gets. */
const ANSWER_HEADERS = [
  'accept-ranges',
  'cache-control',
  'content-disposition',
  'content-length',
  'content-range',
  'content-type',
  'etag',
  'location',
  'retry-after',
];

/** How long a gateway may take to begin its answer. */
const ANSWER_MS = 2000;
/** Asterisk has to be asked for several things before somebody is listened to. */
const JOIN_MS = 10_000;

interface ForwardingOptions {
  readonly owners: Pick<Owners, 'otherOwnerOf' | 'others'>;
  readonly client: Pick<ForwardClient, 'send'>;
  readonly access: Pick<Access, 'principalOf' | 'isForwarded'>;
  /** Whether this gateway has the call, in whatever state. */
  readonly hasCall: (id: string) => boolean;
  readonly metrics: Pick<Metrics, 'forwarded'>;
}

/** The requests that one gateway passes on. */
export class Forwarding {
  readonly #options: ForwardingOptions;

  constructor(options: ForwardingOptions) {
    this.#options = options;
  }

  /**
   * Answers an admitted request with what another gateway says, if that has what it is about. False = it is to be
   * answered here.
   * @throws TrunklineError `gateway_unreachable`, `shared_state_unavailable`, or what is wrong with its body
   */
  async passOn(request: FastifyRequest, reply: FastifyReply): Promise<boolean> {
    const { ownedBy, storedToo = false } = request.routeOptions.config;
    if (ownedBy === undefined || request.ws || this.#options.access.isForwarded(request)) return false;
    if (ownedBy !== 'call' && ownedBy !== 'sound') return false;
    const { id } = request.params as { readonly id: string };
    if (this.#options.hasCall(id)) return false;
    try {
      const owner = await this.#options.owners.otherOwnerOf(id);
      if (owner === null) return false;
      return await this.#answerFrom(owner, request, reply, () => true);
    } catch (error) {
      if (storedToo && isUnreachable(error)) return false;
      throw error;
    }
  }

  /**
   * Answers with what one of the other gateways has: with the first answer whose status is not `refusal`. The request's
   * body may have been read. False = none has it.
   */
  async passOnToAny(request: FastifyRequest, reply: FastifyReply, refusal: number): Promise<boolean> {
    if (this.#options.access.isForwarded(request)) return false;
    for (const member of this.#options.owners.others()) {
      const isAnswered = await this.#answerFrom(member, request, reply, (status) => status !== refusal).catch(
        (error: unknown) => {
          if (isUnreachable(error)) return false;
          throw error;
        },
      );
      if (isAnswered) return true;
    }
    return false;
  }

  async #answerFrom(
    member: Owner,
    request: FastifyRequest,
    reply: FastifyReply,
    isTaken: (status: number) => boolean,
  ): Promise<boolean> {
    const { client, access, metrics } = this.#options;
    const body = request.body === undefined ? await readBody(request) : Buffer.from(JSON.stringify(request.body));
    const answer = await client
      .send(member, {
        method: request.method,
        path: pathOf(request),
        headers: headersIn(request.headers, REQUEST_HEADERS),
        body,
        principal: JSON.stringify(access.principalOf(request)),
        signal: goneSignal(reply),
        answerMs: request.routeOptions.config.ownedBy === 'ari' ? JOIN_MS : ANSWER_MS,
      })
      .catch((error: unknown) => {
        metrics.forwarded.inc({ outcome: 'unreachable' });
        throw error;
      });
    const { statusCode = 502 } = answer;
    if (!isTaken(statusCode)) {
      answer.resume();
      return false;
    }
    metrics.forwarded.inc({ outcome: 'answered' });
    notePassedOn(request);
    await sendOn(reply, statusCode, answer);
    return true;
  }
}

function isUnreachable(error: unknown): boolean {
  return (
    error instanceof TrunklineError &&
    (error.code === 'gateway_unreachable' || error.code === 'shared_state_unavailable')
  );
}

async function sendOn(reply: FastifyReply, status: number, answer: IncomingMessage): Promise<void> {
  reply.code(status).headers(headersIn(answer.headers, ANSWER_HEADERS));
  await reply.send(answer);
}

function headersIn(headers: IncomingMessage['headers'], names: readonly string[]): Record<string, string> {
  const entries = names.flatMap((name) => {
    const value = headers[name];
    return typeof value === 'string' ? [[name, value] as const] : [];
  });
  return Object.fromEntries(entries);
}

/**
 * The path made anew of the route and what it was found to mean, so that the other gateway finds the same route: a
 * client may write one path in many ways.
 */
function pathOf({ routeOptions, params, raw: { url = '' } }: FastifyRequest): string {
  const given = params as Readonly<Record<string, string>>;
  const path = (routeOptions.url ?? '').replace(/:(\w+)/g, (_whole, name: string) =>
    encodeURIComponent(given[name] ?? ''),
  );
  const queryAt = url.indexOf('?');
  return queryAt < 0 ? path : path + url.slice(queryAt);
}

/**
 * All of a request's body; null = it has none.
 * @throws an error with the status 413 when it is larger than the route allows
 */
async function readBody({ raw, routeOptions }: FastifyRequest): Promise<Buffer | null> {
  const { 'content-length': length, 'transfer-encoding': coding } = raw.headers;
  if (length === undefined && coding === undefined) return null;
  const maxBytes = routeOptions.bodyLimit;
  if (Number(length ?? 0) > maxBytes) refuseLarge(maxBytes);
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of raw as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > maxBytes) refuseLarge(maxBytes);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** As fastify says it. */
function refuseLarge(maxBytes: number): never {
  throw Object.assign(new Error(`the body is larger than ${maxBytes} bytes`), { statusCode: 413 });
}
