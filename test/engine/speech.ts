/** Audio for tests of the engine's models. */
import { readFileSync } from 'node:fs';
import { ENGINE_RATE_HZ } from '../../engine/contract.ts';
import type { Steps } from '../../engine/scheduler.ts';
import { makeRun, RunRequest } from '../../engine/shared-runs.ts';
import { Resampler } from '../../src/audio/resample.ts';
import { readWav } from '../../src/audio/wav.ts';
import { packagePath } from '../../src/foundation/folders/paths.ts';

/** A recording of `fixtures/audio`, by name without ending, at the engine's rate. */
export function speech(name: string): Int16Array {
  const { rateHz, channels } = readWav(readFileSync(packagePath('fixtures', 'audio', `${name}.wav`)));
  return new Resampler(rateHz, ENGINE_RATE_HZ).push(channels[0] ?? new Int16Array(0));
}

/** A pure tone; 0 Hz is silence. */
export function tone(frequencyHz: number, durationMs: number): Int16Array {
  const samples = new Int16Array((durationMs * ENGINE_RATE_HZ) / 1000);
  return samples.map((_, i) => 8000 * Math.sin((2 * Math.PI * frequencyHz * i) / ENGINE_RATE_HZ));
}

/** One stretch after another. */
export function joined(...stretches: readonly Int16Array[]): Int16Array {
  return Int16Array.from(stretches.flatMap((stretch) => [...stretch]));
}

/** Runs every step of a job. */
export async function finish<T>(steps: Steps<T>): Promise<{ result: T; runs: number }> {
  for (let runs = 1; ; runs++) {
    const step = await steps.next();
    if (step.done) return { result: step.value, runs };
    if (step.value instanceof RunRequest) await makeRun([step.value]);
  }
}
