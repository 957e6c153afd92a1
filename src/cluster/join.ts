/** How a gateway joins the others: all of them must have the same CLUSTER_KEY, or they would refuse each other. */
import { createHmac } from 'node:crypto';
import { type Clock, sleep } from '../foundation/clock.ts';
import { describeTrouble, isDatabaseTrouble } from '../foundation/database/trouble.ts';
import type { Log } from '../foundation/log/log.ts';
import { ConfigError } from '../foundation/settings/config.ts';
import { isSameSecret } from '../foundation/timing-safe.ts';
import type { ClusterSession } from './cluster-session.ts';
import { countLiving, forgetEnded, insertGateway, type NewGateway } from './gateway-rows.ts';

const LOCK_KEY = 7_214_380_063;
const KEY_NAME = 'cluster:key';
const EPOCH_NAME = 'cluster:feed-epoch';
const RETRY_MS = 500;
/** How long a start waits for a database that is away, and for others that join just then. */
const WAIT_MS = 30_000;
/** And so many round trips more: each gateway that joins before takes some six of them. */
const WAIT_ROUND_TRIPS = 60;

interface JoinOptions {
  /** CLUSTER_KEY. */
  readonly key: string;
  readonly gateway: NewGateway;
  /** Gateways that were silent for so long do not count. */
  readonly deadAfterMs: number;
  readonly clock: Clock;
  readonly log: Log;
}

/** What became of one try: `busy` = another gateway joins just then, `refused` = those that live have another key. */
type Outcome = 'joined' | 'busy' | 'refused' | Error;

/**
 * Adds this gateway. With another key than those that live, it waits until they are gone; the first one of all chooses.
 * Resolves with how long the database takes for an answer, in ms.
 * @throws ConfigError when they stay; Error when the database does not answer, or others join for too long; the error
 * of a database that refuses
 */
export async function joinCluster(session: ClusterSession, options: JoinOptions): Promise<number> {
  const { clock, deadAfterMs, log } = options;
  const startMs = clock.nowMs();
  let roundTripMs = 0;
  const note = (tookMs: number): void => {
    roundTripMs = roundTripMs === 0 ? tookMs : Math.min(roundTripMs, tookMs);
  };
  for (let isTold = false; ; isTold = true) {
    const outcome = await tryToJoin(session, options, note);
    const waitedMs = Math.round(clock.nowMs() - startMs);
    if (outcome === 'joined') {
      if (isTold) log.info({ waitedMs }, 'the servers of this database are joined');
      return roundTripMs;
    }
    if (outcome === 'refused') {
      if (waitedMs >= deadAfterMs + RETRY_MS) throw otherKey();
    } else if (waitedMs >= WAIT_MS + WAIT_ROUND_TRIPS * roundTripMs) throw givenUp(outcome, waitedMs, roundTripMs);
    if (!isTold) log.warn({ reason: reasonOf(outcome) }, 'the servers of this database cannot be joined yet; waiting');
    await sleep(clock, RETRY_MS);
  }
}

/**
 * Whether this gateway has the key of those that share the database.
 * @throws the error of the database
 */
export async function hasKey(session: ClusterSession, key: string): Promise<boolean> {
  const { known, hash } = await readKey(session, key);
  return isSameSecret(known, hash);
}

async function tryToJoin(
  session: ClusterSession,
  { key, gateway, deadAfterMs, clock }: JoinOptions,
  noteRoundTrip: (tookMs: number) => void,
): Promise<Outcome> {
  try {
    await session.query('SELECT 1');
    const askedMs = clock.nowMs();
    await session.query('SELECT 1');
    noteRoundTrip(clock.nowMs() - askedMs);
    const outcome = await session.transaction(() => insertWithKey(session, { key, gateway, deadAfterMs }));
    if (outcome === 'joined') await forgetEnded(session);
    return outcome;
  } catch (error) {
    if (isDatabaseTrouble(error)) return error;
    throw error;
  }
}

/** In a transaction. */
async function insertWithKey(
  session: ClusterSession,
  { key, gateway, deadAfterMs }: Pick<JoinOptions, 'key' | 'gateway' | 'deadAfterMs'>,
): Promise<Outcome> {
  const [lock] = await session.query<{ taken: boolean }>('SELECT pg_try_advisory_xact_lock($1) AS taken', [LOCK_KEY]);
  if (lock?.taken !== true) return 'busy';
  const { known, hash } = await readKey(session, key);
  if (!isSameSecret(known, hash)) {
    if ((await countLiving(session, deadAfterMs)) > 0) return 'refused';
    await session.query(
      'INSERT INTO meta (name, value) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = excluded.value',
      [KEY_NAME, hash],
    );
  }
  await insertGateway(session, gateway);
  return 'joined';
}

/** The key itself is not in the database, whose readers could use it. */
async function readKey(
  session: ClusterSession,
  key: string,
): Promise<{ readonly known: string; readonly hash: string }> {
  const rows = await session.query<{ name: string; value: string }>(
    'SELECT name, value FROM meta WHERE name IN ($1, $2)',
    [KEY_NAME, EPOCH_NAME],
  );
  const metaOf = (wanted: string): string => rows.find(({ name }) => name === wanted)?.value ?? '';
  return { known: metaOf(KEY_NAME), hash: createHmac('sha256', key).update(metaOf(EPOCH_NAME)).digest('hex') };
}

function reasonOf(outcome: Exclude<Outcome, 'joined'>): string {
  if (outcome === 'busy') return 'another server joins them just now';
  if (outcome === 'refused') return 'they have another CLUSTER_KEY';
  return describeTrouble(outcome);
}

function otherKey(): ConfigError {
  return new ConfigError([
    'CLUSTER_KEY: the servers that use this database have another one: set the same key on all of them, or end ' +
      'them all to change it',
  ]);
}

function givenUp(outcome: Exclude<Outcome, 'joined'>, waitedMs: number, roundTripMs: number): Error {
  const seconds = Math.round(waitedMs / 1000);
  const distance = roundTripMs === 0 ? '' : `; an answer of the database takes ${Math.round(roundTripMs)} ms`;
  return new Error(
    `the servers of the database at DATABASE_URL could not be joined within ${seconds} s ` +
      `(${reasonOf(outcome)}${distance})`,
  );
}
