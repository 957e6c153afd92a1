/**
 * The encoder with caches (engine/graph/streaming-encoder.ts): a run takes new frames alone. The graph is made of the
 * published one once, compared with it, and kept.
 */
import { readFile } from 'node:fs/promises';
import { partBytes, wholePart } from '../../graph/cut.ts';
import type { ModelFile } from '../../graph/model-file.ts';
import { findEncoderPlaces, HOLD_NAME, stateNames, withCaches, withStates } from '../../graph/streaming-encoder.ts';
import { openSession, type SessionOptions, tensorOf } from '../../onnx.ts';
import { InferenceSession, Tensor } from '../../onnxruntime.ts';
import { ModelFileError } from '../folder-files.ts';
import type { Tensors } from '../moonshine-graphs.ts';
import type { Encoded, EncoderState, StreamingEncoder } from './encoder.ts';
import { type EncoderLayer, sightOf, windowMask } from './encoder-layers.ts';
import { keptGraphs, type RewriteOptions } from './kept-graphs.ts';

const GRAPH_FILE = 'encoder.onnx';
const LAYERS_FILE = 'layers.json';

/**
 * 800 ms of an utterance that goes on, 1.6 s of a whole one. A run reads all weights, whatever it takes, so long blocks
 * make whole utterances cheaper; with those a step of live captions would run more frames again.
 */
const BLOCK_FEATURES = 40;
const WHOLE_BLOCK_FEATURES = 80;

/**
 * Features that the published graph is looked at with, and how far the cached one may differ, of the greatest value: on
 * average three times as far as the published graph differs from itself where it is given a part of them (8-bit
 * products round by all that is in a run).
 */
const TRIAL_FEATURES = 100;
const PART_FEATURES = 60;
const DIFFERENCE_MAX = 0.1;
const MEAN_DIFFERENCE_MAX = 0.005;
const OWN_DIFFERENCES_MAX = 3;

/**
 * Opens the cached encoder for a published graph, .onnx or .ort.
 * @throws Error when the graph is not built as the published ones are, when the cached one does not give the same, or
 * when it cannot be kept
 */
export async function openCachedEncoder(file: string, options: RewriteOptions): Promise<StreamingEncoder> {
  const kept = await keptGraphs(file, options, { part: 'encoder', files: [GRAPH_FILE, LAYERS_FILE], build });
  try {
    const [graph = '', layers = ''] = kept.paths;
    const known = JSON.parse(await readFile(layers, 'utf8')) as readonly EncoderLayer[];
    return new CachedEncoder(await openSession(graph, options), known);
  } finally {
    await kept.close();
  }
}

async function build(model: ModelFile, options: SessionOptions): Promise<ReadonlyMap<string, Uint8Array>> {
  const places = findEncoderPlaces(partBytes(model, wholePart(model), () => undefined));
  const published = await InferenceSession.create(withStates(places), sessionOptions(options));
  try {
    const width = (await readWidth(published)) ?? 0;
    const features = trialFeatures(TRIAL_FEATURES, width);
    const outputs = await published.run({ features });
    const layers = places.layers.map(({ masking, keyAxis }, layer) =>
      layerOf(outputs, layer, { isMaskAdded: masking.opType !== 'Where', keyAxis }),
    );
    const graph = withCaches(places, layers);
    const session = await InferenceSession.create(graph, sessionOptions(options));
    try {
      const expected = tensorOf(outputs, 'encoded');
      const own = await ownDifference(published, { features, expected, layers });
      const limit = Math.max(MEAN_DIFFERENCE_MAX, OWN_DIFFERENCES_MAX * own);
      await compare(new CachedEncoder(session, layers), { features, expected, limit });
    } finally {
      await session.release();
    }
    return new Map([
      [GRAPH_FILE, graph],
      [LAYERS_FILE, Buffer.from(JSON.stringify(layers))],
    ]);
  } finally {
    await published.release();
  }
}

function sessionOptions({ threads }: SessionOptions): InferenceSession.SessionOptions {
  return { executionProviders: ['cpu'], intraOpNumThreads: threads, interOpNumThreads: 1 };
}

async function readWidth(session: InferenceSession): Promise<number | null> {
  const [input] = session.inputMetadata;
  const width = input?.isTensor === true ? input.shape[2] : null;
  if (typeof width === 'number') return width;
  throw new ModelFileError(`encoder: got features of the width ${width}, expected a number`);
}

/** Numbers that look like noise, the same each time. */
function trialFeatures(count: number, width: number): Tensor {
  let random = 1;
  const numbers = Float32Array.from({ length: count * width }, () => {
    random = (Math.imul(random, 1_664_525) + 1_013_904_223) >>> 0;
    return random / 2 ** 31 - 1;
  });
  return new Tensor('float32', numbers, [1, count, width]);
}

function layerOf(
  outputs: InferenceSession.OnnxValueMapType,
  layer: number,
  { isMaskAdded, keyAxis }: { readonly isMaskAdded: boolean; readonly keyAxis: number },
): EncoderLayer {
  const names = stateNames(layer);
  const empty = (name: string, axis: number): number[] => [...tensorOf(outputs, name).dims].with(axis, 0);
  const mask = tensorOf(outputs, names.mask).data as Float32Array;
  return {
    ...sightOf(mask, TRIAL_FEATURES, isMaskAdded),
    isMaskAdded,
    keys: empty(names.keys, keyAxis),
    values: empty(names.values, 2),
    queries: empty(names.queries, 2),
    frames: empty(names.frames, 1),
  };
}

