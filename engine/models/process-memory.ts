/**
 * What an engine process needs with a recogniser from a folder, estimated from the sizes of its files: it is to be
 * known before the process is started. Both sides import this.
 */
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { readBridge } from './installed.ts';
import { isStreamingLayout } from './moonshine-streaming/file-names.ts';
import { findLayout } from './parakeet/layout.ts';

const MB = 2 ** 20;

/** What a process takes beside the weights, and for each byte of a file: the first pattern that fits a file counts. */
interface MemoryByFamily {
  readonly baseBytes: number;
  readonly perByte: readonly (readonly [file: RegExp, times: number])[];
}

const WEIGHTS = /\.(?:onnx|onnx_data|ort|data|bin|weights)$/;
const FLOAT = /\.onnx(?:[._]data)?$/;

/**
 * Measured with random weights of 8 bits in the true shapes: the most that a whole process had in memory, with voice
 * detection and speech, after stretches of 4, 16 and 30 s that said as many tokens as they may.
 *
 * | weights | MB on disk | MB in memory | MB estimated |
 * |---|---|---|---|
 * | Moonshine streaming tiny; with word times | 52; 84 | 350; 389 | 352; 387 |
 * | small | 165 | 599 | 677 |
 * | medium; with word times | 299; 439 | 1081; 1172 | 1066; 1220 |
 * | Parakeet TDT 0.6B | 601 | 1219 | 1221 |
 */
const MEASURED = {
  'moonshine-streaming': {
    baseBytes: 200 * MB,
    perByte: [
      [/^decoder_kv_with_attention\./, 1.1],
      [WEIGHTS, 2.9],
    ],
  },
  'parakeet-tdt': { baseBytes: 500 * MB, perByte: [[WEIGHTS, 1.2]] },
} as const satisfies Record<string, MemoryByFamily>;

/** Of families that were not measured: a guess. */
const OTHERS: MemoryByFamily = { baseBytes: 250 * MB, perByte: [[WEIGHTS, 2]] };

/** Bytes that an engine process needs about with the recogniser in `folder`, an absolute path. */
export function processBytes(folder: string): number {
  const names = namesIn(folder);
  const { baseBytes, perByte } = memoryOf(folder, names);
  return loadedOf(names).reduce((sum, name) => {
    const [, times] = perByte.find(([file]) => file.test(name)) ?? [];
    return sum + (times ?? 0) * (statSync(join(folder, name), { throwIfNoEntry: false })?.size ?? 0);
  }, baseBytes);
}

function memoryOf(folder: string, names: readonly string[]): MemoryByFamily {
  const families: Readonly<Partial<Record<string, MemoryByFamily>>> = MEASURED;
  return families[statedFamily(folder) ?? ''] ?? laidOut(names);
}

function laidOut(names: readonly string[]): MemoryByFamily {
  if (isStreamingLayout(names)) return MEASURED['moonshine-streaming'];
  return findLayout(names) === null ? OTHERS : MEASURED['parakeet-tdt'];
}

/** Nothing where it cannot be read: the engine says what is wrong with it. */
function statedFamily(folder: string): string | null {
  try {
    return readBridge(folder)?.family ?? null;
  } catch {
    return null;
  }
}

/** As {@link statedFamily}. */
function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** Where there is a file of whole numbers, its float twin is not loaded. */
function loadedOf(names: readonly string[]): string[] {
  const isTwin = (name: string) => FLOAT.test(name) && names.includes(`${name.replace(FLOAT, '')}.int8.onnx`);
  return names.filter((name) => !isTwin(name));
}
