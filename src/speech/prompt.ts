/** One spoken sentence, finished: as it goes over a carrier's wire. */
import { createHash } from 'node:crypto';
import type { Codec } from '../foundation/units.ts';

/**
 * `bytes` = whole 20 ms frames of the codec it was made for; empty when there was nothing to speak. Never written to.
 */
export interface Prompt {
  readonly bytes: Uint8Array;
  readonly durationMs: number;
}

/** Everything that changes the sound of a prompt. */
export interface PromptKey {
  /** Name and revision of what speaks. */
  readonly ttsModel: string;
  readonly voice: string;
  readonly speed: number;
  /** Version of the rules by which the text was made readable; `off` = it was not. */
  readonly normaliser: string;
  /** As it was given. */
  readonly text: string;
  readonly codec: Codec;
}

/** The name of a prompt: SHA-256 over its key, in hex. */
export function hashOf(key: PromptKey): string {
  const { ttsModel, voice, speed, normaliser, text, codec } = key;
  const { name, rateHz, channels, bytesPerSample } = codec;
  const parts = [ttsModel, voice, speed, normaliser, text, name, rateHz, channels, bytesPerSample];
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}
