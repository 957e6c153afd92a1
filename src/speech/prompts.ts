/** The gateway's prompts: their cache as the operator wants it, and those made before anybody asks. */
import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import type { VoiceInfo } from '../../engine/contract.ts';
import { type Engine, EngineError } from '../engine-client/engine.ts';
import type { Clock } from '../foundation/clock.ts';
import { isDiskTrouble } from '../foundation/folders/disk.ts';
import { FolderRefused, type Ownership, ownFolder } from '../foundation/folders/folder-owner.ts';
import { makeFolder } from '../foundation/folders/folders.ts';
import type { Log } from '../foundation/log/log.ts';
import type { Metrics } from '../foundation/metrics.ts';
import { ConfigError } from '../foundation/settings/config.ts';
import type { Settings } from '../foundation/settings/settings.ts';
import type { Codec } from '../foundation/units.ts';
import { PromptCache } from './cache.ts';
import { Prompter } from './prompter.ts';
import { TextStream } from './text-stream.ts';
import { readVoiceMap } from './voice-map.ts';
import { showVoice } from './voices.ts';

/** Nobody waits for a prompt made ahead. */
const AHEAD_DUE_MS = 600_000;
/** Voices that are not there and have a line in the log each. */
const MISSING_VOICES_WARNED_MAX = 50;

const prompt = z.strictObject({ text: z.string(), voice: z.string().optional(), speed: z.number().optional() });
const promptList = z.array(z.union([z.string().transform((text) => ({ text })), prompt]));

/** A text to be spoken ahead, and how. */
export interface PromptText {
  readonly text: string;
  readonly voice?: string | undefined;
  readonly speed?: number | undefined;
}

/** The cache of all calls and what makes prompts for them. */
export interface Prompts {
  readonly cache: PromptCache;
  readonly prompter: Prompter;
  /** Writes what is to be written and leaves PROMPT_CACHE_DIR to others. */
  close(): Promise<void>;
}

interface PromptOptions {
  readonly settings: Settings;
  readonly engine: Engine;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Opens the cache, without PROMPT_CACHE_DIR where its disk is full or fails.
 * @throws ConfigError when PROMPT_CACHE_DIR cannot be used, or another gateway uses it
 */
export async function openPrompts(options: PromptOptions): Promise<Prompts> {
  const { settings, engine, log } = options;
  const { cache, ownership } = await openCache(options, settings.PROMPT_CACHE_DIR).catch((cause: unknown) => {
    if (!isDiskTrouble(cause))
      throw new ConfigError([`PROMPT_CACHE_DIR: expected a folder that can be written to, but ${explain(cause)}`]);
    log.warn({ err: cause }, 'PROMPT_CACHE_DIR cannot be used until the next start, for its disk is full or fails');
    return openCache(options, '');
  });
  const close = async (): Promise<void> => {
    await cache.settled();
    await ownership?.release();
  };
  const { DEFAULT_VOICE: defaultVoice, VOICE_MAP } = settings;
  const prompter = new Prompter({
    engine,
    cache,
    defaultVoice,
    voiceMap: readVoiceMap(VOICE_MAP),
    onMissingVoice: missingVoices(options),
  });
  return { cache, prompter, close };
}

/**
 * Counts texts whose voice is not there, and warns of each voice once. Strangers name them, so there are not more lines
 * than a few.
 */
function missingVoices({
  metrics,
  log,
}: Pick<PromptOptions, 'metrics' | 'log'>): (name: string, used: VoiceInfo) => void {
  const warned = new Set<string>();
  return (name, used) => {
    metrics.voicesMissing.inc();
    const voice = showVoice(name);
    if (warned.has(voice) || warned.size >= MISSING_VOICES_WARNED_MAX) return;
    warned.add(voice);
    log.warn(
      { voice, used: used.name },
      'a call asks for a voice that is not there; VOICE_MAP can say which is to speak for it',
    );
  };
}

async function openCache(
  { settings, metrics, clock, log }: PromptOptions,
  directory: string,
): Promise<{ cache: PromptCache; ownership: Ownership | null }> {
  const cache = new PromptCache({
    maxBytes: settings.PROMPT_CACHE_BYTES,
    directory: directory || null,
    directoryMaxBytes: settings.PROMPT_CACHE_DIR_BYTES,
    metrics: {
      asked: (from) => metrics.prompts.inc({ from }),
      trouble: (reason) => metrics.promptFilesFailed.inc({ reason }),
      held: (bytes) => metrics.promptCacheBytes.set(bytes),
    },
  });
  if (directory === '') return { cache, ownership: null };
  await makeFolder(directory, 0o700);
  const onWait = (owner: string): void =>
    log.warn({ owner }, 'PROMPT_CACHE_DIR is in use; waiting some seconds for its owner to end');
  const ownership = await ownFolder(directory, { clock, onWait });
  try {
    await cache.open();
    return { cache, ownership };
  } catch (error) {
    await ownership.release();
    throw error;
  }
}

/**
 * The prompts of a file: a JSON list of texts or objects, or else one a line. Throws a ConfigError when PROMPTS_FILE
 * cannot be used.
 */
export async function readPrompts(path: string): Promise<PromptText[]> {
  const content = await readFile(path, 'utf8').catch((cause: NodeJS.ErrnoException) => {
    throw new ConfigError([
      `PROMPTS_FILE: got ${JSON.stringify(path)}, expected a file that can be read (${cause.code})`,
    ]);
  });
  try {
    return parsePrompts(content);
  } catch (cause) {
    throw new ConfigError([
      `PROMPTS_FILE: expected one prompt a line, or a JSON list of texts and of {text, voice, speed}, but ${explain(cause)}`,
    ]);
  }
}

function explain(cause: unknown): string {
  if (cause instanceof FolderRefused) return cause.message;
  return cause instanceof z.ZodError ? z.prettifyError(cause) : String(cause);
}

function parsePrompts(content: string): PromptText[] {
  if (content.trimStart().startsWith('[')) return promptList.parse(JSON.parse(content));
  return content
    .split('\n')
    .map((line) => ({ text: line.trim() }))
    .filter(({ text }) => text !== '');
}

/**
 * Has `texts` made one after the other, behind everything else the engine does, until `signal` aborts. Never rejects.
 */
export async function warmPrompts(
  texts: readonly PromptText[],
  options: { prompter: Prompter; codec: Codec; signal: AbortSignal; log: Log },
): Promise<void> {
  const { signal, log } = options;
  let failed = 0;
  for (const text of texts) {
    if (signal.aborted) return;
    try {
      await warmPrompt(text, options);
    } catch (error) {
      if (signal.aborted) return;
      failed++;
      const code = error instanceof EngineError ? error.code : undefined;
      log.warn(code === undefined ? { err: error } : { code }, 'a prompt of PROMPTS_FILE could not be made');
    }
  }
  log.info({ prompts: texts.length, failed }, 'prompts made');
}

async function warmPrompt(
  { text, voice, speed }: PromptText,
  { prompter, codec, signal }: { prompter: Prompter; codec: Codec; signal: AbortSignal },
): Promise<void> {
  const manner = await prompter.settle({
    ...(voice !== undefined && { voice }),
    ...(speed !== undefined && { speed }),
  });
  const stream = new TextStream();
  stream.write(text);
  stream.end();
  for (let sentence = await stream.next(signal); sentence !== null; sentence = await stream.next(signal)) {
    for (const piece of prompter.pieces(sentence, manner)) {
      await prompter.make(piece, manner, { codec, urgency: 'batch', dueInMs: AHEAD_DUE_MS, signal });
    }
  }
}
