/**
 * A graph cut into parts that run one after the other, each given what it needs of those before it. The operations and
 * their order stay, so the results do. While one graph runs, no urgent job can begin; between two parts it can.
 */
import { dirname, join } from 'node:path';
import { encode } from './codec.ts';
import { bytesOf, type ModelConstant, type ModelFile, placeOf, readBytes } from './model-file.ts';
import {
  DATA_TYPE,
  type GraphProto,
  MODEL,
  type ModelProto,
  type NodeProto,
  type TensorProto,
  type ValueInfoProto,
} from './onnx-proto.ts';

/** The highest bit of each of four bytes. */
const SIGN_BITS = 0x80808080;

/** Weights of a convolution over planes have so many axes. */
const PLANE_AXES = 4;
/**
 * They are few, but each is used at every place of a spectrogram: one takes as long as this share of all weights does
 * in Parakeet's encoder (measured: five of them 8 ms, 24 layers 150).
 */
const PLANE_SHARE = 0.01;

/** Nodes that run together, and the values that they share with others. */
export interface GraphPart {
  readonly nodes: readonly NodeProto[];
  /** Inputs of the whole graph, and outputs of parts before. */
  readonly inputs: readonly string[];
  /** Outputs of the whole graph, and inputs of parts behind. */
  readonly outputs: readonly string[];
}

/** Type and shape of a value, as onnxruntime tells them of an output: lengths that are not known have names. */
export interface ValueShape {
  readonly type: string;
  readonly shape: readonly (number | string)[];
}

/**
 * Cuts a graph into `count` parts of about equally many weights, at the places nearby where the fewest values pass.
 */
export function cutByWeights(model: ModelFile, count: number): GraphPart[] {
  const graph = new Flow(model);
  const total = graph.weightsBefore.at(-1) ?? 0;
  const cuts: number[] = [];
  for (let part = 1; part < count; part++) {
    const near = (share: number) => graph.placeOfWeights((total * (part + share)) / count);
    const best = graph.narrowest(Math.max(near(-0.5), (cuts.at(-1) ?? 0) + 1), near(0.5), near(0));
    if (best !== null) cuts.push(best);
  }
  const ends = [...cuts, graph.running.length];
  return graph.partsOf(ends.map((end, index) => graph.running.slice(ends[index - 1] ?? 0, end)));
}

/** One part with everything. */
export function wholePart({ nodes, inputs, outputs }: ModelFile): GraphPart {
  return { nodes, inputs: inputs.map(({ name = '' }) => name), outputs: outputs.map(({ name = '' }) => name) };
}

/**
 * Two parts: what can be computed without the inputs `names`, and what needs one of them.
 * @param operators that the first part may have; null = all
 */
export function cutByInputs(
  model: ModelFile,
  names: readonly string[],
  operators: ReadonlySet<string> | null = null,
): GraphPart[] {
  const graph = new Flow(model);
  const depending = new Set(names);
  for (const node of graph.running) {
    const isAllowed = operators === null || operators.has(node.opType ?? '');
    if (isAllowed && !readBy(node).some((input) => depending.has(input))) continue;
    for (const output of node.output) depending.add(output);
  }
  const needsIt = (node: NodeProto) => node.output.some((output) => depending.has(output));
  return graph.partsOf([graph.running.filter((node) => !needsIt(node)), graph.running.filter(needsIt)]);
}

/**
 * A part as the bytes of an ONNX file whose large constants are still in the files of the whole model: onnxruntime must
 * be told their folder.
 * @param shapeOf of inputs that are no inputs of the whole graph
 * @throws Error when a constant cannot be read
 */
export function partBytes(
  model: ModelFile,
  part: GraphPart,
  shapeOf: (value: string) => ValueShape | undefined,
): Uint8Array {
  const used = new Set(part.nodes.flatMap(readBy));
  const constants = [...model.constants.values()].filter(({ name = '' }) => used.has(name));
  const graph: GraphProto = {
    name: 'part',
    node: part.nodes,
    initializer: constants.map((constant) => readable(constant, model.path)),
    input: part.inputs.map((name) => infoOf(name, model.inputs, shapeOf)),
    output: part.outputs.map((name) => model.outputs.find((output) => output.name === name) ?? { name }),
    valueInfo: [],
  };
  const { irVersion, opsetImport } = model;
  const whole: ModelProto = { irVersion, producerName: 'trunkline', graph, opsetImport };
  return encode(MODEL, whole);
}

