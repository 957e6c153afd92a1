/**
 * The port that Asterisk's AudioSocket connects to. The protocol has no credentials: AUDIOSOCKET_ALLOW lists the
 * addresses that may connect. Connections from other addresses are closed before anything is read.
 */

import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import type { CallAnnouncements } from '../../calls/admission/call-announcements.ts';
import type { LegHandlers } from '../../calls/leg.ts';
import type { CallRegistry } from '../../calls/registry.ts';
import { AddressRanges } from '../../foundation/addresses.ts';
import type { Clock } from '../../foundation/clock.ts';
import type { Log } from '../../foundation/log/log.ts';
import type { Metrics } from '../../foundation/metrics.ts';
import type { Settings } from '../../foundation/settings/settings.ts';
import { type LegSettings, legLimits } from '../shared/leg-limits.ts';
import { AudioSocketLeg } from './leg.ts';

type ServerSettings = LegSettings & Pick<Settings, 'AUDIOSOCKET_ALLOW' | 'ASTERISK_PASSWORD' | 'MESSAGE_MAX_BYTES'>;

interface AudioSocketServerOptions {
  readonly settings: ServerSettings;
  readonly registry: Pick<CallRegistry, 'accept'>;
  readonly announced: CallAnnouncements;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** A server, not listening yet. */
export class AudioSocketServer {
  readonly #options: AudioSocketServerOptions;
  readonly #allowed: AddressRanges;
  readonly #server: Server;

  constructor(options: AudioSocketServerOptions) {
    this.#options = options;
    this.#allowed = new AddressRanges(options.settings.AUDIOSOCKET_ALLOW);
    this.#server = createServer({ noDelay: true }, (socket) => this.#onConnection(socket));
  }

  /**
   * Listens on `host`. Returns `host:port`, the port being a free one for 0. Rejects with what the system says when it
   * cannot.
   */
  async listen(host: string, port: number): Promise<string> {
    this.#server.listen(port, host);
    await once(this.#server, 'listening');
    const { address, family, port: listening } = this.#server.address() as AddressInfo;
    return `${family === 'IPv6' ? `[${address}]` : address}:${listening}`;
  }

  /** Accepts no more connections. Resolves when the open ones have closed; their calls see to that. */
  async close(): Promise<void> {
    if (!this.#server.listening) return;
    const closed = once(this.#server, 'close');
    this.#server.close();
    await closed;
  }

  #onConnection(socket: Socket): void {
    if (!this.#allowed.has(socket.remoteAddress ?? '')) {
      this.#refuse(socket);
      return;
    }
    const { registry, announced, settings } = this.#options;
    registry.accept({
      carrier: 'audiosocket',
      tokenRequired: false,
      // Parameters come by an announcement alone, and that showed the password.
      trusted: settings.ASTERISK_PASSWORD !== '',
      complete: (start) => announced.complete(start),
      connect: (handlers) => this.#open(socket, handlers),
    });
  }

  /** Only at debug level: a flood of connections must not fill the log. */
  #refuse(socket: Socket): void {
    socket.on('error', () => undefined);
    socket.resetAndDestroy();
    const { clock, metrics } = this.#options;
    metrics.refused.inc({ code: 'address_refused' });
    metrics.waysIn.failed('audiosocket', 'address_refused', clock.wall());
    this.#options.log.debug('a connection came from an address that AUDIOSOCKET_ALLOW does not list');
  }

  #open(socket: Socket, handlers: LegHandlers): AudioSocketLeg {
    const { settings, clock } = this.#options;
    return new AudioSocketLeg({
      socket,
      streamId: randomUUID(),
      limits: {
        ...legLimits(settings),
        messageMaxBytes: settings.MESSAGE_MAX_BYTES,
      },
      clock,
      handlers,
    });
  }
}
