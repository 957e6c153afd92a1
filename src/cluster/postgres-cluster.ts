/** A gateway among those of its PostgreSQL database. */
import type { Clock, Timer } from '../foundation/clock.ts';
import { describeTrouble } from '../foundation/database/trouble.ts';
import type { Log } from '../foundation/log/log.ts';
import { settlesWithin } from '../foundation/settles-within.ts';
import type { RecordsDatabase } from '../records/records-database.ts';
import type { Cluster, ClusterMember, ClusterRole, Leadership, LeadHandlers } from './cluster.ts';
import { ClusterSession } from './cluster-session.ts';
import { beat, DEAD_AFTER_MS, declareDead, endGateway, type GatewayLoad, insertGateway } from './gateway-rows.ts';
import { RoleLock } from './role-lock.ts';

const PERIOD_MS = 2000;
const RETRY_MS = 500;
/**
 * Whoever could not reach the database declares nobody dead for so long after that: perhaps nobody could. It is a
 * period, a limit of the connection, and the next try.
 */
const GRACE_MS = 5000;
/** How long the end of a gateway waits for its last word. */
const LEAVE_MS = 2000;

interface ClusterOptions {
  readonly id: string;
  readonly name: string;
  /** GATEWAY_URL. */
  readonly address: string;
  /** Of connections without a pooler. */
  readonly url: string;
  readonly database: Pick<RecordsDatabase, 'reader'>;
  readonly clock: Clock;
  readonly log: Log;
}

/** See {@link Cluster}. */
export class PostgresCluster implements Cluster {
  /** Called once, when the others have ended this gateway's calls. */
  onDeclaredDead: () => void = () => undefined;
  readonly #options: ClusterOptions;
  readonly #session: ClusterSession;
  readonly #roles = new Map<ClusterRole, RoleLock>();
  #members: readonly ClusterMember[] = [];
  #load: () => GatewayLoad = () => ({ live: 0, maxCalls: 0, firmLoad: 0 });
  #state: ClusterMember['state'] = 'serving';
  /** Since when every heartbeat has worked, on the clock; null = the last one did not. */
  #steadySinceMs: number | null = null;
  #isTold = false;
  #isDeclaredDead = false;
  #isClosed = false;
  #timer: Timer | null = null;
  #beating: Promise<void> = Promise.resolve();

  constructor(options: ClusterOptions) {
    this.#options = options;
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

  /** Joins the others. @throws the error of the database */
  async open(): Promise<void> {
    const { id, name, address } = this.#options;
    await insertGateway(this.#session, { id, name, address, state: this.#state });
    await this.#beat();
    this.#schedule(PERIOD_MS);
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

  lead(role: ClusterRole, handlers: LeadHandlers): Leadership {
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
        await this.#beat();
        this.#schedule(this.#untilNextMs());
      } catch (error) {
        this.#noteTrouble(error as Error);
        this.#schedule(RETRY_MS);
      }
    });
    return this.#beating;
  }

  async #beat(): Promise<void> {
    const { id, clock, log } = this.#options;
    const beaten = await beat(this.#session, { id, state: this.#state }, this.#load());
    if (beaten === null) {
      this.#die();
      return;
    }
    this.#steadySinceMs ??= clock.nowMs();
    if (this.#isTold) log.info('the other servers are reached again');
    this.#isTold = false;
    const { members, nowMs } = beaten;
    this.#members = members.filter(({ seenMs }) => nowMs - seenMs < DEAD_AFTER_MS);
    if (clock.nowMs() - this.#steadySinceMs >= GRACE_MS) await this.#endSilent(members, nowMs);
    const living = new Set(this.#members.map((member) => member.id));
    for (const role of this.#roles.values()) await role.seek(living);
  }

  async #endSilent(members: readonly ClusterMember[], nowMs: number): Promise<void> {
    for (const { id, name, seenMs } of members) {
      if (nowMs - seenMs < DEAD_AFTER_MS || !(await declareDead(this.#session, id))) continue;
      this.#options.log.error(
        { gateway: id, name, silentMs: nowMs - seenMs },
        'a server is silent: it is taken for dead',
      );
    }
  }

  /** A heartbeat, or before that when another gateway will have been silent for too long. */
  #untilNextMs(): number {
    return PERIOD_MS;
  }

  #die(): void {
    this.#isDeclaredDead = true;
    this.#members = [];
    for (const role of this.#roles.values()) role.lose();
    this.onDeclaredDead();
  }

  #noteTrouble(error: Error): void {
    this.#steadySinceMs = null;
    if (this.#isTold) return;
    this.#isTold = true;
    const reason = describeTrouble(error);
    this.#options.log.warn({ reason }, 'the database that tells of the other servers cannot be reached');
  }
}