/** onnxruntime maps the files into memory, where numbers of several bytes must lie at multiples of their size. */
function readable(constant: ModelConstant, path: string): TensorProto {
  const place = placeOf(constant);
  const size = bytesOf(constant.dataType);
  const isAligned = size > 0 && (place?.offset ?? 0) % size === 0;
  if (!constant.isTurned && (place === null || isAligned)) return constant;
  const { name = '', dims, dataType = 0 } = constant;
  const read =
    place === null
      ? Uint8Array.from(constant.rawData ?? constant.int32Data)
      : readBytes(join(dirname(path), place.location), place.offset, place.length);
  const rawData = constant.isTurned ? turned(read) : read;
  return { name, dims, dataType, floatData: [], int32Data: [], int64Data: [], rawData };
}

/** Turns the highest bit of each byte, four at a time, in place. */
function turned(bytes: Uint8Array): Uint8Array {
  const words = new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.length >> 2);
  for (let i = 0; i < words.length; i++) words[i] = (words[i] as number) ^ SIGN_BITS;
  for (let i = 4 * words.length; i < bytes.length; i++) bytes[i] = (bytes[i] as number) ^ (SIGN_BITS & 0xff);
  return bytes;
}

function infoOf(
  name: string,
  known: readonly ValueInfoProto[],
  shapeOf: (value: string) => ValueShape | undefined,
): ValueInfoProto {
  const info = known.find((input) => input.name === name);
  if (info !== undefined) return info;
  const found = shapeOf(name);
  const elemType = DATA_TYPE[ELEMENT[found?.type ?? ''] ?? 'float'];
  if (found === undefined) throw new Error(`the shape of ${name} is not known`);
  const dim = found.shape.map((length, axis) =>
    typeof length === 'number' && length >= 0
      ? { dimValue: BigInt(length) }
      : { dimParam: length === '' || typeof length === 'number' ? `${name} ${axis}` : length },
  );
  return { name, type: { tensorType: { elemType, shape: { dim } } } };
}

/** onnxruntime's names of the types that pass between parts. */
const ELEMENT: Readonly<Record<string, keyof typeof DATA_TYPE>> = {
  float32: 'float',
  int64: 'int64',
  int32: 'int32',
  bool: 'bool',
  uint8: 'uint8',
  int8: 'int8',
};

/** Which values a graph's nodes pass to one another. */
class Flow {
  /** Nodes that need an input; the others are added to each part that reads them. */
  readonly running: readonly NodeProto[];
  /** Weights that the first n of the running nodes read, for each n. */
  readonly weightsBefore: readonly number[];
  readonly #inputs: readonly string[];
  readonly #outputs: readonly string[];
  readonly #fixed = new Map<string, NodeProto>();
  /** Weights of fixed nodes: many nodes may read the same one. */
  readonly #fixedWeights = new Map<NodeProto, number>();

