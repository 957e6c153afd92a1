/** Voices of other platforms, each with the kind of voice that stands for it: the first one of that kind there is. */

/** The neutral names mean women's voices, as they always did here. */
const KINDS = {
  woman: ['hibari:heart', 'slt'],
  man: ['hibari:fenrir', 'rms'],
  britishMan: ['hibari:fable', 'awb'],
} as const satisfies Record<string, readonly string[]>;

type Kind = keyof typeof KINDS;

const OPENAI_VOICES: ReadonlyMap<string, Kind> = new Map([
  ['alloy', 'woman'],
  ['ash', 'man'],
  ['ballad', 'britishMan'],
  ['cedar', 'man'],
  ['coral', 'woman'],
  ['echo', 'man'],
  ['fable', 'britishMan'],
  ['marin', 'woman'],
  ['nova', 'woman'],
  ['onyx', 'man'],
  ['sage', 'woman'],
  ['shimmer', 'woman'],
  ['verse', 'man'],
]);

/** The Qwen3-TTS server uses some of its voices for OpenAI's names; each stands for the same voice here. */
const QWEN_VOICES: ReadonlyMap<string, Kind> = new Map([
  ['vivian', 'woman'],
  ['serena', 'woman'],
  ['uncle_fu', 'man'],
  ['dylan', 'britishMan'],
  ['eric', 'man'],
  ['ryan', 'man'],
  ['aiden', 'man'],
  ['ono_anna', 'woman'],
  ['sohee', 'woman'],
]);

/** OpenAI's voices. */
export const OPENAI_VOICE_NAMES: readonly string[] = [...OPENAI_VOICES.keys()];

/** The Qwen3-TTS server's voices. */
export const QWEN_VOICE_NAMES: readonly string[] = [...QWEN_VOICES.keys()];

/** Our voices for a name of OpenAI's or the Qwen3-TTS server's, in any case, the best first; none for other names. */
export function standInsFor(name: string): readonly string[] {
  const kind = OPENAI_VOICES.get(name.toLowerCase()) ?? findQwenVoice(name);
  return kind === undefined ? [] : KINDS[kind];
}

/** Whether the Qwen3-TTS server has a voice of that name. */
export function isQwenVoice(name: string): boolean {
  return findQwenVoice(name) !== undefined;
}

/** That server reads `Uncle Fu` as `uncle_fu`. */
function findQwenVoice(name: string): Kind | undefined {
  return QWEN_VOICES.get(name.toLowerCase().replaceAll(' ', '_'));
}
