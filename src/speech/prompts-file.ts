/** PROMPTS_FILE: prompts that are made before anybody asks for them, as an operator lists them. */
import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { ConfigError } from '../foundation/settings/config.ts';
import type { PromptText } from './prompts-ahead.ts';

const promptText = z.strictObject({ text: z.string(), voice: z.string().optional(), speed: z.number().optional() });
const promptTexts = z.array(z.union([z.string().transform((text) => ({ text })), promptText]));

/**
 * Reads the texts of a file: a JSON list of texts or objects, or one text a line.
 * @throws ConfigError when PROMPTS_FILE cannot be used
 */
export async function readPromptsFile(path: string): Promise<PromptText[]> {
  const content = await readFile(path, 'utf8').catch((cause: NodeJS.ErrnoException) => {
    throw new ConfigError([
      `PROMPTS_FILE: got ${JSON.stringify(path)}, expected a file that can be read (${cause.code})`,
    ]);
  });
  try {
    return parse(content);
  } catch (cause) {
    const expected = 'expected one prompt a line, or a JSON list of texts and of {text, voice, speed}';
    const reason = cause instanceof z.ZodError ? z.prettifyError(cause) : String(cause);
    throw new ConfigError([`PROMPTS_FILE: ${expected}, but ${reason}`]);
  }
}

function parse(content: string): PromptText[] {
  if (content.trimStart().startsWith('[')) return promptTexts.parse(JSON.parse(content));
  return content
    .split('\n')
    .map((line) => ({ text: line.trim() }))
    .filter(({ text }) => text !== '');
}
