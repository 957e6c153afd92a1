/** Which voice is meant by a name. */
import type { VoiceInfo } from '../../engine/contract.ts';
import { TrunklineError } from '../foundation/errors.ts';
import { findQwenVoice, QWEN_VOICE_NAMES } from './qwen-voices.ts';

/** OpenAI's voices, by the sort of voice that they are. */
const OPENAI_VOICES: ReadonlyMap<string, string> = new Map([
  ['alloy', 'slt'],
  ['ash', 'rms'],
  ['ballad', 'awb'],
  ['cedar', 'rms'],
  ['coral', 'slt'],
  ['echo', 'rms'],
  ['fable', 'awb'],
  ['marin', 'slt'],
  ['nova', 'slt'],
  ['onyx', 'rms'],
  ['sage', 'slt'],
  ['shimmer', 'slt'],
  ['verse', 'rms'],
]);

/** Names listed in an error; there may be a hundred and more. */
const NAMES_SHOWN = 12;
/** The longest that other platforms have are ElevenLabs' on Twilio: id, model and three figures. */
const NAME_SHOWN_CHARS = 64;

/** Names of other platforms' voices in lower case, each with the voice of ours, or of OpenAI's, that stands for it. */
export type VoiceMap = ReadonlyMap<string, string>;
const NO_VOICE_MAP: VoiceMap = new Map();

/**
 * The voice that `name` means: one of `voices`, one that `map` has for the name of another platform's, or one of
 * OpenAI's or the Qwen3-TTS server's that stands for one of them. Without a name it is `fallback`.
 * @throws TrunklineError `invalid_request` naming the voices there are; `engine_unavailable` when there is none yet.
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
  const voice = findVoice(wanted, voices, map);
  if (voice !== undefined) return voice;
  const foreign = `OpenAI's ${[...OPENAI_VOICES.keys()].join(', ')}, or Qwen3-TTS's ${QWEN_VOICE_NAMES.join(', ')}`;
  const expected = `one of ${listVoices(voices)}, ${foreign}`;
  throw new TrunklineError('invalid_request', `voice: got ${showVoice(wanted)}, expected ${expected}`, 'voice');
}

/**
 * The voice that `name` means, as {@link resolveVoice} finds it; undefined = none. Case matters only between voices
 * whose names differ by nothing else. A name of ours is not looked up in `map`.
 */
export function findVoice(name: string, voices: readonly VoiceInfo[], map = NO_VOICE_MAP): VoiceInfo | undefined {
  const exact = voices.find((voice) => voice.name === name);
  if (exact !== undefined) return exact;
  const lower = name.toLowerCase();
  const standIn = map.get(lower)?.toLowerCase();
  for (const candidate of [lower, standIn, OPENAI_VOICES.get(standIn ?? lower) ?? findQwenVoice(standIn ?? lower)]) {
    const found = voices.find((voice) => voice.name.toLowerCase() === candidate);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** A voice's name as it came, for messages: quoted, and not longer than one needs to know it by. */
export function showVoice(name: string): string {
  return JSON.stringify(name.slice(0, NAME_SHOWN_CHARS));
}

/** The names of `voices` for messages; of many the first. */
export function listVoices(voices: readonly VoiceInfo[]): string {
  const names = voices.map((voice) => voice.name);
  const rest = names.length - NAMES_SHOWN;
  return rest > 0 ? `${names.slice(0, NAMES_SHOWN).join(', ')} and ${rest} more` : names.join(', ');
}

/** A name that can be asked for, and the voice that answers to it. */
export interface VoiceName {
  readonly name: string;
  readonly voice: VoiceInfo;
}

/**
 * Every name that {@link resolveVoice} takes without a map: the voices' own, then OpenAI's and the Qwen3-TTS server's
 * as far as there is a voice for them.
 */
export function listVoiceNames(voices: readonly VoiceInfo[]): VoiceName[] {
  const own = voices.map((voice) => ({ name: voice.name, voice }));
  const foreign = [...OPENAI_VOICES.keys(), ...QWEN_VOICE_NAMES].flatMap((name) => {
    const voice = findVoice(name, voices);
    return voice === undefined || voices.some((each) => each.name.toLowerCase() === name) ? [] : [{ name, voice }];
  });
  return [...own, ...foreign];
}
