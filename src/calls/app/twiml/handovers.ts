/** What apps answered at the end of their sessions, for Twilio to come and ask for: the call itself goes on there. */

import type { Clock } from '../../../foundation/clock.ts';
import type { TwimlDocument } from '../../../protocols/twiml/document.ts';
import { OneUse } from '../../admission/one-use.ts';

/** Answers outstanding at once. */
const HANDOVERS_MAX = 2000;

/**
 * The answers that Twilio has not asked for yet, by the id of their call; null in place of one that could not be had.
 * They expire after ten minutes.
 */
export class Handovers extends OneUse<Promise<TwimlDocument | null>> {
  constructor(clock: Clock) {
    super({ clock, itemsMax: HANDOVERS_MAX });
  }
}
