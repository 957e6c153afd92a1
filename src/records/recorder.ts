/**
 * Stores what the feed tells, behind its back: an event is published first, waits in memory for at most a tenth of a
 * second, and is stored together with those of all other calls in one transaction. A disk or database that is full,
 * stuck or away costs no call: events wait, up to a limit, and are stored when it is back.
 */
import type { CallParameters } from '../calls/call-parameters.ts';
import type { CallView } from '../calls/call-view.ts';
import type { CallStartedEvent, FeedEvent } from '../calls/feed/events.ts';
import type { OwnEntry } from '../calls/feed/exchange.ts';
import type { Feed } from '../calls/feed/feed.ts';
import { Backoff } from '../foundation/backoff.ts';
import type { Clock, Timer } from '../foundation/clock.ts';
import {
  type AwayReason,
  describeTrouble,
  explainTrouble,
  mayBeOfOneStatement,
  reasonOf,
} from '../foundation/database/trouble.ts';
import type { Log } from '../foundation/log/log.ts';
import { Notices } from '../foundation/log/notices.ts';
import type { RecordMetrics } from '../foundation/metrics/record-metrics.ts';
import { settlesWithin } from '../foundation/settles-within.ts';
import { type CallIdentity, CallTally } from './call-tally.ts';
import { splitFeedId } from './feed-id.ts';
import { OutageNotes } from './outage-notes.ts';
import type { OpenRedaction, RecordRedaction } from './record-redaction.ts';
import type { RecordedEvent, RecordWriter } from './record-writer.ts';
import type { Rewrite } from './redaction/stored-call.ts';
import type { RefusedEvents } from './refused-events.ts';

/** An event waits at most this long for others, and at most so many are stored at once. */
const WAIT_MS = 100;
const EVENTS_AT_ONCE = 100;
/** Further events are lost. There is room left for those without which a call has no row. */
const BACKLOG_MAX = 50_000;
const BACKLOG_OF_BEGINNINGS_MAX = 60_000;
/** The same by the length of their JSON: what callers and apps send may be long. Memory takes some three times this. */
const BACKLOG_MAX_CHARS = 64 * 1024 * 1024;
const BACKLOG_OF_BEGINNINGS_MAX_CHARS = 80 * 1024 * 1024;
/** How often a gateway with live calls says that it lives: a later start takes that for the end of lost calls. */
const ALIVE_PERIOD_MS = 10_000;
/** A write that takes longer is told. */
const STUCK_MS = 10_000;
const RETRIES = { firstMs: 500, longestMs: 30_000 };
/** How long the end of the gateway waits for the last events. */
const LAST_WRITE_MS = 10_000;
/** What may come often is told this often. */
const NOTICE_PERIOD_MS = 60_000;

/** What the recorder asks of the calls of this gateway. */
export interface CallSource {
  get(id: string): CallView | undefined;
  parameters(id: string): { readonly own: CallParameters; readonly all: Readonly<Record<string, string>> } | undefined;
}

interface RecorderOptions {
  readonly writer: Pick<RecordWriter, 'write' | 'rewrite' | 'check' | 'probe'>;
  /** Keeps what the database refuses; null = there is no folder for it, and that is lost. */
  readonly refused: Pick<RefusedEvents, 'keep'> | null;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: RecordMetrics;
  readonly redaction: OpenRedaction;
  /** Where a flow sends an event that is told now; null = nowhere. Must not throw. */
  readonly targetOf: (event: FeedEvent) => string | null;
}

/** An event that was published and is not stored yet. `identity` = what is known of a call that begins with it. */
interface Waiting {
  readonly entry: OwnEntry;
  /** What is stored of it. */
  event: FeedEvent;
  readonly atMs: number;
  readonly identity: CallIdentity | null;
  /** Where a flow sends it; null = nowhere. */
  readonly target: string | null;
}

/** An event with its id that another gateway published at `atMs`, and that is not stored. */
export interface FoundEvent {
  readonly entry: OwnEntry;
  readonly atMs: number;
}

/** Why nothing can be stored now. */
export interface RecordTrouble {
  /** `full` = so much waits that further events are lost. */
  readonly reason: AwayReason | 'full';
  /** For people: no address, no SQL, no values. */
  readonly message: string;
}

interface Settling {
  readonly upTo: number;
  resolve(): void;
}

