/** Which files of a folder make a Qwen3-ASR model, by their names. */
import { type FoundFiles, findPublishedFiles } from './published-layout.ts';

/** What engine/export/qwen3-asr writes. */
export const QWEN_FILES = {
  encoder: 'encoder.onnx',
  decoder: 'decoder_loop.onnx',
  tokenizer: 'tokenizer.json',
  config: 'config.json',
} as const;

/** Where a folder's forced aligner lies, if it has one, and that one's files. */
export const QWEN_ALIGNER_FOLDER = 'aligner';
export const ALIGNER_FILES = {
  encoder: 'encoder.onnx',
  classifier: 'classifier.onnx',
  tokenizer: 'tokenizer.json',
  config: 'config.json',
} as const;

/** Whether a folder with the files `names` is one of our exporter. */
export function isOurLayout(names: readonly string[]): boolean {
  return findOurFiles(names).missing.length === 0;
}

/** The files of `names` that a folder is opened with, be it ours or a published one, and what is missing. */
export function findQwenFiles(names: readonly string[]): FoundFiles {
  const [ours, published] = [findOurFiles(names), findPublishedFiles(names)];
  const fewer = ours.missing.length - published.missing.length || published.files.length - ours.files.length;
  const { files, missing } = fewer <= 0 ? ours : published;
  const aligner = Object.values(ALIGNER_FILES).map((name) => `${QWEN_ALIGNER_FOLDER}/${name}`);
  return { files: [...files, ...aligner.filter((name) => names.includes(name))], missing };
}

function findOurFiles(names: readonly string[]): FoundFiles {
  const all = Object.values(QWEN_FILES);
  return {
    files: all.filter((name) => names.includes(name)),
    missing: all.filter((name) => !names.includes(name)),
  };
}
