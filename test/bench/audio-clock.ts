/** Time that goes with the audio, for benchmarks that let transcribers hear faster than people speak. */
import { ENGINE_RATE_HZ, VAD_WINDOW_SAMPLES } from '../../engine/contract.ts';
import { type Clock, sleep, systemClock } from '../../src/foundation/clock.ts';
import { samplesToMs } from '../../src/foundation/units.ts';
import type { LiveTranscriber, TranscriberMetrics } from '../../src/transcription/live-transcriber.ts';

const ignore = (): void => undefined;

/** For transcribers whose figures nobody wants. */
export const NO_METRICS: TranscriberMetrics = {
  partial: ignore,
  final: ignore,
  partialDropped: ignore,
  finalLost: ignore,
  joint: ignore,
};

/** Stands still while a transcriber reads what it was given. Timers are those of the machine. */
export class AudioClock implements Clock {
  #atMs = 0;

  nowMs(): number {
    return this.#atMs;
  }

  wall(): Date {
    return systemClock.wall();
  }

  after(delayMs: number, action: () => void): ReturnType<Clock['after']> {
    return systemClock.after(delayMs, action);
  }

  every(periodMs: number, action: () => void): ReturnType<Clock['every']> {
    return systemClock.every(periodMs, action);
  }

  /**
   * Lets `transcriber` hear 16 kHz `audio` to its end, window by window; each waits until the one before was examined
   * and no final is more than `finalWaitMs` late.
   */
  async play(audio: Int16Array, transcriber: LiveTranscriber, finalWaitMs = Number.POSITIVE_INFINITY): Promise<void> {
    const windowMs = samplesToMs(VAD_WINDOW_SAMPLES, ENGINE_RATE_HZ);
    for (let at = 0; at < audio.length; at += VAD_WINDOW_SAMPLES) {
      this.#atMs = samplesToMs(at + VAD_WINDOW_SAMPLES, ENGINE_RATE_HZ);
      transcriber.push(audio.subarray(at, at + VAD_WINDOW_SAMPLES));
      while (transcriber.backlogMs >= windowMs || transcriber.lagMs > finalWaitMs) await sleep(systemClock, 1);
    }
    await transcriber.end();
  }
}
