/** Calls to a gateway that may have no room for them yet. */
import { sleep, systemClock } from '../../src/foundation/clock.ts';
import { placeCall } from '../../src/simulator/twilio-caller.ts';

const ATTEMPTS = 30;
const AGAIN_AFTER_MS = 1000;

/**
 * A caller says `inbound` in real time. On a machine that is busy otherwise a gateway may take no call: then it is
 * placed again, for half a minute.
 * @throws Error when it is not taken, or breaks off
 */
export async function placePatiently(gatewayUrl: string, callSid: string, inbound: Int16Array): Promise<void> {
  const url = `${gatewayUrl.replace(/^http/, 'ws')}/twilio/media`;
  await patiently(() => placeCall({ url, tracks: { inbound }, pace: 'realtime', clock: systemClock, callSid }));
}

/**
 * Places a call by `place`, again for half a minute where the gateway has no room for it.
 * @throws Error when it is not taken, or breaks off
 */
export async function patiently(place: () => Promise<unknown>): Promise<void> {
  for (let left = ATTEMPTS - 1; ; left--) {
    try {
      await place();
      return;
    } catch (error) {
      if (left === 0 || !(error instanceof Error && error.message.includes('too_many_calls'))) throw error;
      await sleep(systemClock, AGAIN_AFTER_MS);
    }
  }
}
