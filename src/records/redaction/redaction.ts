/** Redacts the events of all calls: before they are stored, or before anybody reads them. */
import type { FeedEvent } from '../../calls/feed/events.ts';
import type { Clock, Timer } from '../../foundation/clock.ts';
import { maskWritten } from './call-redactor.ts';
import { LiveCall } from './live-call.ts';
import type { OwnPatterns } from './own-patterns.ts';
import { type Rewrite, StoredCall, type StoredRedaction } from './stored-call.ts';

/** How often it is looked at what was held for too long. */
const SETTLE_MS = 1000;
/** Calls that are over, of which events may still come. */
const ENDED_MAX = 1000;

interface RedactionOptions {
  readonly clock: Clock;
  readonly patterns: OwnPatterns;
}

/** What both have in common: the calls, and a timer while anything is held. */
class Calls<Call extends { readonly isHolding: boolean }> {
  readonly #clock: Clock;
  readonly #create: (callId: string) => Call;
  readonly #onTick: (call: Call) => void;
  readonly #calls = new Map<string, Call>();
  /** The latest that are over, the oldest first: nothing is kept of them. */
  readonly #ended = new Set<string>();
  #timer: Timer | null = null;

  constructor(clock: Clock, create: (callId: string) => Call, onTick: (call: Call) => void) {
    this.#clock = clock;
    this.#create = create;
    this.#onTick = onTick;
  }

  of({ callId, type }: FeedEvent): Call {
    if (type === 'call.started') this.#ended.delete(callId);
    const known = this.#calls.get(callId);
    if (known !== undefined) return known;
    const call = this.#create(callId);
    if (!this.#ended.has(callId)) this.#calls.set(callId, call);
    return call;
  }

  /** Call after every event: forgets a call that is over, and watches what is held. */
  after(event: FeedEvent): void {
    if (event.type === 'call.ended') this.#end(event.callId);
    if (this.#timer === null && this.#calls.get(event.callId)?.isHolding)
      this.#timer = this.#clock.every(SETTLE_MS, () => this.#tick(), true);
  }

  close(): void {
    this.#timer?.cancel();
    this.#timer = null;
    this.#calls.clear();
  }

  /** How many calls are kept. */
  get size(): number {
    return this.#calls.size;
  }

  #end(callId: string): void {
    this.#calls.delete(callId);
    this.#ended.add(callId);
    const [oldest] = this.#ended;
    if (this.#ended.size > ENDED_MAX && oldest !== undefined) this.#ended.delete(oldest);
  }

  #tick(): void {
    for (const call of this.#calls.values()) this.#onTick(call);
    if ([...this.#calls.values()].some(({ isHolding }) => isHolding)) return;
    this.#timer?.cancel();
    this.#timer = null;
  }
}

/** Events of these kinds may come after the end of their call, and need nothing of it. */
function isWritten({ type }: FeedEvent): boolean {
  return type === 'note' || type === 'mark' || type === 'call.updated' || type === 'hint' || type === 'call.deleted';
}

/** `REDACT=store`: readers see everything, and what is kept is redacted. */
export class StoreRedaction {
  readonly #options: RedactionOptions;
  readonly #calls: Calls<StoredCall>;

  /** @param rewrite is told of stored events whose content is another one now */
  constructor(options: RedactionOptions, rewrite: (rewrites: readonly Rewrite[]) => void) {
    this.#options = options;
    this.#calls = new Calls(
      options.clock,
      () => new StoredCall(options.patterns),
      (call) => {
        const rewrites = call.settle(options.clock.nowMs());
        if (rewrites.length > 0) rewrite(rewrites);
      },
    );
  }

  /** What is stored in place of `event`, with the id `id`, and what changes of stored ones before it. */
  take(id: string, event: FeedEvent): StoredRedaction {
    const { clock, patterns } = this.#options;
    if (isWritten(event)) return { event: maskWritten(event, patterns), rewrites: [] };
    const redacted = this.#calls.of(event).take(id, event, clock.nowMs());
    this.#calls.after(event);
    return redacted;
  }

  /** Calls that something is remembered of. */
  get callCount(): number {
    return this.#calls.size;
  }

  close(): void {
    this.#calls.close();
  }
}

/** `REDACT=feed`: nobody who reads the feed sees more than what is kept. */
export class FeedRedaction {
  readonly #options: RedactionOptions;
  readonly #calls: Calls<LiveCall>;
  /** What it published itself, on its way through {@link rewrite}. */
  readonly #own = new WeakSet<FeedEvent>();

  /** @param publish publishes an event that comes of no other: a revision that gives text back */
  constructor(options: RedactionOptions, publish: (event: FeedEvent) => void) {
    this.#options = options;
    this.#calls = new Calls(
      options.clock,
      (callId) => new LiveCall(callId, options.patterns),
      (call) => {
        for (const event of call.settle(options.clock.nowMs())) {
          this.#own.add(event);
          publish(event);
        }
      },
    );
  }

  /** What is published in place of `event`. Never throws. */
  rewrite(event: FeedEvent): readonly FeedEvent[] {
    const { clock, patterns } = this.#options;
    if (this.#own.has(event)) return [event];
    if (isWritten(event)) return [maskWritten(event, patterns)];
    const redacted = this.#calls.of(event).take(event, clock.nowMs());
    this.#calls.after(event);
    return redacted;
  }

  /** Calls that something is remembered of. */
  get callCount(): number {
    return this.#calls.size;
  }

  close(): void {
    this.#calls.close();
  }
}
