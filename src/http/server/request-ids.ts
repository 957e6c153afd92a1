/** The id under which one request is known to its client, in our log and in errors. */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { FastifyInstance } from 'fastify';
import type { Metrics } from '../../foundation/metrics.ts';

/** Carries the id both ways; no standard, but what proxies and both kinds of client use. */
export const REQUEST_ID_HEADER = 'x-request-id';

/**
 * UUIDs, ULIDs, hexadecimal, base64: whatever is put into a log line and a header as it is. No spaces, quotes or
 * control characters, and no e-mail address.
 */
const USABLE = /^[A-Za-z0-9][A-Za-z0-9._:/=+-]{0,127}$/;

/** A new id. It says nothing of anybody. */
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
   * The id of `message`: its client's, if that can be used, otherwise one of ours. The same each time it is asked for.
   */
  of(message: IncomingMessage): string {
    const known = this.#ids.get(message);
    if (known !== undefined) return known;
    const id = this.#choose(message.headers[REQUEST_ID_HEADER]);
    this.#ids.set(message, id);
    return id;
  }

  /** Says the id in the answers by which `app` opens WebSockets: those are not written by fastify. */
  sayInUpgrades(app: FastifyInstance): void {
    app.websocketServer.on('headers', (headers, message) => headers.push(`X-Request-ID: ${this.of(message)}`));
  }

  /** A header that came twice is one text with a comma in it, which is no id. */
  #choose(sent: string | string[] | undefined): string {
    const isUsable = typeof sent === 'string' && USABLE.test(sent);
    this.#metrics.requestIds.inc({ from: isUsable ? 'client' : sent === undefined ? 'made' : 'replaced' });
    return isUsable ? sent : newRequestId();
  }
}
