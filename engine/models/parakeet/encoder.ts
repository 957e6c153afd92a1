/** Parakeet's encoder, from features to frames of 80 ms. */
import { cutByWeights } from '../../graph/cut.ts';
import { rewriteProducts } from '../../graph/integer-products.ts';
import type { ModelFile } from '../../graph/model-file.ts';
import { findProductType } from '../../graph/product-type.ts';
import { openSession, type SessionOptions, tensorOf } from '../../onnx.ts';
import { type InferenceSession, Tensor } from '../../onnxruntime.ts';
import type { Steps } from '../../scheduler.ts';
import { type OpenPart, openParts, type Values } from '../cut-graph.ts';
import type { EncodedSpeech } from './transducer.ts';

/** Weights of one part, about: half a layer of the 0.6B models, which takes 3 ms for 4 s of speech, 30 for 31 s. */
const PART_WEIGHTS = 12_500_000;

/** Of a larger model the parts are larger. */
const PARTS_MAX = 256;

/** Encodes features. */
export interface ParakeetEncoder {
  /** One model run or several: [bands, frames] to [width, frames / 8]. */
  encode(features: Float32Array, bands: number): Steps<EncodedSpeech>;
}

/** Opens the graph as it is. @throws Refusal, or whatever onnxruntime throws for a file that it cannot read. */
export async function openWholeEncoder(model: ModelFile, options: SessionOptions): Promise<ParakeetEncoder> {
  const session = await openSession(model.path, options);
  return new Encoder(model, [async (values) => addOutputs(await session.run(Object.fromEntries(values)), values)]);
}

/**
 * Opens the graph with faster products and in parts, so that urgent work waits for one of them.
 * @param count how many; null = as many as it has layers, about
 * @throws Error when it cannot be cut; whatever onnxruntime throws for a graph that it cannot run.
 */
export async function openCutEncoder(
  model: ModelFile,
  options: SessionOptions,
  count: number | null = null,
): Promise<ParakeetEncoder> {
  const rewritten = rewriteProducts(model, await findProductType());
  const parts = cutByWeights(rewritten, count ?? partsFor(model));
  const open = await openParts(rewritten, parts, options);
  return new Encoder(
    model,
    open.map((part: OpenPart) => (values: Values) => part.run(values)),
  );
}

function addOutputs(outputs: InferenceSession.OnnxValueMapType, values: Values): void {
  for (const name of Object.keys(outputs)) values.set(name, tensorOf(outputs, name));
}

function partsFor({ constants }: ModelFile): number {
  let weights = 0;
  for (const { dims } of constants.values()) weights += Number(dims.reduce((product, dim) => product * dim, 1n));
  return Math.min(Math.max(1, Math.round(weights / PART_WEIGHTS)), PARTS_MAX);
}

/** One model run: takes its inputs from values, and adds its outputs. */
type Run = (values: Values) => Promise<void>;

class Encoder implements ParakeetEncoder {
  readonly #runs: readonly Run[];
  readonly #inputs: readonly string[];
  readonly #outputs: readonly string[];

  constructor({ inputs, outputs }: ModelFile, runs: readonly Run[]) {
    this.#inputs = inputs.map(({ name = '' }) => name);
    this.#outputs = outputs.map(({ name = '' }) => name);
    this.#runs = runs;
  }

  async *encode(features: Float32Array, bands: number): Steps<EncodedSpeech> {
    const frames = features.length / bands;
    const [signal = '', length = ''] = this.#inputs;
    const values: Values = new Map<string, Tensor>([
      [signal, new Tensor('float32', features, [1, bands, frames])],
      [length, new Tensor('int64', BigInt64Array.of(BigInt(frames)), [1])],
    ]);
    for (const [index, run] of this.#runs.entries()) {
      if (index > 0) yield;
      await run(values);
    }
    const [encoded = '', encodedLength = ''] = this.#outputs;
    return toSpeech(values.get(encoded), values.get(encodedLength));
  }
}

function toSpeech(encoded: Tensor | undefined, length: Tensor | undefined): EncodedSpeech {
  const [, width = 0, frames = 0] = encoded?.dims ?? [];
  const count = Number(length?.data[0] ?? frames);
  if (encoded?.data instanceof Float32Array && encoded.data.length === width * frames)
    return { values: encoded.data, width, stride: frames, frames: Math.min(frames, count) };
  throw new Error(`the encoder gave ${encoded?.type ?? 'nothing'}, expected float32 [1, width, frames]`);
}
