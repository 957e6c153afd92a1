/**
 * Pretend voices for tests, with the names and rates of the real ones: a text is one pure tone, 20 ms for each of its
 * characters at speed 1, in the frequency band that its hash gives, so that the pretend recogniser of `tone.ts` reads
 * one word from it again and again.
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

/** A synthesizer of tones; a text without a letter or digit is silent. One step. */
export const toneTts: Tts = Object.freeze({
  name: NAME,
  voices: VOICES,
  async *speak({ text, voice, speed }: Line): Steps<Sound> {
    const rateHz = VOICES.find(({ name }) => name === voice)?.rateHz ?? 0;
    if (!/[\p{L}\p{N}]/u.test(text)) return { samples: new Int16Array(0), rateHz };
    const length = Math.round((text.length * CHAR_MS * rateHz) / (1000 * speed));
    const turn = (2 * Math.PI * toneHzOf(text)) / rateHz;
    return { samples: Int16Array.from({ length }, (_, i) => Math.round(PEAK * Math.sin(turn * i))), rateHz };
  },
});

/** The frequency of a text: FNV-1a of its UTF-16 units chooses one of the twelve bands from 400 to 2600 Hz. */
export function toneHzOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193) >>> 0;
  return FIRST_BAND_HZ + (hash % BANDS) * BAND_HZ;
}
