/** What apps answered at the end of their sessions. Twilio asks for these answers, because it goes on with the call. */

import type { Clock } from '../../../foundation/clock.ts';
import type { TwimlDocument } from '../../../protocols/twiml/document.ts';
import { OneUse } from '../../admission/one-use.ts';

/** Most answers that wait at once. */
const HANDOVERS_MAX = 2000;

/**
 * The answers that Twilio has not asked for yet, by call id; null stands for an answer that could not be fetched.
 * They expire after ten minutes.
 */
export class Handovers extends OneUse<Promise<TwimlDocument | null>> {
  constructor(clock: Clock) {
    super({ clock, itemsMax: HANDOVERS_MAX });
  }
}
