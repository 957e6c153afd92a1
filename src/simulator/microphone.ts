/**
 * Speech of a simulated caller that is not known beforehand: a track of silence into which speech is written while the
 * call lasts. The call ends with the track, or when somebody hangs up.
 */
import { MULAW_8K, msToSamples, samplesToMs } from '../foundation/units.ts';

export class Microphone {
  /** 8 kHz, for a call's `tracks`. */
  readonly track: Int16Array;

  /** Silence of `durationMs`. */
  constructor(durationMs: number) {
    this.track = new Int16Array(msToSamples(durationMs, MULAW_8K.rateHz));
  }

  /**
   * Says `samples` (8 kHz) from `fromMs` of the call on; what is beyond the end of the track is lost. Returns when they
   * end, in ms of the call.
   */
  speak(samples: Int16Array, fromMs: number): number {
    const from = msToSamples(fromMs, MULAW_8K.rateHz);
    this.track.set(samples.subarray(0, Math.max(this.track.length - from, 0)), Math.min(from, this.track.length));
    return fromMs + samplesToMs(samples.length, MULAW_8K.rateHz);
  }
}
