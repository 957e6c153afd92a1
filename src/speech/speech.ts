/** All of the gateway that speaks, wired together: for calls, for requests over HTTP, and prompts made ahead. */
import { join } from 'node:path';
import type { VoiceInfo } from '../../engine/contract.ts';
import type { Engine } from '../engine-client/engine.ts';
import type { Clock } from '../foundation/clock.ts';
import { isDiskTrouble } from '../foundation/folders/disk.ts';
import { FolderRefused, type Ownership, ownFolder } from '../foundation/folders/folder-owner.ts';
import { makeFolder } from '../foundation/folders/folders.ts';
import type { Log } from '../foundation/log/log.ts';
import type { Metrics } from '../foundation/metrics.ts';
import { ConfigError } from '../foundation/settings/config.ts';
import type { Settings } from '../foundation/settings/settings.ts';
import type { Codec } from '../foundation/units.ts';
import { PromptCache, type PromptCacheStats } from './prompt-cache.ts';
import { RECORDED_FOLDER } from './prompt-files.ts';
import { PromptLibrary } from './prompt-library.ts';
import { PromptMaker } from './prompt-maker.ts';
import { PromptsAhead } from './prompts-ahead.ts';
import { readPromptsFile } from './prompts-file.ts';
import { RecordedPrompts } from './recorded-prompts.ts';
import { SentenceSynthesizer } from './sentence-synthesizer.ts';
import { spokenSentencesOf } from './spoken-sentences.ts';
import { readVoiceMap } from './voice-map.ts';
import { VoiceResolver } from './voice-resolver.ts';
import { listVoiceNames, showVoice, type VoiceName } from './voices.ts';

/** Most missing voices that have a line in the log. */
const MISSING_VOICES_WARNED_MAX = 50;
/** Names the prompts of PROMPTS_FILE among those made ahead. */
const PROMPTS_FILE_OWNER = 'PROMPTS_FILE';
/** The size of a prompt while there are none: five seconds at 16 kHz. */
const USUAL_PROMPT_BYTES = 160_000;

type SpeechSettings = Pick<
  Settings,
  | 'DEFAULT_VOICE'
  | 'VOICE_MAP'
  | 'PROMPTS_FILE'
  | 'PROMPT_CACHE_BYTES'
  | 'PROMPT_CACHE_DIR'
  | 'PROMPT_CACHE_DIR_BYTES'
  | 'SPEECH_CACHE_BYTES'
>;

interface SpeechOptions {
  readonly settings: SpeechSettings;
  readonly engine: Engine;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly log: Log;
  /** Whether a sentence of a call may be cached; left out = all may. Those made ahead always are. */
  readonly keeps?: (sentence: string) => boolean;
}

/** How many prompts are cached, for calls and requests, in memory and on disk. */
export interface CachedPrompts {
  readonly prompts: number;
  /** How many of their size fit into memory. */
  readonly promptsMax: number;
}

/** What the cached prompts take, those of calls and requests together. */
export interface PromptFigures {
  readonly cached: number;
  readonly memoryBytes: number;
  readonly diskBytes: number;
  /** Recordings that take the place of synthesized sentences. */
  readonly uploaded: number;
}

/** What the gateway speaks with. */
export interface Speech {
  /** Speaks in calls. Its prompts are cached in memory and, with PROMPT_CACHE_DIR, on disk. */
  readonly calls: SentenceSynthesizer;
  /**
   * Speaks for requests over HTTP, with a cache of its own, in memory: a book that is read aloud must not push out the
   * greetings of calls, and no call may wait for a sentence that is made as batch work.
   */
  readonly requests: SentenceSynthesizer;
  /** The names that a text can ask for, as far as an engine has named its voices by now. */
  voiceNames(): VoiceName[];
  /** The same once an engine has named its voices. Rejects with EngineError when none can. */
  awaitVoiceNames(): Promise<VoiceName[]>;
  cachedPrompts(): CachedPrompts;
  promptFigures(): PromptFigures;
  /** What is cached, what was recorded, and how it sounds. */
  readonly prompts: PromptLibrary;
  /** Forgets all cached prompts. Returns how many there were. */
  clearPrompts(): number;
  /** The sentences of a text that was said in a call which may be forgotten: all but those made ahead. */
  sentencesOf(text: string): string[];
  /** Forgets sentences of calls, in every voice. Resolves with how many prompts that were, when they are gone. */
  forget(sentences: readonly string[]): Promise<number>;
  /** The prompts of calls that are made before anybody asks, and stay. */
  readonly ahead: PromptsAhead;
  /** Makes the prompts of PROMPTS_FILE for calls. Never rejects. */
  makePromptsOfFile(): Promise<void>;
  /** Resolves when all prompts are written and PROMPT_CACHE_DIR is free for others. */
  close(): Promise<void>;
}

