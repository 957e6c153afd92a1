/** A gateway among those of its PostgreSQL database. */
import type { Clock, Timer } from '../foundation/clock.ts';
import { DatabaseAway, describeTrouble } from '../foundation/database/trouble.ts';
import type { Leadership, LeadHandlers } from '../foundation/leadership.ts';
import type { Log } from '../foundation/log/log.ts';
import type { ClusterMetrics } from '../foundation/metrics/cluster-metrics.ts';
import { settlesWithin } from '../foundation/settles-within.ts';
import { readSchemaState } from '../records/migrations/migrations.ts';
import type { RecordsDatabase } from '../records/records-database.ts';
import { type Cluster, type ClusterMember, DEAD_AFTER_MS, type Returner } from './cluster.ts';
import { ClusterSession } from './cluster-session.ts';
import {
  beat,
  declareDead,
  endGateway,
  type GatewayLoad,
  hasOrphans,
  registerAgain,
  sayTheyLive,
} from './gateway-rows.ts';
import { hasKey, joinCluster } from './join.ts';
import { RoleLock } from './role-lock.ts';
import { Suspects } from './suspects.ts';

/** When what happens, in ms. */
export interface ClusterTimes {
  readonly heartbeat: number;
  /** After a heartbeat that failed. */
  readonly retry: number;
  /** Silent for so long, a gateway is asked at its address whether it lives. */
  readonly suspect: number;
  /** Silent for so long, a gateway that does not answer there either is dead. */
  readonly dead: number;
  /** The same of one that starts: it has no calls, it may be starved, and nothing answers there yet. */
  readonly starting: number;
  /**
   * Whoever could not reach the database declares nobody dead for so long after that, and takes nobody's place: perhaps
   * nobody could reach it. It is a heartbeat, a limit of the connection, and the next try.
   */
  readonly grace: number;
  /** The place of a leader that is silent for so long may be taken, if its connection is gone too. */
  readonly silentLeader: number;
}

const TIMES: ClusterTimes = {
  heartbeat: 2000,
  retry: 500,
  suspect: 4000,
  dead: DEAD_AFTER_MS,
  starting: 60_000,
  grace: 5000,
  silentLeader: 5000,
};
/** A gateway counts itself out before the others do: they may know of its last heartbeat a little later. */
const COUNTED_OUT_SHARE = 0.9;
/** How long the end of a gateway waits for its last word. */
const LEAVE_MS = 2000;

interface ClusterOptions {
  readonly id: string;
  readonly name: string;
  /** GATEWAY_URL. */
  readonly address: string;
  /** CLUSTER_KEY. */
  readonly key: string;
  /** Of connections without a pooler. */
  readonly url: string;
  readonly database: Pick<RecordsDatabase, 'reader'>;
  /** Whether another gateway answers at its address. Must not reject, and must come to an end. */
  readonly probe: (member: ClusterMember) => Promise<boolean>;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: ClusterMetrics;
  /** Others than usual, for tests. */
  readonly times?: ClusterTimes;
}

/** See {@link Cluster}. */
export class PostgresCluster implements Cluster {
  /** Called when there are calls that go on and whose gateways do not live. Must not reject. */
  onOrphans: () => Promise<void> = () => Promise.resolve();
  /** What has calls here. */
  returner: Returner = { held: () => [], resume: () => undefined };
  readonly #options: ClusterOptions;
  readonly #times: ClusterTimes;
  readonly #session: ClusterSession;
  readonly #suspects: Suspects<ClusterMember>;
  readonly #roles = new Map<string, RoleLock>();
  #members: readonly ClusterMember[] = [];
  #load: () => GatewayLoad = () => ({ live: 0, maxCalls: 0, firmLoad: 0 });
  #state: ClusterMember['state'] = 'starting';
  #term = 1;
  /** How long an answer of the database takes. */
  #roundTripMs = 0;
  /** Since when every heartbeat has worked, on the clock; null = the last one did not. */
  #steadySinceMs: number | null = null;
  /** When the last heartbeat began that the database has, on the clock. */
  #heardMs = Number.NEGATIVE_INFINITY;
  /** The same by the database's clock. */
  #lastBeatMs = Number.NEGATIVE_INFINITY;
  #orphans: Promise<void> | null = null;
  #isTold = false;
  #isClosed = false;
  #timer: Timer | null = null;
  #beating: Promise<void> = Promise.resolve();

