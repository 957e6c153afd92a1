/** What apps answered at the end of their sessions. Twilio asks for these answers, because it goes on with the call. */

import type { Clock } from '../../../foundation/clock.ts';
import type { TwimlDocument } from '../../../protocols/twiml/document.ts';
import { OneUse } from '../../admission/one-use.ts';
import { type OneTime, type OneUseStore, openOneTime } from '../../admission/shared-one-use.ts';

/** Most answers that wait at once. */
const HANDOVERS_MAX = 2000;

/** An answer that has come; null stands for one that could not be fetched. */
type Answer = TwimlDocument | null;

/** The answers that Twilio has not asked for yet, by call id. They expire after ten minutes. */
export class Handovers {
  /** Those that are still being fetched, and, where nothing is shared, all. */
  readonly #coming: OneUse<Promise<Answer>>;
  /** Those that have come, for any gateway; null = nothing is shared. */
  readonly #shared: OneTime<{ readonly answer: Answer }> | null;
  readonly #moving = new Set<Promise<void>>();

  /** `store`: where any gateway of a cluster finds them; null = they are known here alone. */
  constructor(clock: Clock, store: OneUseStore | null = null) {
    const options = { clock, itemsMax: HANDOVERS_MAX };
    this.#coming = new OneUse(options);
    this.#shared = store && openOneTime({ ...options, kind: 'twilio-handover', store });
  }

  /** Keeps the answer of a call's app in place of an earlier one. `answer` must not reject. */
  put(callId: string, answer: Promise<Answer>): void {
    this.#coming.put(callId, answer);
    const shared = this.#shared;
    if (shared === null) return;
    const moving = answer.then((told) => {
      // Unless Twilio has asked here meanwhile.
      if (this.#coming.take(callId) !== null) shared.put(callId, { answer: told });
      this.#moving.delete(moving);
    });
    this.#moving.add(moving);
  }

  /**
   * The answer of a call's app, for the only time; undefined = there was none, or it was asked for before. Rejects with
   * `shared_state_unavailable` when only the store of the cluster could tell.
   */
  async take(callId: string): Promise<Answer | undefined> {
    const coming = this.#coming.take(callId);
    if (coming !== null) return coming;
    return (await this.#shared?.take(callId))?.answer;
  }

  /** Resolves when other gateways know the answers that have come, or after a second. Never rejects. */
  async settled(): Promise<void> {
    if (this.#shared === null) return;
    await Promise.all(this.#moving);
    await this.#shared.settled();
  }
}
