/** The table `attempts`: how many wrong keys and passwords came, to whichever gateway. */

import { createHmac } from 'node:crypto';
import { POSTGRES_NOW_MS } from '../../foundation/database/postgres-time.ts';
import type { StateDatabase } from './state-database.ts';

/** Tokens that may be owed: somebody who asks several gateways at once pays for all of it, but not for ever. */
const DEBT_MAX = 200;
/** Who sent nothing wrong for so long is forgotten. */
const KEPT_MS = 86_400_000;
const CLEAN_EVERY = 500;

/** What was counted here of one subject since the last time. */
export interface AttemptCount {
  /** An address or a name. */
  readonly subject: string;
  readonly taken: number;
}

/** A kind of token bucket. */
export interface BucketKind {
  readonly name: string;
  readonly burst: number;
  readonly refillMs: number;
}

interface AttemptsOptions {
  readonly database: Pick<StateDatabase, 'query'>;
  /** CLUSTER_KEY: addresses are stored as keyed hashes. */
  readonly key: string;
}

/** Counts of all gateways. */
export class SharedAttempts {
  readonly #options: AttemptsOptions;
  #writes = 0;

  constructor(options: AttemptsOptions) {
    this.#options = options;
  }

  /**
   * Adds what was counted here. Returns what is left of each subject's bucket over all gateways, less than nothing
   * where too much was taken. @throws the error of the database
   */
  async add(
    { name, burst, refillMs }: BucketKind,
    counts: readonly AttemptCount[],
  ): Promise<ReadonlyMap<string, number>> {
    const subjects = new Map(counts.map(({ subject }) => [this.#hash(subject), subject]));
    const rows = await this.#options.database.query<{ subject_hash: string; tokens: number }>(
      `INSERT INTO attempts AS stored (kind, subject_hash, tokens, at_ms)
      SELECT $1, item.subject_hash, $4::float8 - item.taken, ${POSTGRES_NOW_MS}
      FROM unnest($2::text[], $3::float8[]) AS item(subject_hash, taken)
      ON CONFLICT (kind, subject_hash) DO UPDATE SET
        tokens = greatest(least(stored.tokens + (excluded.at_ms - stored.at_ms) / $5::float8, $4::float8)
          - ($4::float8 - excluded.tokens), -$6::float8),
        at_ms = excluded.at_ms
      RETURNING subject_hash, tokens`,
      [name, [...subjects.keys()], counts.map(({ taken }) => taken), burst, refillMs, DEBT_MAX],
    );
    await this.#clean();
    return new Map(rows.flatMap((row) => entryOf(subjects.get(row.subject_hash), row.tokens)));
  }

  /** A subject has shown that it is who it says: its count begins anew. @throws the error of the database */
  async forgive(kind: string, subjects: readonly string[]): Promise<void> {
    await this.#options.database.query('DELETE FROM attempts WHERE kind = $1 AND subject_hash = ANY ($2::text[])', [
      kind,
      subjects.map((subject) => this.#hash(subject)),
    ]);
  }

  async #clean(): Promise<void> {
    this.#writes += 1;
    if (this.#writes % CLEAN_EVERY !== 0) return;
    await this.#options.database.query(`DELETE FROM attempts WHERE at_ms < ${POSTGRES_NOW_MS} - $1::bigint`, [KEPT_MS]);
  }

  #hash(subject: string): string {
    return createHmac('sha256', this.#options.key).update(subject).digest('base64url');
  }
}

function entryOf(subject: string | undefined, tokens: number): [string, number][] {
  return subject === undefined ? [] : [[subject, tokens]];
}
