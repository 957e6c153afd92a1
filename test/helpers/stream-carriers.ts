/** Carriers whose calls stream to `/<carrier>/media` with CARRIER_TOKEN. */
import { PARTS } from '../../src/gateway/parts.ts';
import type { Part } from '../../src/parts/part.ts';

/** Their WebSockets are protected in ways of their own. */
const TALK_THEIR_OWN_WAY = ['twilio', 'asterisk'];

/** Whether `part` is such a carrier. */
export function isStreamCarrier({ name, waysIn = [] }: Part): boolean {
  const isThere = waysIn.some(({ id, route }) => id === name && route === `/${name}/media`);
  return isThere && !TALK_THEIR_OWN_WAY.includes(name);
}

/** The names of all of them. */
export const STREAM_CARRIERS = PARTS.filter(isStreamCarrier).map(({ name }) => name);