/** The recorder of one gateway. */
export class Recorder {
  readonly #options: RecorderOptions;
  readonly #redaction: RecordRedaction;
  readonly #tallies = new Map<string, CallTally>();
  readonly #backoff = new Backoff(RETRIES);
  #waiting: Waiting[] = [];
  /** How many of those that wait, from the oldest on, have their ids and are redacted. */
  #ready = 0;
  /** What is being written; it stays here until it is stored. */
  #writing: readonly RecordedEvent[] = [];
  /** Events that are stored and read differently now, by their ids. */
  #rewrites = new Map<string, Rewrite>();
  #settling: Settling[] = [];
  /** How many events were taken, and how many of them are stored or lost. */
  #taken = 0;
  #done = 0;
  #timer: Timer | null = null;
  #isWriting = false;
  /** Of the last write; null = it succeeded. */
  #trouble: Error | null = null;
  readonly #outage: OutageNotes;
  readonly #notices: Notices;
  /** Of the JSON of those that wait. */
  #waitingChars = 0;
  /** The write that goes on has taken too long. */
  #isStuck = false;
  #isOverflowing = false;
  #lost = 0;
  /** Events of the write that goes on which the database refused. */
  #refusedNow = 0;
  #isAliveDue = true;
  #isClosed = false;
  #alive: Timer | null = null;
  #epoch = '';
  #source: CallSource = { get: () => undefined, parameters: () => undefined };
  #unsubscribe: () => void = () => undefined;

