/** Calls that Genesys Cloud streams by AudioHook: both sides are heard, transcripts go back, nothing can be said. */
import { randomUUID } from 'node:crypto';
import type { WebSocket } from 'ws';
import type { Feed } from '../../calls/feed/feed.ts';
import type { CallRegistry } from '../../calls/registry.ts';
import type { Clock } from '../../foundation/clock.ts';
import { type LegSettings, legLimits } from '../shared/leg-limits.ts';
import { AudioHookConnection } from './connection.ts';
import { AudioHookLeg } from './leg.ts';
import { AudioHookSession } from './wire/session.ts';

interface AudioHookTrunkOptions {
  readonly registry: Pick<CallRegistry, 'accept'>;
  readonly feed: Pick<Feed, 'subscribeOwn'>;
  /** What is understood, in BCP-47; empty until an engine was ready. */
  readonly languages: () => readonly string[];
  readonly settings: LegSettings;
  readonly clock: Clock;
}

/** What the handshake told. */
interface AudioHookAdmission {
  /** Audiohook-Organization-Id; null = it was not sent. */
  readonly organizationId: string | null;
  /** Whether whoever opened the socket has shown a secret of ours. */
  readonly trusted: boolean;
}

export class AudioHookTrunk {
  readonly #options: AudioHookTrunkOptions;
  readonly #open = new Set<Promise<unknown>>();
  readonly #live = new Map<string, AudioHookLeg>();

  constructor(options: AudioHookTrunkOptions) {
    this.#options = options;
  }

  /**
   * Takes over an upgraded socket for good. With its `open` it becomes a call, or one goes on that was cut off or given
   * up for it; a probe becomes neither.
   */
  accept(socket: WebSocket, { organizationId, trusted }: AudioHookAdmission): void {
    const { registry, feed, languages, settings, clock } = this.#options;
    this.#watch(socket);
    const limits = legLimits(settings);
    const session = new AudioHookSession({ streamId: randomUUID(), organizationId, languages });
    const { sendBufferMaxBytes } = limits;
    registry.accept({
      carrier: 'genesys',
      tokenRequired: false,
      trusted,
      connect: (handlers) =>
        new AudioHookLeg({
          connection: new AudioHookConnection({ socket, session, clock, sendBufferMaxBytes }),
          live: this.#live,
          handlers,
          clock,
          limits,
          follow: (reader) => feed.subscribeOwn({}, ({ event }) => reader(event)),
        }),
    });
  }

  /** Resolves when all sockets that are open now are closed. */
  async closed(): Promise<void> {
    await Promise.all(this.#open);
  }

  #watch(socket: WebSocket): void {
    const closed = new Promise<void>((resolve) => {
      socket.once('close', () => resolve());
    });
    this.#open.add(closed);
    void closed.then(() => this.#open.delete(closed));
  }
}
