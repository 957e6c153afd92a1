/** The reference of the accuracy benchmarks: each recording decoded whole by the same engine. */
import { availableParallelism } from 'node:os';
import type { SpokenWord } from '../../engine/contract.ts';
import { decodeG711, encodeG711 } from '../../src/audio/g711.ts';
import { Resampler } from '../../src/audio/resample.ts';
import type { ManagedEngine } from '../../src/engine-client/managed-engine.ts';
import { MULAW_8K } from '../../src/foundation/units.ts';
import { LINE_RATE_HZ } from '../helpers/signals.ts';
import { concatenate } from './prompts.ts';
import { startEngineClient } from './start-engine-client.ts';

interface WholeOptions {
  /** Turns an 8 kHz recording into the samples that the engine gets. */
  readonly convert?: (recording: Int16Array) => Int16Array;
  /** Settings of the engines. */
  readonly environment?: Readonly<Record<string, string>>;
}

/** The text of each 8 kHz recording, in order. */
export async function decodeWhole(
  recordings: readonly Int16Array[],
  { convert = throughPhone, environment = {} }: WholeOptions = {},
): Promise<string[]> {
  const workers = availableParallelism();
  const engineClient = await startEngineClient(workers, environment);
  const texts: string[] = [];
  const waiting = [...recordings.entries()];
  await Promise.all(
    Array.from({ length: workers }, async () => {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
        const [index, recording] = next;
        const samples = convert(recording);
        texts[index] = (await engineClient.transcribe({ samples, urgency: 'batch', dueInMs: 600_000, draft: [] })).text;
      }
    }),
  );
  await engineClient.close();
  return texts;
}

/** When the words of an 8 kHz recording were said, through µ-law, by the recogniser itself. */
export async function findWords(engine: ManagedEngine, recording: Int16Array): Promise<readonly SpokenWord[]> {
  const samples = throughPhone(recording);
  const job = { samples, urgency: 'batch', dueInMs: 600_000, draft: [], timed: true } as const;
  return (await engine.transcribe(job)).words ?? [];
}

/** 8 kHz → µ-law → 16 kHz, as on the path from Twilio. */
export function throughPhone(samples: Int16Array): Int16Array {
  return toEngineRate(decodeG711(encodeG711(samples, MULAW_8K), MULAW_8K));
}

/** Any rate → 8 kHz. */
export function toLineRate(samples: Int16Array, rateHz: number): Int16Array {
  if (rateHz === LINE_RATE_HZ) return samples;
  const resampler = new Resampler(rateHz, LINE_RATE_HZ);
  return concatenate([resampler.push(samples), resampler.flush()]);
}

/** 8 kHz → 16 kHz, as in an uploaded recording. */
export function toEngineRate(samples: Int16Array): Int16Array {
  const resampler = new Resampler(8000, 16_000);
  return concatenate([resampler.push(samples), resampler.flush()]);
}
