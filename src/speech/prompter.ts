import { SPEED_MAX, SPEED_MIN, VAD_WINDOW_SAMPLES, type VoiceInfo } from '../../engine/contract.ts';
import { TrunklineError } from '../errors.ts';
import type { Engine } from '../link/engine.ts';
import type { Codec } from '../units.ts';
import type { PromptCache } from './cache.ts';
import { NORMALISER_VERSION, normaliseText } from './normalise.ts';
import { cutToPieces, type Piece } from './pieces.ts';
import type { Prompt } from './prompt.ts';
import { resolveVoice } from './voices.ts';
import { toPrompt } from './wire.ts';

/** How a text is to be spoken. */
export interface Style {
  /** A voice of the engine, or one of OpenAI's names for one. */
  readonly voice?: string;
  /** 1 = the voice's own, 2 = in half the time. */
  readonly speed?: number;
  /** BCP-47: where no voice is named, one that speaks this language. */
  readonly lang?: string;
  /** Whether amounts, times, numbers and the like are written out first; true unless said otherwise. */
  readonly textNormalize?: boolean;
}

/** How a text is spoken: the style with everything settled. */
export interface Manner {
  readonly voice: VoiceInfo;
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
}

/** What the normaliser is called in a prompt's key when it was not asked. */
const NOT_NORMALISED = 'off';
const ENGLISH = /^en\b/i;
const SPEAKABLE = /[\p{L}\p{N}]/u;

/** Makes prompts of text, for all calls: from the cache, or by the engine. */
export class Prompter {
  readonly #engine: Engine;
  readonly #cache: PromptCache;
  readonly #defaultVoice: string;

  constructor(options: PrompterOptions) {
    this.#engine = options.engine;
    this.#cache = options.cache;
    this.#defaultVoice = options.defaultVoice;
  }

  /** Throws `invalid_request` for a speed out of range, or a voice that is not there as far as that is known by now. */
  check(style: Style): void {
    const { speed = 1 } = style;
    if (!(speed >= SPEED_MIN && speed <= SPEED_MAX)) {
      throw new TrunklineError('invalid_request', `speed: got ${speed}, expected a number from ${SPEED_MIN} to ${SPEED_MAX}`);
    }
    if (this.#engine.voices.length > 0) this.#chooseVoice(style);
  }

  /** Settles how `style` is spoken, once an engine has said which voices there are. Throws what {@link check} throws, and EngineError. */
  async settle(style: Style): Promise<Manner> {
    this.check(style);
    // Whatever answers this has said before which voices there are.
    if (this.#engine.voices.length === 0) await this.#engine.detect({ samples: new Int16Array(VAD_WINDOW_SAMPLES), state: null });
    const voice = this.#chooseVoice(style);
    return { voice, speed: style.speed ?? 1, normalises: style.textNormalize !== false && ENGLISH.test(voice.language) };
  }

  /** A sentence in pieces that can be spoken in one go each. */
  pieces(sentence: string, manner: Manner): Piece[] {
    return cutToPieces(sentence, manner.normalises ? normaliseText : (text) => text);
  }

  /** The sound of a piece; empty when nothing in it can be spoken. Fails with EngineError, `cancelled` when the signal aborts. */
  async make(piece: Piece, manner: Manner, order: PromptOrder): Promise<Prompt> {
    if (!SPEAKABLE.test(piece.spoken)) return { bytes: new Uint8Array(0), durationMs: 0 };
    const { codec, urgency, dueInMs } = order;
    const { voice, speed, normalises } = manner;
    const normaliser = normalises ? NORMALISER_VERSION : NOT_NORMALISED;
    const key = { ttsModel: this.#engine.ttsModel ?? '', voice: voice.name, speed, normaliser, text: piece.text.trim(), codec };
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

  #chooseVoice({ voice, lang }: Style): VoiceInfo {
    const { voices } = this.#engine;
    const usual = resolveVoice(voice, voices, this.#defaultVoice);
    if (voice !== undefined || lang === undefined || speaks(usual, lang)) return usual;
    return voices.find((each) => each.language.toLowerCase() === lang.toLowerCase()) ?? voices.find((each) => speaks(each, lang)) ?? usual;
  }
}

/** Whether the voice speaks the language, whatever the region. */
function speaks({ language }: VoiceInfo, lang: string): boolean {
  const primary = (tag: string): string => tag.toLowerCase().split('-', 1)[0] ?? '';
  return primary(language) === primary(lang);
}
