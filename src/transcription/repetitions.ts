/** More copies in a row than a speaker would say. */
const THRESHOLD = 20;
/** Longest repeated pattern, in code points. */
const PATTERN_MAX = 20;

/**
 * Removes the endless repetitions a speech model can fall into, exactly as `detect_and_fix_repetitions` of the
 * Qwen3-ASR SDK does (github.com/QwenLM/Qwen3-ASR, `qwen_asr/inference/utils.py`, threshold 20, counted in code
 * points): a character more than 20 times in a row becomes one; then, from left to right while 40 characters are left,
 * a pattern of 1–20 characters 20 times or more in a row becomes one copy.
 */
export function fixRepetitions(text: string): string {
  return fixPatterns(fixCharacters(Array.from(text))).join('');
}

function fixCharacters(text: readonly string[]): string[] {
  const fixed: string[] = [];
  for (let from = 0; from < text.length; ) {
    let to = from + 1;
    while (to < text.length && text[to] === text[from]) to++;
    fixed.push(...text.slice(from, to - from > THRESHOLD ? from + 1 : to));
    from = to;
  }
  return fixed;
}

function fixPatterns(text: readonly string[]): string[] {
  const fixed: string[] = [];
  let from = 0;
  while (from + 2 * THRESHOLD <= text.length) {
    const pattern = repeatedPatternAt(text, from);
    fixed.push(...text.slice(from, from + Math.max(pattern, 1)));
    from += pattern === 0 ? 1 : copiesAt(text, from, pattern) * pattern;
  }
  return [...fixed, ...text.slice(from)];
}

/** Length of the shortest pattern that is repeated often enough from `from` on; 0 = none. */
function repeatedPatternAt(text: readonly string[], from: number): number {
  for (let length = 1; length <= PATTERN_MAX && from + length * THRESHOLD <= text.length; length++) {
    if (copiesAt(text, from, length) >= THRESHOLD) return length;
  }
  return 0;
}

/** How often the `length` characters at `from` stand there in a row. */
function copiesAt(text: readonly string[], from: number, length: number): number {
  let to = from + length;
  while (to < text.length && text[to] === text[to - length]) to++;
  return Math.floor((to - from) / length);
}
