/** VOICE_MAP: our voices in place of those of other platforms, which apps keep asking for. */
import type { VoiceInfo } from '../../engine/contract.ts';
import { findVoice, listVoices, showVoice, type VoiceMap } from './voices.ts';

/** The map of the pairs `foreign=ours`. The last `=` of a pair separates; case does not matter. */
export function readVoiceMap(pairs: readonly string[]): VoiceMap {
  return new Map(
    pairs.map((pair) => {
      const at = pair.lastIndexOf('=');
      return [pair.slice(0, at).trim().toLowerCase(), pair.slice(at + 1).trim()];
    }),
  );
}

/** What is wrong with `map`: the first voice it names that does not exist. Null = nothing. */
export function findVoiceMapProblem(map: VoiceMap, voices: readonly VoiceInfo[]): string | null {
  for (const [foreign, ours] of map) {
    if (findVoice(ours, voices) === undefined)
      return `VOICE_MAP: got ${showVoice(ours)} for ${showVoice(foreign)}, expected one of ${listVoices(voices)}`;
  }
  return null;
}
