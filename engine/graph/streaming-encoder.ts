/**
 * The encoder of Moonshine streaming with caches: the published graph, changed only where frames meet, so that a run
 * takes new frames alone. In every layer, keys and values of the frames before are put in front of the new ones; a
 * layer that sees frames to the right holds the last queries back, with the frames that they belong to, until those to
 * their right have come. All arithmetic stays the published one. See docs/internals/graphs.md.
 */
import { decode, encode } from './codec.ts';
import {
  ATTRIBUTE_TYPE,
  type AttributeProto,
  DATA_TYPE,
  type GraphProto,
  MODEL,
  type ModelProto,
  type NodeProto,
  type ValueInfoProto,
} from './onnx-proto.ts';
import { tensor } from './tensors.ts';

/** Where one layer's attention is in the graph. */
export interface LayerPlaces {
  /** The scores of every pair of frames before the mask, and the node that masks them. */
  readonly scores: NodeProto;
  readonly masking: NodeProto;
  /** Which input of {@link masking} is the mask: what it adds, or where it lets scores through. */
  readonly maskInput: number;
  /** Weighs the values. */
  readonly weighing: NodeProto;
  /** Which axis of the keys the frames are on. */
  readonly keyAxis: number;
  /** Adds what was attended to the frames; which of its inputs are the frames. */
  readonly residual: NodeProto;
  readonly residualInput: number;
}

/** The published graph, and where its layers' attention is. */
export interface EncoderPlaces {
  readonly model: ModelProto;
  readonly graph: GraphProto;
  readonly layers: readonly LayerPlaces[];
}

/** How far a layer sees: frames to the left, and to the right. */
export interface LayerSight {
  readonly left: number;
  readonly right: number;
}

/** Names of a layer's inputs and outputs; outputs have ` out` behind them. */
export function stateNames(layer: number): Record<'keys' | 'values' | 'queries' | 'frames' | 'mask', string> {
  const name = (part: string): string => `layer ${layer} ${part}`;
  return {
    keys: name('keys'),
    values: name('values'),
    queries: name('queries'),
    frames: name('frames'),
    mask: name('mask'),
  };
}

/** 1 while more frames will come, 0 with the last ones. */
export const HOLD_NAME = 'hold';

const MULTIPLY = ['MatMul', 'FusedMatMul'];
const FRAMES_AXIS = 2;
/** Between the product of queries and keys and its mask; the published graphs have one. */
const SCALINGS_MAX = 8;
const SLICE_END = 2n ** 62n;

/** Finds the attention of all layers. @throws Error when the graph is not built as the published ones are */
export function findEncoderPlaces(bytes: Uint8Array): EncoderPlaces {
  const model = decode<ModelProto>(MODEL, bytes);
  const { graph } = model;
  if (graph === undefined) throw new Error('a model without a graph');
  const layers = graph.node.filter(({ opType }) => opType === 'Softmax').map((softmax) => findLayer(graph, softmax));
  if (layers.length === 0) throw new Error('a graph without attention');
  return { model, graph, layers };
}

function findLayer(graph: GraphProto, softmax: NodeProto): LayerPlaces {
  const masking = producerOf(graph, softmax.input[0]);
  const { scores, input } = followScores(graph, masking);
  const maskInput = masking.opType === 'Where' ? 0 : 1 - input;
  const weighing = onlyConsumerOf(graph, softmax.output[0]);
  if (!MULTIPLY.includes(weighing.opType ?? '')) throw new Error(`values are weighed by ${weighing.opType}`);
  const { residual, residualInput } = findResidual(graph, weighing);
  const keyAxis = attributeOf(scores, 'transB') === 1n ? FRAMES_AXIS : FRAMES_AXIS + 1;
  return { scores, masking, maskInput, weighing, keyAxis, residual, residualInput };
}

/** From the node that masks back to the product of queries and keys: what scales it may be in between. */
function followScores(graph: GraphProto, masking: NodeProto): { readonly scores: NodeProto; readonly input: number } {
  const inputs = masking.opType === 'Where' ? [1] : [0, 1];
  if (masking.opType !== 'Where' && masking.opType !== 'Add') throw new Error(`scores are masked by ${masking.opType}`);
  for (const input of inputs) {
    let node = findProducer(graph, masking.input[input]);
    // A node that reads itself would else never come to an end; onnxruntime refuses it.
    for (let step = 0; step < SCALINGS_MAX && ['Mul', 'Div'].includes(node?.opType ?? ''); step++) {
      const scaled: string | undefined = node?.input.find((name) => !isConstant(graph, name));
      node = findProducer(graph, scaled);
    }
    if (node !== undefined && MULTIPLY.includes(node.opType ?? '')) return { scores: node, input };
  }
  throw new Error('no product of queries and keys');
}

