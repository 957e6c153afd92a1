/**
 * The encoder as it is published: a graph that takes features and keeps nothing. What was heard before is run again as
 * far as the new frames depend on it.
 */
import { openSession, type SessionOptions, tensorOf } from '../../onnx.ts';
import { type InferenceSession, Tensor } from '../../onnxruntime.ts';
import type { StreamingConfig } from './config.ts';

/** Frames that each layer sees to the left, itself included. */
const LAYER_SPAN_FRAMES = 16;

/** What an encoder must remember of the frames before, and how much memory that takes. */
export interface EncoderState {
  readonly bytes: number;
}

/** Encoded frames [1, count, width]; null = none. */
export interface Encoded<State extends EncoderState> {
  readonly frames: Tensor | null;
  readonly state: State;
}

/** An encoder that is given features bit by bit. The same features in the same bits always give the same frames. */
export interface StreamingEncoder<State extends EncoderState = EncoderState> {
  /** How many features it takes at once of an utterance that goes on, and of a whole one, but for the last ones. */
  readonly blockFeatures: number;
  readonly wholeBlockFeatures: number;
  /** Before the first feature. */
  readonly start: State;
  /**
   * One model run: frames that cannot change any more, or, with the last features, all that are left.
   * @param features [1, count, width], at least one
   */
  encode(features: Tensor, state: State, isLast: boolean): Promise<Encoded<State>>;
}

interface Kept extends EncoderState {
  /** The last features [count, width] so far. */
  readonly features: Float32Array;
  /** How many of them are encoded already. */
  readonly done: number;
}

/** Opens the published graph. @throws whatever openSession throws */
export async function openPublishedEncoder(
  file: string,
  config: StreamingConfig,
  options: SessionOptions,
): Promise<StreamingEncoder> {
  return new PublishedEncoder(await openSession(file, options), config);
}

class PublishedEncoder implements StreamingEncoder<Kept> {
  /** As many as are run again: each is then run about twice. */
  readonly blockFeatures: number;
  readonly wholeBlockFeatures: number;
  readonly start: Kept = { features: new Float32Array(0), done: 0, bytes: 0 };
  readonly #session: InferenceSession;
  readonly #lookahead: number;

  constructor(session: InferenceSession, { encoderLayers, lookaheadFrames }: StreamingConfig) {
    this.#session = session;
    this.#lookahead = lookaheadFrames;
    this.blockFeatures = LAYER_SPAN_FRAMES * encoderLayers;
    this.wholeBlockFeatures = this.blockFeatures;
  }

  async encode(features: Tensor, { features: before, done }: Kept, isLast: boolean): Promise<Encoded<Kept>> {
    const width = features.dims[2] ?? 0;
    const all = new Float32Array(before.length + features.size);
    all.set(before);
    all.set(features.data as Float32Array, before.length);
    const count = all.length / width;
    const certain = isLast ? count : Math.max(done, count - this.#lookahead);
    const first = Math.max(0, certain - this.blockFeatures);
    const kept = all.slice(first * width);
    const state = { features: kept, done: certain - first, bytes: kept.byteLength };
    if (certain === done) return { frames: null, state };
    const outputs = await this.#session.run({ features: new Tensor('float32', all, [1, count, width]) });
    const encoded = tensorOf(outputs, 'encoded').data as Float32Array;
    const frames = encoded.slice(done * width, certain * width);
    return { frames: new Tensor('float32', frames, [1, certain - done, width]), state };
  }
}
