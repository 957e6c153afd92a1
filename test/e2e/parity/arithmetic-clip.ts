/**
 * Sound made by whole numbers alone: no speech, but it changes as speech does. The exporters make the same samples for
 * the reference implementations (engine/export/moonshine-streaming/clips.py).
 */

const STEP_SAMPLES = 320;

function nextRandom(random: number): number {
  return (Math.imul(random, 1_664_525) + 1_013_904_223) >>> 0;
}

/** `length` samples of 16-bit sound at 16 kHz; other seeds give other sound. */
export function arithmeticClip(seed: number, length: number): Int16Array {
  const clip = new Int16Array(length);
  const phases = new Uint32Array(3);
  const turns = new Uint32Array(3);
  let random = seed >>> 0;
  let loudness = 0;
  for (let at = 0; at < length; at++) {
    if (at % STEP_SAMPLES === 0) {
      const step = at / STEP_SAMPLES;
      for (let tone = 0; tone < 3; tone++) {
        random = nextRandom(random);
        turns[tone] = 26_843_546 * (1 + 2 * tone) + (random >>> 8) * (2 + tone);
      }
      loudness = Math.floor(step / 8) % 5 === 4 ? 0 : 4 + (7 - Math.abs((step % 8) - 4)) * 2;
    }
    let value = 0;
    for (let tone = 0; tone < 3; tone++) {
      phases[tone] = (phases[tone] ?? 0) + (turns[tone] ?? 0);
      const triangle = Math.abs(((phases[tone] ?? 0) >>> 16) - 32_768) - 16_384;
      value += triangle >> (tone + 1);
    }
    random = nextRandom(random);
    clip[at] = ((value * loudness) >> 5) + ((random >>> 24) - 128);
  }
  return clip;
}
