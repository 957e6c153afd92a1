/** Voices that are made too slowly to be waited for: in calls they speak only what was made before. */
import type { VoiceInfo } from '../../engine/contract.ts';
import { TrunklineError } from '../foundation/errors.ts';

/** Share of a core that a voice may take while it speaks in a call: with more, two calls that listen fill the core. */
export const LIVE_COST_MAX = 0.5;

/** Whether callers would wait for the voice. One whose cost nobody knows is tried. */
export function isTooSlowForCalls({ cost }: Pick<VoiceInfo, 'cost'>): boolean {
  return cost !== null && cost > LIVE_COST_MAX;
}

/** Why a voice does not speak in a call, and what helps. */
export function refuseSlowVoice({ name, cost }: VoiceInfo): TrunklineError {
  return new TrunklineError(
    'invalid_request',
    `voice: ${name} takes ${cost} s of a core for each second of speech here, expected at most ${LIVE_COST_MAX} in a ` +
      'call: put this text into PROMPTS_FILE, make it over HTTP and play it, or name another voice',
    'voice',
  );
}
