/** What the doors of speech draw on. */

import type { Engine } from '../../engine-client/engine.ts';
import type { Clock } from '../../foundation/clock.ts';
import type { Metrics } from '../../foundation/metrics.ts';
import type { Settings } from '../../foundation/settings/settings.ts';
import { PromptCache, type PromptCacheStats } from '../../speech/cache.ts';
import { Prompter } from '../../speech/prompter.ts';
import { readVoiceMap } from '../../speech/voice-map.ts';
import { listVoiceNames, type VoiceName } from '../../speech/voices.ts';
import { Ffmpeg } from './ffmpeg.ts';
import type { ClearPrompts } from './prompts.ts';
import { resolveVoice, type Speaker } from './synthesize.ts';

/** Who speaks, who encodes, and how what is kept is forgotten. */
export interface SpeechSource {
  readonly speaker: Speaker;
  readonly ffmpeg: Ffmpeg;
  readonly clearPrompts: ClearPrompts;
  /** What is kept. */
  kept(): KeptSpeech;
  /** The names that can be asked for, as far as they are known by now. */
  voiceNames(): VoiceName[];
  /** The same once an engine has said which voices there are. @throws TrunklineError `engine_unavailable` */
  awaitVoiceNames(): Promise<VoiceName[]>;
}

/** Spoken sentences that are kept, of calls and of requests, in memory and on disk. */
export interface KeptSpeech {
  readonly prompts: number;
  /** How many of their size may be kept in memory. */
  readonly promptsMax: number;
}

/** A sentence of five seconds at 16 kHz: what one is taken for before there are any. */
const USUAL_PROMPT_BYTES = 160_000;

interface SourceOptions {
  readonly settings: Pick<Settings, 'SPEECH_CACHE_BYTES' | 'PROMPT_CACHE_BYTES' | 'DEFAULT_VOICE' | 'VOICE_MAP'>;
  readonly engine: Engine;
  readonly metrics: Metrics;
  readonly clock: Clock;
  /** What calls keep; it is cleared together with what is kept here. */
  readonly callPrompts: Pick<PromptCache, 'clear' | 'stats'>;
}

/**
 * A source with a cache of its own, in memory: a book that is read aloud must not push out what callers are greeted
 * with, and no call may come to wait for a sentence that is made as batch work.
 */
export function openSpeech({ settings, engine, metrics, clock, callPrompts }: SourceOptions): SpeechSource {
  const cache = new PromptCache({
    maxBytes: settings.SPEECH_CACHE_BYTES,
    directory: null,
    directoryMaxBytes: 0,
    metrics: {
      asked: (from) => metrics.prompts.inc({ from }),
      trouble: () => undefined,
      held: (bytes) => metrics.speechCacheBytes.set(bytes),
    },
  });
  const speaker = new Prompter({
    engine,
    cache,
    defaultVoice: settings.DEFAULT_VOICE,
    voiceMap: readVoiceMap(settings.VOICE_MAP),
  });
  return {
    speaker,
    ffmpeg: new Ffmpeg({ command: 'ffmpeg', clock }),
    clearPrompts: () => callPrompts.clear() + cache.clear(),
    kept: () => keptOf([callPrompts.stats, cache.stats], settings.PROMPT_CACHE_BYTES + settings.SPEECH_CACHE_BYTES),
    voiceNames: () => listVoiceNames(engine.voices),
    awaitVoiceNames: async () => {
      if (engine.voices.length === 0) await resolveVoice(speaker, {});
      return listVoiceNames(engine.voices);
    },
  };
}

/**
 * The caches are bounded by bytes; clients of the Qwen3-TTS server expect a number, of which what is kept is the same
 * share.
 */
function keptOf(caches: readonly PromptCacheStats[], maxBytes: number): KeptSpeech {
  const sum = (read: (stats: PromptCacheStats) => number): number =>
    caches.reduce((total, stats) => total + read(stats), 0);
  const [inMemory, bytes] = [sum(({ prompts }) => prompts), sum((stats) => stats.bytes)];
  const eachBytes = inMemory === 0 ? USUAL_PROMPT_BYTES : bytes / inMemory;
  return { prompts: sum(({ all }) => all), promptsMax: Math.floor(maxBytes / eachBytes) };
}
