/** The texts of other servers' recognisers, before anybody else sees them. */

/** Nobody speaks faster than this; a server that sends more went round in circles, or lies. */
const CHARS_PER_SECOND_MAX = 60;
const CHARS_MIN = 200;
const RATE_HZ = 16_000;

/** Qwen3-ASR's own form of an answer, which some servers pass on: `language English<asr_text>Hello.` */
const QWEN_HEAD = /^\s*(?:language\b[^<]{0,40})?<asr_text>/;
/** Marks of Whisper's and Qwen's own: `<|en|>`, `<|endoftext|>`. */
const SPECIAL_TOKEN = /<\|[^<>|]{0,40}\|>/g;

/**
 * A recognised text without the marks of the model that leak into it, line breaks and other control characters. Null
 * when it is longer than anybody could have said in `samples` at 16 kHz.
 */
export function readRemoteText(text: string, samples: number): string | null {
  if (text.length > CHARS_MIN + (samples / RATE_HZ) * CHARS_PER_SECOND_MAX) return null;
  return text
    .replace(QWEN_HEAD, '')
    .replace(SPECIAL_TOKEN, ' ')
    .replace(/[\p{Cc}\p{Cs}\u202a-\u202e\u2066-\u2069\ufeff]+/gu, ' ')
    .replace(/\s+/g, ' ')
    .trim();
}
