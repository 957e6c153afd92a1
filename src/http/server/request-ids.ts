/** The id of a request, for its client, the log and errors. */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { FastifyInstance } from 'fastify';
import type { Metrics } from '../../foundation/metrics.ts';

/** Has the id in requests and answers. It is no standard, but proxies and both kinds of client use it. */
export const REQUEST_ID_HEADER = 'x-request-id';

/**
 * Ids that may stand in a log line and a header unchanged: UUIDs, ULIDs, hexadecimal, base64. No spaces, quotes,
 * control characters or e-mail addresses.
 */
const USABLE = /^[A-Za-z0-9][A-Za-z0-9._:/=+-]{0,127}$/;

/** A new random id. */
export function newRequestId(): string {
  return randomUUID();
}

/** The ids of one server's requests. */
export class RequestIds {
  readonly #ids = new WeakMap<IncomingMessage, string>();
  readonly #metrics: Pick<Metrics, 'requestIds'>;

  constructor(options: { metrics: Pick<Metrics, 'requestIds'> }) {
    this.#metrics = options.metrics;
  }

  /**
   * The id of `message`: the client's if it is valid, else a new one. Every call returns the same id.
   */
  of(message: IncomingMessage): string {
    const known = this.#ids.get(message);
    if (known !== undefined) return known;
    const id = this.#choose(message.headers[REQUEST_ID_HEADER]);
    this.#ids.set(message, id);
    return id;
  }

  /** Adds the id to the handshake answers of `app`'s WebSockets, which fastify does not write. */
  sayInUpgrades(app: FastifyInstance): void {
    app.websocketServer.on('headers', (headers, message) => headers.push(`X-Request-ID: ${this.of(message)}`));
  }

  /** A repeated header is one text with a comma, which is no valid id. */
  #choose(sent: string | string[] | undefined): string {
    const isUsable = typeof sent === 'string' && USABLE.test(sent);
    this.#metrics.requestIds.inc({ from: isUsable ? 'client' : sent === undefined ? 'made' : 'replaced' });
    return isUsable ? sent : newRequestId();
  }
}
