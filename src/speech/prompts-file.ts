/** PROMPTS_FILE: prompts that are made before anybody asks for them. */
import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { EngineError } from '../engine-client/engine.ts';
import type { Log } from '../foundation/log/log.ts';
import { ConfigError } from '../foundation/settings/config.ts';
import type { Codec } from '../foundation/units.ts';
import type { SentenceSynthesizer } from './sentence-synthesizer.ts';
import { TextStream } from './text-stream.ts';

/** Nobody waits for a prompt made ahead. */
const AHEAD_DUE_MS = 600_000;

const promptText = z.strictObject({ text: z.string(), voice: z.string().optional(), speed: z.number().optional() });
const promptTexts = z.array(z.union([z.string().transform((text) => ({ text })), promptText]));

/** A text whose prompts are made ahead, and the voice that speaks it. */
export interface PromptText {
  readonly text: string;
  readonly voice?: string | undefined;
  readonly speed?: number | undefined;
}

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

/**
 * Makes the prompts of `texts` one after the other, behind all other work of the engine, until the signal aborts. Never
 * rejects.
 */
export async function makePromptsAhead(
  texts: readonly PromptText[],
  options: { synthesizer: SentenceSynthesizer; codec: Codec; signal: AbortSignal; log: Log },
): Promise<void> {
  const { signal, log } = options;
  let failed = 0;
  for (const text of texts) {
    if (signal.aborted) return;
    try {
      await makePrompts(text, options);
    } catch (error) {
      if (signal.aborted) return;
      failed++;
      const code = error instanceof EngineError ? error.code : undefined;
      log.warn(code === undefined ? { err: error } : { code }, 'a prompt of PROMPTS_FILE could not be made');
    }
  }
  if (!signal.aborted) log.info({ prompts: texts.length, failed }, 'prompts made');
}

async function makePrompts(
  { text, voice, speed }: PromptText,
  { synthesizer, codec, signal }: { synthesizer: SentenceSynthesizer; codec: Codec; signal: AbortSignal },
): Promise<void> {
  const resolved = await synthesizer.voices.resolve({
    ...(voice !== undefined && { voice }),
    ...(speed !== undefined && { speed }),
  });
  const pieces = synthesizer.synthesize(TextStream.of(text), resolved, {
    codec,
    urgency: 'batch',
    dueInMs: () => AHEAD_DUE_MS,
    signal,
  });
  for await (const { parts } of pieces) for await (const _ of parts);
}
