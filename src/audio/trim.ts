/** Cuts silence off the beginning and the end of a recording. */

/** Levels are taken of blocks so long. */
const BLOCK_MS = 10;
/** What is left before the first sound and after the last: soft consonants are in it, and the room's sound fades. */
const LEAD_MS = 60;
const TAIL_MS = 120;
/** Blocks of which the level is taken for loud, and for the room's noise. */
const LOUD_SHARE = 0.95;
const NOISE_SHARE = 0.1;
/** Sound stands out of the noise by so much, where that lies between so much below what is loud. */
const ABOVE_NOISE_DB = 6;
const BELOW_LOUD_MIN_DB = 25;
const BELOW_LOUD_MAX_DB = 40;
/** A click is shorter than so many blocks. */
const SOUND_BLOCKS = 2;

/** `samples` (mono) from a little before the first sound to a little after the last; empty for silence alone. */
export function trimSilence(samples: Int16Array, rateHz: number): Int16Array {
  const blockSamples = Math.max(1, Math.round((rateHz * BLOCK_MS) / 1000));
  const levels = levelsOf(samples, blockSamples);
  const inOrder = levels.toSorted();
  const loudDb = inOrder[Math.floor((inOrder.length - 1) * LOUD_SHARE)] ?? Number.NEGATIVE_INFINITY;
  if (loudDb === Number.NEGATIVE_INFINITY) return samples.subarray(0, 0);
  const noiseDb = inOrder[Math.floor((inOrder.length - 1) * NOISE_SHARE)] ?? loudDb;
  const thresholdDb = Math.min(
    Math.max(noiseDb + ABOVE_NOISE_DB, loudDb - BELOW_LOUD_MAX_DB),
    loudDb - BELOW_LOUD_MIN_DB,
  );
  const isSound = (at: number): boolean =>
    levels.subarray(at, at + SOUND_BLOCKS).every((level) => level >= thresholdDb);
  let first = 0;
  while (first < levels.length && !isSound(first)) first++;
  let last = levels.length - SOUND_BLOCKS;
  while (last > first && !isSound(last)) last--;
  const from = Math.max(0, first * blockSamples - Math.round((rateHz * LEAD_MS) / 1000));
  const to = (last + SOUND_BLOCKS) * blockSamples + Math.round((rateHz * TAIL_MS) / 1000);
  return samples.subarray(from, Math.max(from, to));
}

/** Of each block, in dB of full scale. */
function levelsOf(samples: Int16Array, blockSamples: number): Float64Array {
  return Float64Array.from({ length: Math.ceil(samples.length / blockSamples) }, (_, block) => {
    const part = samples.subarray(block * blockSamples, (block + 1) * blockSamples);
    let energy = 0;
    for (const sample of part) energy += (sample / 32_768) ** 2;
    return 10 * Math.log10(energy / part.length);
  });
}
