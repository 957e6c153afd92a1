/** Which calls, and what of them, the principal of a request gets to see. */
import type { FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';
import type { CallNames } from '../../calls/call-names.ts';
import type { CallView } from '../../calls/call-view.ts';
import type { Feed, FeedEntry } from '../../calls/feed/feed.ts';
import { TrunklineError } from '../../foundation/errors.ts';
import type { Access } from './access.ts';
import { entryFor, namesFor, sees, viewFor } from './permissions.ts';
import type { Principal } from './principal.ts';

/** A call, as far as it says whose it is. */
interface OwnedCall {
  readonly id: string;
  /** The parameter `agent`. */
  readonly agent: string | null;
}

/** Whose the stored calls were. */
interface StoredOwners {
  get(id: string): Promise<OwnedCall | undefined>;
  /** The last `limit` ones, the oldest first. */
  latestAgents(limit: number): Promise<readonly OwnedCall[]>;
}

interface VisibilityOptions {
  readonly access: Pick<Access, 'principalOf'>;
  /** The calls in memory. */
  readonly calls: { get(id: string): OwnedCall | undefined };
  /** The stored ones; null = nothing is stored. */
  readonly stored: StoredOwners | null;
  readonly feed: Pick<Feed, 'subscribe'>;
}

/** Calls whose agents are remembered. */
const AGENTS_MAX = 10_000;

/** What a reader of the feed gets. */
interface FeedView {
  /** To be called with stored events before `allows` is: learns whose their calls are. Rejects as the database does. */
  readonly prepare: (entries: readonly FeedEntry[]) => Promise<void>;
  readonly allows: (entry: FeedEntry) => boolean;
  readonly shown: (entry: FeedEntry) => FeedEntry;
}

/** Filters calls and events by who asks. */
export class CallVisibility {
  readonly #options: VisibilityOptions;
  /** The agents of calls: the feed is asked for each event and each of its readers. */
  readonly #agents = new LRUCache<string, { readonly agent: string | null }>({ max: AGENTS_MAX });

  constructor(options: VisibilityOptions) {
    this.#options = options;
    options.feed.subscribe({}, (entry) => this.#learn(entry));
  }

  /**
   * Learns whose the latest stored calls are: their events may come again, without the one that says it. Never rejects.
   */
  async learnStored(): Promise<void> {
    const latest = await this.#options.stored?.latestAgents(AGENTS_MAX).catch(() => []);
    for (const { id, agent } of latest ?? []) this.#agents.set(id, { agent });
  }

  /** Those of `calls` that the request's principal sees, as they see them. */
  viewsOf<T extends Pick<CallView, 'from' | 'to' | 'names'> & OwnedCall>(
    request: FastifyRequest,
    calls: readonly T[],
  ): T[] {
    const principal = this.#options.access.principalOf(request);
    return calls.filter((call) => sees(principal, call)).map((call) => viewFor(principal, call));
  }

  /** What of the feed the request's principal gets. */
  readerOf(request: FastifyRequest): FeedView {
    const principal = this.#options.access.principalOf(request);
    return {
      prepare: async (entries) => {
        if (principal.role === 'agent') await this.#learnOwners(entries);
      },
      allows: (entry) => {
        if (principal.role !== 'agent') return true;
        this.#learn(entry);
        return this.#seesCall(principal, entry.event.callId);
      },
      shown: (entry) => entryFor(principal, entry),
    };
  }

  /**
   * Refuses a call that the request's principal does not see, as one that does not exist.
   * @throws TrunklineError `call_not_found`
   */
  async refuseUnseen(request: FastifyRequest, callId: string): Promise<void> {
    const principal = this.#options.access.principalOf(request);
    // No database finds it, and PostgreSQL refuses to look for it.
    const isImpossible = callId.includes('\0');
    if (!isImpossible && (principal.role !== 'agent' || this.#seesCall(principal, callId))) return;
    const stored = isImpossible ? undefined : await this.#options.stored?.get(callId);
    if (stored !== undefined && sees(principal, stored)) {
      this.#agents.set(callId, { agent: stored.agent });
      return;
    }
    throw new TrunklineError(
      'call_not_found',
      'there is no call of yours with that id; GET /v1/calls lists the calls whose parameter `agent` is yours',
    );
  }

  /** Of calls that began before the events, and that nothing is remembered of. */
  async #learnOwners(entries: readonly FeedEntry[]): Promise<void> {
    const ids = new Set(entries.map(({ event }) => event.callId));
    for (const id of ids) {
      if (this.#agents.has(id) || this.#options.calls.get(id) !== undefined) continue;
      const stored = await this.#options.stored?.get(id);
      if (stored !== undefined) this.#agents.set(id, { agent: stored.agent });
    }
  }

  /** The names of a call's two sides as the request's principal sees them. */
  namesFor(request: FastifyRequest, names: CallNames): CallNames {
    return namesFor(this.#options.access.principalOf(request), names);
  }

  /** Stored events, which a reader gets again, begin with this one too. */
  #learn({ event }: FeedEntry): void {
    const tellsAgent =
      event.type === 'call.started' ||
      event.type === 'call.assigned' ||
      (event.type === 'call.state' && event.state === 'ringing');
    if (tellsAgent) this.#agents.set(event.callId, { agent: event.agent ?? null });
  }

  #seesCall(principal: Principal, callId: string): boolean {
    const call = this.#agents.get(callId) ?? this.#options.calls.get(callId);
    return call !== undefined && sees(principal, call);
  }
}