/** From the weighed values on to the node that adds them to the frames. */
function findResidual(graph: GraphProto, weighing: NodeProto): Pick<LayerPlaces, 'residual' | 'residualInput'> {
  let value = weighing.output[0] ?? '';
  for (let step = 0; step < graph.node.length; step++) {
    const next = graph.node.find(
      ({ opType, input }) => input.includes(value) && opType !== 'Shape' && opType !== 'DynamicQuantizeLinear',
    );
    const quantised = graph.node.find(({ opType, input }) => opType === 'DynamicQuantizeLinear' && input[0] === value);
    const node = quantised ?? next;
    if (node === undefined) break;
    const isSum = node.opType === 'Add' || node.opType === 'SkipLayerNormalization';
    const residualInput = node.input.findIndex((name, at) => at < 2 && name !== value);
    if (isSum && residualInput !== -1 && !isConstant(graph, node.input[residualInput]))
      return { residual: node, residualInput };
    value = node.output[0] ?? '';
  }
  throw new Error('what is attended is not added to the frames');
}

function findProducer(graph: GraphProto, value: string | undefined): NodeProto | undefined {
  return value === undefined || value === '' ? undefined : graph.node.find(({ output }) => output.includes(value));
}

function producerOf(graph: GraphProto, value: string | undefined): NodeProto {
  const node = findProducer(graph, value);
  if (node === undefined) throw new Error(`nothing computes ${value}`);
  return node;
}

function onlyConsumerOf(graph: GraphProto, value: string | undefined): NodeProto {
  const [node, ...others] = graph.node.filter(({ input }) => input.includes(value ?? ''));
  if (node === undefined || others.length > 0) throw new Error(`${value} goes to ${others.length + 1} nodes`);
  return node;
}

function isConstant(graph: GraphProto, value: string | undefined): boolean {
  return graph.initializer.some(({ name }) => name === value) || findProducer(graph, value)?.opType === 'Constant';
}

function attributeOf(node: NodeProto, name: string): bigint | undefined {
  return node.attribute.find((attribute) => attribute.name === name)?.i;
}

/**
 * The published graph that also gives what the caches will hold, and its masks, under the names of {@link stateNames}:
 * so it shows their shapes, and how far each layer sees.
 */
export function withStates({ model, graph, layers }: EncoderPlaces): Uint8Array {
  const output: ValueInfoProto[] = [...graph.output];
  const node = [...graph.node];
  for (const [layer, { scores, masking, maskInput, weighing, residual, residualInput }] of layers.entries()) {
    const names = stateNames(layer);
    const values = [
      [scores.input[0], names.queries],
      [scores.input[1], names.keys],
      [weighing.input[1], names.values],
      [residual.input[residualInput], names.frames],
      [masking.input[maskInput], names.mask],
    ] as const;
    for (const [value = '', name] of values) {
      node.push(cast(value, name));
      output.push(valueInfo(name, 'float', []));
    }
  }
  return encode(MODEL, { ...model, graph: { ...graph, node, output } });
}

/** The graph with caches. `sights` as the masks show them. */
export function withCaches({ model, graph, layers }: EncoderPlaces, sights: readonly LayerSight[]): Uint8Array {
  const builder = new CacheBuilder(graph);
  for (const [layer, places] of layers.entries())
    builder.addLayer(layer, places, sights[layer] ?? { left: 0, right: 0 });
  return encode(MODEL, { ...model, graph: builder.graph() });
}

/** Changes a graph node by node. */
class CacheBuilder {
  readonly #graph: GraphProto;
  readonly #inputs: ValueInfoProto[] = [valueInfo(HOLD_NAME, 'int64', [1])];
  readonly #outputs: ValueInfoProto[] = [];
  /** Nodes with other inputs, and nodes that go before a node. */
  readonly #changed = new Map<NodeProto, NodeProto>();
  readonly #before = new Map<NodeProto, NodeProto[]>();
  readonly #constants = new Map<string, bigint>();

  constructor(graph: GraphProto) {
    this.#graph = graph;
  }

  addLayer(layer: number, places: LayerPlaces, { left, right }: LayerSight): void {
    const names = stateNames(layer);
    const { scores, weighing, masking, maskInput, residual, residualInput } = places;
    const mask = this.#input(names.mask, []);
    this.#replace(masking, maskInput, masking.opType === 'Where' ? this.#add(masking, 'Cast', [mask], toBool()) : mask);
    const span = left + right;
    this.#replace(scores, 1, this.#extend(scores, scores.input[1], names.keys, { axis: places.keyAxis, span }));
    this.#replace(weighing, 1, this.#extend(weighing, weighing.input[1], names.values, { axis: FRAMES_AXIS, span }));
    if (right === 0) return;
    this.#replace(scores, 0, this.#holdBack(scores, scores.input[0], names.queries, { axis: FRAMES_AXIS, right }));
    const frames = residual.input[residualInput];
    this.#replace(residual, residualInput, this.#holdBack(residual, frames, names.frames, { axis: 1, right }));
  }

