import type { Engine } from '../engine-client/engine.ts';
import type { Codec } from '../foundation/units.ts';
import { NORMALISER_VERSION } from './normalise.ts';
import type { Piece } from './pieces.ts';
import type { Prompt } from './prompt.ts';
import type { PromptCache } from './prompt-cache.ts';
import { toPrompt } from './to-prompt.ts';
import type { ResolvedVoice } from './voice-resolver.ts';

/** The codec a prompt is wanted in, how soon, and until when anybody wants it. */
export interface PromptRequest {
  readonly codec: Codec;
  readonly urgency: 'speak' | 'batch';
  readonly dueInMs: number;
  readonly signal: AbortSignal;
}

/** The normaliser's name in the key of a prompt whose text was spoken as it was written. */
const NOT_NORMALISED = 'off';
const SPEAKABLE = /[\p{L}\p{N}]/u;

/** Turns one piece of text into a prompt: taken from the cache, or spoken by the engine. */
export class PromptMaker {
  readonly #engine: Engine;
  readonly #cache: PromptCache;

  constructor(options: { engine: Engine; cache: PromptCache }) {
    this.#engine = options.engine;
    this.#cache = options.cache;
  }

  /**
   * Makes the prompt of `piece`, which is empty when nothing in it can be spoken. Rejects with EngineError, `cancelled`
   * as soon as the signal aborts.
   */
  async make(piece: Piece, resolved: ResolvedVoice, request: PromptRequest): Promise<Prompt> {
    if (!SPEAKABLE.test(piece.spoken)) return { bytes: new Uint8Array(0), durationMs: 0 };
    const { codec, urgency, dueInMs } = request;
    const { voice, speed, normalises } = resolved;
    const key = {
      model: voice.model,
      voice: voice.name,
      speed,
      normaliser: normalises ? NORMALISER_VERSION : NOT_NORMALISED,
      text: piece.text.trim(),
      codec,
    };
    const synthesize = async (signal: AbortSignal, hurry: AbortSignal): Promise<Prompt> => {
      const { samples, rateHz } = await this.#engine.speak({
        text: piece.spoken,
        voice: voice.name,
        speed,
        urgency,
        dueInMs,
        signal,
        hurry,
      });
      return toPrompt(samples, rateHz, codec);
    };
    return this.#cache.make(key, synthesize, request.signal, { waits: urgency === 'speak' });
  }
}
