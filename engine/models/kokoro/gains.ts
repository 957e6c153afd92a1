/**
 * Gains that make the voices as loud as everything on the phone (-21.7 LUFS), measured on two sentences each;
 * `npm run bench -- voices` shows how loud they are.
 */
const GAINS: Readonly<Record<string, number>> = Object.freeze({
  af_alloy: 1.229,
  af_aoede: 0.681,
  af_bella: 0.943,
  af_heart: 1.137,
  af_jessica: 1.091,
  bm_george: 1.023,
});

/** Of a voice that was not measured: the middle of those. */
const USUAL_GAIN = 1.06;

/** What the samples of a voice are to be multiplied with. */
export function gainOf(voice: string): number {
  return GAINS[voice] ?? USUAL_GAIN;
}
