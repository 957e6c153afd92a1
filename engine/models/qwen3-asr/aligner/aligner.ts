/**
 * Qwen3's forced aligner: a second model that is given speech and its words, and says in one run when each was said.
 * https://github.com/QwenLM/Qwen3-ASR (inference/qwen3_forced_aligner.py)
 */
import { ENGINE_RATE_HZ, type SpokenWord } from '../../../contract.ts';
import { tensorOf } from '../../../onnx.ts';
import { type InferenceSession, Tensor } from '../../../onnxruntime.ts';
import type { Steps } from '../../../scheduler.ts';
import { ModelFileError } from '../../folder-files.ts';
import { QwenFeatures } from '../features.ts';
import type { AudioEncoder } from '../parts.ts';
import type { QwenTokenizer } from '../tokenizer.ts';
import type { AlignerConfig } from './config.ts';
import { mendTimes } from './mend-times.ts';
import { canAlign, wordsToAlign } from './words.ts';

/** Its authors align no longer speech at once. */
const SPEECH_MAX_SAMPLES = 180 * ENGINE_RATE_HZ;
/** Nobody speaks so fast, and the time of the repair grows with the square. */
const WORDS_MAX = 2000;

/** Control tokens by their names. */
const AUDIO = { token: '<|audio_start|>' } as const;
const AUDIO_END = { token: '<|audio_end|>' } as const;
const TIMESTAMP = { token: '<timestamp>' } as const;
const AUDIO_PAD = '<|audio_pad|>';

/** The open parts of an aligner. */
export interface AlignerParts {
  readonly config: AlignerConfig;
  readonly tokenizer: QwenTokenizer;
  readonly encoder: AudioEncoder;
  /** Of `classifier.onnx`. */
  readonly classifier: InferenceSession;
}

/** An open aligner. */
export class ForcedAligner {
  readonly #parts: AlignerParts;
  readonly #features: QwenFeatures;

  /** @throws ModelFileError when a token of the prompt is missing, or is another one than the model's */
  constructor(parts: AlignerParts) {
    const { tokenizer, config } = parts;
    for (const { token } of [AUDIO, AUDIO_END]) tokenizer.idOf(token);
    for (const [token, expected] of [
      [TIMESTAMP.token, config.timestampToken],
      [AUDIO_PAD, config.audioPadToken],
    ] as const)
      if (tokenizer.idOf(token) !== expected)
        throw new ModelFileError(`${token}: got ${tokenizer.idOf(token)}, expected ${expected}`);
    this.#parts = parts;
    this.#features = new QwenFeatures(config);
  }

  /**
   * When the words of `text` were said in `samples`, 16 kHz.
   * @param language BCP-47
   * @returns null when it cannot tell: of this language, or of so much speech
   */
  async *align(samples: Int16Array, text: string, language: string): Steps<SpokenWord[] | null> {
    const words = wordsToAlign(text);
    if (!canAlign(language) || samples.length > SPEECH_MAX_SAMPLES || words.length > WORDS_MAX) return null;
    if (words.length === 0) return [];
    const clip = this.#features.compute(samples);
    yield;
    const audio = yield* this.#parts.encoder.encode(clip);
    const prompt = this.#promptOf(
      clip.tokens,
      words.map(({ read }) => read),
    );
    const times = mendTimes(await this.#classify(prompt, audio));
    return words.map(({ text: word }, index) => ({
      text: word,
      startMs: times[2 * index] ?? 0,
      endMs: times[2 * index + 1] ?? 0,
    }));
  }

  #promptOf(audioTokens: number, words: readonly string[]): number[] {
    const { tokenizer, config } = this.#parts;
    return [
      ...tokenizer.encodeParts([AUDIO]),
      ...new Array<number>(audioTokens).fill(config.audioPadToken),
      ...tokenizer.encodeParts([AUDIO_END, ...words.flatMap((word) => [word, TIMESTAMP, TIMESTAMP])]),
    ];
  }

  /** The time in ms at each time mark of the prompt. */
  async #classify(prompt: readonly number[], audio: Tensor): Promise<number[]> {
    const { classifier, config } = this.#parts;
    const { timestampToken, classes, classMs } = config;
    const outputs = await classifier.run({
      prompt_ids: new Tensor('int64', BigInt64Array.from(prompt, BigInt), [1, prompt.length]),
      audio_features: audio,
    });
    const told = Array.from(tensorOf(outputs, 'classes').data as BigInt64Array, Number);
    const marks = prompt.filter((token) => token === timestampToken).length;
    if (told.length !== marks || !told.every((each) => each >= 0 && each < classes))
      throw new Error(`the aligner gave ${told.length} times, expected ${marks} of ${classes} classes`);
    return told.map((each) => each * classMs);
  }
}
