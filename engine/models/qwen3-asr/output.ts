/** What Qwen3-ASR writes: the language, a tag, and what was said. */
import { codeOfLanguage } from './languages.ts';
import { fixRepetitions } from './repetitions.ts';

/** Parts the language from the text. It is a token of its own, and one that is written. */
export const TEXT_TAG = '<asr_text>';

const LANGUAGE_PREFIX = 'language ';
const NO_LANGUAGE = 'language none';
/** Longest text that is looked at, in UTF-16 units: 512 tokens of 128 bytes each are fewer. */
const OUTPUT_MAX_CHARS = 65_536;

/** What was said. */
export interface ParsedOutput {
  readonly text: string;
  /** BCP-47; null = the model named none, or none that is known. */
  readonly language: string | null;
  /** Whether an endless repetition was collapsed. */
  readonly looped: boolean;
}

/** What stands before the text of a language that is told: `language English<asr_text>`, without the tag. */
export function languagePrefix(name: string): string {
  return `${LANGUAGE_PREFIX}${name}`;
}

/** `parse_asr_output` of qwen_asr/inference/utils.py. @param isTold whether the language was told: all is text */
export function parseOutput(raw: string, isTold: boolean): ParsedOutput {
  const written = raw.slice(0, OUTPUT_MAX_CHARS).trim();
  const fixed = fixRepetitions(written);
  const looped = fixed !== written;
  const tag = fixed.indexOf(TEXT_TAG);
  if (isTold || tag === -1) return { text: fixed.trim(), language: null, looped };
  const text = fixed.slice(tag + TEXT_TAG.length).trim();
  return { text, language: languageIn(fixed.slice(0, tag)), looped };
}

/** The language in what stands before the tag. */
function languageIn(meta: string): string | null {
  if (meta.toLowerCase().includes(NO_LANGUAGE)) return null;
  const lines = meta.split(/[\n\r\v\f\u0085\u2028\u2029]/u).map((line) => line.trim());
  const line = lines.find((each) => each.toLowerCase().startsWith(LANGUAGE_PREFIX));
  return line === undefined ? null : codeOfLanguage(line.slice(LANGUAGE_PREFIX.length));
}
