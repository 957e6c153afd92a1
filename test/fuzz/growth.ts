/** Whether a parser takes more than linear work on an input that is stretched. */

/** What one run costs, in any unit; below `costMin` it says nothing. */
interface Cost {
  readonly of: (input: Uint8Array) => number;
  readonly min: number;
  readonly max: number;
}

/** Twice the input costs at least so much more where the work is quadratic (4), and less where it is linear (2). */
const RATIO_MIN = 3;
/** So many doublings in a row must show it: one may be the collector of garbage. */
const RATIOS = 2;
const STRETCH_MIN_BYTES = 1024;
const STRETCH_MAX_BYTES = 131_072;
const PLACES = 8;
const WINDOW_BYTES = [1, 16];
/** What stands at both ends of a slow input may be needed for it to be slow; what is between is what it is made of. */
const ENDS_BYTES = 256;

/**
 * Repeats pieces of `input` between its two ends, each twice as often again and again. Returns what grew faster than
 * its length, in words; null = nothing did.
 */
export function findGrowth(input: Uint8Array, cost: Cost): string | null {
  for (const bytes of WINDOW_BYTES) {
    for (let place = 0; place < PLACES; place++) {
      const from = Math.floor((place * input.length) / PLACES);
      const window = input.subarray(from, from + bytes);
      if (window.length === 0) continue;
      const ratios = growthOf((times) => stretch(input, window, times), window.length, cost)?.join(' and ');
      if (ratios !== undefined)
        return `a piece of ${window.length} bytes at ${from}, twice as often, costs ${ratios} times as much`;
    }
  }
  return null;
}

/** The last ratios where all are those of more than linear work; null where one is not. */
function growthOf(make: (times: number) => Uint8Array, bytes: number, { of, min, max }: Cost): string[] | null {
  const ratios: number[] = [];
  let before = 0;
  for (let length = STRETCH_MIN_BYTES; length <= STRETCH_MAX_BYTES && before <= max; length *= 2) {
    const now = of(make(Math.ceil(length / bytes)));
    if (before >= min) {
      if (now / before < RATIO_MIN) return null;
      if (ratios.push(now / before) === RATIOS) return ratios.map((ratio) => ratio.toFixed(1));
    }
    before = now;
  }
  return null;
}

function stretch(input: Uint8Array, window: Uint8Array, times: number): Uint8Array {
  const end = Math.min(ENDS_BYTES, Math.floor(input.length / 2));
  return Buffer.concat([input.subarray(0, end), ...Array(times).fill(window), input.subarray(input.length - end)]);
}
