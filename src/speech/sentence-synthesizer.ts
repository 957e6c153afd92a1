import { EngineError } from '../engine-client/engine.ts';
import { normaliseText } from './normalise.ts';
import { cutToPieces, type Piece } from './pieces.ts';
import type { Prompt } from './prompt.ts';
import type { PromptMaker, PromptRequest } from './prompt-maker.ts';
import type { TextStream } from './text-stream.ts';
import type { ResolvedVoice, VoiceResolver } from './voice-resolver.ts';

/** A sentence, or a piece of a long one, as it goes to the listener. */
export interface SpokenPiece extends Prompt {
  /** As it was written, spaces included: the texts of all pieces together are the text. */
  readonly text: string;
}

/** How the pieces of a text are made. */
export interface SynthesisOptions extends Omit<PromptRequest, 'dueInMs'> {
  /** In how many ms the next piece is needed; asked before each. */
  dueInMs(): number;
  /**
   * Leaves out pieces that the engine fails at, and is called for each. Without it the first failure ends the
   * synthesis.
   */
  readonly onSkipped?: () => void;
}

/** How often a piece is tried before it is left out. The engine client has already repeated jobs of a dead engine. */
const ATTEMPTS = 2;

/** Speaks texts sentence by sentence. */
export class SentenceSynthesizer {
  readonly voices: VoiceResolver;
  readonly #prompts: PromptMaker;

  constructor(options: { voices: VoiceResolver; prompts: PromptMaker }) {
    this.voices = options.voices;
    this.#prompts = options.prompts;
  }

  /**
   * Yields the pieces of `text` in order. A piece is made when it is asked for. Ends early when the signal aborts.
   * Fails with EngineError unless failed pieces are left out.
   */
  async *synthesize(
    text: TextStream,
    voice: ResolvedVoice,
    options: SynthesisOptions,
  ): AsyncGenerator<SpokenPiece, void, undefined> {
    const { signal } = options;
    const readable = voice.normalises ? normaliseText : (written: string) => written;
    for (let sentence = await text.next(signal); sentence !== null; sentence = await text.next(signal)) {
      for (const piece of cutToPieces(sentence, readable)) {
        const prompt = await this.#make(piece, voice, options);
        if (signal.aborted) return;
        if (prompt !== null) yield { text: piece.text, ...prompt };
      }
    }
  }

  /** Null when the piece is left out, or nobody wants it any more. */
  async #make(piece: Piece, voice: ResolvedVoice, options: SynthesisOptions): Promise<Prompt | null> {
    const { codec, urgency, signal, onSkipped } = options;
    for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
      try {
        return await this.#prompts.make(piece, voice, { codec, urgency, dueInMs: options.dueInMs(), signal });
      } catch (error) {
        if (signal.aborted) return null;
        if (!(error instanceof EngineError) || onSkipped === undefined) throw error;
        if (error.code === 'bad_input') break;
      }
    }
    onSkipped?.();
    return null;
  }
}
