/** Calls whose audio comes on a WebSocket: whoever opened the socket chooses the dialect, and the leg is built here. */
import type { WebSocket } from 'ws';
import type { FeedEvent } from '../../../calls/feed/events.ts';
import type { Feed } from '../../../calls/feed/feed.ts';
import type { CallLeg, ConnectLeg, LegHandlers } from '../../../calls/leg.ts';
import type { CallRegistry } from '../../../calls/registry.ts';
import type { SocketAdmission, TransferCall, WebSocketCalls } from '../../../calls/socket-admission.ts';
import type { Clock } from '../../../foundation/clock.ts';
import type { Dialect } from '../../../protocols/dialect.ts';
import { type LegLimits, type LegSettings, legLimits } from '../leg-limits.ts';
import { withSilence } from './buffered-silence.ts';
import { WebSocketLeg } from './leg.ts';

interface WebSocketLegOptions {
  readonly socket: WebSocket;
  readonly dialect: Dialect;
  readonly limits: LegLimits;
  readonly clock: Clock;
  readonly handlers: LegHandlers;
  /** Sends silence while nothing is said, where the carrier plays from a buffer. */
  readonly fillSilence: boolean;
  readonly transfer?: TransferCall | undefined;
  readonly heldSinceMs?: (() => number | null) | undefined;
  readonly follow?: (reader: (event: FeedEvent) => void) => () => void;
}

/** Opens a leg on a WebSocket that speaks `dialect`. */
export function openWebSocketLeg({ handlers, fillSilence, ...options }: WebSocketLegOptions): CallLeg {
  const connect: ConnectLeg = (legHandlers) => new WebSocketLeg({ ...options, handlers: legHandlers });
  return fillSilence ? withSilence(connect, options.clock)(handlers) : connect(handlers);
}

interface WebSocketTrunkOptions {
  readonly registry: Pick<CallRegistry, 'accept'>;
  /** What carriers are told of that take captions. */
  readonly feed: Pick<Feed, 'subscribeOwn'>;
  readonly settings: LegSettings;
  readonly clock: Clock;
}

/** The WebSockets of all carriers that have a dialect. */
export class WebSocketTrunk implements WebSocketCalls {
  readonly #options: WebSocketTrunkOptions;

  constructor(options: WebSocketTrunkOptions) {
    this.#options = options;
  }

  /** Takes over an upgraded socket for good. It becomes a call when its `start` is accepted. */
  accept(socket: WebSocket, dialect: Dialect, admission: SocketAdmission): void {
    const { registry, feed, settings, clock } = this.#options;
    const follow = (reader: (event: FeedEvent) => void) => feed.subscribeOwn({}, ({ event }) => reader(event));
    const { tokenRequired = false, trusted = false, fillSilence = false, flow, transfer } = admission;
    registry.accept({
      carrier: dialect.carrier,
      tokenRequired,
      trusted,
      flow,
      connect: (handlers) =>
        openWebSocketLeg({
          socket,
          dialect,
          limits: legLimits(settings),
          clock,
          handlers,
          fillSilence,
          transfer,
          follow,
        }),
    });
  }
}
