/** What a Realtime client wants of the recogniser: `audio.input.transcription`. */
import { isObject, type Json } from '../../../protocols/json.ts';

/** Names in it are kept as they came, and told again; only languages and words have an effect. */
export interface TranscriptionWish {
  readonly model: string;
  /** As it came; null = the recogniser finds it out. */
  readonly language: string | null;
  /** Words and names that are likely to be said. */
  readonly keywords: readonly string[];
  readonly prompt: string;
}

/** Of a new session. */
export const DEFAULT_WISH: TranscriptionWish = Object.freeze({
  model: 'gpt-4o-transcribe',
  language: null,
  keywords: [],
  prompt: '',
});

const NAME_MAX_CHARS = 100;
const PROMPT_MAX_CHARS = 4096;
const KEYWORDS_MAX = 1000;

/** What `value` asks for; null = no transcripts. Fields that are missing or make no sense stay as in `current`. */
export function readTranscriptionWish(value: unknown, current: TranscriptionWish | null): TranscriptionWish | null {
  if (value === null) return null;
  if (!isObject(value)) return current;
  const { model, language, languages, keywords, prompt } = value;
  const before = current ?? DEFAULT_WISH;
  const first = Array.isArray(languages) ? languages[0] : undefined;
  return {
    model: nameIn(model) ?? before.model,
    language: language === null ? null : (nameIn(language) ?? nameIn(first) ?? before.language),
    keywords: Array.isArray(keywords) ? keywords.slice(0, KEYWORDS_MAX).flatMap(wordIn) : before.keywords,
    prompt: typeof prompt === 'string' ? prompt.slice(0, PROMPT_MAX_CHARS) : before.prompt,
  };
}

function nameIn(value: unknown): string | null {
  return typeof value === 'string' && value !== '' && value.length <= NAME_MAX_CHARS ? value : null;
}

function wordIn(value: unknown): string[] {
  const word = nameIn(value);
  return word === null ? [] : [word];
}

/** As a session tells it. */
export function writeTranscriptionWish(wish: TranscriptionWish | null): Json | null {
  if (wish === null) return null;
  const { model, language, keywords, prompt } = wish;
  return { model, language, prompt, ...(keywords.length === 0 ? {} : { keywords }) };
}
