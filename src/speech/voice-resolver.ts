import { SPEED_MAX, SPEED_MIN, VAD_WINDOW_SAMPLES, type VoiceInfo } from '../../engine/contract.ts';
import type { Engine } from '../engine-client/engine.ts';
import { TrunklineError } from '../foundation/errors.ts';
import { findVoice, resolveVoice, type VoiceMap } from './voices.ts';

/** How a text asks to be spoken. */
export interface VoiceOptions {
  /** A voice of the engine, or another platform's name for one. */
  readonly voice?: string;
  /**
   * The voice is only preferred: when there is no such voice, or it does not speak `lang` and another does, the text is
   * spoken as if it named no voice. Otherwise an unknown voice is an error.
   */
  readonly voiceIsWish?: boolean;
  /** 1 = the voice's own speed, 2 = twice as fast. */
  readonly speed?: number;
  /** BCP-47: the language of a text that names no voice. */
  readonly lang?: string;
  /** Whether amounts, times, numbers and the like are written out first; true by default. */
  readonly textNormalize?: boolean;
}

/** The voice that speaks a text, with every default filled in. */
export interface ResolvedVoice {
  readonly voice: VoiceInfo;
  /** The preferred voice that does not exist; null = none. */
  readonly missingVoice: string | null;
  readonly speed: number;
  readonly normalises: boolean;
}

interface VoiceResolverOptions {
  readonly engine: Pick<Engine, 'voices' | 'detect'>;
  /** Speaks texts that name no voice. */
  readonly defaultVoice: string;
  /** Our voices by other platforms' names; empty by default. */
  readonly voiceMap?: VoiceMap;
  /** Called for each text whose preferred voice does not exist; `used` speaks it. */
  readonly onMissingVoice?: (name: string, used: VoiceInfo) => void;
}

const ENGLISH = /^en\b/i;

/** Finds the voice that speaks a text. */
export class VoiceResolver {
  readonly #options: VoiceResolverOptions;

  constructor(options: VoiceResolverOptions) {
    this.#options = options;
  }

  /**
   * Checks `options` as far as that is possible before an engine has named its voices.
   * @throws TrunklineError `invalid_request` for a speed out of range or an unknown voice
   */
  check(options: VoiceOptions): void {
    const { speed = 1 } = options;
    if (!(speed >= SPEED_MIN && speed <= SPEED_MAX)) {
      throw new TrunklineError(
        'invalid_request',
        `speed: got ${speed}, expected a number from ${SPEED_MIN} to ${SPEED_MAX}`,
        'speed',
      );
    }
    if (this.#options.engine.voices.length > 0) this.#choose(options);
  }

  /**
   * Resolves `options` as soon as an engine has named its voices. Rejects with what {@link check} throws, and with
   * EngineError.
   */
  async resolve(options: VoiceOptions): Promise<ResolvedVoice> {
    const { engine, onMissingVoice } = this.#options;
    this.check(options);
    // An engine names its voices before it answers any job.
    if (engine.voices.length === 0) await engine.detect({ samples: new Int16Array(VAD_WINDOW_SAMPLES), state: null });
    const resolved = this.#fill(options);
    if (resolved.missingVoice !== null) onMissingVoice?.(resolved.missingVoice, resolved.voice);
    return resolved;
  }

  /** Resolves `options` at once; null while no engine has named its voices. Throws what {@link check} throws. */
  resolveNow(options: VoiceOptions): ResolvedVoice | null {
    return this.#options.engine.voices.length === 0 ? null : this.#fill(options);
  }

  #fill(options: VoiceOptions): ResolvedVoice {
    const voice = this.#choose(options);
    return {
      voice,
      missingVoice: this.#findMissing(options),
      speed: options.speed ?? 1,
      normalises: options.textNormalize !== false && ENGLISH.test(voice.language),
    };
  }

  #choose(options: VoiceOptions): VoiceInfo {
    const { engine, defaultVoice, voiceMap } = this.#options;
    const { voices } = engine;
    const { voice, voiceIsWish = false, lang } = options;
    const named = this.#findMissing(options) === null ? voice : undefined;
    const usual = resolveVoice(named, voices, defaultVoice, voiceMap);
    const isRequired = voice !== undefined && !voiceIsWish;
    if (isRequired || lang === undefined || speaks(usual, lang)) return usual;
    return (
      voices.find((each) => each.language.toLowerCase() === lang.toLowerCase()) ??
      voices.find((each) => speaks(each, lang)) ??
      usual
    );
  }

  #findMissing({ voice, voiceIsWish = false }: VoiceOptions): string | null {
    const { engine, voiceMap } = this.#options;
    if (voice === undefined || !voiceIsWish) return null;
    return findVoice(voice, engine.voices, voiceMap) === undefined ? voice : null;
  }
}

/** Whether the voice speaks the language of any region. */
function speaks({ language }: VoiceInfo, lang: string): boolean {
  const primary = (tag: string): string => tag.toLowerCase().split('-', 1)[0] ?? '';
  return primary(language) === primary(lang);
}
