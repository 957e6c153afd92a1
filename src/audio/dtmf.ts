/** DTMF tones in the audio, for carriers without a message for digits (frequencies: ITU-T Q.23). */
import { msToSamples } from '../foundation/units.ts';

const LOW_HZ = [697, 770, 852, 941];
const HIGH_HZ = [1209, 1336, 1477, 1633];
/** The rows of a keypad. */
const KEYS = ['123A', '456B', '789C', '*0#D'];

/** Longer than receivers need (ITU-T Q.24: 40 ms of tone, 40 ms of pause). */
const TONE_MS = 100;
const GAP_MS = 100;
/** The pause of a `w`. */
const WAIT_MS = 500;
/** A tone fades in and out this long, so that it does not click. */
const RAMP_MS = 5;
/** Peak of one of the two tones: together they stay below half of full scale. */
const AMPLITUDE = 7500;

/** The digits of {@link digitTone}. */
export const DTMF_DIGITS = /^[0-9*#A-Dw]$/;

/**
 * The sound of one digit with the pause behind it, at `rateHz`; `w` is half a second of silence.
 * Throws a RangeError for anything but {@link DTMF_DIGITS}.
 */
export function digitTone(digit: string, rateHz: number): Int16Array {
  if (digit === 'w') return new Int16Array(msToSamples(WAIT_MS, rateHz));
  const row = KEYS.findIndex((keys) => keys.includes(digit));
  if (row < 0 || digit.length !== 1)
    throw new RangeError(`got a digit of ${digit.length} characters, expected one of 0-9 * # A-D w`);
  const lowHz = LOW_HZ[row] as number;
  const highHz = HIGH_HZ[(KEYS[row] as string).indexOf(digit)] as number;
  const samples = new Int16Array(msToSamples(TONE_MS + GAP_MS, rateHz));
  const length = msToSamples(TONE_MS, rateHz);
  for (let n = 0; n < length; n++) {
    const tone = Math.sin((2 * Math.PI * lowHz * n) / rateHz) + Math.sin((2 * Math.PI * highHz * n) / rateHz);
    samples[n] = Math.round(AMPLITUDE * tone * envelope(n, length, rateHz));
  }
  return samples;
}

function envelope(n: number, length: number, rateHz: number): number {
  const ramp = msToSamples(RAMP_MS, rateHz);
  return Math.min(1, (n + 1) / ramp, (length - n) / ramp);
}
