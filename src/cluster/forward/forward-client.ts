/** Requests that one gateway passes on to another. */
import { Agent, type IncomingMessage, type RequestOptions, request as requestByHttp } from 'node:http';
import { request as requestByHttps, Agent as TlsAgent } from 'node:https';
import type { Clock } from '../../foundation/clock.ts';
import { TrunklineError } from '../../foundation/errors.ts';
import { proofFor } from './gateway-proof.ts';
import type { Owner } from './owners.ts';

/** It proves that another gateway asks: {@link proofFor}. */
export const KEY_HEADER = 'x-trunkline-cluster-key';
/** The id of the gateway that passes the request on. Whoever gets it passes it on no further. */
export const HOP_HEADER = 'x-trunkline-hop';
/** Who asked the first gateway: base64url of JSON. */
export const PRINCIPAL_HEADER = 'x-trunkline-principal';

/** How long an answer may stand still that somebody waits for. */
const STILL_MS = 10_000;
/** Connections to one gateway that are kept. */
const IDLE_SOCKETS_MAX = 16;
/** A gateway closes idle connections after 72 s; ours end before. */
const IDLE_MS = 20_000;

/** A request to another gateway. */
export interface ForwardedRequest {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | null;
  /** JSON. */
  readonly principal: string;
  /** Aborts when nobody waits for the answer any more. */
  readonly signal: AbortSignal;
  /** How long its answer may take to begin. */
  readonly answerMs: number;
}

interface ClientOptions {
  /** CLUSTER_KEY. */
  readonly key: string;
  /** The id of this gateway. */
  readonly me: string;
  readonly clock: Clock;
  /** False = each request has a connection of its own; left out = connections are kept. */
  readonly keepsConnections?: boolean;
}

/** Asks other gateways. */
export class ForwardClient {
  readonly #options: ClientOptions;
  readonly #agent: Agent;
  readonly #tlsAgent: TlsAgent;

  constructor(options: ClientOptions) {
    this.#options = options;
    const { keepsConnections: keepAlive = true } = options;
    this.#agent = new Agent({ keepAlive, maxFreeSockets: IDLE_SOCKETS_MAX, timeout: IDLE_MS });
    this.#tlsAgent = new TlsAgent({ keepAlive, maxFreeSockets: IDLE_SOCKETS_MAX, timeout: IDLE_MS });
  }

  /**
   * The answer of `member`, whose body is still to be read.
   * @throws TrunklineError `gateway_unreachable` when it does not answer in time
   */
  send(member: Pick<Owner, 'address'>, asked: ForwardedRequest): Promise<IncomingMessage> {
    const { key, me, clock } = this.#options;
    const { protocol, hostname, port } = new URL(member.address);
    const isTls = protocol === 'https:';
    const headers = {
      ...asked.headers,
      ...(asked.body !== null && { 'content-length': String(asked.body.length) }),
      [KEY_HEADER]: proofFor(key, member.address),
      [HOP_HEADER]: me,
      [PRINCIPAL_HEADER]: Buffer.from(asked.principal).toString('base64url'),
    };
    const options: RequestOptions = {
      host: hostname.replace(/^\[|\]$/g, ''),
      port: port || (isTls ? 443 : 80),
      method: asked.method,
      path: asked.path,
      headers,
      agent: isTls ? this.#tlsAgent : this.#agent,
      signal: asked.signal,
    };
    return new Promise((resolve, reject) => {
      const request = isTls ? requestByHttps(options) : requestByHttp(options);
      const timer = clock.after(asked.answerMs, () => request.destroy(new Error('late')), true);
      request.on('error', (error: Error) => {
        timer.cancel();
        reject(unreachable(error));
      });
      // An answer that changes the protocol (101) ends the connection without an error.
      request.once('close', () => {
        timer.cancel();
        reject(unreachable(new Error('closed')));
      });
      request.once('response', (response) => {
        timer.cancel();
        endWhenStill(response, clock);
        resolve(response);
      });
      request.end(asked.body ?? undefined);
    });
  }

  /** Ends the connections. */
  close(): void {
    this.#agent.destroy();
    this.#tlsAgent.destroy();
  }
}

/** What is wrong with the other side's certificate, as Node calls it. */
const CERTIFICATE_TROUBLE = /CERT|SIGNATURE|ALTNAME/;

function unreachable({ message, code = '' }: NodeJS.ErrnoException): TrunklineError {
  const reason = CERTIFICATE_TROUBLE.test(code) ? `shows a certificate that is refused (${code})` : 'cannot be reached';
  const why = message === 'late' ? 'does not answer in time' : reason;
  return new TrunklineError('gateway_unreachable', `the gateway that holds this ${why}; try again`);
}

/** Unless whoever reads it has paused it: a player may be in no hurry. */
function endWhenStill(response: IncomingMessage, clock: Clock): void {
  const { socket } = response;
  let bytesRead = socket.bytesRead;
  response.on('error', () => undefined);
  const timer = clock.every(
    STILL_MS,
    () => {
      if (socket.bytesRead === bytesRead && !response.isPaused()) response.destroy();
      bytesRead = socket.bytesRead;
    },
    true,
  );
  response.once('close', () => timer.cancel());
}
