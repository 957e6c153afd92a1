/** Tells in the log which WebSocket handshakes were refused, and why: most clients do not show the answer. */
import type { FastifyRequest } from 'fastify';
import type { Clock } from '../../foundation/clock.ts';
import type { TrunklineError } from '../../foundation/errors.ts';
import type { Log } from '../../foundation/log/log.ts';
import { Notices } from '../../foundation/log/notices.ts';

/** Clients that are refused come again at once, and anybody can be one. */
const NOTICE_PERIOD_MS = 60_000;

/** The notices of one server: of each route and code one in {@link NOTICE_PERIOD_MS}. */
export class RefusedHandshakes {
  readonly #log: Pick<Log, 'info'>;
  readonly #notices: Notices;

  constructor({ clock, log }: { clock: Clock; log: Pick<Log, 'info'> }) {
    this.#log = log;
    this.#notices = new Notices(clock, NOTICE_PERIOD_MS);
  }

  /** Tells of a failure of a handshake. What came with it stays out of the log: it may be private. */
  note({ code, param }: TrunklineError, { ws: isHandshake, routeOptions, id }: FastifyRequest): void {
    const route = routeOptions.config.socket === true ? routeOptions.url : undefined;
    if (!isHandshake || route === undefined || !this.#notices.isDue(`${route} ${code}`)) return;
    this.#log.info(
      { route, code, ...(param === null ? {} : { parameter: param }), requestId: id },
      'a WebSocket client was refused; docs/reference/errors.md says what each code means',
    );
  }
}
