/** Ids of calls, claimed by the row of the call: the database lets one gateway alone have it. */
import type { CallClaims, ClaimOutcome } from '../../calls/admission/call-claims.ts';
import type { CallSummary } from '../../calls/call-summary.ts';
import type { Clock } from '../../foundation/clock.ts';
import { settlesWithin } from '../../foundation/settles-within.ts';
import type { StateDatabase } from './state-database.ts';

/** A call that begins waits no longer. */
const WAIT_MS = 1000;

interface ClaimsOptions {
  readonly database: Pick<StateDatabase, 'query'>;
  /** The id of this gateway. */
  readonly gateway: string;
  readonly clock: Clock;
}

/** The recorder writes the rest of the row with `call.started`. */
export class StoredClaims implements CallClaims {
  readonly #options: ClaimsOptions;

  constructor(options: ClaimsOptions) {
    this.#options = options;
  }

  /** {@link CallClaims.claim} */
  async claim({ beginning: { id, carrier, startedAt } }: CallSummary): Promise<ClaimOutcome> {
    const { database, gateway, clock } = this.#options;
    let outcome: ClaimOutcome = 'unknown';
    const asked = database
      .query(
        `INSERT INTO calls (id, carrier, state, gateway, started_ms, duration_ms, parameters, tracks, finals, spoken,
          keys, gaps) VALUES ($1, $2, 'live', $3, $4, 0, '{}', '[]', 0, 0, 0, 0) ON CONFLICT (id) DO NOTHING RETURNING id`,
        [id, carrier, gateway, startedAt.getTime()],
      )
      .then((rows) => {
        outcome = rows.length > 0 ? 'ours' : 'taken';
      });
    await settlesWithin(clock, asked, WAIT_MS);
    return outcome;
  }

  /** {@link CallClaims.release} */
  release(id: string): void {
    const { database, gateway } = this.#options;
    void database
      .query(
        `DELETE FROM calls WHERE id = $1 AND gateway = $2
        AND NOT EXISTS (SELECT 1 FROM events WHERE events.call_seq = calls.seq)`,
        [id, gateway],
      )
      // It ends with this gateway then, as a call that was lost.
      .catch(() => undefined);
  }
}
