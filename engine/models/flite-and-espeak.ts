/** The embedded English voices, and those for other languages where espeak-ng is installed. */
import { findEspeak } from './espeak.ts';
import { loadFlite } from './flite.ts';
import { joinVoices } from './joined-voices.ts';
import type { Tts } from './model.ts';

/** @throws Refusal when flite's package is missing. */
export async function loadFliteAndEspeak(): Promise<Tts> {
  const [flite, espeak] = await Promise.all([loadFlite(), findEspeak()]);
  return espeak === null ? flite : joinVoices([flite, espeak]);
}
