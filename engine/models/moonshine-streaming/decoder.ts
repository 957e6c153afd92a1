/**
 * The decoder: tokens in, logits out. Its caches of the tokens before travel from run to run. As it is published, each
 * run first takes the keys and values of the speech apart, layer by layer; rewritten, it is given those of each layer.
 */
import { readFile } from 'node:fs/promises';
import { cutByInputs, type GraphPart, partBytes } from '../../graph/cut.ts';
import type { ModelFile } from '../../graph/model-file.ts';
import { openSession, type SessionOptions, tensorOf } from '../../onnx.ts';
import { InferenceSession, Tensor } from '../../onnxruntime.ts';
import { cropCache } from '../attention-cache.ts';
import { shapesOf } from '../cut-graph.ts';
import { ModelFileError } from '../folder-files.ts';
import type { LogitsText } from '../greedy.ts';
import { type Tensors, tokenTensor } from '../moonshine-graphs.ts';
import type { StreamingConfig } from './config.ts';
import type { CrossKv } from './hearing.ts';
import { keptGraphs, type RewriteOptions } from './kept-graphs.ts';

const TEXT_FILE = 'text.onnx';
const PIECES_FILE = 'pieces.json';

/** What depends on the text. The other inputs are all layers' keys and values of the speech. */
const TEXT_INPUTS = ['token', 'k_self', 'v_self'] as const;
const SPEECH_INPUTS = { out_k_cross: 'keys', out_v_cross: 'values' } as const;

/** Operators that take a tensor apart, and leave the order of its numbers as it is. */
const TAKING_APART: ReadonlySet<string> = new Set(['Gather', 'Identity', 'Slice', 'Split', 'Squeeze', 'Unsqueeze']);

/** Frames that they are tried on. */
const TRIAL_FRAMES = 3;
const UNKNOWN_LENGTH = -1;

/** An input of the rewritten graph: one layer's keys or values of the speech. */
interface SpeechPiece {
  readonly input: string;
  readonly of: 'keys' | 'values';
  readonly layer: number;
  /** With {@link UNKNOWN_LENGTH} for the frames. */
  readonly dims: readonly number[];
}

/** An open decoder. */
export class Decoder {
  readonly #session: InferenceSession;
  readonly #config: StreamingConfig;
  /** What the graph is given piece by piece; the rest it takes apart itself. */
  readonly #pieces: readonly SpeechPiece[];

  private constructor(session: InferenceSession, config: StreamingConfig, pieces: readonly SpeechPiece[]) {
    this.#session = session;
    this.#config = config;
    this.#pieces = pieces;
  }

  /** Opens the graph as it is. @throws whatever openSession throws */
  static async openPublished(file: string, config: StreamingConfig, options: SessionOptions): Promise<Decoder> {
    return new Decoder(await openSession(file, options), config, []);
  }

  /**
   * Opens the graph rewritten.
   * @throws Error when it is not built as the published ones are, or cannot be kept
   */
  static async openRewritten(file: string, config: StreamingConfig, options: RewriteOptions): Promise<Decoder> {
    const kept = await keptGraphs(file, options, {
      part: 'decoder',
      files: [TEXT_FILE, PIECES_FILE],
      build: (model, session) => build(model, config, session),
    });
    try {
      const [graph = '', pieces = ''] = kept.paths;
      const known = JSON.parse(await readFile(pieces, 'utf8')) as readonly SpeechPiece[];
      return new Decoder(await openSession(graph, options), config, known);
    } finally {
      await kept.close();
    }
  }

  /** Begins a text about `speech`. */
  begin(speech: CrossKv): DecoderText {
    return new DecoderText(this.#session, this.#config, this.#speechFeeds(speech));
  }

  #speechFeeds(speech: CrossKv): Tensors {
    const frames = speech.keys.dims[3] ?? 0;
    const whole = Object.entries(SPEECH_INPUTS).filter(([input]) => this.#session.inputNames.includes(input));
    const pieces = this.#pieces.map(({ input, of, layer, dims }) => {
      const lengths = dims.map((length) => (length === UNKNOWN_LENGTH ? frames : length));
      return [input, new Tensor('float32', numbersOfLayer(speech[of], layer), lengths)] as const;
    });
    return Object.fromEntries([...whole.map(([input, of]) => [input, speech[of]] as const), ...pieces]);
  }
}

