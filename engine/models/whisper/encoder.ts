/**
 * Whisper's encoder, from features to what the decoder takes of the speech: hidden states in the public layout, keys
 * and values of each layer in ours. The window is as long as the speech and a second more; a published graph that
 * cannot be given one takes 30 s.
 */
import { cutByWeights } from '../../graph/cut.ts';
import { rewriteProducts } from '../../graph/integer-products.ts';
import type { ModelFile } from '../../graph/model-file.ts';
import { findProductType } from '../../graph/product-type.ts';
import { freeWindow } from '../../graph/whisper.ts';
import { openSession, type SessionOptions, tensorOf } from '../../onnx.ts';
import { Tensor } from '../../onnxruntime.ts';
import { runThrough, type Steps } from '../../scheduler.ts';
import { type OpenPart, openParts, type Values } from '../cut-graph.ts';
import type { Tensors } from '../moonshine-graphs.ts';
import type { WhisperConfig } from './config.ts';

/** Weights of one part, about: one layer of base, a sixth of one of large. Those of 30 s of speech take the longest. */
const PART_WEIGHTS = 3_000_000;
const PARTS_MAX = 256;

/** Frames of features that become one position. */
const FRAMES_PER_POSITION = 2;
/** Positions that a rewritten graph is tried on: one second. */
const TRIAL_POSITIONS = 50;

const HIDDEN_STATES = 'encoder_hidden_states';

/** Encodes features. */
export interface WhisperEncoder {
  /** Whether it takes windows of every length; otherwise 30 s alone. */
  readonly isFree: boolean;
  /** One model run or several: features [bands, frames] to inputs of the decoder. */
  encode(features: Float32Array): Steps<Tensors>;
}

/** Opens the graph as it is. @throws whatever openSession throws */
export async function openWholeEncoder(
  model: ModelFile,
  config: WhisperConfig,
  options: SessionOptions & { readonly isFree: boolean },
): Promise<WhisperEncoder> {
  const session = await openSession(model.path, options);
  const run = async (values: Values) => {
    const outputs = await session.run(Object.fromEntries(values));
    for (const name of Object.keys(outputs)) values.set(name, tensorOf(outputs, name));
  };
  return new Encoder(model, config.bands, options.isFree, [run]);
}

/**
 * Opens the graph in parts, so that urgent work waits for one of them, with faster products, and free of its window.
 * @throws Error when it cannot be rewritten; whatever onnxruntime throws for a graph that it cannot run
 */
export async function openFreeEncoder(
  model: ModelFile,
  config: WhisperConfig,
  options: SessionOptions & { readonly isFree: boolean },
): Promise<WhisperEncoder> {
  const products = rewriteProducts(model, await findProductType());
  const rewritten = options.isFree ? products : freeWindow(products, config.positions);
  const open = await openParts(rewritten, cutByWeights(rewritten, partsFor(model)), options);
  const runs = open.map((part: OpenPart) => (values: Values) => part.run(values));
  const encoder = new Encoder(model, config.bands, true, runs);
  await runThrough(encoder.encode(new Float32Array(config.bands * FRAMES_PER_POSITION * TRIAL_POSITIONS)));
  return encoder;
}

function partsFor({ constants }: ModelFile): number {
  let weights = 0;
  for (const { dims } of constants.values()) weights += Number(dims.reduce((product, dim) => product * dim, 1n));
  return Math.min(Math.max(1, Math.round(weights / PART_WEIGHTS)), PARTS_MAX);
}

/** One model run: takes its inputs from values, and adds its outputs. */
type Run = (values: Values) => Promise<void>;

class Encoder implements WhisperEncoder {
  readonly isFree: boolean;
  readonly #runs: readonly Run[];
  readonly #input: string;
  readonly #outputs: readonly string[];
  readonly #bands: number;

  constructor({ inputs, outputs }: ModelFile, bands: number, isFree: boolean, runs: readonly Run[]) {
    this.isFree = isFree;
    this.#runs = runs;
    this.#bands = bands;
    this.#input = inputs[0]?.name ?? '';
    this.#outputs = outputs.map(({ name = '' }) => name);
  }

  async *encode(features: Float32Array): Steps<Tensors> {
    const frames = features.length / this.#bands;
    const values: Values = new Map([[this.#input, new Tensor('float32', features, [1, this.#bands, frames])]]);
    for (const [index, run] of this.#runs.entries()) {
      if (index > 0) yield;
      await run(values);
    }
    const speech = this.#outputs.map((name) => [inputOf(name), speechOf(values.get(name), frames)] as const);
    return Object.fromEntries(speech);
  }
}

/** Where the decoder takes what the encoder gives. */
function inputOf(output: string): string {
  return output.startsWith('present.') ? output.replace('present.', 'past_key_values.') : HIDDEN_STATES;
}

/** @throws Error when it is not of a window of so many frames */
function speechOf(value: Tensor | undefined, frames: number): Tensor {
  const positions = value?.dims.at(-2);
  if (value !== undefined && positions === frames / FRAMES_PER_POSITION) return value;
  throw new Error(`the encoder gave ${positions ?? 'no'} positions for ${frames} frames, expected half as many`);
}
