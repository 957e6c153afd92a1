/**
 * The features that Qwen3-ASR listens to, as `Qwen3ASRFeatureExtractor` of transformers 5.18 makes them
 * (feature_extraction_qwen3_asr.py): those of Whisper of 0.5 s of speech at least, without limit, in whole chunks.
 */
import { ENGINE_RATE_HZ } from '../../contract.ts';
import { LogMel, MEL_HOP_SAMPLES } from '../log-mel.ts';
import { writeFloats } from '../pcm.ts';
import { type QwenConfig, tokensOfFrames } from './config.ts';

/** Shorter speech is padded with silence. */
const SAMPLES_MIN = ENGINE_RATE_HZ / 2;

/** A stretch of speech as the encoder takes it. */
export interface Clip {
  /** [bands, chunks x frames of a chunk] in one array; 0 behind the last frame. */
  readonly mel: Float32Array;
  readonly chunks: number;
  /** How many audio tokens it becomes: the first ones of all that its chunks have. */
  readonly tokens: number;
}

type Shape = Pick<QwenConfig, 'melBins' | 'chunkFrames' | 'chunkTokens'>;

/** Audio tokens of so many samples at 16 kHz. */
export function audioTokensOf(samples: number, { chunkFrames, chunkTokens }: Shape): number {
  const frames = Math.floor(Math.max(samples, SAMPLES_MIN) / MEL_HOP_SAMPLES);
  return chunkTokens * Math.floor(frames / chunkFrames) + tokensOfFrames(frames % chunkFrames);
}

/** Makes features. It keeps its own buffers, so one call at a time may use it. */
export class QwenFeatures {
  readonly #shape: Shape;
  readonly #logMel: LogMel;

  constructor(shape: Shape) {
    this.#shape = shape;
    this.#logMel = new LogMel(shape.melBins);
  }

  /** The features of 16 kHz samples, however few. */
  compute(samples: Int16Array): Clip {
    const { melBins, chunkFrames } = this.#shape;
    const waveform = new Float32Array(Math.max(samples.length, SAMPLES_MIN));
    writeFloats(samples, waveform, 0);
    const values = this.#logMel.compute(waveform);
    const frames = values.length / melBins;
    const chunks = Math.ceil(frames / chunkFrames);
    const mel = new Float32Array(melBins * chunks * chunkFrames);
    for (let band = 0; band < melBins; band++)
      mel.set(values.subarray(band * frames, (band + 1) * frames), band * chunks * chunkFrames);
    return { mel, chunks, tokens: audioTokensOf(samples.length, this.#shape) };
  }
}
