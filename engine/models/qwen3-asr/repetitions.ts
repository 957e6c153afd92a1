/**
 * Endless repetitions in a text of Qwen3-ASR: `detect_and_fix_repetitions` of qwen_asr/inference/utils.py, on code
 * points.
 */

/** So many copies in a row are a loop. People do say a digit four times. */
const COPIES = 20;
/** Longest unit that is looked for, in code points. */
const UNIT_MAX = 20;

/** `text` with one copy of what is repeated without end: one character more than 20 times, or a unit 20 times. */
export function fixRepetitions(text: string): string {
  return fixUnits(fixCharacters(Array.from(text))).join('');
}

function fixCharacters(characters: readonly string[]): string[] {
  const kept: string[] = [];
  for (let from = 0; from < characters.length; ) {
    let to = from + 1;
    while (to < characters.length && characters[to] === characters[from]) to++;
    kept.push(...characters.slice(from, to - from > COPIES ? from + 1 : to));
    from = to;
  }
  return kept;
}

function fixUnits(characters: readonly string[]): string[] {
  const kept: string[] = [];
  let rest = 0;
  for (let from = 0; from <= characters.length - 2 * COPIES; ) {
    const unit = unitAt(characters, from);
    if (unit === 0) {
      from++;
      continue;
    }
    kept.push(...characters.slice(rest, from + unit));
    from = endOfCopies(characters, from, unit);
    rest = from;
  }
  return [...kept, ...characters.slice(rest)];
}

/** The length of the shortest unit of which there are enough copies from `from` on; 0 = there is none. */
function unitAt(characters: readonly string[], from: number): number {
  for (let unit = 1; unit <= UNIT_MAX && from + unit * COPIES <= characters.length; unit++) {
    if (copiesReach(characters, from, unit) >= from + unit * COPIES) return unit;
  }
  return 0;
}

/** Up to where the characters from `from` on are those `unit` before them. */
function copiesReach(characters: readonly string[], from: number, unit: number): number {
  let at = from + unit;
  while (at < characters.length && characters[at] === characters[at - unit]) at++;
  return at;
}

function endOfCopies(characters: readonly string[], from: number, unit: number): number {
  return from + Math.floor((copiesReach(characters, from, unit) - from) / unit) * unit;
}