interface Trial {
  readonly features: Tensor;
  /** What the published graph gives for them in one run. */
  readonly expected: Tensor;
}

/** How far the published graph differs where it is given a part of the features, of the greatest value on average. */
async function ownDifference(
  published: InferenceSession,
  { features, expected, layers }: Trial & { readonly layers: readonly EncoderLayer[] },
): Promise<number> {
  const outputs = await published.run({ features: framesOf(features, 0, PART_FEATURES) });
  // Frames near the end of the part have not seen what comes after them.
  const seen = PART_FEATURES - layers.reduce((sum, { right }) => sum + right, 0);
  const [part, whole] = [tensorOf(outputs, 'encoded'), expected].map(
    (encoded) => framesOf(encoded, 0, seen).data as Float32Array,
  );
  return meanOf(differencesOf(part ?? new Float32Array(0), whole ?? new Float32Array(0)));
}

/** @throws ModelFileError when the encoder does not give `expected` for `features`, block by block */
async function compare(
  encoder: CachedEncoder,
  { features, expected, limit }: Trial & { readonly limit: number },
): Promise<void> {
  const [, count = 0] = features.dims;
  let state: CacheState = encoder.start;
  const got: number[] = [];
  for (let from = 0; from < count; from += BLOCK_FEATURES) {
    const to = Math.min(count, from + BLOCK_FEATURES);
    const encoded = await encoder.encode(framesOf(features, from, to), state, to === count);
    state = encoded.state;
    if (encoded.frames !== null) got.push(...(encoded.frames.data as Float32Array));
  }
  const wanted = expected.data as Float32Array;
  if (got.length !== wanted.length)
    throw new ModelFileError(`the encoder with caches gives ${got.length} numbers, expected ${wanted.length}`);
  const differences = differencesOf(Float32Array.from(got), wanted);
  const mean = meanOf(differences);
  if (!(mean <= limit && differences.every((difference) => difference <= DIFFERENCE_MAX)))
    throw new ModelFileError(`the encoder with caches differs by ${mean} of its greatest value on average`);
}

/** Frames of a tensor [1, frames, width]. */
function framesOf({ data, dims }: Tensor, from: number, to: number): Tensor {
  const width = dims[2] ?? 0;
  return new Tensor('float32', (data as Float32Array).slice(from * width, to * width), [1, to - from, width]);
}

function differencesOf(got: Float32Array, wanted: Float32Array): Float32Array {
  const greatest = wanted.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  return wanted.map((value, index) => Math.abs(value - (got[index] ?? Number.NaN)) / greatest);
}

function meanOf(numbers: Float32Array): number {
  return numbers.reduce((sum, number) => sum + number, 0) / numbers.length;
}

/** Caches of all layers, by the names of the graph's inputs. */
interface CacheState extends EncoderState {
  readonly tensors: Tensors;
}

class CachedEncoder implements StreamingEncoder<CacheState> {
  readonly blockFeatures = BLOCK_FEATURES;
  readonly wholeBlockFeatures = WHOLE_BLOCK_FEATURES;
  readonly start: CacheState;
  readonly #session: InferenceSession;
  readonly #layers: readonly EncoderLayer[];

  constructor(session: InferenceSession, layers: readonly EncoderLayer[]) {
    this.#session = session;
    this.#layers = layers;
    const tensors = layers.flatMap((layer, index) => emptyStates(layer, index));
    this.start = { tensors: Object.fromEntries(tensors), bytes: 0 };
  }

  async encode(features: Tensor, { tensors }: CacheState, isLast: boolean): Promise<Encoded<CacheState>> {
    const hold = isLast ? 0 : 1;
    const outputs = await this.#session.run({
      ...tensors,
      ...this.#masks(tensors, features.dims[1] ?? 0, hold),
      features,
      [HOLD_NAME]: new Tensor('int64', BigInt64Array.of(BigInt(hold)), [1]),
    });
    const next = Object.fromEntries(Object.keys(tensors).map((name) => [name, tensorOf(outputs, `${name} out`)]));
    const bytes = Object.values(next).reduce((sum, { data }) => sum + (data as Float32Array).byteLength, 0);
    const frames = tensorOf(outputs, 'encoded');
    return { frames: frames.dims[1] === 0 ? null : frames, state: { tensors: next, bytes } };
  }

  /** What each layer sees: it gets as many new frames as the layer before it gives. */
  #masks(tensors: Tensors, features: number, hold: number): Tensors {
    const masks: Tensors = {};
    let added = features;
    for (const [index, layer] of this.#layers.entries()) {
      const names = stateNames(index);
      const known = tensors[names.values]?.dims[2] ?? 0;
      const held = tensors[names.queries]?.dims[2] ?? 0;
      const queries = held + added - hold * layer.right;
      const keys = known + added;
      const mask = windowMask(layer, { queries, keys, offset: known - held });
      masks[names.mask] = new Tensor('float32', mask, [queries, keys]);
      added = queries;
    }
    return masks;
  }
}

/** Only a layer that sees to the right holds queries and frames back. */
function emptyStates(layer: EncoderLayer, index: number): [string, Tensor][] {
  const names = stateNames(index);
  const states = layer.right === 0 ? (['keys', 'values'] as const) : (['keys', 'values', 'queries', 'frames'] as const);
  return states.map((state) => [names[state], new Tensor('float32', new Float32Array(0), layer[state])]);
}
