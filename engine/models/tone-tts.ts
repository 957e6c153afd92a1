/**
 * Pretend voices for tests, with the names and rates of the real ones: a text is one pure tone, 20 ms for each of its
 * characters at speed 1, in the frequency band that its hash gives, so that the pretend recogniser of `tone.ts` reads
 * one word from it again and again. It comes in slices, so that the way of a sound that grows is tested.
 */
import type { Steps } from '../scheduler.ts';
import { fliteVoices } from './flite.ts';
import type { Line, Sound, Tts } from './model.ts';

const CHAR_MS = 20;
const FIRST_BAND_HZ = 400;
const BAND_HZ = 200;
const BANDS = 12;
const PEAK = 8000;
const NAME = 'tone-1';
const VOICES = fliteVoices(NAME);
/** Not a whole number of frames, so that whoever cuts a sound into frames has rests to keep. */
const SLICE_MS = 210;

/** A synthesizer of tones; a text without a letter or digit is silent. One step for each slice of 210 ms. */
export const toneTts: Tts = Object.freeze({
  name: NAME,
  voices: VOICES,
  async *speak({ text, voice, speed }: Line, tell: (sound: Sound) => void): Steps<Sound> {
    const rateHz = VOICES.find(({ name }) => name === voice)?.rateHz ?? 0;
    if (!/[\p{L}\p{N}]/u.test(text)) return { samples: new Int16Array(0), rateHz };
    const length = Math.round((text.length * CHAR_MS * rateHz) / (1000 * speed));
    const turn = (2 * Math.PI * toneHzOf(text)) / rateHz;
    const slice = (from: number, to: number): Int16Array =>
      Int16Array.from({ length: to - from }, (_, i) => Math.round(PEAK * Math.sin(turn * (from + i))));
    const sliceSamples = (SLICE_MS * rateHz) / 1000;
    let told = 0;
    for (; told + sliceSamples < length; told += sliceSamples) {
      tell({ samples: slice(told, told + sliceSamples), rateHz });
      yield;
    }
    return { samples: slice(told, length), rateHz };
  },
});

/** The frequency of a text: FNV-1a of its UTF-16 units chooses one of the twelve bands from 400 to 2600 Hz. */
export function toneHzOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193) >>> 0;
  return FIRST_BAND_HZ + (hash % BANDS) * BAND_HZ;
}
