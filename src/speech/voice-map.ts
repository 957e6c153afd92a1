/** VOICE_MAP: which of our voices stand for those of other platforms, which apps go on naming when they come here. */
import type { VoiceInfo } from '../../engine/contract.ts';
import { TrunklineError } from '../foundation/errors.ts';
import { parseVoicePair } from '../foundation/settings/setting-forms.ts';
import { findVoice, listVoices, showVoice, type VoiceMap } from './voices.ts';

/** The map that the pairs `foreign=ours` make. */
export function readVoiceMap(pairs: readonly string[]): VoiceMap {
  const parsed = pairs.map(parseVoicePair).filter((pair) => pair !== null);
  return new Map(parsed.map(({ foreign, ours }) => [foreign, ours]));
}

/**
 * Looks whether every voice that `map` names is there.
 * @throws TrunklineError `invalid_request` naming the first that is not, and those that are
 */
export function checkVoiceMap(map: VoiceMap, voices: readonly VoiceInfo[]): void {
  for (const [foreign, ours] of map) {
    if (findVoice(ours, voices) !== undefined) continue;
    throw new TrunklineError(
      'invalid_request',
      `VOICE_MAP: got ${showVoice(ours)} for ${showVoice(foreign)}, expected one of ${listVoices(voices)}`,
    );
  }
}
