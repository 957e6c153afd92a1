import type { JobCost } from '../../engine/contract.ts';
import type { Engine, SpeakRequest, Speech } from '../engine-client/engine.ts';
import { GrowingList } from '../foundation/growing-list.ts';
import type { Codec } from '../foundation/units.ts';
import { encodeSound, type Stretch } from './encode-sound.ts';
import { NORMALISER_VERSION } from './normalise.ts';
import type { Piece } from './pieces.ts';
import type { PromptKey } from './prompt.ts';
import type { PromptCache, PromptSource } from './prompt-cache.ts';
import type { RecordedPrompt, RecordedPrompts } from './recorded-prompts.ts';
import { isTooSlowForCalls, refuseSlowVoice } from './slow-voices.ts';
import { usualSpeechMs } from './speech-length.ts';
import type { ResolvedVoice } from './voice-resolver.ts';

/** Where a prompt came from, filled in while it is made. */
export interface PromptOrigin {
  /** `recorded` = a recording took the place of its text; null = not known yet, or there was nothing to speak. */
  from: PromptSource | 'recorded' | null;
  /** Of the engine's work for it; null = there was none, or it is not done. */
  cost: JobCost | null;
}

/** The codec a prompt is wanted in, how soon, and until when anybody wants it. */
export interface PromptRequest {
  readonly codec: Codec;
  readonly urgency: 'speak' | 'batch';
  readonly dueInMs: number;
  readonly signal: AbortSignal;
  /** To be filled in, where anybody wants to know. */
  readonly origin?: PromptOrigin;
}

/** Begins the model's name of what was recorded. */
export const RECORDED_MODEL = 'recorded:';
/** The normaliser's name in the key of a prompt whose text was spoken as it was written. */
const NOT_NORMALISED = 'off';
const SPEAKABLE = /[\p{L}\p{N}]/u;

/** Turns one piece of text into a prompt: taken from the cache, or spoken by the engine. */
export class PromptMaker {
  readonly #engine: Engine;
  readonly #cache: PromptCache;
  readonly #recorded: RecordedPrompts;

  constructor(options: { engine: Engine; cache: PromptCache; recorded: RecordedPrompts }) {
    this.#engine = options.engine;
    this.#cache = options.cache;
    this.#recorded = options.recorded;
  }

  /** Whether a recording takes the place of `text` in this voice. */
  isRecorded(text: string, { voice }: ResolvedVoice): boolean {
    return this.#recorded.find(voice.name, text) !== null;
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
    const { codec, urgency, dueInMs, origin } = request;
    const { voice, speed } = resolved;
    const recorded = this.#recorded.find(voice.name, piece.text);
    if (recorded === null && !SPEAKABLE.test(piece.spoken)) return;
    const key = recorded === null ? keyOf(piece, resolved, codec) : keyOfRecorded(recorded, codec);
    if (recorded === null && urgency === 'speak' && isTooSlowForCalls(voice) && !this.#cache.has(key))
      throw refuseSlowVoice(voice);
    const line = { text: piece.spoken, voice: voice.name, speed };
    let isStandIn = false;
    yield* this.#cache.listen(key, {
      synthesise: (signal, hurry) => {
        const onEnd = (speech: Speech): void => {
          isStandIn = speech.isStandIn === true;
          if (origin !== undefined) origin.cost = speech.cost;
        };
        const speak = () => this.#speak({ ...line, urgency, dueInMs, signal, hurry }, onEnd);
        return encodeSound(recorded === null ? speak() : this.#play(recorded, speak), codec);
      },
      isWorthKeeping: () => !isStandIn,
      expectedMs: recorded?.durationMs ?? usualSpeechMs(piece.spoken, speed),
      waits: urgency === 'speak',
      signal: request.signal,
      onFound: (from) => {
        if (origin !== undefined) origin.from = recorded === null ? from : 'recorded';
      },
    });
  }

  /** Whether a call can have the prompt of `piece` without waiting for it to be made. */
  isMade(piece: Piece, resolved: ResolvedVoice, codec: Codec): boolean {
    if (!SPEAKABLE.test(piece.spoken) || this.isRecorded(piece.text, resolved)) return true;
    return this.#cache.has(keyOf(piece, resolved, codec));
  }

  /** A recording that cannot be read is spoken instead. */
  async *#play(recorded: RecordedPrompt, speak: () => AsyncIterable<Stretch>): AsyncIterable<Stretch> {
    const sound = await this.#recorded.sound(recorded.id);
    if (sound === null) yield* speak();
    else yield { ...sound, isLast: true };
  }

  /** The sound of a line, in stretches as the engine makes them. */
  #speak(request: SpeakRequest, onEnd: (speech: Speech) => void): AsyncIterable<Stretch> {
    const stretches = new GrowingList<Stretch>();
    const onSound = (samples: Int16Array, rateHz: number): void => stretches.push({ samples, rateHz, isLast: false });
    const end = (speech: Speech): void => {
      onEnd(speech);
      stretches.push({ samples: speech.samples, rateHz: speech.rateHz, isLast: true });
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

/** A recording that replaces another one has a key of its own, so nothing of that one is left. */
function keyOfRecorded({ version, text, voice }: RecordedPrompt, codec: Codec): PromptKey {
  return { model: `${RECORDED_MODEL}${version}`, voice, speed: 1, normaliser: NOT_NORMALISED, text, codec };
}
