/** The prompts of a gateway for people: what is cached, what was recorded, and how it sounds. */

import { decodeG711 } from '../audio/g711.ts';
import { pcm16ToSamples } from '../audio/pcm.ts';
import type { Codec } from '../foundation/units.ts';
import type { Prompt } from './prompt.ts';
import type { PromptCache } from './prompt-cache.ts';
import type { CachedPrompt } from './prompt-entry.ts';
import { RECORDED_MODEL } from './prompt-maker.ts';
import type { RecordedPrompt, RecordedPrompts } from './recorded-prompts.ts';
import type { MonoAudio } from './wav-leveller.ts';

/** Of each cache so many prompts are listed, those that were used last. */
const LISTED_MAX = 1000;

/** A prompt in the list. */
export interface ListedPrompt extends CachedPrompt {
  readonly source: 'recorded' | 'calls' | 'requests';
}

/** What people are shown of a prompt. A recording has the speed that it has, in every codec: null. */
export interface PromptDescription {
  readonly text: string;
  readonly voice: string;
  readonly speed: number | null;
  readonly codec: Pick<Codec, 'name' | 'rateHz'> | null;
  readonly durationMs: number;
}

interface PromptLibraryOptions {
  readonly calls: PromptCache;
  readonly requests: PromptCache;
  readonly recorded: RecordedPrompts;
}

export class PromptLibrary {
  readonly #calls: PromptCache;
  readonly #requests: PromptCache;
  readonly recorded: RecordedPrompts;

  constructor({ calls, requests, recorded }: PromptLibraryOptions) {
    this.#calls = calls;
    this.#requests = requests;
    this.recorded = recorded;
  }

  /** Recordings, and the prompts that were used last, in no particular order. */
  list(): ListedPrompt[] {
    const of = (source: 'calls' | 'requests', cache: PromptCache): ListedPrompt[] =>
      cache.list(LISTED_MAX).map((prompt) => ({ ...prompt, source }));
    const recorded = this.recorded.list().map(({ id, bytes, madeMs }): ListedPrompt => {
      return { id, bytes, madeMs, usedMs: madeMs, source: 'recorded' };
    });
    return [...recorded, ...of('calls', this.#calls), ...of('requests', this.#requests)];
  }

  /** Null when it is gone, or is only a recording in the codec of its listener. */
  async describe({ id, source }: Pick<ListedPrompt, 'id' | 'source'>): Promise<PromptDescription | null> {
    const recorded = source === 'recorded' ? this.recorded.get(id) : null;
    if (recorded !== null) return describeRecorded(recorded);
    const prompt = await (source === 'requests' ? this.#requests : this.#calls).peek(id);
    if (prompt === null || prompt.about.model.startsWith(RECORDED_MODEL)) return null;
    const { text, voice, speed, codec } = prompt.about;
    return { text, voice, speed, codec, durationMs: prompt.durationMs };
  }

  /** How the prompt of that id sounds; null when there is none. */
  async sound(id: string): Promise<MonoAudio | null> {
    if (this.recorded.get(id) !== null) return this.recorded.sound(id);
    const prompt = (await this.#calls.peek(id)) ?? (await this.#requests.peek(id));
    return prompt === null ? null : decode(prompt);
  }

  /** Returns whether there was one. Rejects with the file system's error. */
  async delete(id: string): Promise<boolean> {
    const found = [await this.recorded.delete(id), this.#calls.delete(id), this.#requests.delete(id)];
    return found.includes(true);
  }
}

function describeRecorded({ text, voice, durationMs }: RecordedPrompt): PromptDescription {
  return { text, voice, speed: null, codec: null, durationMs };
}

function decode({ bytes, about: { codec } }: Prompt): MonoAudio {
  const samples = codec.name === 'pcm16' ? pcm16ToSamples(bytes) : decodeG711(bytes, codec);
  return { samples, rateHz: codec.rateHz };
}
