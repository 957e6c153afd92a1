/** `aligner/config.json` of a Qwen3-ASR folder, as engine/export/qwen3-asr writes it. */
import { toObject, wholeIn } from '../../folder-files.ts';
import { type QwenAudioConfig, readAudioConfig } from '../config.ts';

/** What the file says of the graphs of a forced aligner. */
export interface AlignerConfig extends QwenAudioConfig {
  /** Stands behind a word where its beginning is asked for, and once more where its end is. */
  readonly timestampToken: number;
  /** A class is a time: so many are known. */
  readonly classes: number;
  /** From one class to the next. */
  readonly classMs: number;
}

const CLASSES_MAX = 1_000_000;
const CLASS_MS_MAX = 10_000;

/** Reads the text of the file. @throws ModelFileError */
export function parseAlignerConfig(text: string): AlignerConfig {
  const values = toObject(text);
  const audio = readAudioConfig(values, 'qwen3-asr-aligner');
  const whole = (name: string, minimum: number, maximum: number) => wholeIn(values[name], name, minimum, maximum);
  return {
    ...audio,
    timestampToken: whole('timestampToken', 0, audio.vocabularySize - 1),
    classes: whole('classes', 1, CLASSES_MAX),
    classMs: whole('classMs', 1, CLASS_MS_MAX),
  };
}
