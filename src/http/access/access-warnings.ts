/** What an operator is told of access, each thing once: clients cannot fill the log. */
import type { FastifyRequest } from 'fastify';
import type { Log } from '../../foundation/log/log.ts';
import type { Origins } from './origin.ts';

/** The warnings of one server. */
export class AccessWarnings {
  readonly #log: Pick<Log, 'warn'>;
  readonly #origins: Pick<Origins, 'untrustedProxy'>;
  #hasWarnedOfProxy = false;
  #hasStoreFailed = false;

  constructor({ log, origins }: { log: Pick<Log, 'warn'>; origins: Pick<Origins, 'untrustedProxy'> }) {
    this.#log = log;
    this.#origins = origins;
  }

  /** An operator who forgot a proxy learns why all its clients count as one. */
  untrustedProxy(request: FastifyRequest): void {
    const proxy = this.#hasWarnedOfProxy ? null : this.#origins.untrustedProxy(request);
    if (proxy === null) return;
    this.#hasWarnedOfProxy = true;
    this.#log.warn(
      { proxy },
      'X-Forwarded-For is ignored: if this address is your reverse proxy, add it to TRUSTED_PROXIES',
    );
  }

  /** A broken disk fails every change. */
  storeFailed(err: unknown): void {
    if (this.#hasStoreFailed) return;
    this.#hasStoreFailed = true;
    this.#log.warn({ err }, 'sessions cannot be kept: whoever signs in now must do so again after a restart');
  }
}
