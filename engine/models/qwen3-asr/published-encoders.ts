/**
 * The encoders of the two published layouts. Both cut features into chunks of 1 s and audio tokens into windows of 8 s
 * themselves, so each window may be a run of its own, as in our folder.
 */
import { tensorOf } from '../../onnx.ts';
import { type InferenceSession, Tensor } from '../../onnxruntime.ts';
import type { Steps } from '../../scheduler.ts';
import type { QwenConfig } from './config.ts';
import { windowsOf } from './encoder.ts';
import type { Clip } from './features.ts';
import type { AudioEncoder } from './parts.ts';
import { joinRows, rowsOf } from './tensor-rows.ts';

type Shape = Pick<QwenConfig, 'melBins' | 'chunkFrames' | 'chunkTokens' | 'windowTokens' | 'hiddenSize'>;

/** Frames that become one audio token, but for the last one of a chunk. */
const TOKEN_FRAMES = 8;

/** Runs `encoder.onnx` of a folder with a split decoder. */
export class MelEncoder implements AudioEncoder {
  readonly #session: InferenceSession;
  readonly #shape: Shape;

  constructor(session: InferenceSession, shape: Shape) {
    this.#session = session;
    this.#shape = shape;
  }

  encode(clip: Clip): Steps<Tensor> {
    return encodeByWindows(clip, this.#shape, [(window) => this.#run(window)]);
  }

  /** It tells by the number of frames how many tokens there are: those behind them are left out. */
  async #run(window: Clip): Promise<Tensor> {
    const { melBins, chunkFrames } = this.#shape;
    const all = window.chunks * chunkFrames;
    const frames = framesOf(window, this.#shape);
    const mel = frames === all ? window.mel : new Float32Array(melBins * frames);
    if (frames < all)
      for (let band = 0; band < melBins; band++)
        mel.set(window.mel.subarray(band * all, band * all + frames), band * frames);
    const outputs = await this.#session.run({ mel: new Tensor('float32', mel, [1, melBins, frames]) });
    return tensorOf(outputs, 'audio_features');
  }
}

/** Runs `conv_frontend.onnx` and `encoder.onnx` of a sherpa-onnx folder, a step each. */
export class ConvolutionEncoder implements AudioEncoder {
  readonly #convolutions: InferenceSession;
  readonly #session: InferenceSession;
  readonly #shape: Shape;

  constructor(convolutions: InferenceSession, session: InferenceSession, shape: Shape) {
    this.#convolutions = convolutions;
    this.#session = session;
    this.#shape = shape;
  }

  encode(clip: Clip): Steps<Tensor> {
    return encodeByWindows(clip, this.#shape, [
      (window) => this.#convolve(window),
      (window, convolved) => this.#attend(window, convolved as Tensor),
    ]);
  }

  async #convolve({ mel, chunks }: Clip): Promise<Tensor> {
    const { melBins, chunkFrames } = this.#shape;
    const frames = chunks * chunkFrames;
    const turned = new Float32Array(mel.length);
    for (let band = 0; band < melBins; band++)
      for (let frame = 0; frame < frames; frame++)
        turned[frame * melBins + band] = mel[band * frames + frame] as number;
    const outputs = await this.#convolutions.run({
      input_features: new Tensor('float32', turned, [1, frames, melBins]),
    });
    return tensorOf(outputs, 'conv_output');
  }

  async #attend({ tokens }: Clip, features: Tensor): Promise<Tensor> {
    const [, count = 0] = features.dims;
    const mask = Uint8Array.from({ length: count }, (_, token) => (token < tokens ? 1 : 0));
    const outputs = await this.#session.run({
      input_features: features,
      feature_attention_mask: new Tensor('bool', mask, [1, count]),
    });
    return tensorOf(outputs, 'audio_features');
  }
}

/** A model run: of a window, and of what the run before it gave. */
type WindowRun = (window: Clip, before: Tensor | null) => Promise<Tensor>;

/** @param runs the last of them gives [1, tokens or more, hidden size] of a window */
async function* encodeByWindows(clip: Clip, shape: Shape, runs: readonly WindowRun[]): Steps<Tensor> {
  const encoded: Tensor[] = [];
  for (const [index, window] of windowsOf(clip, shape).entries()) {
    let features: Tensor | null = null;
    for (const run of runs) {
      if (index > 0 || features !== null) yield;
      features = await run(window, features);
    }
    encoded.push(heardIn(features, window, shape));
  }
  return joinRows(encoded);
}

/** The audio tokens of a window. */
function heardIn(features: Tensor | null, { tokens }: Clip, { hiddenSize }: Shape): Tensor {
  const dims = features?.dims ?? [];
  const [one, rows = 0, width] = dims;
  if (features === null || dims.length !== 3 || one !== 1 || rows < tokens || width !== hiddenSize)
    throw new Error(`the encoder gave [${dims.join(', ')}], expected [1, ${tokens}, ${hiddenSize}]`);
  return rowsOf(new Tensor('float32', features.data as Float32Array, [rows, width]), 0, tokens);
}

/** Frames that become exactly the tokens of a window; those behind its sound are 0, as the graph would pad it. */
function framesOf({ chunks, tokens }: Clip, { chunkFrames, chunkTokens }: Shape): number {
  const whole = chunks - 1;
  const rest = tokens - whole * chunkTokens;
  return whole * chunkFrames + Math.min(rest * TOKEN_FRAMES, chunkFrames);
}
