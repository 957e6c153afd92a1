/** A recogniser as the engine loads it, on a device and on the CPU: whether it says the same. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ENGINE_RATE_HZ } from '../../../engine/contract.ts';
import { loadModels } from '../../../engine/models/load-models.ts';
import type { Asr } from '../../../engine/models/model.ts';
import { MODEL_TABLE } from '../../../engine/models/model-table.ts';
import { Resampler } from '../../../src/audio/resample.ts';
import { readWav } from '../../../src/audio/wav.ts';
import { arithmeticClip } from '../../e2e/parity/arithmetic-clip.ts';
import { TONE } from '../../engine/settings.ts';
import { finish } from '../../engine/speech.ts';

/** What was compared. */
export interface RecogniserParity {
  readonly name: string;
  readonly clips: number;
  readonly equalClips: number;
  /** Ms of model runs for all clips. */
  readonly deviceMs: number;
  readonly cpuMs: number;
}

/** Longest stretch that an engine is given. */
const CLIP_MAX_S = 30;

/**
 * Reads `clips` with the recogniser `found` on a device and with `expected` on the CPU.
 * @param found names of the model table, or folders
 * @throws Refusal when it cannot work there
 */
export async function compareRecogniser(
  found: string,
  expected: string,
  where: { readonly provider: 'cpu' | 'cuda'; readonly clips: readonly Int16Array[] },
): Promise<RecogniserParity> {
  const [device, cpu] = [await load(found, where.provider), await load(expected, 'cpu')];
  let equalClips = 0;
  const ms = { device: 0, cpu: 0 };
  for (const clip of where.clips) {
    const one = await read(device, clip);
    const other = await read(cpu, clip);
    if (one.tokens === other.tokens) equalClips++;
    ms.device += one.ms;
    ms.cpu += other.ms;
  }
  return { name: cpu.name, clips: where.clips.length, equalClips, deviceMs: ms.device, cpuMs: ms.cpu };
}

async function load(asrModel: string, executionProvider: 'cpu' | 'cuda'): Promise<Asr> {
  const settings = { ...TONE, asrModel, executionProvider, modelGraphs: 'shipped' as const };
  const { asr } = await loadModels(MODEL_TABLE, settings, () => undefined);
  await asr.warmUp(arithmeticClip(1, ENGINE_RATE_HZ));
  return asr;
}

async function read(asr: Asr, clip: Int16Array): Promise<{ readonly tokens: string; readonly ms: number }> {
  const startMs = performance.now();
  const { result } = await finish(asr.transcribe(clip, []));
  return { tokens: result.tokens.join(), ms: performance.now() - startMs };
}

/** WAV files of a folder at the engine's rate; without one, clips of 1 to 8 s made by arithmetic. */
export function clipsOf(folder: string | undefined, count: number): Int16Array[] {
  if (folder === undefined)
    return Array.from({ length: count }, (_, seed) => arithmeticClip(seed + 1, (1 + (seed % 8)) * ENGINE_RATE_HZ));
  const names = readdirSync(folder).filter((name) => name.endsWith('.wav'));
  return names.slice(0, count).map((name) => {
    const { rateHz, channels } = readWav(readFileSync(join(folder, name)));
    const samples = new Resampler(rateHz, ENGINE_RATE_HZ).push(channels[0] ?? new Int16Array(0));
    return samples.subarray(0, CLIP_MAX_S * ENGINE_RATE_HZ);
  });
}
