import type { Engine, SpeakRequest, Speech } from '../engine-client/engine.ts';
import { GrowingList } from '../foundation/growing-list.ts';
import type { Codec } from '../foundation/units.ts';
import { encodeSound, type Stretch } from './encode-sound.ts';

import { NORMALISER_VERSION } from './normalise.ts';
import type { Piece } from './pieces.ts';
import type { PromptKey } from './prompt.ts';
import type { PromptCache } from './prompt-cache.ts';
import { isTooSlowForCalls, refuseSlowVoice } from './slow-voices.ts';
import { usualSpeechMs } from './speech-length.ts';
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
   * Makes the prompt of `piece`: whole frames in parts as they are made, none when nothing in it can be spoken. Throws
   * EngineError, `cancelled` as soon as the signal aborts; TrunklineError `invalid_request` where a call would have to
   * wait for a voice that is too slow.
   */
  async *make(
    piece: Piece,
    resolved: ResolvedVoice,
    request: PromptRequest,
  ): AsyncGenerator<Uint8Array, void, undefined> {
    if (!SPEAKABLE.test(piece.spoken)) return;
    const { codec, urgency, dueInMs } = request;
    const { voice, speed } = resolved;
    const key = keyOf(piece, resolved, codec);
    if (urgency === 'speak' && isTooSlowForCalls(voice) && !this.#cache.has(key)) throw refuseSlowVoice(voice);
    const line = { text: piece.spoken, voice: voice.name, speed };
    yield* this.#cache.listen(key, {
      synthesise: (signal, hurry) => encodeSound(this.#speak({ ...line, urgency, dueInMs, signal, hurry }), codec),
      expectedMs: usualSpeechMs(piece.spoken, speed),
      waits: urgency === 'speak',
      signal: request.signal,
    });
  }

  /** Whether a call can have the prompt of `piece` without waiting for it to be made. */
  isMade(piece: Piece, resolved: ResolvedVoice, codec: Codec): boolean {
    return !SPEAKABLE.test(piece.spoken) || this.#cache.has(keyOf(piece, resolved, codec));
  }

  /** The sound of a line, in stretches as the engine makes them. */
  #speak(request: SpeakRequest): AsyncIterable<Stretch> {
    const stretches = new GrowingList<Stretch>();
    const onSound = (samples: Int16Array, rateHz: number): void => stretches.push({ samples, rateHz, isLast: false });
    const end = ({ samples, rateHz }: Speech): void => {
      stretches.push({ samples, rateHz, isLast: true });
      stretches.end();
    };
    this.#engine.speak({ ...request, onSound }).then(end, (error: unknown) => stretches.fail(error));
    return stretches.read();
  }
}

function keyOf(piece: Piece, { voice, speed, normalises }: ResolvedVoice, codec: Codec): PromptKey {
  const normaliser = normalises ? NORMALISER_VERSION : NOT_NORMALISED;
  return { model: voice.model, voice: voice.name, speed, normaliser, text: piece.text.trim(), codec };
}
