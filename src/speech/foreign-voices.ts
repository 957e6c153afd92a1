/** Voices of other platforms, each with the voice of ours that stands for it. Women's for women's, men's for men's. */

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

/** The Qwen3-TTS server uses some of its voices for OpenAI's names; each stands for the same voice here. */
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

/** OpenAI's voices. */
export const OPENAI_VOICE_NAMES: readonly string[] = [...OPENAI_VOICES.keys()];

/** The Qwen3-TTS server's voices. */
export const QWEN_VOICE_NAMES: readonly string[] = [...QWEN_VOICES.keys()];

/** Our voice for a name of OpenAI's or the Qwen3-TTS server's, in any case; undefined for any other name. */
export function standInFor(name: string): string | undefined {
  return OPENAI_VOICES.get(name.toLowerCase()) ?? findQwenVoice(name);
}

/** Whether the Qwen3-TTS server has a voice of that name. */
export function isQwenVoice(name: string): boolean {
  return findQwenVoice(name) !== undefined;
}

/** That server reads `Uncle Fu` as `uncle_fu`. */
function findQwenVoice(name: string): string | undefined {
  return QWEN_VOICES.get(name.toLowerCase().replaceAll(' ', '_'));
}
