/**
 * The feed of this gateway and of all others as one. Events of this gateway are written to a table that gives them
 * their place, and are told here when they are read from it, among those of the others. While the database is away,
 * those that waited for 10 s, and all that follow, are told here at once; they get their places when it is back.
 */
import type { FeedEvent } from '../../calls/feed/events.ts';
import type { FeedExchange, OwnEntry } from '../../calls/feed/exchange.ts';
import type { Feed } from '../../calls/feed/feed.ts';
import { formatFeedPosition } from '../../calls/feed/feed-position.ts';
import type { Clock, Timer } from '../../foundation/clock.ts';
import { describeTrouble } from '../../foundation/database/trouble.ts';
import type { Log } from '../../foundation/log/log.ts';
import type { ClusterFeedMetrics } from '../../foundation/metrics/cluster-feed-metrics.ts';
import type { Return } from '../cluster.ts';
import { FeedListener } from './feed-listener.ts';
import { FeedPublisher } from './feed-publisher.ts';
import type { FeedRow } from './feed-rows.ts';
import { HoleFilling, type StoredEvents } from './hole-filling.ts';
import type { OwnRow } from './own-row.ts';
import { RowUpkeep } from './row-upkeep.ts';

/** So long events of this gateway wait for the database before they are told here without their place. */
const WAIT_MS = 10_000;
const LOOK_MS = 1000;
/** Further events get no place: some 60 MB. New calls are refused some time before that. */
const BACKLOG_MAX = 50_000;
const FULL_FROM = 40_000;
/** From here on partial captions that nobody waits for any more are left out. */
const BACKLOG_WITH_PASSING_MAX = 10_000;
/** How long the end of the gateway waits for the last events. */
const CLOSE_MS = 5000;

interface ClusterFeedOptions {
  /** DATABASE_DIRECT_URL. */
  readonly url: string;
  /** Of this gateway. */
  readonly gateway: string;
  readonly epoch: string;
  /** The last number that was given before this gateway began to follow. */
  readonly start: number;
  /** FEED_HISTORY */
  readonly history: number;
  readonly stored: StoredEvents;
  /** The others have ended this gateway's calls. Must not throw. */
  readonly onDeclaredDead: () => void;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: ClusterFeedMetrics;
}

export class ClusterFeed implements FeedExchange {
  readonly epoch: string;
  readonly start: number;
  readonly #options: ClusterFeedOptions;
  readonly #publisher: FeedPublisher;
  readonly #listener: FeedListener;
  readonly #upkeep: RowUpkeep;
  readonly #holes: HoleFilling;
  #feed: Pick<Feed, 'deliver' | 'noteIds' | 'tell'> | null = null;
  /** Events of this gateway that the common order has not come to, by their local numbers. */
  readonly #own = new Map<number, OwnRow>();
  #lastLocal = 0;
  /** The last own event that the common order has come to; that has a number; that was told here before. */
  #passedLocal = 0;
  #numberedLocal = 0;
  #shownLocal = 0;
  /** Up to where the common order was told here. */
  #cursor: number;
  /** The last event of each other gateway that was told here. */
  readonly #seen = new Map<string, number>();
  /** `away`: own events are told at once; `returning`: they wait again, until all that were told have places. */
  #state: 'together' | 'away' | 'returning' = 'together';
  #since = '';
  #appendedBefore = 0;
  #troubledMs: number | null = null;
  #reason = '';
  #readable = 0;
  #look: Timer | null = null;
  #isStopped = false;

