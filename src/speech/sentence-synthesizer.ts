import { EngineError } from '../engine-client/engine.ts';
import type { Codec } from '../foundation/units.ts';
import { normaliseText } from './normalise.ts';
import { cutToPieces, type Piece } from './pieces.ts';
import type { PromptMaker, PromptOrigin, PromptRequest } from './prompt-maker.ts';
import { SentenceSplitter } from './sentences.ts';
import { isTooSlowForCalls, refuseSlowVoice } from './slow-voices.ts';
import { usualSpeechMs } from './speech-length.ts';
import type { TextStream } from './text-stream.ts';
import type { ResolvedVoice, VoiceOptions, VoiceResolver } from './voice-resolver.ts';

/** A sentence, or a piece of a long one, as it goes to the listener. */
export interface SpokenPiece {
  /** As it was written, spaces included: the texts of all pieces together are the text. */
  readonly text: string;
  /**
   * Its sound in whole frames, in parts as they are made; none when nothing in it can be spoken. To be read before the
   * next piece is asked for. Ends early when the signal aborts. Throws EngineError unless failures are left out.
   */
  readonly parts: AsyncIterable<Uint8Array>;
  /** How long it usually is. */
  readonly usualMs: number;
  /** Whether the engine failed before its end, which shows when its parts have ended. */
  readonly isCut: boolean;
  /** Where its sound comes from. */
  readonly origin: Readonly<PromptOrigin>;
}

/** How the pieces of a text are made. */
export interface SynthesisOptions extends Omit<PromptRequest, 'dueInMs' | 'origin'> {
  /** In how many ms the next piece is needed; asked before each. */
  dueInMs(): number;
  /**
   * Leaves out what the engine fails at, a piece or the end of one, and is called for each. Without it the first
   * failure ends the synthesis.
   */
  readonly onSkipped?: () => void;
}

/** How often a piece is tried before it is left out. The engine client has already repeated jobs of a dead engine. */
const ATTEMPTS = 2;

/** Speaks texts sentence by sentence. */
export class SentenceSynthesizer {
  readonly voices: VoiceResolver;
  readonly #prompts: PromptMaker;
  readonly #onLive: (codec: Codec) => void;

  /** @param options.onLive told of the codec of each text that somebody waits for */
  constructor(options: { voices: VoiceResolver; prompts: PromptMaker; onLive?: (codec: Codec) => void }) {
    this.voices = options.voices;
    this.#prompts = options.prompts;
    this.#onLive = options.onLive ?? (() => undefined);
  }

  /**
   * Checks before a call waits for it that `text` need not be made by a voice that is too slow for that.
   * @throws TrunklineError `invalid_request`
   */
  checkLive(text: string, options: VoiceOptions, codec: Codec): void {
    const voice = this.voices.resolveNow(options);
    if (voice === null || !isTooSlowForCalls(voice.voice) || this.#prompts.isRecorded(text, voice)) return;
    const splitter = new SentenceSplitter();
    const sentences = [...splitter.push(text), ...splitter.flush()];
    const pieces = sentences.flatMap((sentence) => cutToPieces(sentence, readerOf(voice)));
    if (!pieces.every((piece) => this.#prompts.isMade(piece, voice, codec))) throw refuseSlowVoice(voice.voice);
  }

  /**
   * Yields the pieces of `text` in order. A piece is made when its parts are asked for. Ends early when the signal
   * aborts.
   */
  async *synthesize(
    text: TextStream,
    voice: ResolvedVoice,
    options: SynthesisOptions,
  ): AsyncGenerator<SpokenPiece, void, undefined> {
    const { signal } = options;
    if (options.urgency === 'speak') this.#onLive(options.codec);
    const readable = readerOf(voice);
    if (text.untouched !== null && this.#prompts.isRecorded(text.untouched, voice)) {
      const whole = text.takeAll();
      yield this.#begin({ text: whole, spoken: whole }, voice, options);
      return;
    }
    for (let sentence = await text.next(signal); sentence !== null; sentence = await text.next(signal)) {
      for (const piece of cutToPieces(sentence, readable)) {
        if (signal.aborted) return;
        yield this.#begin(piece, voice, options);
      }
    }
  }

  #begin(piece: Piece, voice: ResolvedVoice, options: SynthesisOptions): SpokenPiece {
    const origin: PromptOrigin = { from: null, cost: null };
    const begun = {
      text: piece.text,
      usualMs: usualSpeechMs(piece.spoken, voice.speed),
      isCut: false,
      origin,
      parts: this.#make(piece, voice, { ...options, origin }, () => {
        begun.isCut = true;
      }),
    };
    return begun;
  }

  /** The parts of a piece. Another attempt makes the same sound again, so it goes on where the one before it failed. */
  async *#make(
    piece: Piece,
    voice: ResolvedVoice,
    options: SynthesisOptions & { readonly origin: PromptOrigin },
    onCut: () => void,
  ): AsyncGenerator<Uint8Array, void, undefined> {
    const { codec, urgency, signal, origin, onSkipped } = options;
    let madeBytes = 0;
    for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
      const prompt = this.#prompts.make(piece, voice, { codec, urgency, dueInMs: options.dueInMs(), signal, origin });
      try {
        for await (const part of withoutFirst(madeBytes, prompt)) {
          madeBytes += part.length;
          yield part;
        }
        return;
      } catch (error) {
        if (signal.aborted) return;
        if (!(error instanceof EngineError) || onSkipped === undefined) throw error;
        if (error.code === 'bad_input') break;
      }
    }
    onCut();
    onSkipped?.();
  }
}

/** How a voice is given what was written. */
function readerOf({ normalises }: ResolvedVoice): (written: string) => string {
  return normalises ? normaliseText : (written) => written;
}

/** What comes behind the first `bytes` bytes of all parts together. */
async function* withoutFirst(bytes: number, parts: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let left = bytes;
  for await (const part of parts) {
    if (part.length > left) yield part.subarray(left);
    left = Math.max(left - part.length, 0);
  }
}
