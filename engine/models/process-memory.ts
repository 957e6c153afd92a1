/**
 * What an engine process needs with a recogniser from a folder, estimated from the sizes of its files: it is to be
 * known before the process is started. Both sides import this.
 */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { Family } from './bridge.ts';
import { namesInFolder } from './folder-names.ts';
import { findRecogniserFiles } from './recogniser-folders.ts';

const MB = 2 ** 20;

/** What a process takes beside the weights, and for each byte of a file: the first pattern that fits a file counts. */
interface MemoryByFamily {
  readonly baseBytes: number;
  readonly perByte: readonly (readonly [file: RegExp, times: number])[];
}

const WEIGHTS = /\.(?:onnx|onnx_data|ort|data|bin|weights)$/;

/**
 * Fitted to random weights of 8 bits in the true shapes: the most that a whole process had in memory, with voice
 * detection and speech, at its first start, which rewrites the graphs, or after stretches of 4, 16 and 30 s that said
 * as many tokens as they may.
 *
 * | weights | MB on disk | MB in memory | MB estimated |
 * |---|---|---|---|
 * | Moonshine streaming tiny; with word times | 52; 84 | 302; 340 | 342; 376 |
 * | small | 165 | 529 | 644 |
 * | medium with word times | 439 | 1154 | 1160 |
 * | Parakeet TDT 0.6B | 601 | 1219 | 1221 |
 * | Qwen3-ASR 0.6B, the recogniser alone | 912 | 1658 | 1903 |
 * | Whisper base; small, as published, with word times | 98; 273 | 550; 1323 | 600; 1320 |
 */
const MEASURED: Readonly<Partial<Record<Family, MemoryByFamily>>> = {
  'moonshine-streaming': {
    baseBytes: 200 * MB,
    perByte: [
      [/^decoder_kv_with_attention\./, 1.1],
      [WEIGHTS, 2.7],
    ],
  },
  'parakeet-tdt': { baseBytes: 500 * MB, perByte: [[WEIGHTS, 1.2]] },
  // The tokenizer takes 190 MB, keys and values of 30 s four times 47 MB.
  'qwen3-asr': { baseBytes: 900 * MB, perByte: [[WEIGHTS, 1.1]] },
  // Each head's attention among 1500 positions takes 9 MB: it grows with the model, as the weights do.
  whisper: { baseBytes: 200 * MB, perByte: [[WEIGHTS, 4.1]] },
};

/** Of what was not measured, as Moonshine base: a guess. */
const OTHERS: MemoryByFamily = { baseBytes: 250 * MB, perByte: [[WEIGHTS, 2]] };

/** Bytes that an engine process needs about with the recogniser in `folder`, an absolute path. */
export function processBytes(folder: string): number {
  const { family, files } = findRecogniserFiles(namesIn(folder)) ?? { family: null, files: [] };
  const { baseBytes, perByte } = (family !== null && MEASURED[family]) || OTHERS;
  return files.reduce((sum, name) => {
    const [, times = 0] = perByte.find(([file]) => file.test(name)) ?? [];
    return sum + times * (statSync(join(folder, name), { throwIfNoEntry: false })?.size ?? 0);
  }, baseBytes);
}

/** Nothing where it cannot be read: the engine says what is wrong with it. */
function namesIn(folder: string): string[] {
  try {
    return namesInFolder(folder);
  } catch {
    return [];
  }
}
