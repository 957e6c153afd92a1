/** Finds the voice that a name means. */
import type { VoiceInfo } from '../../engine/contract.ts';
import { TrunklineError } from '../foundation/errors.ts';
import { OPENAI_VOICE_NAMES, QWEN_VOICE_NAMES, standInsFor } from './foreign-voices.ts';

/** Most names listed in an error; there may be a hundred. */
const NAMES_SHOWN = 12;
/** Twilio has the longest names: ElevenLabs' id, model and three figures. */
const NAME_SHOWN_CHARS = 64;

/** Other platforms' names of voices in lower case, each with the voice that speaks for it: ours, or one of OpenAI's. */
export type VoiceMap = ReadonlyMap<string, string>;
const NO_VOICE_MAP: VoiceMap = new Map();

/**
 * The voice that `name` means, or `fallback` without a name: one of `voices`, by its own name, by a name in `map`, or
 * by OpenAI's or the Qwen3-TTS server's name for it. With neither it is the first voice: engines list the best one
 * for calls first.
 * @throws TrunklineError `invalid_request` listing the voices, `engine_unavailable` when no engine has named any yet
 */
export function resolveVoice(
  name: string | undefined,
  voices: readonly VoiceInfo[],
  fallback: string,
  map = NO_VOICE_MAP,
): VoiceInfo {
  if (voices.length === 0)
    throw new TrunklineError('engine_unavailable', 'no engine has been ready yet, so there is no voice');
  const wanted = name ?? fallback;
  const voice = name === undefined && fallback === '' ? voices[0] : findVoice(wanted, voices, map);
  if (voice !== undefined) return voice;
  const foreign = `OpenAI's ${OPENAI_VOICE_NAMES.join(', ')}, or Qwen3-TTS's ${QWEN_VOICE_NAMES.join(', ')}`;
  const expected = `one of ${listVoices(voices)}, ${foreign}`;
  throw new TrunklineError('invalid_request', `voice: got ${showVoice(wanted)}, expected ${expected}`, 'voice');
}

/**
 * The voice that `name` means, as {@link resolveVoice} finds it; undefined = none. Case matters only between voices
 * whose names differ in nothing else. `map` cannot redefine the name of a voice of ours.
 */
export function findVoice(name: string, voices: readonly VoiceInfo[], map = NO_VOICE_MAP): VoiceInfo | undefined {
  const exact = voices.find((voice) => voice.name === name);
  if (exact !== undefined) return exact;
  const lower = name.toLowerCase();
  const mapped = map.get(lower)?.toLowerCase();
  for (const candidate of [lower, mapped, ...standInsFor(mapped ?? lower)]) {
    const found = voices.find((voice) => voice.name.toLowerCase() === candidate);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** A voice's name for messages: quoted, and cut to a length at which it can still be recognised. */
export function showVoice(name: string): string {
  return JSON.stringify(name.slice(0, NAME_SHOWN_CHARS));
}

/** The names of `voices` for messages; of many only the first. */
export function listVoices(voices: readonly VoiceInfo[]): string {
  const names = voices.map((voice) => voice.name);
  const rest = names.length - NAMES_SHOWN;
  return rest > 0 ? `${names.slice(0, NAMES_SHOWN).join(', ')} and ${rest} more` : names.join(', ');
}

/** A name that a text can ask for, and the voice that it means. */
export interface VoiceName {
  readonly name: string;
  readonly voice: VoiceInfo;
}

/**
 * Every name that {@link resolveVoice} takes without a map: the voices' own, then OpenAI's and the Qwen3-TTS server's
 * as far as a voice stands for them.
 */
export function listVoiceNames(voices: readonly VoiceInfo[]): VoiceName[] {
  const own = voices.map((voice) => ({ name: voice.name, voice }));
  const foreign = [...OPENAI_VOICE_NAMES, ...QWEN_VOICE_NAMES].flatMap((name) => {
    const voice = findVoice(name, voices);
    return voice === undefined || voices.some((each) => each.name.toLowerCase() === name) ? [] : [{ name, voice }];
  });
  return [...own, ...foreign];
}
