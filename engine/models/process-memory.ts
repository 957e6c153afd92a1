/**
 * What an engine process needs with a recogniser from a folder, estimated from the sizes of its files: it is to be
 * known before the process is started. Both sides import this.
 */
import { join } from 'node:path';
import type { Family } from './bridge.ts';
import { fileBytes, namesInFolder } from './folder-names.ts';
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
  'qwen3-asr': {
    baseBytes: 900 * MB,
    perByte: [
      // Of a split decoder: rows of the table are read when they are needed, and so are those in the weights, while
      // weights of a few bits are there for each of both graphs.
      [/^embed_tokens\.bin$/, 0],
      [/^decoder_weights\.int\d\.data$/, 0.8],
      [WEIGHTS, 1.1],
    ],
  },
  // Each head's attention among 1500 positions takes 9 MB: it grows with the model, as the weights do.
  whisper: { baseBytes: 200 * MB, perByte: [[WEIGHTS, 4.1]] },
};

/** Of what was not measured, as Moonshine base: a guess. */
const OTHERS: MemoryByFamily = { baseBytes: 250 * MB, perByte: [[WEIGHTS, 2]] };

/** Below that, sharing saves little; above, writing the file takes longer than an engine may take to start. */
const SHARED_MIN_BYTES = 64 * MB;
const SHARED_MAX_BYTES = 4096 * MB;

/**
 * Families whose weights several processes have in memory once (engine/packed-weights.ts): folders that have a file,
 * and how much of each byte. Of Qwen3-ASR 0.6B in 8 bits it is 0.9: `npm run bench -- weights`.
 */
const SHARED: Readonly<Partial<Record<Family, { readonly file: string; readonly times: number }>>> = {
  'qwen3-asr': { file: 'decoder_loop.onnx', times: 0.85 },
};

/** What engine processes need about. */
export interface ProcessMemory {
  /** Of one process. */
  readonly bytes: number;
  /** So much of it counts once, however many processes there are. */
  readonly sharedBytes: number;
}

/** What engine processes need about with the recogniser in `folder`, an absolute path. */
export function processMemory(folder: string): ProcessMemory {
  const found = findRecogniserFiles(namesIn(folder));
  const family = found?.family ?? null;
  const files: readonly string[] = found?.files ?? [];
  const { baseBytes, perByte } = (family !== null && MEASURED[family]) || OTHERS;
  const sizes = files.map((name) => fileBytes(join(folder, name)));
  const bytes = files.reduce((sum, name, index) => {
    const [, times = 0] = perByte.find(([file]) => file.test(name)) ?? [];
    return sum + times * (sizes[index] ?? 0);
  }, baseBytes);
  const shared = family === null ? undefined : SHARED[family];
  const times = shared !== undefined && files.includes(shared.file) ? shared.times : 0;
  return { bytes, sharedBytes: times * sizes.filter(isWorthSharing).reduce((sum, size) => sum + size, 0) };
}

/** Whether processes share the weights of a graph of so many bytes: on Linux, where it saves much and is soon done. */
export function isWorthSharing(bytes: number): boolean {
  return process.platform === 'linux' && bytes >= SHARED_MIN_BYTES && bytes <= SHARED_MAX_BYTES;
}

/** Nothing where it cannot be read: the engine says what is wrong with it. */
function namesIn(folder: string): string[] {
  try {
    return namesInFolder(folder);
  } catch {
    return [];
  }
}
