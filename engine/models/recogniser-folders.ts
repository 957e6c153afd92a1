/**
 * Which recogniser a folder has by the names of its files, and which of them it is opened with. It opens nothing. The
 * command line reads it too.
 */
import type { Family } from './bridge.ts';
import { findMoonshineFiles } from './moonshine-file-names.ts';
import { findStreamingFiles } from './moonshine-streaming/file-names.ts';
import { findParakeetFiles } from './parakeet/layout.ts';
import { findQwenFiles } from './qwen3-asr/layout.ts';
import { findWhisperFiles } from './whisper/layout.ts';

/** The files of a recogniser. */
export interface RecogniserFolder {
  readonly family: Family;
  /** Those that are there and are read. */
  readonly files: readonly string[];
  /** What is missing, e.g. `encoder.onnx or encoder.ort`; empty = it is whole. */
  readonly missing: readonly string[];
}

/** The recogniser that `names`, the files of a folder, are of, be it whole or not; null = of none that is known. */
export function findRecogniserFiles(names: readonly string[]): RecogniserFolder | null {
  const found: RecogniserFolder[] = [
    { family: 'moonshine', ...findMoonshineFiles(names) },
    { family: 'moonshine-streaming', ...findStreamingFiles(names) },
    { family: 'parakeet-tdt', ...findParakeetFiles(names) },
    { family: 'qwen3-asr', ...findQwenFiles(names) },
    { family: 'whisper', ...findWhisperFiles(names) },
  ];
  // What has more of its files is meant: `config.json` alone says nothing.
  const [best] = found.filter(({ files }) => files.length > 1).sort((a, b) => a.missing.length - b.missing.length);
  return best === undefined ? null : { ...best, files: withWeightsBeside(best.files, names) };
}

function withWeightsBeside(files: readonly string[], names: readonly string[]): string[] {
  const beside = files.flatMap((file) => weightsBeside(file));
  return [...new Set([...files, ...beside.filter((name) => names.includes(name))])];
}

/** Names that the file with the weights of `graph` may have beside it; the last is its own where it is no .onnx. */
export function weightsBeside(graph: string): string[] {
  return [`${graph}.data`, `${graph}_data`, graph.replace(/\.onnx$/, '.weights')];
}
