import type { JobCost, SpokenWord } from '../../engine/contract.ts';
import { type Engine, EngineError, type EngineErrorCode } from '../engine-client/engine.ts';
import type { Settings } from '../foundation/settings/settings.ts';
import { cleanText } from './clean-text.ts';
import { understandSpeech } from './second-look.ts';

export type DecoderSettings = Pick<Settings, 'CHUNK_MS' | 'EAGER_MS' | 'ENDPOINT_MS'>;

/**
 * What a decode is for. `eager`: a final begun before it is certain that speech is over; `joint`: utterances that are
 * over, read together.
 */
export type DecodePurpose = 'partial' | 'eager' | 'final' | 'joint';

/** A stretch of audio as text. */
export interface DecodedText {
  readonly ok: true;
  readonly text: string;
  /** Tokens for the next partial of the same window; empty when they went round in a loop. */
  readonly draft: readonly number[];
  /** Of the text's tokens; null when the recogniser has none, empty after a loop. */
  readonly logprobs: Float32Array | null;
  readonly looped: boolean;
  /** When they were asked for and can be told. */
  readonly words: readonly SpokenWord[] | undefined;
  readonly cost: JobCost;
}

/** The engine's answer to one stretch of audio. */
export type Decoded = DecodedText | { readonly ok: false; readonly code: EngineErrorCode };

/** A joint reading gives way where partials do: engines drop either when they have no time for it. */
const URGENCY = { partial: 'partial', eager: 'eager', final: 'final', joint: 'partial' } as const;

/** Finals are wanted at once; this only orders them among each other. */
const FINAL_DUE_MS = 100;
/** A revision is worth having some seconds later; one that is not begun by then is not made. */
const JOINT_DUE_MS = 2000;
const BATCH_DUE_MS = 60_000;

/**
 * Asks the engine for text with the urgency and deadline that fit the purpose, and removes endless repetitions from the
 * answer.
 */
export class Decoder {
  readonly #engine: Engine;
  readonly #urgency: 'live' | 'batch';
  readonly #dueMs: Readonly<Record<DecodePurpose, number>>;

  constructor(engine: Engine, urgency: 'live' | 'batch', settings: DecoderSettings) {
    this.#engine = engine;
    this.#urgency = urgency;
    this.#dueMs = {
      partial: settings.CHUNK_MS,
      eager: Math.max(settings.ENDPOINT_MS - settings.EAGER_MS, FINAL_DUE_MS),
      final: FINAL_DUE_MS,
      joint: JOINT_DUE_MS,
    };
  }

  /** Share of engine time in use (0–1). */
  get load(): number {
    return this.#engine.load;
  }

  /** Never fails: a failure is an answer. */
  async decode(
    purpose: DecodePurpose,
    request: { samples: Int16Array; draft: readonly number[]; timed?: boolean; signal: AbortSignal },
  ): Promise<Decoded> {
    const batch = this.#urgency === 'batch';
    const job = {
      ...request,
      urgency: batch ? 'batch' : URGENCY[purpose],
      dueInMs: batch ? BATCH_DUE_MS : this.#dueMs[purpose],
    } as const;
    try {
      // A partial without words is followed by the next one.
      const read = purpose === 'partial' ? this.#engine.transcribe(job) : understandSpeech(this.#engine, job);
      const { text, tokens, logprobs, looped, words, cost } = await read;
      return { ok: true, text: cleanText(text), draft: looped ? [] : tokens, logprobs, looped, words, cost };
    } catch (error) {
      if (error instanceof EngineError) return { ok: false, code: error.code };
      throw error;
    }
  }
}
