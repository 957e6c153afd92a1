/** Calls in memory and stored ones, as one. */
import type { CallView } from '../../calls/call-view.ts';
import type { Feed } from '../../calls/feed/feed.ts';
import type { Clock } from '../../foundation/clock.ts';
import { TrunklineError } from '../../foundation/errors.ts';
import type { Metrics } from '../../foundation/metrics.ts';
import { settlesWithin } from '../../foundation/settles-within.ts';
import type { CallRemoval } from '../../records/deletion/call-removal.ts';
import type { Records } from '../../records/records.ts';
import { type CallFilter, passes } from '../../records/search/call-filter.ts';
import {
  type CallMemory,
  type CallPosition,
  type FoundCallView,
  pageOfCalls,
} from '../../records/search/call-lists.ts';
import { parseSearch } from '../../records/search/search-query.ts';
import { refuseUnknown } from './call-schemas.ts';

/** What is kept, and what deletes it. */
export interface KeptCalls {
  readonly records: Records;
  readonly removal: CallRemoval;
}

/** So long a request waits for what was told last to be stored. */
const SETTLE_MS = 10_000;

interface DirectoryOptions {
  readonly memory: CallMemory;
  /** Null = nothing is kept. */
  readonly kept: KeptCalls | null;
  readonly feed: Pick<Feed, 'forget' | 'publish'>;
  readonly clock: Clock;
  readonly metrics: Pick<Metrics, 'records'>;
}

/** All calls of one server. */
export class CallDirectory {
  readonly #options: DirectoryOptions;

  constructor(options: DirectoryOptions) {
    this.#options = options;
  }

  /** The records. @throws TrunklineError `records_off`; `what` = what cannot be done without them */
  records(what: string): Records {
    const { kept } = this.#options;
    if (kept !== null) return kept.records;
    throw new TrunklineError(
      'records_off',
      `${what} needs the records of calls, and this server keeps none (DATA_DIR)`,
    );
  }

  /** A call; what memory knows of it counts. @throws TrunklineError `call_not_found` */
  async get(id: string): Promise<CallView> {
    const { memory, kept } = this.#options;
    return memory.get(id) ?? (await kept?.records.calls.get(id)) ?? refuseUnknown('call');
  }

  /**
   * A call as it is stored, maybe redacted; null = it is not stored yet. Where nothing is kept, as memory has it.
   */
  async asKept(call: CallView): Promise<CallView | null> {
    const { memory, kept } = this.#options;
    if (kept === null || memory.get(call.id) === undefined) return call;
    return (await kept.records.calls.get(call.id)) ?? null;
  }

  /** At most `limit` calls behind `after`. @throws TrunklineError `records_off` for what only records know */
  async list(filter: CallFilter, page: { after: CallPosition | null; limit: number }): Promise<CallView[]> {
    const { memory, kept } = this.#options;
    if (kept !== null) return kept.records.lists.list(memory, filter, page);
    if (filter.step !== undefined) this.records('a filter by step');
    const passing = memory.list().filter((call) => passes(call, filter));
    return pageOfCalls(passing, page.after, page.limit);
  }

  /** @throws TrunklineError `invalid_request` for what cannot be searched for, `records_off` */
  check(typed: string): void {
    parseSearch(typed);
    this.records('a search (q)');
  }

  /** A page of a search. @throws TrunklineError `invalid_request` for what cannot be searched for, `records_off` */
  async search(
    typed: string,
    filter: CallFilter,
    page: { belowSeq: number | null; limit: number },
  ): Promise<{ calls: FoundCallView[]; next: number | null }> {
    const { memory, clock, metrics } = this.#options;
    const query = parseSearch(typed);
    const { lists } = this.records('a search (q)');
    const beganMs = clock.nowMs();
    const found = await lists.searchPage(memory, query, filter, page);
    metrics.records.searchSeconds.observe((clock.nowMs() - beganMs) / 1000);
    return found;
  }

  /**
   * Deletes a call with all that is kept of it.
   * @throws TrunklineError `call_not_found`, `call_not_ended`, or `disk_full` when nothing can be stored just now
   */
  async remove(id: string): Promise<void> {
    const { kept, feed } = this.#options;
    const { state, startedAt } = await this.get(id);
    if (state !== 'ended')
      throw new TrunklineError('call_not_ended', `the call is ${state}, expected one that has ended; hang it up first`);
    if (kept === null) {
      feed.forget(id);
      feed.publish({ type: 'call.deleted', callId: id });
      return;
    }
    await this.settle();
    const seq = (await kept.records.calls.seqOf(id)) ?? null;
    await kept.removal.remove({ id, seq, startedMs: Date.parse(startedAt), leavesCopies: true });
    await kept.removal.finish();
    // Copies may be many and large.
    void kept.records.copies?.clean();
  }

  /** Resolves when what was told so far is stored. @throws TrunklineError `disk_full` */
  async settle(): Promise<void> {
    const { kept, clock } = this.#options;
    if (kept === null || (await settlesWithin(clock, kept.records.recorder.settled(), SETTLE_MS))) return;
    throw new TrunklineError('disk_full', 'the records cannot be written just now; try again later');
  }
}
