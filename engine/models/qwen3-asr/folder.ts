/** A folder of Qwen3-ASR: what its small files say, and whether they fit one another. */
import { join } from 'node:path';
import { readText, refusing } from '../folder-files.ts';
import { CONFIG_MAX_BYTES, parseQwenConfig, type QwenConfig } from './config.ts';
import { QWEN_FILES } from './layout.ts';
import { PromptWriter } from './prompt.ts';
import { QwenTokenizer, TOKENIZER_MAX_BYTES } from './tokenizer.ts';

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
