/** Helpers on token sequences, shared by recognisers. */

/** Longest repeated unit that counts as a loop, in tokens. */
const LOOP_UNIT_MAX = 6;
/** So many copies in a row are a loop; people do say a thing three times. */
const LOOP_COPIES = 4;

/**
 * Collapses every run of 1–6 tokens that is repeated four times or more to one copy. Greedy decoders fall into such
 * loops, and a draft that holds one keeps it alive. Shorter units are looked for first, so `a a a a a a a a` becomes
 * `a` rather than `a a`.
 * @returns the tokens without loops (the same array when there were none) and whether there were any.
 */
export function collapseLoops(tokens: readonly number[]): { tokens: readonly number[]; looped: boolean } {
  let collapsed = tokens;
  for (let loop = findLoop(collapsed); loop !== null; loop = findLoop(collapsed)) {
    collapsed = [
      ...collapsed.slice(0, loop.start + loop.unit),
      ...collapsed.slice(loop.start + loop.unit * loop.copies),
    ];
  }
  return { tokens: collapsed, looped: collapsed !== tokens };
}

interface Loop {
  readonly start: number;
  readonly unit: number;
  readonly copies: number;
}

function findLoop(tokens: readonly number[]): Loop | null {
  for (let unit = 1; unit <= LOOP_UNIT_MAX; unit++) {
    let matching = 0;
    for (let i = unit; i <= tokens.length; i++) {
      if (i < tokens.length && tokens[i] === tokens[i - unit]) {
        matching++;
        continue;
      }
      const copies = Math.floor(matching / unit) + 1;
      if (copies >= LOOP_COPIES) return { start: i - matching - unit, unit, copies };
      matching = 0;
    }
  }
  return null;
}