  constructor(options: ClusterFeedOptions) {
    const { url, gateway, clock, epoch, start, stored, history } = options;
    this.#options = options;
    this.epoch = epoch;
    this.start = start;
    this.#cursor = start;
    this.#publisher = new FeedPublisher({
      url,
      gateway,
      clock,
      onAppended: (rows) => this.#noteAppended(rows),
      onRefused: (row, error) => this.#noteRefused(row, error),
      onChange: (error) => this.#noteTrouble(error),
      onDeclaredDead: options.onDeclaredDead,
    });
    this.#listener = new FeedListener({
      url,
      gateway,
      clock,
      cursor: () => this.#cursor,
      ownProcess: () => this.#publisher.processId,
      onUp: () => this.#holes.noteBreak(),
      onBegin: () => {
        this.#readable = this.#numberedLocal;
      },
      onRows: (rows, isLast) => this.#take(rows, isLast),
      onChange: (error) => this.#noteTrouble(error),
    });
    options.metrics.backlog.watch(() => this.backlog);
    this.#upkeep = new RowUpkeep({ history, clock, trim: (number) => this.#listener.trim(number) });
    this.#holes = new HoleFilling({ stored, clock, onFound: (found) => this.#fill(found) });
  }

  /** Events that have no place yet. */
  get backlog(): number {
    return this.#publisher.backlog;
  }

  /** No new call should come in: soon its events could not be kept. */
  get isFull(): boolean {
    return this.backlog >= FULL_FROM;
  }

  /** What whoever looks after the server should know of the database; null = events go to it and come from it. */
  get trouble(): string | null {
    if (this.#troubledMs === null) return null;
    const why = this.#reason === '' ? '' : ` (${this.#reason})`;
    return `the feed of all gateways cannot be reached, and events wait: the database cannot be used just now${why}`;
  }

  /** Connects. To be called once, with the feed that is told. @throws ConfigError, or the error of the database */
  async open(feed: Pick<Feed, 'deliver' | 'noteIds' | 'tell'>): Promise<void> {
    this.#feed = feed;
    try {
      await this.#publisher.open();
      await this.#listener.open();
    } catch (error) {
      await this.stop();
      throw error;
    }
    this.#look = this.#options.clock.every(LOOK_MS, () => this.#review(), true);
  }

  append(entry: OwnEntry): void {
    const { clock } = this.#options;
    const { event, json } = entry;
    const isPassing = passes(event);
    if (this.#isStopped || this.backlog >= BACKLOG_MAX) {
      this.#lose(entry, 'backlog');
      return;
    }
    this.#lastLocal++;
    const row: OwnRow = {
      entry,
      localNumber: this.#lastLocal,
      callId: event.callId,
      content: json,
      atMs: clock.wall().getTime(),
      sinceMs: clock.nowMs(),
      isPassing,
      lateAfter: null,
      number: null,
      shown: null,
    };
    this.#own.set(row.localNumber, row);
    this.#publisher.append(row);
    if (this.#state === 'away') this.#show(row);
    this.#thinOut();
  }

  forget(callId: string): void {
    this.#publisher.forget(callId);
  }

  /** This gateway was declared dead, and is back: what waits goes to the others, marked as late. */
  resume(back: Pick<Return, 'term' | 'feedNumber'>): void {
    this.#publisher.resume(back);
  }

  /** Resolves when all that was published has its place, or after 5 s; then nothing is published any more. */
  async close(): Promise<void> {
    const { clock } = this.#options;
    const deadlineMs = clock.nowMs() + CLOSE_MS;
    while (!this.#isStopped && this.backlog > 0 && !this.#publisher.isTroubled && clock.nowMs() < deadlineMs)
      await new Promise<void>((resolve) => void clock.after(LOOK_MS / 50, resolve));
    await this.stop();
  }

  /** Nothing is published any more. Idempotent. */
  async stop(): Promise<void> {
    if (this.#isStopped) return;
    this.#isStopped = true;
    this.#look?.cancel();
    this.#holes.close();
    for (const { entry } of this.#own.values()) if (entry.id === null) this.#lose(entry, 'ended');
    await Promise.all([this.#publisher.stop(), this.#listener.close()]);
  }

  #noteAppended(rows: readonly OwnRow[]): void {
    for (const row of rows) this.#number(row);
    this.#feed?.noteIds();
    // Nothing can lie between: whoever has the next number got it after all that have lower ones were committed.
    let isGapless = true;
    for (const row of rows) {
      if (row.number === null || row.number <= this.#cursor) continue;
      isGapless &&= row.number === this.#cursor + 1;
      if (isGapless) this.#pass(row, row.number);
    }
    if (!isGapless) this.#listener.wake();
    this.#review();
  }

  #number(row: OwnRow): void {
    const { number, entry, shown } = row;
    if (number === null) return;
    if (row.lateAfter !== null && number > row.lateAfter) entry.isLate = true;
    entry.id ??= `${this.epoch}-${number}`;
    if (shown !== null) shown.number = number;
    this.#numberedLocal = Math.max(this.#numberedLocal, row.localNumber);
  }

  #noteRefused(row: OwnRow, error: Error): void {
    const { log } = this.#options;
    log.error({ reason: describeTrouble(error), callId: row.callId }, 'the database refuses an event of the feed');
    this.#own.delete(row.localNumber);
    if (row.localNumber >= this.#shownLocal) this.#passedLocal = Math.max(this.#passedLocal, row.localNumber);
    this.#lose(row.entry, 'refused');
  }

  #lose(entry: OwnEntry, reason: string): void {
    entry.isLost = true;
    this.#options.metrics.lost.inc({ reason });
    this.#feed?.noteIds();
  }

  #take(rows: readonly FeedRow[], isLast: boolean): void {
    const [first] = rows;
    const { metrics } = this.#options;
    if (first !== undefined) this.#holes.noteFirst(this.#cursor, first.number);
    let named = false;
    for (const { number, gateway, localNumber, content } of rows) {
      if (number <= this.#cursor) continue;
      // What a crash took out of the table before it was read.
      this.#passLost((row) => row.number !== null && row.number < number);
      if (gateway === this.#options.gateway) {
        const row = this.#own.get(localNumber);
        if (row !== undefined) named ||= row.number === null;
        if (row === undefined) this.#cursor = number;
        else this.#pass(row, number);
      } else this.#tellForeign({ number, gateway, localNumber, content });
    }
    if (isLast) this.#passLost((row) => row.number !== null && row.localNumber <= this.#readable);
    if (named) this.#feed?.noteIds();
    metrics.read.inc(rows.length);
    this.#upkeep.note(this.#cursor);
    this.#review();
  }

  #passLost(isLost: (row: OwnRow) => boolean): void {
    for (const row of this.#own.values()) {
      if (!isLost(row)) return;
      this.#pass(row, Math.max(row.number ?? 0, this.#cursor));
    }
  }

  /** The common order has come to an event of this gateway. */
  #pass(row: OwnRow, number: number): void {
    row.number ??= number;
    this.#number(row);
    this.#own.delete(row.localNumber);
    this.#passedLocal = Math.max(this.#passedLocal, row.localNumber);
    this.#cursor = Math.max(this.#cursor, number);
    this.#holes.noteTold(number);
    if (row.shown !== null) return;
    this.#options.metrics.delaySeconds.observe((this.#options.clock.nowMs() - row.sinceMs) / 1000);
    const { entry, content, localNumber } = row;
    const told = entry.isLate ? { event: { ...entry.event, late: true as const }, json: content } : entry;
    const { event, json } = told;
    this.#deliver({ event, json, gateway: this.#options.gateway, localNumber, number: row.number });
  }

  #tellForeign({ number, gateway, localNumber, content }: FeedRow): void {
    this.#cursor = number;
    // A gateway that does not know whether it wrote them writes them again; after a crash they get other numbers.
    if (localNumber <= (this.#seen.get(gateway) ?? 0)) return;
    this.#seen.set(gateway, localNumber);
    const event = readEvent(content);
    if (event !== null) this.#deliver({ event, json: content ?? '', gateway, localNumber, number });
  }

  #deliver(row: { event: FeedEvent; json: string; gateway: string; localNumber: number; number: number }): void {
    const { event, json, gateway, localNumber, number } = row;
    const ahead = this.#ahead();
    const reached = this.#cursor;
    const id = formatFeedPosition({ epoch: this.epoch, number: reached, ahead });
    this.#holes.noteTold(number);
    this.#feed?.deliver({ id, event, json, gateway, localNumber, number, reached, ahead });
  }

  /** Events that the records have, and that a crash took from the table before they were read. */
  #fill({ event, json, number }: { event: FeedEvent; json: string; number: number }): void {
    this.#deliver({ event, json, gateway: '', localNumber: 0, number });
  }

  #ahead(): { gateway: string; localNumber: number } | null {
    if (this.#shownLocal <= this.#passedLocal) return null;
    return { gateway: this.#options.gateway, localNumber: this.#shownLocal };
  }

  /** Tells an event of this gateway before it has its place. */
  #show(row: OwnRow): void {
    if (row.shown !== null) return;
    const { gateway } = this.#options;
    const { localNumber, number, entry } = row;
    this.#shownLocal = localNumber;
    const ahead = { gateway, localNumber };
    const reached = this.#cursor;
    const id = formatFeedPosition({ epoch: this.epoch, number: reached, ahead });
    const { event, json } = entry;
    row.shown = { id, event, json, gateway, localNumber, number, reached, ahead };
    this.#feed?.deliver(row.shown);
  }

  #noteTrouble(error: Error | null): void {
    const { log, clock, metrics } = this.#options;
    if (this.#isStopped) return;
    const isTroubled = this.#publisher.isTroubled || this.#listener.isTroubled;
    if (!isTroubled) this.#troubledMs = null;
    else if (this.#troubledMs === null) {
      this.#troubledMs = clock.nowMs();
      metrics.failures.inc();
      this.#reason = error === null ? '' : describeTrouble(error);
      log.warn({ reason: this.#reason }, 'the feed of all gateways cannot be reached; events wait');
    }
    this.#review();
  }

  /** Whether events still go to the other gateways and come from them. */
  #review(): void {
    if (this.#isStopped) return;
    const nowMs = this.#options.clock.nowMs();
    const isLate = this.#troubledMs !== null && nowMs - this.#troubledMs >= WAIT_MS;
    const oldest = this.#oldestUntold();
    if (this.#state !== 'away' && (isLate || (oldest !== null && nowMs - oldest.sinceMs >= WAIT_MS)))
      this.#leave(oldest);
    const hasWritten = this.backlog === 0 || this.#publisher.appended > this.#appendedBefore;
    if (this.#state === 'away' && this.#troubledMs === null && hasWritten) this.#state = 'returning';
    if (this.#state === 'returning' && this.#passedLocal >= this.#shownLocal) this.#rejoin();
  }

  #oldestUntold(): OwnRow | null {
    for (const row of this.#own.values()) if (row.shown === null) return row;
    return null;
  }

  #leave(oldest: OwnRow | null): void {
    const { clock, log, metrics } = this.#options;
    if (this.#state === 'together') {
      const waitedMs = clock.nowMs() - (oldest?.sinceMs ?? this.#troubledMs ?? 0);
      this.#since = new Date(clock.wall().getTime() - waitedMs).toISOString();
      metrics.degraded.set(1);
      log.error(
        { since: this.#since },
        'the feed of all gateways is away: readers get the calls of this gateway alone',
      );
      this.#feed?.tell({ type: 'feed.degraded', since: this.#since });
    }
    this.#state = 'away';
    this.#appendedBefore = this.#publisher.appended;
    for (const row of this.#own.values()) this.#show(row);
  }

  #rejoin(): void {
    const { log, metrics } = this.#options;
    this.#state = 'together';
    metrics.degraded.set(0);
    log.info({ since: this.#since }, 'the feed of all gateways is back, and has all that was told here meanwhile');
    this.#feed?.tell({ type: 'feed.restored', since: this.#since });
  }

  /** Of those that readers here have already, only the last must stay: it says how far they are. */
  #thinOut(): void {
    const { metrics } = this.#options;
    if (this.backlog < BACKLOG_WITH_PASSING_MAX || this.backlog % 1000 !== 0) return;
    const left = this.#publisher.discard((row) => {
      const isUseless = row.isPassing && row.shown !== null && row.localNumber !== this.#shownLocal;
      if (isUseless) this.#own.delete(row.localNumber);
      return isUseless;
    });
    metrics.lost.inc({ reason: 'passing' }, left);
  }
}

/** What nobody asks for later. */
function passes(event: FeedEvent): boolean {
  return (
    (event.type === 'caption' && !event.final) || event.type === 'speech.started' || event.type === 'speech.stopped'
  );
}

/** Null = what is written there is no event; a newer program may have written it. */
function readEvent(content: string | null): FeedEvent | null {
  try {
    return content === null ? null : (JSON.parse(content) as FeedEvent);
  } catch {
    return null;
  }
}