/** Of [layers, 1, heads, frames, head size], without a copy. */
function numbersOfLayer({ data, dims }: Tensor, layer: number): Float32Array {
  const length = data.length / (dims[0] ?? 1);
  return (data as Float32Array).subarray(layer * length, (layer + 1) * length);
}

/** One text as far as it was decoded. */
export class DecoderText implements LogitsText {
  readonly #session: InferenceSession;
  readonly #feeds: Tensors;

  /** @param speech what the graph is given of the speech */
  constructor(session: InferenceSession, { layers, heads, headSize }: StreamingConfig, speech: Tensors) {
    this.#session = session;
    const none = new Tensor('float32', new Float32Array(0), [layers, 1, heads, 0, headSize]);
    this.#feeds = { ...speech, k_self: none, v_self: none };
  }

  get length(): number {
    return this.#feeds['k_self']?.dims[3] ?? 0;
  }

  async add(tokens: readonly number[]): Promise<Float32Array> {
    const outputs = await this.#session.run({ ...this.#feeds, token: tokenTensor(tokens) }, [
      'logits',
      'out_k_self',
      'out_v_self',
    ]);
    this.#feeds['k_self'] = tensorOf(outputs, 'out_k_self');
    this.#feeds['v_self'] = tensorOf(outputs, 'out_v_self');
    return tensorOf(outputs, 'logits').data as Float32Array;
  }

  keep(count: number): void {
    for (const name of ['k_self', 'v_self']) this.#feeds[name] = cropCache(this.#feeds[name] as Tensor, count);
  }
}

/** The published graph without the nodes that take the speech apart, and what it is given instead. */
async function build(
  model: ModelFile,
  config: StreamingConfig,
  { threads }: SessionOptions,
): Promise<ReadonlyMap<string, Uint8Array>> {
  const [apart, text] = cutByInputs(model, TEXT_INPUTS, TAKING_APART) as [GraphPart, GraphPart];
  if (apart.nodes.length === 0) throw new ModelFileError('decoder: nothing takes the speech apart');
  const session = await InferenceSession.create(
    partBytes(model, apart, () => undefined),
    {
      executionProviders: ['cpu'],
      intraOpNumThreads: threads,
    },
  );
  try {
    const pieces = await findPieces(session, config);
    const shapes = shapesOf(session);
    return new Map([
      [TEXT_FILE, partBytes(model, text, (value) => shapes.get(value))],
      [PIECES_FILE, Buffer.from(JSON.stringify(pieces))],
    ]);
  } finally {
    await session.release();
  }
}

/** Which layer's keys or values each output is. @throws ModelFileError when it is something else */
async function findPieces(session: InferenceSession, { layers, heads, headSize }: StreamingConfig) {
  const size = heads * TRIAL_FRAMES * headSize;
  const trial = (sign: number) =>
    new Tensor(
      'float32',
      Float32Array.from({ length: layers * size }, (_, index) => sign * (index + 1)),
      [...[layers, 1, heads, TRIAL_FRAMES, headSize]],
    );
  const speech: CrossKv = { keys: trial(1), values: trial(-1) };
  const inputs = Object.entries(SPEECH_INPUTS).map(([input, of]) => [input, speech[of]] as const);
  const outputs = await session.run(Object.fromEntries(inputs.filter(([name]) => session.inputNames.includes(name))));
  return session.outputNames.map((input): SpeechPiece => {
    const { data, dims } = tensorOf(outputs, input);
    const first = Number(data[0]);
    const of = first > 0 ? 'keys' : 'values';
    const layer = Math.floor((Math.abs(first) - 1) / size);
    const expected = numbersOfLayer(speech[of], layer);
    if (data.length !== size || !expected.every((value, index) => value === data[index]))
      throw new ModelFileError(`decoder: ${input} is not what one layer needs of the speech`);
    return { input, of, layer, dims: dims.with(-2, UNKNOWN_LENGTH) };
  });
}