/**
 * Opens the caches; that of calls without PROMPT_CACHE_DIR when its disk is full or fails.
 * @throws ConfigError when PROMPTS_FILE or PROMPT_CACHE_DIR cannot be used, or another gateway uses the folder
 */
export async function openSpeech(options: SpeechOptions): Promise<Speech> {
  const { settings, engine, log } = options;
  const textsAhead = settings.PROMPTS_FILE === '' ? [] : await readPromptsFile(settings.PROMPTS_FILE);
  const { keeps = () => true } = options;
  const { cache: callCache, ownership } = await openCallCache({
    ...options,
    keeps: (sentence) => ahead.has(sentence) || keeps(sentence),
  });
  const requestCache = openRequestCache(options);
  const recorded = await openRecorded(options, ownership);
  const onMissingVoice = warnOfMissingVoices(options);
  const calls = createSynthesizer(options, {
    cache: callCache,
    recorded,
    onMissingVoice,
    onLive: (codec) => ahead.noteCodec(codec),
  });
  const requests = createSynthesizer(options, { cache: requestCache, recorded, onMissingVoice });
  const ahead = new PromptsAhead({ synthesizer: calls, cache: callCache, log });
  ahead.keep(PROMPTS_FILE_OWNER, textsAhead);
  const memoryBytes = settings.PROMPT_CACHE_BYTES + settings.SPEECH_CACHE_BYTES;
  return {
    calls,
    requests,
    voiceNames: () => listVoiceNames(engine.voices),
    awaitVoiceNames: async () => {
      if (engine.voices.length === 0) await requests.voices.resolve({});
      return listVoiceNames(engine.voices);
    },
    cachedPrompts: () => countPrompts([callCache.stats, requestCache.stats], memoryBytes),
    prompts: new PromptLibrary({ calls: callCache, requests: requestCache, recorded }),
    promptFigures: () => figuresOf([callCache.stats, requestCache.stats], recorded.size),
    clearPrompts: () => callCache.clear() + requestCache.clear(),
    sentencesOf: (text) => spokenSentencesOf(text).filter((sentence) => !ahead.has(sentence)),
    forget: (sentences) => callCache.forget(sentences),
    ahead,
    makePromptsOfFile: async () => {
      if (textsAhead.length > 0) await ahead.make(PROMPTS_FILE_OWNER);
    },
    close: async () => {
      ahead.close();
      await callCache.settled();
      await ownership?.release();
    },
  };
}

interface SynthesizerParts {
  readonly cache: PromptCache;
  readonly recorded: RecordedPrompts;
  readonly onMissingVoice?: (name: string, used: VoiceInfo) => void;
  readonly onLive?: (codec: Codec) => void;
}

function createSynthesizer(
  { settings, engine }: SpeechOptions,
  { onMissingVoice, onLive, ...sources }: SynthesizerParts,
): SentenceSynthesizer {
  const voices = new VoiceResolver({
    engine,
    defaultVoice: settings.DEFAULT_VOICE,
    voiceMap: readVoiceMap(settings.VOICE_MAP),
    ...(onMissingVoice !== undefined && { onMissingVoice }),
  });
  const prompts = new PromptMaker({ engine, ...sources });
  return new SentenceSynthesizer({ voices, prompts, ...(onLive !== undefined && { onLive }) });
}

/** Counts texts whose voice is missing, and warns of a voice once. Callers name them, so the lines are limited. */
function warnOfMissingVoices({
  metrics,
  log,
}: Pick<SpeechOptions, 'metrics' | 'log'>): (name: string, used: VoiceInfo) => void {
  const warned = new Set<string>();
  return (name, used) => {
    metrics.voicesMissing.inc();
    const voice = showVoice(name);
    if (warned.has(voice) || warned.size >= MISSING_VOICES_WARNED_MAX) return;
    warned.add(voice);
    log.warn(
      { voice, used: used.name },
      'a text asks for a voice that does not exist; VOICE_MAP can name one to use in its place',
    );
  };
}

