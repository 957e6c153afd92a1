/**
 * The encoder of Qwen3-ASR, from features to audio tokens. Tokens of one window of 8 s see each other and no others, so
 * a window may be a run of its own, and several clips may be one run.
 */
import { type Device, tensorOf } from '../../onnx.ts';
import { type InferenceSession, Tensor } from '../../onnxruntime.ts';
import { runThrough, type Steps } from '../../scheduler.ts';
import { runTogether, type SharedRun } from '../../shared-runs.ts';
import { chunksToRun, chunksToWarmUp } from '../buckets.ts';
import type { QwenConfig } from './config.ts';
import type { Clip } from './features.ts';
import type { AudioEncoder } from './parts.ts';
import { joinRows, rowsOf } from './tensor-rows.ts';

type Shape = Pick<QwenConfig, 'melBins' | 'chunkFrames' | 'chunkTokens' | 'windowTokens' | 'hiddenSize'>;

/** How the encoder is run. */
export interface EncoderOptions {
  /** Whether each window is a run, so that urgent work waits for one of them; otherwise a clip is. */
  readonly isWindowed: boolean;
  /** Whether the number of chunks is rounded up, as a GPU wants it: engine/models/buckets.ts. */
  readonly isRounded: boolean;
  /** Clips of one run at most. */
  readonly batchMax: number;
}

/** Runs `encoder.onnx`. */
export class QwenEncoder implements AudioEncoder {
  readonly #session: InferenceSession;
  readonly #shape: Shape;
  readonly #options: EncoderOptions;
  readonly #run: SharedRun<Clip, Tensor>;

  constructor(session: InferenceSession, shape: Shape, options: EncoderOptions) {
    this.#session = session;
    this.#shape = shape;
    this.#options = options;
    this.#run = { batchMax: options.batchMax, run: (clips) => this.#encode(clips) };
  }

  async *encode(clip: Clip): Steps<Tensor> {
    const pieces = this.#options.isWindowed ? windowsOf(clip, this.#shape) : [clip];
    const encoded: Tensor[] = [];
    for (const piece of pieces) encoded.push(yield* runTogether(this.#run, piece));
    return joinRows(encoded);
  }

  async #encode(clips: readonly Clip[]): Promise<Tensor[]> {
    const { melBins, hiddenSize } = this.#shape;
    const { mel, frames, tokens, windows } = joinClips(clips, this.#shape, this.#options.isRounded);
    const outputs = await this.#session.run({
      mel: new Tensor('float32', mel, [melBins, frames]),
      tokens: new Tensor('int64', tokens, [tokens.length]),
      windows: new Tensor('int64', windows, [windows.length]),
    });
    const features = tensorOf(outputs, 'audio_features');
    const [rows, width] = features.dims;
    if (features.dims.length !== 2 || rows !== tokens.length || width !== hiddenSize)
      throw new Error(`the encoder gave [${features.dims.join(', ')}], expected [${tokens.length}, ${hiddenSize}]`);
    let from = 0;
    return clips.map((clip) => {
      from += clip.tokens;
      return rowsOf(features, from - clip.tokens, from);
    });
  }
}

/** Runs the encoder once with each count of chunks that a GPU has to try; on a CPU nothing. */
export async function warmUpSizes(
  encoder: AudioEncoder,
  { melBins, chunkFrames, chunkTokens }: Pick<Shape, 'melBins' | 'chunkFrames' | 'chunkTokens'>,
  provider: Device['provider'],
): Promise<void> {
  for (const chunks of chunksToWarmUp(provider)) {
    const mel = new Float32Array(melBins * chunks * chunkFrames);
    await runThrough(encoder.encode({ mel, chunks, tokens: chunks * chunkTokens }));
  }
}

/** A clip window by window. */
export function windowsOf({ mel, chunks, tokens }: Clip, shape: Omit<Shape, 'hiddenSize'>): Clip[] {
  const { melBins, chunkFrames, chunkTokens, windowTokens } = shape;
  const perWindow = windowTokens / chunkTokens;
  const stride = chunks * chunkFrames;
  return Array.from({ length: Math.ceil(chunks / perWindow) }, (_, window) => {
    const first = window * perWindow;
    const count = Math.min(perWindow, chunks - first);
    const columns = count * chunkFrames;
    const part = new Float32Array(melBins * columns);
    for (let band = 0; band < melBins; band++) {
      const from = band * stride + first * chunkFrames;
      part.set(mel.subarray(from, from + columns), band * columns);
    }
    return { mel: part, chunks: count, tokens: Math.min(windowTokens, tokens - window * windowTokens) };
  });
}

/** Clips one after the other, as one run takes them. */
export function joinClips(clips: readonly Clip[], shape: Omit<Shape, 'hiddenSize'>, isRounded: boolean) {
  const { melBins, chunkFrames, chunkTokens, windowTokens } = shape;
  const needed = clips.reduce((sum, { chunks }) => sum + chunks, 0);
  const frames = chunkFrames * (isRounded ? chunksToRun(needed, 'cuda') : needed);
  const mel = new Float32Array(melBins * frames);
  const tokens: bigint[] = [];
  const windows: bigint[] = [];
  let [chunk, window] = [0, 0];
  for (const clip of clips) {
    const columns = clip.chunks * chunkFrames;
    for (let band = 0; band < melBins; band++)
      mel.set(clip.mel.subarray(band * columns, (band + 1) * columns), band * frames + chunk * chunkFrames);
    for (let token = 0; token < clip.tokens; token++) {
      tokens.push(BigInt(chunk * chunkTokens + token));
      windows.push(BigInt(window + Math.floor(token / windowTokens)));
    }
    chunk += clip.chunks;
    window += Math.ceil(clip.tokens / windowTokens);
  }
  return { mel, frames, tokens: BigInt64Array.from(tokens), windows: BigInt64Array.from(windows) };
}
