/**
 * What is refused or dropped in SIP, for the log. Anybody can cause it again and again, so the first one of a kind is
 * told at once, and those that follow within a while are counted in one line.
 */
import type { Clock, Timer } from '../../foundation/clock.ts';
import type { Log } from '../../foundation/log/log.ts';

/** How long those of a kind are counted. */
const COUNTED_MS = 10_000;
/** Strangers ask all day. */
const STRANGERS_COUNTED_MS = 600_000;

/** An INVITE that we refuse, or a change of a call. */
export interface SipRefused {
  readonly callId: string;
  readonly address: string;
  readonly statusCode: number;
  /** It belongs to a call that goes on. */
  readonly isWithin?: boolean;
  /** Why, where that is known: a code of errors.ts and a sentence. */
  readonly code?: string;
  readonly reason?: string;
}

/** Messages that get no answer although their senders may be in earnest. */
export type SipDropped = 'address' | 'rate' | 'unacknowledged';

const DROPS: Readonly<Record<SipDropped, string>> = {
  address: 'a SIP message of an address that is not in SIP_ALLOW was dropped',
  rate: 'a SIP message was dropped: its sender, or all together, sends more than is read',
  unacknowledged: 'an INVITE was dropped: too many answers to its sender wait for their ACK',
};

interface Kind {
  more: number;
  timer: Timer;
}

export class RefusalLog {
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #kinds = new Map<string, Kind>();
  /** The Call-ID of the refusal that was explained last. */
  #explained: string | null = null;

  constructor(clock: Clock, log: Log) {
    this.#clock = clock;
    this.#log = log;
  }

  /** Told twice of one refusal, first by who knows why, it passes over the second. */
  refused({ callId, isWithin = false, ...facts }: SipRefused): void {
    const isKnown = facts.code !== undefined || facts.reason !== undefined;
    if (!isKnown && this.#explained === callId) {
      this.#explained = null;
      return;
    }
    this.#explained = isKnown ? callId : null;
    const what = isWithin ? 'a change of a SIP call was refused' : 'a SIP call was refused';
    this.#note(`${what} ${facts.statusCode} ${facts.code ?? ''}`, COUNTED_MS, facts, what);
  }

  dropped(reason: SipDropped, address: string): void {
    const countedMs = reason === 'address' ? STRANGERS_COUNTED_MS : COUNTED_MS;
    this.#note(reason, countedMs, { address }, DROPS[reason]);
  }

  #note(kind: string, countedMs: number, facts: object, what: string): void {
    const known = this.#kinds.get(kind);
    if (known !== undefined) {
      known.more++;
      return;
    }
    this.#log.warn(facts, what);
    const timer = this.#clock.after(countedMs, () => this.#sum(kind, facts, what), true);
    this.#kinds.set(kind, { more: 0, timer });
  }

  #sum(kind: string, facts: object, what: string): void {
    const more = this.#kinds.get(kind)?.more ?? 0;
    this.#kinds.delete(kind);
    if (more > 0) this.#log.warn({ ...facts, address: undefined, more }, `${what}, and so were more since`);
  }

  /** Tells what was only counted. */
  close(): void {
    for (const { timer } of this.#kinds.values()) timer.cancel();
    this.#kinds.clear();
  }
}
