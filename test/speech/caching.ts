/** A prompt cache and what it counted. */
import { joinBytes } from '../../src/audio/bytes.ts';
import { bytesToMs, MULAW_8K } from '../../src/foundation/units.ts';
import type { Prompt, PromptKey } from '../../src/speech/prompt.ts';
import { PromptCache } from '../../src/speech/prompt-cache.ts';
import { RecordedPrompts } from '../../src/speech/recorded-prompts.ts';
import { FakeClock } from '../fakes/clock.ts';

interface Counted {
  readonly cache: PromptCache;
  readonly asked: string[];
  readonly troubles: string[];
  readonly heldBytes: number[];
}

export function countedCache(
  options: { maxBytes?: number; directory?: string; directoryMaxBytes?: number } = {},
): Counted {
  const asked: string[] = [];
  const troubles: string[] = [];
  const heldBytes: number[] = [];
  const { maxBytes = 1_000_000, directory = null, directoryMaxBytes = 1_000_000 } = options;
  const cache = new PromptCache({
    maxBytes,
    directory,
    directoryMaxBytes,
    metrics: {
      asked: (from) => asked.push(from),
      trouble: (trouble) => troubles.push(trouble),
      held: (bytes) => heldBytes.push(bytes),
    },
    clock: new FakeClock(),
  });
  return { cache, asked, troubles, heldBytes };
}

/** A prompt as its listener gets it, once that has all of it. `make` makes it at once. */
export async function whole(
  cache: PromptCache,
  key: PromptKey,
  make: (signal: AbortSignal, hurry: AbortSignal) => Promise<Prompt>,
  { signal = new AbortController().signal, waits = true }: { signal?: AbortSignal; waits?: boolean } = {},
): Promise<Prompt> {
  async function* synthesise(gone: AbortSignal, hurry: AbortSignal) {
    yield (await make(gone, hurry)).bytes;
  }
  const parts: Uint8Array[] = [];
  for await (const part of cache.listen(key, { synthesise, signal, waits, expectedMs: 5000 })) parts.push(part);
  const bytes = joinBytes(parts);
  const { text, voice, model, speed, codec } = key;
  return { bytes, durationMs: bytesToMs(bytes.length, key.codec), about: { text, voice, model, speed, codec } };
}

/** The key of a text with the usual voice, except for `changes`. */
export function keyOf(text: string, changes: Partial<PromptKey> = {}): PromptKey {
  return { model: 'fake-tts-1', voice: 'rms', speed: 1, normaliser: '1', text, codec: MULAW_8K, ...changes };
}

/** No recordings, and a place for some. */
export function noRecordings(): RecordedPrompts {
  return new RecordedPrompts({ directory: null, clock: new FakeClock() });
}