  graph(): GraphProto {
    const nodes = this.#graph.node.flatMap((each) => [
      ...(this.#before.get(each) ?? []),
      this.#changed.get(each) ?? each,
    ]);
    const output = [...this.#graph.output, ...this.#outputs];
    const { node, wanted } = needed(nodes, output);
    const constants = [...this.#constants].map(([name, value]) => tensor(name, 'int64', [1], [value]));
    return {
      ...this.#graph,
      node,
      initializer: [...this.#graph.initializer.filter(({ name = '' }) => wanted.has(name)), ...constants],
      input: [...this.#graph.input, ...this.#inputs],
      output,
      // Lengths that were certain are not any more.
      valueInfo: [],
    };
  }

  /** New ones behind those of the frames before; the last `span` of them are for the next run. */
  #extend(
    at: NodeProto,
    added: string | undefined,
    state: string,
    { axis, span }: { axis: number; span: number },
  ): string {
    const all = this.#add(at, 'Concat', [this.#input(state, []), added ?? ''], [intAttribute('axis', axis)]);
    const [from, to] = [this.#constant(-span), this.#constant(SLICE_END)];
    this.#output(this.#add(at, 'Slice', [all, from, to, this.#constant(axis)], []), state, at);
    return all;
  }

  /** New ones behind those that were held back; the last `right` of them are held back, unless they are the last. */
  #holdBack(
    at: NodeProto,
    added: string | undefined,
    state: string,
    { axis, right }: { axis: number; right: number },
  ): string {
    const all = this.#add(at, 'Concat', [this.#input(state, []), added ?? ''], [intAttribute('axis', axis)]);
    const shape = this.#add(at, 'Shape', [all], [intAttribute('start', axis), intAttribute('end', axis + 1)]);
    const held = this.#add(at, 'Mul', [HOLD_NAME, this.#constant(right)], []);
    const split = this.#add(at, 'Sub', [shape, held], []);
    const along = this.#constant(axis);
    this.#output(this.#add(at, 'Slice', [all, split, this.#constant(SLICE_END), along], []), state, at);
    return this.#add(at, 'Slice', [all, this.#constant(0), split, along], []);
  }

  #input(name: string, dims: readonly string[]): string {
    this.#inputs.push(valueInfo(name, 'float', dims));
    return name;
  }

  #output(value: string, state: string, at: NodeProto): void {
    const name = `${state} out`;
    this.#insert(at, { name, opType: 'Identity', domain: '', input: [value], output: [name], attribute: [] });
    this.#outputs.push(valueInfo(name, 'float', []));
  }

  #add(at: NodeProto, opType: string, input: readonly string[], attribute: readonly AttributeProto[]): string {
    const name = `cache ${opType} ${[...this.#before.values()].reduce((sum, nodes) => sum + nodes.length, 0)}`;
    this.#insert(at, { name, opType, domain: '', input, output: [name], attribute });
    return name;
  }

  #insert(at: NodeProto, node: NodeProto): void {
    this.#before.set(at, [...(this.#before.get(at) ?? []), node]);
  }

  #replace(node: NodeProto, at: number, value: string): void {
    const now = this.#changed.get(node) ?? node;
    this.#changed.set(node, { ...now, input: now.input.with(at, value) });
  }

  #constant(value: number | bigint): string {
    const name = `cache int ${value}`;
    this.#constants.set(name, BigInt(value));
    return name;
  }
}

/** The nodes and values that the outputs depend on: nobody asks for the published masks any more. */
function needed(
  nodes: readonly NodeProto[],
  outputs: readonly ValueInfoProto[],
): { readonly node: readonly NodeProto[]; readonly wanted: ReadonlySet<string> } {
  const wanted = new Set(outputs.map(({ name }) => name ?? ''));
  const found: NodeProto[] = [];
  for (const node of nodes.toReversed()) {
    if (!node.output.some((name) => wanted.has(name))) continue;
    for (const name of node.input) wanted.add(name);
    found.unshift(node);
  }
  return { node: found, wanted };
}

function intAttribute(name: string, value: number): AttributeProto {
  return { name, i: BigInt(value), floats: [], ints: [], type: ATTRIBUTE_TYPE.int };
}

function toBool(): readonly AttributeProto[] {
  return [intAttribute('to', DATA_TYPE.bool)];
}

function cast(value: string, name: string): NodeProto {
  return {
    name,
    opType: 'Cast',
    domain: '',
    input: [value],
    output: [name],
    attribute: [intAttribute('to', DATA_TYPE.float)],
  };
}

/** Without dims the shape is left open. */
function valueInfo(name: string, type: keyof typeof DATA_TYPE, dims: readonly (number | string)[]): ValueInfoProto {
  const shape = { dim: dims.map((dim) => (typeof dim === 'string' ? { dimParam: dim } : { dimValue: BigInt(dim) })) };
  return { name, type: { tensorType: { elemType: DATA_TYPE[type], ...(dims.length === 0 ? {} : { shape }) } } };
}
