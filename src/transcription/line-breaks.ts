/** Where a line may be broken in scripts that write no spaces. */
import { UNSPACED } from './words.ts';

/** A stretch of a line, as it is written. */
export interface LinePart {
  readonly text: string;
  /** Whether a space stands before it when it is not the first. */
  readonly spaced: boolean;
}

/** Letters looked at together: dictionaries of words need few around each. */
const RUN_MAX_PARTS = 200;
const HAS_UNSPACED = new RegExp(`[${UNSPACED}]`, 'u');
/** Japanese marks that begin no line (JIS X 4051): small kana, the mark of long vowels, marks of repetition. */
const NEVER_FIRST = /^[ーぁぃぅぇぉっゃゅょゎゕゖァィゥェォッャュョヮヵヶ々ゝゞヽヾ]/u;
const SPOKEN = /[\p{L}\p{N}]/u;

/** By the dictionaries of ICU, which it picks by script. Made when it is first needed. */
let segmenter: Intl.Segmenter | null = null;

/**
 * Of each of `parts` whether it must stay on one line with the part before it: words of scripts without spaces, whose
 * letters are parts of their own, are not broken.
 */
export function staysWithBefore(parts: readonly LinePart[]): boolean[] {
  const stays = parts.map(() => false);
  for (let from = 0; from < parts.length; ) {
    let to = from + 1;
    while (to < parts.length && to - from < RUN_MAX_PARTS && parts[to]?.spaced === false) to++;
    if (to - from > 1) markWords(parts.slice(from, to), (index) => (stays[from + index] = true));
    from = to;
  }
  return stays;
}

function markWords(run: readonly LinePart[], mark: (index: number) => void): void {
  const text = run.map((part) => part.text).join('');
  if (!HAS_UNSPACED.test(text)) return;
  const begins = new Set<number>();
  segmenter ??= new Intl.Segmenter('ja', { granularity: 'word' });
  for (const { segment, index } of segmenter.segment(text))
    if (SPOKEN.test(segment) && !NEVER_FIRST.test(segment)) begins.add(index);
  let at = 0;
  run.forEach((part, index) => {
    const first = at + Math.max(part.text.search(SPOKEN), 0);
    if (index > 0 && !begins.has(first)) mark(index);
    at += part.text.length;
  });
}