  constructor(options: ClusterOptions) {
    this.#options = options;
    this.#times = options.times ?? TIMES;
    options.metrics.watch({ members: () => this.#members, isHeard: () => this.isHeard, leads: () => this.#leads() });
    this.#session = new ClusterSession(options.url, () => {
      for (const role of this.#roles.values()) role.forget();
    });
    this.#suspects = new Suspects({ ask: options.probe, onReached: () => this.#schedule(0) });
  }

  get id(): string {
    return this.#options.id;
  }

  /** The others know that this gateway lives; false = they may have ended its calls. */
  get isHeard(): boolean {
    return this.#options.clock.nowMs() - this.#heardMs < this.#times.dead * COUNTED_OUT_SHARE;
  }

  /** Joins the others. @throws ConfigError when they have another key; the error of the database */
  async open(): Promise<void> {
    const { key, clock, log } = this.#options;
    const deadAfterMs = this.#times.dead;
    this.#roundTripMs = await joinCluster(this.#session, { key, gateway: this.#self(), deadAfterMs, clock, log });
    await this.#beatNow();
  }

  /** Has the others told of `load` from now on, which must not throw. */
  report(load: () => GatewayLoad): void {
    this.#load = load;
  }

  members(): readonly ClusterMember[] {
    return this.#members;
  }

  async ownerOf(callId: string): Promise<ClusterMember | null> {
    const row = await this.#options.database.reader
      .selectFrom('calls')
      .select('gateway')
      .where('id', '=', callId)
      .where('state', '<>', 'ended')
      .executeTakeFirst();
    return this.#members.find(({ id }) => id === row?.gateway) ?? null;
  }

  lead(role: string, handlers: LeadHandlers): Leadership {
    const lock = new RoleLock({ role, me: this.id, session: this.#session, handlers });
    this.#roles.set(role, lock);
    this.#schedule(0);
    return lock;
  }

  async setState(state: 'serving' | 'draining'): Promise<void> {
    this.#state = state;
    this.#session.hasten(this.#roundTripMs);
    await settlesWithin(this.#options.clock, this.#beatNow(), LEAVE_MS);
  }

  /** The feed was told that this gateway is dead: it is not heard any more, and looks at once. */
  noteDeath(): void {
    this.#heardMs = Number.NEGATIVE_INFINITY;
    this.#schedule(0);
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#timer?.cancel();
    const { clock, id } = this.#options;
    const left = this.#beating.then(() => endGateway(this.#session, id));
    await settlesWithin(clock, left, LEAVE_MS);
    this.#session.close();
  }

  #self() {
    const { id, name, address } = this.#options;
    return { id, name, address, state: this.#state };
  }

  #schedule(delayMs: number): void {
    this.#timer?.cancel();
    if (this.#isClosed) return;
    this.#timer = this.#options.clock.after(delayMs, () => void this.#beatNow(), true);
  }

  /** One after the other. Never rejects. */
  #beatNow(): Promise<void> {
    this.#timer?.cancel();
    this.#beating = this.#beating.then(async () => {
      if (this.#isClosed) return;
      try {
        this.#schedule(await this.#beat());
      } catch (error) {
        this.#noteTrouble(error as Error);
        this.#schedule(this.#times.retry);
      }
    });
    return this.#beating;
  }

  /** Resolves with the time until the next one. */
  async #beat(): Promise<number> {
    const { id, clock, log } = this.#options;
    const beganMs = clock.nowMs();
    const reached = this.#suspects.takeReached();
    if (reached.length > 0) await sayTheyLive(this.#session, reached);
    const beaten = await beat(this.#session, { id, state: this.#state, term: this.#term }, this.#load());
    if (beaten === null) {
      await this.#comeBack();
      return 0;
    }
    const { members, nowMs } = beaten;
    this.#heardMs = beganMs;
    // Also when this machine, or that of the database, stood still.
    if (nowMs - this.#lastBeatMs > this.#times.grace) this.#steadySinceMs = null;
    this.#lastBeatMs = nowMs;
    this.#steadySinceMs ??= clock.nowMs();
    if (this.#isTold) log.info('the other servers are reached again');
    this.#isTold = false;
    this.#members = members.filter((member) => nowMs - member.seenMs < this.#limitOf(member));
    const isSteady = clock.nowMs() - this.#steadySinceMs >= this.#times.grace;
    this.#suspects.note(members.filter((member) => this.#isSuspect(member, nowMs)));
    const haveDied = isSteady && (await this.#endSilent(members, nowMs));
    if (haveDied || (await hasOrphans(this.#session)))
      this.#orphans ??= this.onOrphans().finally(() => {
        this.#orphans = null;
      });
    const heardOf = members.filter((member) => this.#isHeardOf(member, nowMs)).map((member) => member.id);
    for (const role of this.#roles.values()) await role.seek(isSteady ? new Set(heardOf) : null);
    return this.#untilNextMs(members.map(({ seenMs }) => nowMs - seenMs));
  }

  #limitOf({ state }: ClusterMember): number {
    return state === 'starting' ? this.#times.starting : this.#times.dead;
  }

  #isSuspect({ id, state, seenMs }: ClusterMember, nowMs: number): boolean {
    return id !== this.id && state !== 'starting' && nowMs - seenMs >= this.#times.suspect;
  }

  /** Whether nobody may take its place. */
  #isHeardOf({ id, state, seenMs }: ClusterMember, nowMs: number): boolean {
    const isAnswering = state !== 'starting' && !this.#suspects.isUnreachable(id);
    return nowMs - seenMs < this.#times.silentLeader || isAnswering;
  }

  /** Whether there were any. */
  async #endSilent(members: readonly ClusterMember[], nowMs: number): Promise<boolean> {
    let haveDied = false;
    for (const member of members) {
      const { id, name, state, seenMs } = member;
      const limitMs = this.#limitOf(member);
      if (nowMs - seenMs < limitMs || (state !== 'starting' && !this.#suspects.isUnreachable(id))) continue;
      if (!(await declareDead(this.#session, id, limitMs))) continue;
      haveDied = true;
      this.#options.metrics.deaths.inc();
      this.#options.log.error(
        { gateway: id, name, silentMs: nowMs - seenMs },
        'a server is silent and does not answer at its GATEWAY_URL: it is taken for dead',
      );
    }
    return haveDied;
  }

  /** Until the next heartbeat, or until one of those that are silent for so long has been so for too long. */
  #untilNextMs(silentMs: readonly number[]): number {
    const { heartbeat, dead } = this.#times;
    const left = silentMs.map((silent) => dead - silent).filter((leftMs) => leftMs > 0);
    return Math.min(heartbeat, ...left);
  }

  /** The roles that anybody here seeks, by their kinds. */
  #leads(): ReadonlyMap<string, boolean> {
    return new Map([...this.#roles].map(([role, { isLeading }]) => [role.split(' ', 1)[0] ?? role, isLeading]));
  }

  /** The others took this gateway for dead, and have ended its calls, which go on. */
  async #comeBack(): Promise<void> {
    const { key, database, metrics, log } = this.#options;
    this.#heardMs = Number.NEGATIVE_INFINITY;
    await readSchemaState(database.reader);
    if (!(await hasKey(this.#session, key)))
      throw new DatabaseAway('the servers of this database have another CLUSTER_KEY now: start this one again with it');
    const held = this.returner.held();
    const back = await registerAgain(this.#session, this.#self(), { held, lastTerm: this.#term });
    this.#term = back.term;
    metrics.returns.inc();
    log.error(
      { term: back.term, calls: held.length, ended: back.ended.length },
      'the other servers took this one for dead and have ended its calls; it is back, and its calls go on',
    );
    this.returner.resume(back);
  }

  #noteTrouble(error: Error): void {
    this.#steadySinceMs = null;
    if (this.#isTold) return;
    this.#isTold = true;
    const reason = describeTrouble(error);
    this.#options.log.warn({ reason }, 'the database that tells of the other servers cannot be reached');
  }
}
