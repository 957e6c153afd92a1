/** A prompt: one spoken sentence in the codec of its listener. */
import { createHash } from 'node:crypto';
import type { Codec } from '../foundation/units.ts';

/** `bytes` = whole 20 ms frames in the codec of its key; empty when there was nothing to speak. Never changed. */
export interface Prompt {
  readonly bytes: Uint8Array;
  readonly durationMs: number;
  /** Null where an earlier version wrote the prompt to disk. */
  readonly about: PromptAbout | null;
}

/** What a prompt says, for people who look at the cache. */
export interface PromptAbout {
  readonly text: string;
  readonly voice: string;
  readonly model: string;
  readonly speed: number;
  readonly codec: Codec;
}

/** Everything that changes the sound of a prompt. */
export interface PromptKey {
  /** Name and revision of what makes the voice. */
  readonly model: string;
  readonly voice: string;
  readonly speed: number;
  /** Version of the rules that normalised the text; `off` = it was not normalised. */
  readonly normaliser: string;
  /** As it was written. */
  readonly text: string;
  readonly codec: Codec;
}

/** The name of a prompt in caches: SHA-256 of its key, in hex. */
export function hashOf(key: PromptKey): string {
  const { model, voice, speed, normaliser, text, codec } = key;
  const { name, rateHz, channels, bytesPerSample } = codec;
  const parts = [model, voice, speed, normaliser, text, name, rateHz, channels, bytesPerSample];
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}
