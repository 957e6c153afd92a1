/** Which files of a folder make a Qwen3-ASR model, by their names. */

/** What engine/export/qwen3-asr writes. */
export const QWEN_FILES = {
  encoder: 'encoder.onnx',
  decoder: 'decoder_loop.onnx',
  tokenizer: 'tokenizer.json',
  config: 'config.json',
} as const;

/** Where its forced aligner lies, if it has one, and that one's files. */
export const QWEN_ALIGNER_FOLDER = 'aligner';
export const ALIGNER_FILES = {
  encoder: 'encoder.onnx',
  classifier: 'classifier.onnx',
  tokenizer: 'tokenizer.json',
  config: 'config.json',
} as const;

/** The files of `names` that such a folder is opened with, and what is missing. */
export function findQwenFiles(names: readonly string[]): {
  readonly files: readonly string[];
  readonly missing: readonly string[];
} {
  const all = Object.values(QWEN_FILES);
  const aligner = Object.values(ALIGNER_FILES).map((name) => `${QWEN_ALIGNER_FOLDER}/${name}`);
  return {
    files: [...all, ...aligner].filter((name) => names.includes(name)),
    missing: all.filter((name) => !names.includes(name)),
  };
}
