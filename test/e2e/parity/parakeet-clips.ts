/** The clips of engine/export/common/tones.py: whole numbers alone, so that both programs make the same. */

const RATE_HZ = 16_000;

/** Clip `index` of so many seconds: a gliding tone that swells, and noise between, as 16-bit samples. */
export function makeClip(index: number, seconds: number): Int16Array {
  const clip = new Int16Array(Math.round(seconds * RATE_HZ));
  const step = 268_435 * (150 + 37 * index);
  const period = Math.floor(RATE_HZ / (2 + (index % 3)));
  let phase = 0;
  let noise = 1000 + index;
  for (let at = 0; at < clip.length; at++) {
    phase = (phase + step + Math.floor((Math.floor(step / 10) * triangle(at, 3201)) / 3201)) % 2 ** 32;
    noise = (Math.imul(noise, 1_664_525) + 1_013_904_223) >>> 0;
    const tone = Math.abs(Math.floor(phase / 65_536) - 32_768) * 2 - 32_768;
    const swell = Math.floor((256 * triangle(at, period)) / period);
    clip[at] = ((tone * swell) >> 10) + ((((noise >>> 16) - 32_768) * (256 - swell)) >> 12);
  }
  return clip;
}

/** From `period` down to 0 and up again. */
function triangle(at: number, period: number): number {
  return Math.abs((at % period) * 2 - period);
}
