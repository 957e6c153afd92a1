/**
 * What is made of Whisper's published graphs: an encoder that takes windows shorter than 30 s, and a decoder that gives
 * its attention to the speech, by which words are timed. Weights stay in the published files.
 */
import { GraphBuilder } from './builder.ts';
import type { GraphPart } from './cut.ts';
import type { ModelFile } from './model-file.ts';
import type { NodeProto, TensorProto } from './onnx-proto.ts';

/**
 * The encoder with as many of its positions as a window has. The published graph adds all of them, so that it takes 30 s
 * and nothing else; this is the only difference.
 * @param positions how many it has
 * @throws Error when positions are not added as in the published graphs
 */
export function freeWindow(model: ModelFile, positions: number): ModelFile {
  const places = model.nodes.flatMap((node, at) => {
    const table = node.opType === 'Add' ? node.input.find((input) => isTable(model, input, positions)) : undefined;
    return table === undefined ? [] : [{ node, at, table }];
  });
  const [place] = places;
  if (place === undefined || places.length > 1)
    throw new Error(`it adds a table of ${positions} positions ${places.length} times, expected once`);
  const { node, at, table } = place;
  const graph = new GraphBuilder(null, 'window ');
  const axes = model.constants.get(table)?.dims.length ?? 0;
  const shape = graph.add('Shape', [node.input.find((input) => input !== table) ?? '']);
  const count = graph.add('Slice', [shape, graph.integers([1n]), graph.integers([2n])]);
  const used = graph.add('Slice', [table, graph.integers([0n]), count, graph.integers([BigInt(axes - 2)])]);
  graph.addCopy({ ...node, input: node.input.map((input) => (input === table ? used : input)) });
  const { node: added, initializer } = graph.graph('');
  const nodes = [...model.nodes.slice(0, at), ...added, ...model.nodes.slice(at + 1)];
  return { ...model, nodes, constants: withConstants(model, initializer) };
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
