/** Which voice is meant by a name. */
import type { VoiceInfo } from '../../engine/contract.ts';
import { TrunklineError } from '../errors.ts';

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
const NAME_SHOWN_CHARS = 40;

/**
 * The voice that `name` means: one of `voices`, or one of OpenAI's that stands for one of them. Without a name it is `fallback`.
 * @throws TrunklineError `invalid_request` naming the voices there are; `engine_unavailable` when there is none yet.
 */
export function resolveVoice(name: string | undefined, voices: readonly VoiceInfo[], fallback: string): VoiceInfo {
  if (voices.length === 0) throw new TrunklineError('engine_unavailable', 'no engine has been ready yet, so there is no voice');
  const wanted = name ?? fallback;
  const voice = findVoice(wanted, voices) ?? findVoice(OPENAI_VOICES.get(wanted), voices);
  if (voice !== undefined) return voice;
  const expected = `one of ${listNames(voices)}, or OpenAI's ${[...OPENAI_VOICES.keys()].join(', ')}`;
  throw new TrunklineError('invalid_request', `voice: got ${JSON.stringify(wanted.slice(0, NAME_SHOWN_CHARS))}, expected ${expected}`);
}

function findVoice(name: string | undefined, voices: readonly VoiceInfo[]): VoiceInfo | undefined {
  return voices.find((voice) => voice.name === name);
}

function listNames(voices: readonly VoiceInfo[]): string {
  const names = voices.map((voice) => voice.name);
  const rest = names.length - NAMES_SHOWN;
  return rest > 0 ? `${names.slice(0, NAMES_SHOWN).join(', ')} and ${rest} more` : names.join(', ');
}
