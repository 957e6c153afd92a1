/** A prompt: one spoken sentence in the codec of its listener. */
import { createHash } from 'node:crypto';
import type { Codec } from '../foundation/units.ts';

/** `bytes` = whole 20 ms frames in the codec of its key; empty when there was nothing to speak. Never changed. */
export interface Prompt {
  readonly bytes: Uint8Array;
  readonly durationMs: number;
  readonly about: PromptAbout;
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

/** Hex digits of a prompt's name that tell its text, and as many that tell all of its key. */
const HALF_CHARS = 32;

/**
 * The name of a prompt in caches, 64 hex digits: it begins as the names of all prompts with the same text do
 * ({@link textHashOf}), so that what was said can be forgotten in every voice and codec.
 */
export function hashOf(key: PromptKey): string {
  const { model, voice, speed, normaliser, text, codec } = key;
  const { name, rateHz, channels, bytesPerSample } = codec;
  const parts = [model, voice, speed, normaliser, text, name, rateHz, channels, bytesPerSample];
  return `${textHashOf(text)}${sha256(JSON.stringify(parts)).slice(0, HALF_CHARS)}`;
}

/** How the names of all prompts with that text begin. */
export function textHashOf(text: string): string {
  return sha256(text).slice(0, HALF_CHARS);
}

/** {@link textHashOf} of the text of the prompt with that name. */
export function textHashIn(name: string): string {
  return name.slice(0, HALF_CHARS);
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
