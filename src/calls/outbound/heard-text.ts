import { UNSPACED } from '../../transcription/words.ts';

const WORD = new RegExp(`(?<!\\s)\\s*(?:[${UNSPACED}]\\p{M}*|[^\\s${UNSPACED}]+)`, 'gu');

/**
 * The whole words among the first `share` (0–1) of the characters of `text`: what was heard when that share of its
 * sound was played.
 */
export function heardPart(text: string, share: number): string {
  if (share >= 1) return text;
  const limit = Math.floor(text.length * share);
  let end = 0;
  for (const word of text.matchAll(WORD)) {
    const wordEnd = word.index + word[0].length;
    if (wordEnd > limit) break;
    end = wordEnd;
  }
  return text.slice(0, end);
}