  constructor(options: RecorderOptions) {
    this.#options = options;
    this.#redaction = options.redaction((rewrites) => this.rewrite(rewrites));
    this.#outage = new OutageNotes(options.clock, options.log);
    this.#notices = new Notices(options.clock, NOTICE_PERIOD_MS);
    options.metrics.backlogAge.watch(() => this.#backlogAgeSeconds);
  }

  /** How long the oldest event has waited. */
  get #backlogAgeSeconds(): number {
    const oldest = this.#writing[0] ?? this.#waiting[0];
    if (oldest === undefined) return 0;
    // The wall clock may have been set.
    return Math.max(this.#options.clock.wall().getTime() - oldest.atMs, 0) / 1000;
  }

  /** Events that are not stored yet. */
  get backlog(): number {
    return this.#waiting.length + this.#writing.length;
  }

  /** Events that were not stored and never will be. */
  get lost(): number {
    return this.#lost;
  }

  /** Nothing can be stored just now: writes fail, or one has no end. */
  get isTroubled(): boolean {
    return this.#trouble !== null || this.#isStuck;
  }

  /** Null = what is told can be stored. */
  get trouble(): RecordTrouble | null {
    if (this.#isOverflowing) return { reason: 'full', message: 'too many events wait to be stored: some are lost' };
    if (this.#trouble !== null) return { reason: reasonOf(this.#trouble), message: describeTrouble(this.#trouble) };
    return this.#isStuck ? { reason: 'unreachable', message: 'the database does not answer' } : null;
  }

  /** Stores what `feed` tells from now on; `source` knows the calls that it tells of. */
  follow(feed: Pick<Feed, 'subscribeOwn' | 'watchIds' | 'epoch'>, source: CallSource): void {
    this.#epoch = feed.epoch;
    this.#source = source;
    this.#unsubscribe = feed.subscribeOwn({}, (entry) => this.#take(entry));
    feed.watchIds(() => this.#readyAll());
    this.#alive = this.#options.clock.every(ALIVE_PERIOD_MS, () => this.#look(), true);
  }

  /** Takes over a stored call of a dead gateway: the `call.ended` that is published next ends its row. */
  adopt(tally: CallTally): void {
    this.#tallies.set(tally.id, tally);
  }

  /** The calls that are this gateway's: those that go on, and those of which something waits. */
  held(): readonly string[] {
    const waiting = [...this.#waiting.map(({ event }) => event.callId), ...this.#writing.map(({ callId }) => callId)];
    return [...new Set([...this.#tallies.keys(), ...waiting])];
  }

  /** Others had ended the calls of this gateway, which is back; of those that it had stored only these are there. */
  resume(stored: ReadonlySet<string>): void {
    for (const tally of this.#tallies.values()) if (tally.seq !== null && !stored.has(tally.id)) tally.isDeleted = true;
    this.#schedule(0);
  }

  /** Stores what a dead gateway had told, before what is published next. */
  catchUp(found: readonly FoundEvent[]): void {
    for (const { entry, atMs } of found) {
      this.#taken++;
      this.#waiting.push({ entry, event: entry.event, atMs, identity: null, target: null });
      this.#waitingChars += entry.json.length;
    }
    this.#readyAll();
  }

  /** Resolves when all that was published so far is stored or lost. */
  settled(): Promise<void> {
    if (this.#done >= this.#taken) return Promise.resolve();
    return new Promise((resolve) => {
      this.#settling.push({ upTo: this.#taken, resolve });
    });
  }

  /** Stores what waits, for 10 s at most, and ends. */
  async close(): Promise<void> {
    this.#unsubscribe();
    this.#alive?.cancel();
    const { clock, log } = this.#options;
    this.#schedule(0);
    const isDone = await settlesWithin(clock, this.settled(), LAST_WRITE_MS);
    this.#isClosed = true;
    this.#timer?.cancel();
    this.#redaction.close();
    if (!isDone) log.error({ events: this.backlog }, 'the records do not have the last events: they cannot be written');
  }

  #take(entry: OwnEntry): void {
    const { event } = entry;
    if (event.type === 'call.deleted') this.#tallies.delete(event.callId);
    if (!isStored(event)) return;
    const { metrics, clock } = this.#options;
    if (!this.#hasRoomFor(entry)) {
      this.#overflow(event);
      return;
    }
    this.#taken++;
    this.#waitingChars += entry.json.length;
    const atMs = clock.wall().getTime();
    this.#waiting.push({ entry, event, atMs, identity: this.#identify(event), target: this.#options.targetOf(event) });
    metrics.backlog.set(this.backlog);
    this.#readyAll();
  }

  #hasRoomFor({ event: { type }, json }: OwnEntry): boolean {
    const isOfRow = type === 'call.started' || type === 'call.ended';
    const chars = this.#waitingChars + json.length;
    if (isOfRow) return this.#waiting.length < BACKLOG_OF_BEGINNINGS_MAX && chars <= BACKLOG_OF_BEGINNINGS_MAX_CHARS;
    return this.#waiting.length < BACKLOG_MAX && chars <= BACKLOG_MAX_CHARS;
  }

  /** The newest is lost: those before it say what was talked about. */
  #overflow({ callId, type }: FeedEvent): void {
    const { metrics, log } = this.#options;
    metrics.lost.inc({ reason: 'backlog' });
    this.#lost++;
    this.#isOverflowing = true;
    if (this.#notices.isDue('backlog'))
      log.error(
        { events: this.backlog, lost: this.#lost, callId, type },
        'too many events wait to be stored: the newest is lost',
      );
  }

  /** An event is stored under its id, which may come after the event itself. */
  #readyAll(): void {
    for (let waiting = this.#waiting[this.#ready]; waiting !== undefined; waiting = this.#waiting[this.#ready]) {
      const { entry } = waiting;
      if (entry.isLost === true) this.#giveUpOldest();
      else if (entry.id === null) break;
      else {
        this.#ready++;
        const told = entry.isLate === true ? { ...entry.event, late: true as const } : entry.event;
        const redacted = this.#redaction.take(entry.id, told);
        waiting.event = redacted.event;
        this.rewrite(redacted.rewrites);
      }
    }
    if (this.#trouble !== null || this.#isWriting || this.#ready === 0) return;
    if (this.#ready >= EVENTS_AT_ONCE) this.#schedule(0);
    else if (this.#timer === null) this.#schedule(WAIT_MS);
  }

  /** The oldest event without an id never gets one. */
  #giveUpOldest(): void {
    const [given] = this.#waiting.splice(this.#ready, 1);
    this.#waitingChars -= given?.entry.json.length ?? 0;
    this.#options.metrics.lost.inc({ reason: 'backlog' });
    this.#lost++;
    this.#noteDone(1);
  }

  /** Stores other contents of events that were taken before. */
  rewrite(rewrites: readonly Rewrite[]): void {
    for (const rewrite of rewrites) {
      const waiting = this.#waiting.findLast(({ entry }) => entry.id === rewrite.id);
      if (waiting === undefined) this.#rewrites.set(rewrite.id, rewrite);
      else waiting.event = rewrite.event;
    }
    const isIdle = this.#timer === null && !this.#isWriting && this.#trouble === null;
    if (this.#rewrites.size > 0 && isIdle) this.#schedule(WAIT_MS);
  }

  /** Only now is it sure that the registry knows a call that begins or ends. */
  #identify(event: FeedEvent): CallIdentity | null {
    if (event.type === 'call.started') return this.#identityOf(event, this.#source.parameters(event.callId));
    if (event.type !== 'call.state' && event.type !== 'call.ended') return null;
    if (this.#tallies.has(event.callId)) return null;
    const view = this.#source.get(event.callId);
    return view === undefined ? null : this.#identityOf(view, this.#source.parameters(event.callId));
  }

  #identityOf(known: CallStartedEvent | CallView, parameters: ReturnType<CallSource['parameters']>): CallIdentity {
    const { carrier, from, to, names, agent, queue, app, startedAt, tracks } = known;
    const { own = null, all = {} } = parameters ?? {};
    const kept = Object.entries(all).map(([name, value]) => [name, this.#redaction.maskText(value)] as const);
    const identity = { carrier, from, to, names, agent, queue, app, startedAt, tracks, own };
    return { ...identity, parameters: Object.fromEntries(kept) };
  }

  /** Calls in which nothing is said have no events, and where nobody calls a database may go away unnoticed. */
  #look(): void {
    this.#outage.tick({ events: this.backlog, lost: this.#lost });
    this.#isAliveDue = true;
    if (this.#timer === null && !this.#isWriting) this.#schedule(0);
  }

  #schedule(delayMs: number): void {
    this.#timer?.cancel();
    this.#timer = this.#options.clock.after(delayMs, () => void this.#write());
  }

  async #write(): Promise<void> {
    this.#timer?.cancel();
    this.#timer = null;
    if (this.#isWriting) return;
    this.#isWriting = true;
    const { clock, metrics } = this.#options;
    if (this.#writing.length === 0) this.#writing = this.#gather();
    const startMs = clock.nowMs();
    const stuck = clock.after(STUCK_MS, () => this.#noteStuck(), true);
    try {
      if (this.#isIdle) await this.#options.writer.check();
      await this.#store(this.#writing);
      await this.#storeRewrites();
      metrics.writeSeconds.observe((clock.nowMs() - startMs) / 1000);
      this.#finish();
    } catch (error) {
      this.#noteTrouble(error as Error);
    } finally {
      stuck.cancel();
      this.#isStuck = false;
      this.#isWriting = false;
    }
    this.#goOn();
  }

  #goOn(): void {
    if (this.#isClosed) return;
    if (this.#trouble !== null) this.#schedule(this.#backoff.next());
    else if (this.#ready >= EVENTS_AT_ONCE) this.#schedule(0);
    else if (this.#ready > 0 || this.#rewrites.size > 0) this.#schedule(this.#leftToWaitMs());
  }

  /** There is nothing to write, which would tell whether that can be done. */
  get #isIdle(): boolean {
    return this.#writing.length === 0 && this.#rewrites.size === 0 && this.#signOfLife() === null;
  }

  /** What came during a write has waited already. */
  #leftToWaitMs(): number {
    const [oldest] = this.#waiting;
    if (oldest === undefined) return WAIT_MS;
    const waitedMs = this.#options.clock.wall().getTime() - oldest.atMs;
    // The wall clock may have been set.
    return Math.min(Math.max(WAIT_MS - waitedMs, 0), WAIT_MS);
  }

  /** Takes the oldest events from those that wait, and has them change the rows of their calls. */
  #gather(): RecordedEvent[] {
    const gathered = this.#waiting.splice(0, Math.min(this.#ready, EVENTS_AT_ONCE));
    this.#ready -= gathered.length;
    for (const { entry } of gathered) this.#waitingChars -= entry.json.length;
    return gathered.map(({ entry, event, atMs, identity, target }) => {
      const known = this.#tallyOf(event.callId, identity);
      const added = known?.add(event, atMs) ?? null;
      if (known?.isOver === true) this.#tallies.delete(event.callId);
      const [tally, text] = known?.isDeleted === true ? [null, null] : [known, added];
      const { epoch, number } = splitFeedId(entry.id ?? '');
      const content = event === entry.event ? entry.json : JSON.stringify(event);
      const update = event.type === 'call.updated' ? event : null;
      return { epoch, number, callId: event.callId, type: event.type, atMs, content, tally, text, target, update };
    });
  }

  #tallyOf(callId: string, identity: CallIdentity | null): CallTally | null {
    const known = this.#tallies.get(callId);
    if (known !== undefined) return known;
    if (identity === null) return null;
    const tally = CallTally.begin(callId, this.#epoch, identity);
    this.#tallies.set(callId, tally);
    return tally;
  }

  /** What the database refuses alone is put aside, so that it does not hold up the rest for ever. */
  async #store(events: readonly RecordedEvent[]): Promise<void> {
    const { writer } = this.#options;
    const alive = this.#signOfLife();
    if (events.length === 0 && alive === null) return;
    await storeInParts(events, {
      store: (part) => writer.write(part, alive),
      putAside: (event, error) => this.#refuse(event, error),
    });
  }

  /** After the events themselves: those that are changed may be among them. */
  async #storeRewrites(): Promise<void> {
    const { writer, log } = this.#options;
    const rewrites = [...this.#rewrites.values()].slice(0, EVENTS_AT_ONCE);
    if (rewrites.length === 0) return;
    await storeInParts(rewrites, {
      store: (part) => writer.rewrite(part),
      putAside: async ({ id, event: { callId, type } }, err) => {
        await writer.probe();
        log.error({ err, event: id, callId, type }, 'the database refuses to change an event, which stays as it was');
      },
    });
    for (const rewrite of rewrites) if (this.#rewrites.get(rewrite.id) === rewrite) this.#rewrites.delete(rewrite.id);
  }

  /** @throws the error of the database when it takes nothing at all; that of the disk when the event cannot be kept */
  async #refuse(event: RecordedEvent, error: unknown): Promise<void> {
    const { writer, refused, metrics } = this.#options;
    await writer.probe();
    this.#refusedNow++;
    const isKept = (await refused?.keep(event, error)) ?? false;
    if (isKept) metrics.refused.inc();
    else {
      metrics.lost.inc({ reason: 'refused' });
      this.#lost++;
    }
    this.#tellOfRefusal(event, error, isKept);
  }

  #tellOfRefusal({ callId, type, epoch, number }: RecordedEvent, err: unknown, isKept: boolean): void {
    if (!this.#notices.isDue(isKept ? 'kept' : 'refused')) return;
    const { log } = this.#options;
    const facts = { err, callId, type, event: `${epoch}-${number}` };
    if (isKept)
      log.error(facts, 'the database refuses an event, which DATA_DIR/refused keeps: see trunkline db refused');
    else
      log.error(facts, 'the database refuses an event, which is lost: DATA_DIR/refused has no room, or is not there');
  }

  #signOfLife(): { epoch: string; atMs: number } | null {
    if (this.#tallies.size === 0 || !this.#isAliveDue) return null;
    return { epoch: this.#epoch, atMs: this.#options.clock.wall().getTime() };
  }

  #finish(): void {
    const { metrics } = this.#options;
    this.#trouble = null;
    this.#isOverflowing = false;
    this.#backoff.restart();
    this.#isAliveDue = false;
    const written = this.#writing.length;
    metrics.written.inc(written - this.#refusedNow);
    this.#refusedNow = 0;
    this.#writing = [];
    metrics.backlog.set(this.backlog);
    this.#outage.end({ events: written + this.backlog, lost: this.#lost });
    if (this.#waiting.length === 0) this.#outage.caughtUp();
    this.#noteDone(written);
  }

  #noteDone(events: number): void {
    this.#done += events;
    const settled = this.#settling.filter(({ upTo }) => upTo <= this.#done);
    this.#settling = this.#settling.filter(({ upTo }) => upTo > this.#done);
    for (const { resolve } of settled) resolve();
  }

  #noteStuck(): void {
    this.#isStuck = true;
    this.#options.log.warn({ events: this.backlog }, 'the records have not been written for 10 s');
  }

  #noteTrouble(error: Error): void {
    if (this.#isClosed) return;
    this.#options.metrics.failures.inc();
    this.#trouble = error;
    this.#refusedNow = 0;
    this.#outage.note(explainTrouble(error), { events: this.backlog, lost: this.#lost });
  }
}

/**
 * Stores `items` together, and in ever smaller parts where the database refuses one of them. `putAside` gets those that
 * it refuses alone.
 * @throws the error of a database that cannot be used, and those of `putAside`
 */
async function storeInParts<T>(
  items: readonly T[],
  how: {
    readonly store: (part: readonly T[]) => Promise<void>;
    readonly putAside: (item: T, error: unknown) => Promise<void>;
  },
): Promise<void> {
  try {
    await how.store(items);
  } catch (error) {
    const [first] = items;
    if (!mayBeOfOneStatement(error) || first === undefined) throw error;
    if (items.length === 1) return how.putAside(first, error);
    const half = Math.ceil(items.length / 2);
    await storeInParts(items.slice(0, half), how);
    await storeInParts(items.slice(half), how);
  }
}

/** Whether an event is kept: all but partial captions, the detector's events, and the end of the record itself. */
export function isStored(event: FeedEvent): boolean {
  if (event.type === 'caption') return event.final;
  return event.type !== 'speech.started' && event.type !== 'speech.stopped' && event.type !== 'call.deleted';
}