  constructor({ nodes, constants, inputs, outputs }: ModelFile) {
    this.#inputs = inputs.map(({ name = '' }) => name).filter((name) => !constants.has(name));
    this.#outputs = outputs.map(({ name = '' }) => name);
    const given = new Set(this.#inputs);
    const running = nodes.filter((node) => {
      const runs = readBy(node).some((input) => given.has(input));
      for (const output of node.output) {
        if (runs) given.add(output);
        else this.#fixed.set(output, node);
      }
      return runs;
    });
    this.running = inOrderOfNeed(running, this.#outputs);
    let weights = 0;
    for (const { dims } of constants.values()) weights += countOf(dims);
    const least = weights * PLANE_SHARE;
    weights = 0;
    this.weightsBefore = [0, ...this.running.map((node) => (weights += this.#weightsOf(node, constants, least)))];
  }

  /** Of the constants that a node reads, itself or through fixed nodes; `least` of those of a plane. */
  #weightsOf(node: NodeProto, constants: ModelFile['constants'], least: number): number {
    return readBy(node).reduce((sum, input) => {
      const fixed = this.#fixed.get(input);
      if (fixed !== undefined) return sum + this.#weightsOfFixed(fixed, constants, least);
      const { dims } = constants.get(input) ?? { dims: [0n] };
      return sum + Math.max(countOf(dims), dims.length === PLANE_AXES ? least : 0);
    }, 0);
  }

  #weightsOfFixed(node: NodeProto, constants: ModelFile['constants'], least: number): number {
    const known = this.#fixedWeights.get(node);
    if (known !== undefined) return known;
    // One that reads itself, which onnxruntime refuses, would else never come to an end.
    this.#fixedWeights.set(node, 0);
    const weights = this.#weightsOf(node, constants, least);
    this.#fixedWeights.set(node, weights);
    return weights;
  }

  /** The first place with this many weights before it. */
  placeOfWeights(weights: number): number {
    return this.weightsBefore.findIndex((before) => before >= weights);
  }

  /** The place where the fewest values pass, of `from` to `to`, and of those the nearest to `wanted`; null = none. */
  narrowest(from: number, to: number, wanted: number): number | null {
    const passing = this.#passing();
    let best: number | null = null;
    for (let place = from; place <= Math.min(to, this.running.length - 1); place++) {
      const isBetter =
        best === null ||
        (passing[place] ?? 0) < (passing[best] ?? 0) ||
        (passing[place] === passing[best] && Math.abs(place - wanted) < Math.abs(best - wanted));
      if (isBetter) best = place;
    }
    return best;
  }

  /** How many values are made before each place and read behind it. */
  #passing(): number[] {
    const lastRead = new Map<string, number>();
    for (const [index, node] of this.running.entries()) for (const input of readBy(node)) lastRead.set(input, index);
    const change = new Array<number>(this.running.length + 1).fill(0);
    for (const [index, node] of this.running.entries()) {
      for (const output of node.output) {
        const end = lastRead.get(output) ?? index;
        if (end <= index) continue;
        change[index + 1] = (change[index + 1] ?? 0) + 1;
        change[end + 1] = (change[end + 1] ?? 0) - 1;
      }
    }
    let passing = 0;
    return change.map((by) => (passing += by));
  }

  /** Parts of these running nodes, with the fixed ones that they need. */
  partsOf(groups: readonly (readonly NodeProto[])[]): GraphPart[] {
    const reads = groups.map((group) => new Set(group.flatMap(readBy)));
    const makes = groups.map((group) => new Set(group.flatMap(({ output }) => output)));
    return groups.map((group, index) => {
      const isElsewhere = (name: string) => makes.some((made, other) => other !== index && made.has(name));
      const isNeeded = (name: string) =>
        this.#outputs.includes(name) || reads.some((read, other) => other !== index && read.has(name));
      return {
        nodes: [...this.#fixedFor(group), ...group],
        inputs: [...(reads[index] ?? [])].filter((name) => this.#inputs.includes(name) || isElsewhere(name)),
        outputs: [...(makes[index] ?? [])].filter((name) => name !== '' && isNeeded(name)),
      };
    });
  }

  #fixedFor(group: readonly NodeProto[]): NodeProto[] {
    const found = new Set<NodeProto>();
    const visit = (node: NodeProto): void => {
      for (const input of readBy(node)) {
        const fixed = this.#fixed.get(input);
        if (fixed === undefined || found.has(fixed)) continue;
        visit(fixed);
        found.add(fixed);
      }
    };
    for (const node of group) visit(node);
    return [...found];
  }
}

function countOf(dims: readonly bigint[]): number {
  return Number(dims.reduce((product, length) => product * length, 1n));
}

/** The nodes in the order in which their results are needed: what a layer needs of its own stands in it. */
function inOrderOfNeed(nodes: readonly NodeProto[], outputs: readonly string[]): NodeProto[] {
  const makers = new Map(nodes.flatMap((node) => node.output.map((output) => [output, node] as const)));
  const places = new Map(nodes.map((node, place) => [node, place]));
  const placeOfNode = (node: NodeProto) => places.get(node) ?? 0;
  const ordered = new Set<NodeProto>();
  const waiting = outputs.flatMap((output) => makers.get(output) ?? []).reverse();
  for (let node = waiting.at(-1); node !== undefined; node = waiting.at(-1)) {
    // A file whose nodes wait for one another in a circle would else never come to an end; onnxruntime refuses it.
    const place = placeOfNode(node);
    const missing = readBy(node)
      .flatMap((input) => makers.get(input) ?? [])
      .filter((maker) => !ordered.has(maker) && placeOfNode(maker) < place);
    if (missing.length > 0) waiting.push(...missing.reverse());
    else ordered.add(waiting.pop() as NodeProto);
  }
  return [...ordered];
}

/** The values that a node reads, in graphs within it, too. */
function readBy(node: NodeProto): string[] {
  const within = node.attribute.flatMap(({ g }) => (g === undefined ? [] : g.node.flatMap(readBy)));
  return [...node.input, ...within].filter((name) => name !== '');
}
