/** Which voice speaks texts that name none. */
import type { VoiceInfo } from '../../engine/contract.ts';
import type { Settings } from '../foundation/settings/settings.ts';
import { readVoiceMap } from './voice-map.ts';
import { findVoice } from './voices.ts';

/** Its name; null while no engine has named `voices`, and where DEFAULT_VOICE is none of them. */
export function voiceInUse(
  { DEFAULT_VOICE, VOICE_MAP }: Pick<Settings, 'DEFAULT_VOICE' | 'VOICE_MAP'>,
  voices: readonly VoiceInfo[],
): string | null {
  const voice = DEFAULT_VOICE === '' ? voices[0] : findVoice(DEFAULT_VOICE, voices, readVoiceMap(VOICE_MAP));
  return voice?.name ?? null;
}
