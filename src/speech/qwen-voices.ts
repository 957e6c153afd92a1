/** The nine voices of the Qwen3-TTS server, whose clients name them. */

/**
 * Women to the woman's voice, men to men's; where that server has one of them for an OpenAI name, it is the one that
 * the name means here too.
 */
const QWEN_VOICES: ReadonlyMap<string, string> = new Map([
  ['vivian', 'slt'],
  ['serena', 'slt'],
  ['uncle_fu', 'rms'],
  ['dylan', 'awb'],
  ['eric', 'rms'],
  ['ryan', 'rms'],
  ['aiden', 'rms'],
  ['ono_anna', 'slt'],
  ['sohee', 'slt'],
]);

/** Their names. */
export const QWEN_VOICE_NAMES: readonly string[] = [...QWEN_VOICES.keys()];

/**
 * Whether `name` is one of them, as that server reads it: case does not matter, nor whether it is `Uncle Fu` or
 * `uncle_fu`.
 */
export function isQwenVoice(name: string): boolean {
  return findQwenVoice(name) !== undefined;
}

/** Our voice for one of them; undefined for any other name. */
export function findQwenVoice(name: string): string | undefined {
  return QWEN_VOICES.get(name.toLowerCase().replaceAll(' ', '_'));
}
