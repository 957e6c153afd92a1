/**
 * The front end: samples to features, 50 for each second. It takes any number of samples, and what later features
 * depend on travels in buffers from run to run.
 */
import { openSession, type SessionOptions, tensorOf } from '../../onnx.ts';
import { type InferenceSession, Tensor } from '../../onnxruntime.ts';
import { ModelFileError } from '../folder-files.ts';
import type { StreamingConfig } from './config.ts';
import { widthOf } from './graph-shape.ts';
import type { StreamingFolder } from './layout.ts';

/** Samples of one feature, and of one of the frames that the front end cuts the sound into. */
export const FEATURE_SAMPLES = 320;
export const FRAME_SAMPLES = 80;

/** What travels from run to run; outputs have `_out` behind the name. */
const STATES = ['sample_buffer', 'sample_len', 'conv1_buffer', 'conv2_buffer', 'frame_count'] as const;
/** Outputs of the second convolution that the next one depends on. */
const CONVOLUTION_PAST = 4;

type Tensors = Readonly<Record<string, Tensor>>;

/** The buffers between two runs. */
export interface FrontendState {
  readonly tensors: Tensors;
  readonly bytes: number;
}

/** An open front end. */
export class Frontend {
  /** The state before the first sample. */
  readonly start: FrontendState;
  readonly #session: InferenceSession;
  readonly #weights: Tensors;

  private constructor(session: InferenceSession, weights: Tensors, { firstChannels, secondChannels }: StreamingConfig) {
    const first = firstChannels ?? widthOf(session.inputMetadata, 'conv1_buffer', 1);
    const second = secondChannels ?? widthOf(session.inputMetadata, 'conv2_buffer', 1);
    this.#session = session;
    this.#weights = weights;
    this.start = toState({
      sample_buffer: zeros([1, FRAME_SAMPLES - 1]),
      sample_len: new Tensor('int64', BigInt64Array.of(0n), [1]),
      conv1_buffer: zeros([1, first, CONVOLUTION_PAST]),
      conv2_buffer: zeros([1, second, CONVOLUTION_PAST]),
      frame_count: new Tensor('int64', BigInt64Array.of(0n), [1]),
    });
  }

  /**
   * Opens the front end, whose weights may lie in a graph of their own.
   * @throws ModelFileError; whatever openSession throws
   */
  static async open({ graphs, config }: StreamingFolder, options: SessionOptions): Promise<Frontend> {
    const { frontend, frontendWeights } = graphs;
    const session = await openSession(frontend, options);
    const weights = frontendWeights === null ? {} : await weightsIn(frontendWeights, options);
    const missing = session.inputNames.find(
      (name) => name !== 'audio_chunk' && !STATES.some((state) => state === name) && weights[name] === undefined,
    );
    if (missing !== undefined) throw new ModelFileError(`frontend needs the input ${missing}, which nothing gives`);
    return new Frontend(session, weights, config);
  }

  /** One model run: the features [1, count, width] of samples (-1 to 1) behind those of `state`. */
  async run(samples: Float32Array, state: FrontendState): Promise<{ features: Tensor; state: FrontendState }> {
    const feeds = {
      ...this.#weights,
      ...state.tensors,
      audio_chunk: new Tensor('float32', samples, [1, samples.length]),
    };
    const outputs = await this.#session.run(feeds);
    const tensors = Object.fromEntries(STATES.map((name) => [name, tensorOf(outputs, `${name}_out`)]));
    return { features: tensorOf(outputs, 'features'), state: toState(tensors) };
  }
}

/** The weights are a graph without inputs. */
async function weightsIn(file: string, options: SessionOptions): Promise<Tensors> {
  const session = await openSession(file, options);
  try {
    const outputs = await session.run({});
    return Object.fromEntries(session.outputNames.map((name) => [name, tensorOf(outputs, name)]));
  } finally {
    await session.release();
  }
}

function zeros(dims: readonly number[]): Tensor {
  return new Tensor('float32', new Float32Array(dims.reduce((product, length) => product * length, 1)), dims);
}

function toState(tensors: Tensors): FrontendState {
  const bytes = Object.values(tensors).reduce((sum, { data }) => sum + (data as Float32Array).byteLength, 0);
  return { tensors, bytes };
}