interface CallCache {
  readonly cache: PromptCache;
  /** Of PROMPT_CACHE_DIR; null = the cache is in memory alone. */
  readonly ownership: Ownership | null;
}

async function openCallCache(options: SpeechOptions): Promise<CallCache> {
  const { settings, log } = options;
  try {
    return await openCallCacheIn(settings.PROMPT_CACHE_DIR, options);
  } catch (cause) {
    if (!isDiskTrouble(cause)) {
      const reason = cause instanceof FolderRefused ? cause.message : String(cause);
      throw new ConfigError([`PROMPT_CACHE_DIR: expected a folder that can be written to, but ${reason}`]);
    }
    log.warn({ err: cause }, 'PROMPT_CACHE_DIR is not used until the next start: its disk is full or fails');
    return openCallCacheIn('', options);
  }
}

async function openCallCacheIn(directory: string, options: SpeechOptions): Promise<CallCache> {
  const { settings, metrics, clock, log, keeps = () => true } = options;
  const cache = new PromptCache({
    maxBytes: settings.PROMPT_CACHE_BYTES,
    directory: directory || null,
    directoryMaxBytes: settings.PROMPT_CACHE_DIR_BYTES,
    metrics: {
      asked: (from) => metrics.prompts.inc({ from }),
      trouble: (reason) => metrics.promptFilesFailed.inc({ reason }),
      held: (bytes) => metrics.promptCacheBytes.set(bytes),
    },
    clock,
    keeps,
    onTooManyPinned: warnOfTooMany(options),
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

/** Warns once of memory and once of the disk, and of neither where it is switched off. */
function warnOfTooMany({ settings, log }: SpeechOptions): (where: 'memory' | 'disk') => void {
  const told = new Set<string>();
  return (where) => {
    const isMemory = where === 'memory';
    const setting = isMemory ? 'PROMPT_CACHE_BYTES' : 'PROMPT_CACHE_DIR_BYTES';
    if (settings[setting] === 0 || told.has(where)) return;
    told.add(where);
    const place = isMemory ? 'memory' : 'PROMPT_CACHE_DIR';
    const effect = isMemory ? 'read from PROMPT_CACHE_DIR or made again in calls' : 'made again after a restart';
    const bytes = settings[setting];
    log.warn({ bytes }, `prompts made ahead are more than is kept in ${place}: some of them are ${effect}`);
  };
}

/** Beside the prompts of PROMPT_CACHE_DIR, if that folder is ours; in memory if not, or if its disk fails. */
async function openRecorded({ settings, clock, log }: SpeechOptions, ownership: Ownership | null) {
  const directory = ownership === null ? null : join(settings.PROMPT_CACHE_DIR, RECORDED_FOLDER);
  const recorded = new RecordedPrompts({ directory, clock });
  try {
    await recorded.open();
    return recorded;
  } catch (err) {
    log.warn({ err }, 'the recorded prompts in PROMPT_CACHE_DIR cannot be used until the next start');
    return new RecordedPrompts({ directory: null, clock });
  }
}

function openRequestCache({ settings, metrics, clock }: SpeechOptions): PromptCache {
  return new PromptCache({
    maxBytes: settings.SPEECH_CACHE_BYTES,
    directory: null,
    directoryMaxBytes: 0,
    metrics: {
      asked: (from) => metrics.prompts.inc({ from }),
      trouble: () => undefined,
      held: (bytes) => metrics.speechCacheBytes.set(bytes),
    },
    clock,
  });
}

/** The caches are limited by bytes; how many prompts that is depends on their size so far. */
function countPrompts(caches: readonly PromptCacheStats[], maxBytes: number): CachedPrompts {
  const sum = (read: (stats: PromptCacheStats) => number): number =>
    caches.reduce((total, stats) => total + read(stats), 0);
  const inMemory = sum((stats) => stats.prompts);
  const eachBytes = inMemory === 0 ? USUAL_PROMPT_BYTES : sum((stats) => stats.bytes) / inMemory;
  return { prompts: sum((stats) => stats.all), promptsMax: Math.floor(maxBytes / eachBytes) };
}

function figuresOf(caches: readonly PromptCacheStats[], uploaded: number): PromptFigures {
  const sum = (read: (stats: PromptCacheStats) => number): number =>
    caches.reduce((total, stats) => total + read(stats), 0);
  return {
    cached: sum(({ all }) => all),
    memoryBytes: sum(({ bytes }) => bytes),
    diskBytes: sum(({ diskBytes }) => diskBytes),
    uploaded,
  };
}
