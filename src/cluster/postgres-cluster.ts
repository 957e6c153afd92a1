/** A gateway among those of its PostgreSQL database. */
import type { Clock, Timer } from '../foundation/clock.ts';
import { describeTrouble } from '../foundation/database/trouble.ts';
import type { Leadership, LeadHandlers } from '../foundation/leadership.ts';
import type { Log } from '../foundation/log/log.ts';
import type { ClusterMetrics } from '../foundation/metrics/cluster-metrics.ts';
import { settlesWithin } from '../foundation/settles-within.ts';
import type { RecordsDatabase } from '../records/records-database.ts';
import { type Cluster, type ClusterMember, DEAD_AFTER_MS } from './cluster.ts';
import { ClusterSession } from './cluster-session.ts';
import { beat, declareDead, endGateway, type GatewayLoad, hasOrphans } from './gateway-rows.ts';
import { joinCluster } from './join.ts';
import { RoleLock } from './role-lock.ts';

/** When what happens, in ms. */
export interface ClusterTimes {
  readonly heartbeat: number;
  /** After a heartbeat that failed. */
  readonly retry: number;
  /** Silent for so long, a gateway is dead. */
  readonly dead: number;
  /**
   * Whoever could not reach the database declares nobody dead for so long after that, and takes nobody's place: perhaps
   * nobody could reach it. It is a heartbeat, a limit of the connection, and the next try.
   */
  readonly grace: number;
  /** The place of a leader that is silent for so long may be taken, if its connection is gone too. */
  readonly silentLeader: number;
}

const TIMES: ClusterTimes = { heartbeat: 2000, retry: 500, dead: DEAD_AFTER_MS, grace: 5000, silentLeader: 5000 };
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
  readonly #options: ClusterOptions;
  readonly #times: ClusterTimes;
  readonly #session: ClusterSession;
  readonly #roles = new Map<string, RoleLock>();
  readonly #deathListeners: (() => void)[] = [];
  #members: readonly ClusterMember[] = [];
  #load: () => GatewayLoad = () => ({ live: 0, maxCalls: 0, firmLoad: 0 });
  #state: ClusterMember['state'] = 'serving';
  /** Since when every heartbeat has worked, on the clock; null = the last one did not. */
  #steadySinceMs: number | null = null;
  /** When the last heartbeat began that the database has, on the clock. */
  #heardMs = Number.NEGATIVE_INFINITY;
  /** The same by the database's clock. */
  #lastBeatMs = Number.NEGATIVE_INFINITY;
  #orphans: Promise<void> | null = null;
  #isTold = false;
  #isDeclaredDead = false;
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
  }

  get id(): string {
    return this.#options.id;
  }

  get isDeclaredDead(): boolean {
    return this.#isDeclaredDead;
  }

  /** The others know that this gateway lives; false = they may have ended its calls. */
  get isHeard(): boolean {
    return !this.#isDeclaredDead && this.#options.clock.nowMs() - this.#heardMs < this.#times.dead * COUNTED_OUT_SHARE;
  }

  /** Joins the others. @throws ConfigError when they have another key; the error of the database */
  async open(): Promise<void> {
    const { id, name, address, key, clock } = this.#options;
    const gateway = { id, name, address, state: this.#state };
    await joinCluster(this.#session, { key, gateway, deadAfterMs: this.#times.dead, clock });
    this.#schedule(await this.#beat());
  }

  /** Has the others told of `load` from now on, which must not throw. */
  report(load: () => GatewayLoad): void {
    this.#load = load;
  }

  members(): readonly ClusterMember[] {
    return this.#members;
  }

  watchDeath(listener: () => void): void {
    if (this.#isDeclaredDead) listener();
    else this.#deathListeners.push(listener);
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

  async setState(state: 'draining'): Promise<void> {
    this.#state = state;
    await settlesWithin(this.#options.clock, this.#beatNow(), LEAVE_MS);
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#timer?.cancel();
    const { clock, id } = this.#options;
    const left = this.#beating.then(() => (this.#isDeclaredDead ? undefined : endGateway(this.#session, id)));
    await settlesWithin(clock, left, LEAVE_MS);
    this.#session.close();
  }

  #schedule(delayMs: number): void {
    this.#timer?.cancel();
    if (this.#isClosed || this.#isDeclaredDead) return;
    this.#timer = this.#options.clock.after(delayMs, () => void this.#beatNow(), true);
  }

  /** One after the other. Never rejects. */
  #beatNow(): Promise<void> {
    this.#timer?.cancel();
    this.#beating = this.#beating.then(async () => {
      if (this.#isClosed || this.#isDeclaredDead) return;
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
    const beaten = await beat(this.#session, { id, state: this.#state }, this.#load());
    if (beaten === null) {
      this.#die();
      return this.#times.heartbeat;
    }
    const { members, nowMs } = beaten;
    this.#heardMs = beganMs;
    // Also when this machine, or that of the database, stood still.
    if (nowMs - this.#lastBeatMs > this.#times.grace) this.#steadySinceMs = null;
    this.#lastBeatMs = nowMs;
    this.#steadySinceMs ??= clock.nowMs();
    if (this.#isTold) log.info('the other servers are reached again');
    this.#isTold = false;
    this.#members = members.filter(({ seenMs }) => nowMs - seenMs < this.#times.dead);
    const isSteady = clock.nowMs() - this.#steadySinceMs >= this.#times.grace;
    if (isSteady) await this.#endSilent(members, nowMs);
    if (await hasOrphans(this.#session))
      this.#orphans ??= this.onOrphans().finally(() => {
        this.#orphans = null;
      });
    const heardOf = members
      .filter(({ seenMs }) => nowMs - seenMs < this.#times.silentLeader)
      .map((member) => member.id);
    for (const role of this.#roles.values()) await role.seek(isSteady ? new Set(heardOf) : null);
    return this.#untilNextMs(members.map(({ seenMs }) => nowMs - seenMs));
  }

  async #endSilent(members: readonly ClusterMember[], nowMs: number): Promise<void> {
    for (const { id, name, seenMs } of members) {
      if (nowMs - seenMs < this.#times.dead || !(await declareDead(this.#session, id, this.#times.dead))) continue;
      this.#options.metrics.deaths.inc();
      this.#options.log.error(
        { gateway: id, name, silentMs: nowMs - seenMs },
        'a server is silent: it is taken for dead',
      );
    }
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

  #die(): void {
    this.#isDeclaredDead = true;
    this.#members = [];
    for (const role of this.#roles.values()) role.lose();
    for (const listener of this.#deathListeners.splice(0)) listener();
  }

  #noteTrouble(error: Error): void {
    this.#steadySinceMs = null;
    if (this.#isTold) return;
    this.#isTold = true;
    const reason = describeTrouble(error);
    this.#options.log.warn({ reason }, 'the database that tells of the other servers cannot be reached');
  }
}
