/**
 * Gains that make the voices as loud as everything on the phone (-21.7 LUFS), measured on two sentences each;
 * `npm run bench -- voices` shows how loud one of them is.
 */
const GAINS: Readonly<Record<string, number>> = Object.freeze({
  af_alloy: 1.229,
  af_aoede: 0.681,
  af_bella: 0.943,
  af_heart: 1.137,
  af_jessica: 1.091,
  af_kore: 0.718,
  af_nicole: 1.036,
  af_nova: 1.999,
  af_river: 1.063,
  af_sarah: 0.963,
  af_sky: 1.346,
  am_adam: 0.678,
  am_echo: 1.266,
  am_eric: 1.031,
  am_fenrir: 0.769,
  am_liam: 1.062,
  am_michael: 1.383,
  am_onyx: 1.316,
  am_puck: 0.765,
  am_santa: 1.11,
  bf_alice: 0.919,
  bf_emma: 0.948,
  bf_isabella: 0.727,
  bf_lily: 1.012,
  bm_george: 1.023,
});

/** Of a voice that was not measured: the middle of those. */
const USUAL_GAIN = 1.03;

/** What the samples of a voice are to be multiplied with. */
export function gainOf(voice: string): number {
  return GAINS[voice] ?? USUAL_GAIN;
}
