import { EngineError } from '../engine-client/engine.ts';
import type { Codec } from '../foundation/units.ts';
import type { Piece } from './pieces.ts';
import type { Prompt } from './prompt.ts';
import type { Prompter, ResolvedVoice, VoiceOptions } from './prompter.ts';
import type { TextStream } from './text-stream.ts';

/** A sentence, or a piece of a long one, ready to be played. */
export interface SentenceAudio {
  /** Counts from 0 within the utterance; one that could not be spoken leaves a gap. */
  readonly index: number;
  /** As it was given, spaces included: the texts of all sentences together are the utterance. */
  readonly text: string;
  /** Whole frames of the call's codec; empty when there is nothing to speak in it. */
  readonly bytes: Uint8Array;
  readonly durationMs: number;
}

interface SentenceSynthesizerOptions {
  readonly prompter: Pick<Prompter, 'settle' | 'pieces' | 'make'>;
  readonly codec: Codec;
  /** Sound that is yet to be played before what is made now, in ms. */
  aheadMs(): number;
  /** The engine failed at a sentence for good; the utterance goes on without it. */
  onSkipped(): void;
  /** The voice that was wished for is not there; `used` speaks. Called before the first sentence. */
  onMissingVoice(wished: string, used: string): void;
}

/** How often a sentence is tried. The link has sent it anew already where an engine process died. */
const ATTEMPTS = 2;

/**
 * Speaks for one call: text in as it comes, sentences out in order. It makes one only when it is asked for the next.
 */
export class SentenceSynthesizer {
  readonly #options: SentenceSynthesizerOptions;

  constructor(options: SentenceSynthesizerOptions) {
    this.#options = options;
  }

  /** The sentences of `text`; ends early when `signal` aborts. Throws what {@link Prompter.settle} throws. */
  async *speak(
    text: TextStream,
    style: VoiceOptions,
    signal: AbortSignal,
  ): AsyncGenerator<SentenceAudio, void, undefined> {
    const { prompter, onMissingVoice } = this.#options;
    const manner = await prompter.settle(style);
    if (manner.missingVoice !== null && !signal.aborted) onMissingVoice(manner.missingVoice, manner.voice.name);
    let index = 0;
    for (let sentence = await text.next(signal); sentence !== null; sentence = await text.next(signal)) {
      for (const piece of prompter.pieces(sentence, manner)) {
        const prompt = await this.#make(piece, manner, signal);
        if (signal.aborted) return;
        if (prompt !== null) yield { index, text: piece.text, ...prompt };
        index++;
      }
    }
  }

  /** Null when it was given up. */
  async #make(piece: Piece, manner: ResolvedVoice, signal: AbortSignal): Promise<Prompt | null> {
    const { prompter, codec, aheadMs, onSkipped } = this.#options;
    for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
      try {
        return await prompter.make(piece, manner, { codec, urgency: 'speak', dueInMs: aheadMs(), signal });
      } catch (error) {
        if (!(error instanceof EngineError)) throw error;
        if (signal.aborted) return null;
        if (error.code === 'bad_input') break;
      }
    }
    onSkipped();
    return null;
  }
}
