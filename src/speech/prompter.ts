import { SPEED_MAX, SPEED_MIN, VAD_WINDOW_SAMPLES, type VoiceInfo } from '../../engine/contract.ts';
import type { Engine } from '../engine-client/engine.ts';
import { TrunklineError } from '../foundation/errors.ts';
import type { Codec } from '../foundation/units.ts';
import type { PromptCache } from './cache.ts';
import { NORMALISER_VERSION, normaliseText } from './normalise.ts';
import { cutToPieces, type Piece } from './pieces.ts';
import type { Prompt } from './prompt.ts';
import { findVoice, resolveVoice, type VoiceMap } from './voices.ts';
import { toPrompt } from './wire.ts';

/** How a text is to be spoken. */
export interface VoiceOptions {
  /** A voice of the engine, or one of OpenAI's names for one. */
  readonly voice?: string;
  /**
   * The voice is a wish: where there is none of that name, or it does not speak `lang` and another does, the text is
   * spoken as if none was named. Otherwise a voice that is not there is refused.
   */
  readonly voiceIsWish?: boolean;
  /** 1 = the voice's own, 2 = in half the time. */
  readonly speed?: number;
  /** BCP-47: where no voice is named, one that speaks this language. */
  readonly lang?: string;
  /** Whether amounts, times, numbers and the like are written out first; true unless said otherwise. */
  readonly textNormalize?: boolean;
}

/** How a text is spoken: the style with everything settled. */
export interface ResolvedVoice {
  readonly voice: VoiceInfo;
  /** The voice that was wished for and is not there; null = none. */
  readonly missingVoice: string | null;
  readonly speed: number;
  readonly normalises: boolean;
}

/** In what form a prompt is wanted, by when, and until when it is wanted at all. */
export interface PromptOrder {
  readonly codec: Codec;
  readonly urgency: 'speak' | 'batch';
  readonly dueInMs: number;
  readonly signal: AbortSignal;
}

interface PrompterOptions {
  readonly engine: Engine;
  readonly cache: PromptCache;
  /** Speaks where no voice is named. */
  readonly defaultVoice: string;
  /** Our voices for names of others; none unless given. */
  readonly voiceMap?: VoiceMap;
  /** Speaks in place of a voice that was wished for and is not there; called for each text. */
  readonly onMissingVoice?: (name: string, used: VoiceInfo) => void;
}

/** What the normaliser is called in a prompt's key when it was not asked. */
const NOT_NORMALISED = 'off';
const ENGLISH = /^en\b/i;
const SPEAKABLE = /[\p{L}\p{N}]/u;

/** Makes prompts of text, for all calls: from the cache, or by the engine. */
export class Prompter {
  readonly #options: PrompterOptions;
  readonly #engine: Engine;
  readonly #cache: PromptCache;

  constructor(options: PrompterOptions) {
    this.#options = options;
    this.#engine = options.engine;
    this.#cache = options.cache;
  }

  /** Throws `invalid_request` for a speed out of range, or a voice that is not there as far as that is known by now. */
  check(style: VoiceOptions): void {
    const { speed = 1 } = style;
    if (!(speed >= SPEED_MIN && speed <= SPEED_MAX)) {
      throw new TrunklineError(
        'invalid_request',
        `speed: got ${speed}, expected a number from ${SPEED_MIN} to ${SPEED_MAX}`,
        'speed',
      );
    }
    if (this.#engine.voices.length > 0) this.#chooseVoice(style);
  }

  /**
   * Settles how `style` is spoken, once an engine has said which voices there are. Throws what {@link check} throws,
   * and EngineError.
   */
  async settle(style: VoiceOptions): Promise<ResolvedVoice> {
    this.check(style);
    // Whatever answers this has said before which voices there are.
    if (this.#engine.voices.length === 0)
      await this.#engine.detect({ samples: new Int16Array(VAD_WINDOW_SAMPLES), state: null });
    const voice = this.#chooseVoice(style);
    const missingVoice = this.#missing(style);
    if (missingVoice !== null) this.#options.onMissingVoice?.(missingVoice, voice);
    return {
      voice,
      missingVoice,
      speed: style.speed ?? 1,
      normalises: style.textNormalize !== false && ENGLISH.test(voice.language),
    };
  }

  /** A sentence in pieces that can be spoken in one go each. */
  pieces(sentence: string, manner: ResolvedVoice): Piece[] {
    return cutToPieces(sentence, manner.normalises ? normaliseText : (text) => text);
  }

  /**
   * The sound of a piece; empty when nothing in it can be spoken. Fails with EngineError, `cancelled` when the signal
   * aborts.
   */
  async make(piece: Piece, manner: ResolvedVoice, order: PromptOrder): Promise<Prompt> {
    if (!SPEAKABLE.test(piece.spoken)) return { bytes: new Uint8Array(0), durationMs: 0 };
    const { codec, urgency, dueInMs } = order;
    const { voice, speed, normalises } = manner;
    const normaliser = normalises ? NORMALISER_VERSION : NOT_NORMALISED;
    const key = {
      ttsModel: this.#engine.ttsModel ?? '',
      voice: voice.name,
      speed,
      normaliser,
      text: piece.text.trim(),
      codec,
    };
    const synthesise = async (signal: AbortSignal, hurry: AbortSignal): Promise<Prompt> => {
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
    return this.#cache.make(key, synthesise, order.signal, { waits: urgency === 'speak' });
  }

  #chooseVoice(style: VoiceOptions): VoiceInfo {
    const { voices } = this.#engine;
    const { voice, voiceIsWish = false, lang } = style;
    const { defaultVoice, voiceMap } = this.#options;
    const usual = resolveVoice(this.#missing(style) === null ? voice : undefined, voices, defaultVoice, voiceMap);
    const isSettled = voice !== undefined && !voiceIsWish;
    if (isSettled || lang === undefined || speaks(usual, lang)) return usual;
    return (
      voices.find((each) => each.language.toLowerCase() === lang.toLowerCase()) ??
      voices.find((each) => speaks(each, lang)) ??
      usual
    );
  }

  #missing({ voice, voiceIsWish = false }: VoiceOptions): string | null {
    if (voice === undefined || !voiceIsWish) return null;
    return findVoice(voice, this.#engine.voices, this.#options.voiceMap) === undefined ? voice : null;
  }
}

/** Whether the voice speaks the language, whatever the region. */
function speaks({ language }: VoiceInfo, lang: string): boolean {
  const primary = (tag: string): string => tag.toLowerCase().split('-', 1)[0] ?? '';
  return primary(language) === primary(lang);
}
