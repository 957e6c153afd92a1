/**
 * What is made of Whisper's published graphs: an encoder that takes windows shorter than 30 s, and a decoder that gives
 * its attention to the speech, by which words are timed. Weights stay in the published files.
 */
import { GraphBuilder } from './builder.ts';
import type { GraphPart } from './cut.ts';
import type { ModelFile } from './model-file.ts';
import { DATA_TYPE, type NodeProto, type TensorProto, type ValueInfoProto } from './onnx-proto.ts';

/** Operators that are given lengths. */
const TAKING_LENGTHS: ReadonlySet<string> = new Set(['Concat', 'Expand', 'Reshape']);
/** Lists of lengths have one for each axis. */
const AXES_MAX = 8;

/**
 * The encoder with as many of its positions as a window has. The published graph adds all of them, so that it takes 30
 * s and nothing else; programs that make graphs smaller write their number wherever a length is needed.
 * @param positions how many it has
 * @throws Error when positions are not added as in the published graphs
 */
export function freeWindow(model: ModelFile, positions: number): ModelFile {
  const found = model.nodes.flatMap((node) => {
    const table = node.opType === 'Add' ? node.input.find((input) => isTable(model, input, positions)) : undefined;
    return table === undefined ? [] : [{ node, table }];
  });
  const [place] = found;
  if (place === undefined || found.length > 1)
    throw new Error(`it adds a table of ${positions} positions ${found.length} times, expected once`);
  const graph = new GraphBuilder(null, 'window ');
  let count = '';
  for (const node of model.nodes) {
    if (node !== place.node) {
      graph.addCopy(count === '' ? node : withLengths(graph, node, { model, positions, count }));
      continue;
    }
    const { table } = place;
    const shape = graph.add('Shape', [node.input.find((input) => input !== table) ?? '']);
    count = graph.add('Slice', [shape, graph.integers([1n]), graph.integers([2n])]);
    const axis = (model.constants.get(table)?.dims.length ?? 0) - 2;
    const used = graph.add('Slice', [table, graph.integers([0n]), count, graph.integers([BigInt(axis)])]);
    graph.addCopy({ ...node, input: node.input.map((input) => (input === table ? used : input)) });
  }
  const { node: nodes, initializer } = graph.graph('');
  const outputs = model.outputs.map((output) => withFreeAxis(output, positions));
  return { ...model, nodes, outputs, constants: withConstants(model, initializer) };
}

function withFreeAxis(output: ValueInfoProto, positions: number): ValueInfoProto {
  const tensorType = output.type?.tensorType;
  const dim = tensorType?.shape?.dim.map((axis) =>
    axis.dimValue === BigInt(positions) ? { dimParam: 'positions' } : axis,
  );
  return dim === undefined ? output : { ...output, type: { tensorType: { ...tensorType, shape: { dim } } } };
}

/** The same node, given the positions of the window where it was given those of 30 s. */
function withLengths(
  graph: GraphBuilder,
  node: NodeProto,
  { model, positions, count }: { model: ModelFile; positions: number; count: string },
): NodeProto {
  if (!TAKING_LENGTHS.has(node.opType ?? '')) return node;
  const input = node.input.map((name) => {
    const lengths = lengthsIn(model, name);
    if (!lengths.includes(BigInt(positions))) return name;
    const isPositions = lengths.map((length) => (length === BigInt(positions) ? 1n : 0n));
    const others = lengths.map((length) => (length === BigInt(positions) ? 0n : length));
    return graph.add('Add', [graph.add('Mul', [graph.integers(isPositions), count]), graph.integers(others)]);
  });
  return { ...node, input };
}

/** The numbers of a short list of whole numbers; none where a value is something else. */
function lengthsIn({ constants, nodes }: ModelFile, name: string): readonly bigint[] {
  const maker = constants.has(name) ? undefined : nodes.find(({ output }) => output.includes(name));
  const made = maker?.opType === 'Constant' ? maker.attribute.find((each) => each.name === 'value')?.t : undefined;
  const constant = constants.get(name) ?? made;
  const isList = constant?.dataType === DATA_TYPE.int64 && constant.dims.length === 1;
  if (constant === undefined || !isList || Number(constant.dims[0]) > AXES_MAX) return [];
  const { rawData, int64Data } = constant;
  return rawData === undefined ? int64Data : Array.from(new BigInt64Array(Uint8Array.from(rawData).buffer));
}

/** [positions, width] or [1, positions, width] */
function isTable({ constants }: ModelFile, name: string, positions: number): boolean {
  const dims = constants.get(name)?.dims ?? [];
  return (dims.length === 2 || dims.length === 3) && Number(dims.at(-2)) === positions;
}

/** A graph made of another one, and its only part. */
interface AttentionGraph {
  readonly model: ModelFile;
  /** Its outputs are each layer's attention to the speech, [1, heads, tokens, positions]. */
  readonly part: GraphPart;
}

/**
 * The uncached branch of a merged decoder, as far as its attention to the speech needs it.
 * @param layers how many it has
 * @throws Error when the graph is built otherwise, e.g. of operators that do not show their attention
 */
export function attentionGraph(model: ModelFile, layers: number): AttentionGraph {
  const choice = model.nodes.find(({ opType }) => opType === 'If');
  const branch = choice?.attribute.find(({ name }) => name === 'else_branch')?.g;
  if (choice === undefined || branch === undefined) throw new Error('it has no branch without a cache');
  const all = [...model.nodes.filter((node) => node !== choice), ...branch.node];
  const shares = branch.node.filter(({ opType }) => opType === 'Softmax').flatMap(({ output }) => output);
  if (shares.length !== 2 * layers)
    throw new Error(`it shows ${shares.length} attentions, expected ${2 * layers}: to the text and to the speech`);
  // Each layer attends to the text first.
  const outputs = shares.filter((_, index) => index % 2 === 1);
  const nodes = neededFor(outputs, all);
  const read = new Set(nodes.flatMap(({ input }) => input));
  const inputs = model.inputs.map(({ name = '' }) => name).filter((name) => read.has(name));
  return {
    model: { ...model, nodes, constants: withConstants(model, branch.initializer) },
    part: { nodes, inputs, outputs },
  };
}

/** Those of `nodes`, in their order, that make `values`. */
function neededFor(values: readonly string[], nodes: readonly NodeProto[]): NodeProto[] {
  const wanted = new Set(values);
  const needed = nodes.toReversed().filter((node) => {
    const isNeeded = node.output.some((output) => wanted.has(output));
    if (isNeeded) for (const input of node.input) wanted.add(input);
    return isNeeded;
  });
  return needed.reverse();
}

function withConstants({ constants }: ModelFile, added: readonly TensorProto[]): ModelFile['constants'] {
  return new Map([...constants, ...added.map((constant) => [constant.name ?? '', constant] as const)]);
}
