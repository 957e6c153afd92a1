/**
 * When each token was said, by the decoder that also gives its attention to the speech. Nobody published which of its
 * heads follow the speech, so all count, each by how far a frame stands out among the others (as the publisher's own
 * program does); then the frames are chosen that stand out the most and never go back.
 */
import { openSession, type SessionOptions, tensorOf } from '../../onnx.ts';
import { type InferenceSession, Tensor } from '../../onnxruntime.ts';
import { risingPath } from '../moonshine-alignment.ts';
import { tokenTensor } from '../moonshine-graphs.ts';
import type { StreamingConfig } from './config.ts';
import { FEATURE_SAMPLES } from './frontend.ts';
import type { CrossKv } from './hearing.ts';

/** Frames to each side that a median smooths over: one frame alone is an accident. */
const MEDIAN_REACH = 3;

/** Aligns tokens with speech. */
export class WordTimes {
  readonly #session: InferenceSession;
  readonly #config: StreamingConfig;
  readonly #outputs: readonly string[];

  private constructor(session: InferenceSession, config: StreamingConfig) {
    this.#session = session;
    this.#config = config;
    this.#outputs = session.outputNames.filter((name) => name.startsWith('cross_attentions.'));
  }

  /** @throws whatever openSession throws */
  static async open(file: string, config: StreamingConfig, options: SessionOptions): Promise<WordTimes> {
    return new WordTimes(await openSession(file, options), config);
  }

  /** One model run: in samples, where each of `tokens` begins, and where the last one ends; never falling. */
  async align(tokens: readonly number[], { keys, values }: CrossKv): Promise<number[]> {
    const { layers, heads, headSize, startToken } = this.#config;
    const none = new Tensor('float32', new Float32Array(0), [layers, 1, heads, 0, headSize]);
    const feeds = {
      token: tokenTensor([startToken, ...tokens]),
      k_self: none,
      v_self: none,
      out_k_cross: keys,
      out_v_cross: values,
    };
    const outputs = await this.#session.run(feeds, this.#outputs);
    const frames = keys.dims[3] ?? 0;
    const rows = Array.from({ length: tokens.length + 1 }, () => new Float64Array(frames));
    for (const name of this.#outputs) addProminence(rows, tensorOf(outputs, name).data as Float32Array, frames);
    return risingPath(rows.map(smoothed), frames).map((frame) => frame * FEATURE_SAMPLES);
  }
}

/** Adds how far each frame stands out in every head of one layer: attention [heads, rows, frames]. */
function addProminence(rows: readonly Float64Array[], attention: Float32Array, frames: number): void {
  for (let at = 0; at < attention.length; at += frames) {
    const row = rows[(at / frames) % rows.length];
    const shares = attention.subarray(at, at + frames);
    const mean = shares.reduce((sum, share) => sum + share, 0) / frames;
    const spread = Math.sqrt(shares.reduce((sum, share) => sum + (share - mean) ** 2, 0) / frames);
    for (let frame = 0; row !== undefined && frame < frames; frame++)
      row[frame] = (row[frame] ?? 0) + ((shares[frame] ?? 0) - mean) / Math.max(spread, Number.EPSILON);
  }
}

/** The median around each frame. */
function smoothed(row: Float64Array): Float64Array {
  return row.map((_, frame) => {
    const around = row.slice(Math.max(0, frame - MEDIAN_REACH), frame + MEDIAN_REACH + 1).sort();
    return around[around.length >> 1] ?? 0;
  });
}
