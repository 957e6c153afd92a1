/** What the doors of speech draw on. */
import type { Clock } from '../../clock.ts';
import type { Engine } from '../../link/engine.ts';
import type { Metrics } from '../../metrics.ts';
import type { Settings } from '../../settings.ts';
import { PromptCache } from '../../speech/cache.ts';
import { Prompter } from '../../speech/prompter.ts';
import { Ffmpeg } from './ffmpeg.ts';
import type { ClearPrompts } from './prompts.ts';
import type { Speaker } from './recital.ts';

/** Who speaks, who encodes, and how what is kept is forgotten. */
export interface SpeechSource {
  readonly speaker: Speaker;
  readonly ffmpeg: Ffmpeg;
  readonly clearPrompts: ClearPrompts;
}

interface SourceOptions {
  readonly settings: Pick<Settings, 'SPEECH_CACHE_BYTES' | 'DEFAULT_VOICE'>;
  readonly engine: Engine;
  readonly metrics: Metrics;
  readonly clock: Clock;
  /** What calls keep; it is cleared together with what is kept here. */
  readonly callPrompts: Pick<PromptCache, 'clear'>;
}

/**
 * A source with a cache of its own, in memory: a book that is read aloud must not push out what callers are greeted with, and no call may come to wait for
 * a sentence that is made as batch work.
 */
export function openSpeech({ settings, engine, metrics, clock, callPrompts }: SourceOptions): SpeechSource {
  const cache = new PromptCache({
    maxBytes: settings.SPEECH_CACHE_BYTES,
    directory: null,
    directoryMaxBytes: 0,
    metrics: { asked: (from) => metrics.prompts.inc({ from }), trouble: () => undefined, held: () => undefined },
  });
  return {
    speaker: new Prompter({ engine, cache, defaultVoice: settings.DEFAULT_VOICE }),
    ffmpeg: new Ffmpeg({ command: 'ffmpeg', clock }),
    clearPrompts: () => callPrompts.clear() + cache.clear(),
  };
}
