/** Speech for the pretend recogniser, which hears a tone as its word. */

const RATE_HZ = 16_000;

/** `words` times a second of a tone, each between half seconds of silence, at 16 kHz. */
export function toneSpeech(words: number, frequencyHz: number): Int16Array {
  const samples = new Int16Array(2 * RATE_HZ * words);
  for (let word = 0; word < words; word++) {
    const from = (2 * word + 0.5) * RATE_HZ;
    for (let i = 0; i < RATE_HZ; i++)
      samples[from + i] = Math.round(8000 * Math.sin((2 * Math.PI * frequencyHz * i) / RATE_HZ));
  }
  return samples;
}

/** The energy of `samples` at `hertz`, by Goertzel's algorithm. */
export function energyAt(samples: Int16Array, hertz: number, rateHz: number): number {
  const turn = 2 * Math.cos((2 * Math.PI * hertz) / rateHz);
  let [one, two] = [0, 0];
  for (const sample of samples) [one, two] = [sample + turn * one - two, one];
  return (one ** 2 + two ** 2 - turn * one * two) / samples.length ** 2;
}
