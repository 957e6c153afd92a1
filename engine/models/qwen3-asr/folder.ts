/** A folder of Qwen3-ASR: what its small files say, and whether they fit one another. */
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { Refusal } from '../../refusal.ts';
import { reasonOf } from '../installed.ts';
import { CONFIG_MAX_BYTES, parseQwenConfig, type QwenConfig, QwenConfigError } from './config.ts';
import { QWEN_FILES } from './layout.ts';
import { PromptWriter } from './prompt.ts';
import { QwenTokenizer, TOKENIZER_MAX_BYTES, TokenizerError } from './tokenizer.ts';

/** A folder, read but for its graphs. */
export interface QwenFolder {
  readonly config: QwenConfig;
  readonly tokenizer: QwenTokenizer;
  readonly prompts: PromptWriter;
}

/** @throws Refusal when one of the two files cannot be read, or is not of such a model */
export function readQwenFolder(folder: string): QwenFolder {
  const configPath = join(folder, QWEN_FILES.config);
  const tokenizerPath = join(folder, QWEN_FILES.tokenizer);
  const config = refusing(configPath, () => parseQwenConfig(readText(configPath, CONFIG_MAX_BYTES)));
  return refusing(tokenizerPath, () => {
    const tokenizer = new QwenTokenizer(readText(tokenizerPath, TOKENIZER_MAX_BYTES), config.vocabularySize);
    return { config, tokenizer, prompts: new PromptWriter(tokenizer, config) };
  });
}

/** @param longest in bytes. @throws Refusal when a file cannot be read or is longer */
export function readText(path: string, longest: number): string {
  let size = 0;
  try {
    ({ size } = statSync(path));
    if (size <= longest) return readFileSync(path, 'utf8');
  } catch (error) {
    throw new Refusal('model_missing', `${path} cannot be read: ${reasonOf(error)}`);
  }
  throw new Refusal('bad_settings', `${path}: got ${size} bytes, expected at most ${longest}`);
}

/** What `read` makes of the file at `path`. @throws Refusal when it is not what it should be */
export function refusing<T>(path: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    const isKnown = error instanceof QwenConfigError || error instanceof TokenizerError;
    throw isKnown ? new Refusal('bad_settings', `${path}: ${error.message}`) : error;
  }
}
