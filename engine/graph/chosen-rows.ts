/**
 * Graphs of language models whose last product gives logits of every position, though few are looked at: 0.6 MB each
 * in Qwen's vocabulary, and a quarter of the work of a prompt. They are rewritten to give those that are asked for.
 */
import { partBytes, wholePart } from './cut.ts';
import type { ModelFile } from './model-file.ts';
import { ATTRIBUTE_TYPE, DATA_TYPE, type NodeProto, type ValueInfoProto } from './onnx-proto.ts';

/** The further input: numbers of the positions whose logits are wanted, int64. */
export const CHOSEN_ROWS = 'chosen_rows';

const PRODUCTS: ReadonlySet<string> = new Set([
  'MatMul',
  'Gemm',
  'MatMulInteger',
  'MatMulNBits',
  'DynamicQuantizeMatMul',
  'MatMulIntegerToFloat',
  'FusedMatMul',
]);
const CHOSEN = 'chosen rows of the last layer';
const POSITION_AXIS = 1n;

/**
 * The bytes of a graph whose `output` has the positions of {@link CHOSEN_ROWS} alone. Large constants stay in the files
 * of `model`.
 * @param output [batch, positions, numbers], made by a product of something with as many positions
 * @throws Error when it is made in another way
 */
export function withChosenRows(model: ModelFile, output: string): Uint8Array {
  const { source, behind } = lastProduct(model, output);
  const nodes = model.nodes.flatMap((node) => {
    const moved = behind.has(node)
      ? { ...node, input: node.input.map((name) => (name === source ? CHOSEN : name)) }
      : node;
    return node.output.includes(source) ? [moved, gather(source)] : [moved];
  });
  // What is written of the output's shape is not true any more: it is inferred.
  const outputs = model.outputs.map((info) => (info.name === output ? { name: output } : info));
  const rewritten: ModelFile = { ...model, nodes, inputs: [...model.inputs, ROWS_INPUT], outputs };
  return partBytes(rewritten, wholePart(rewritten), () => undefined);
}

const ROWS_INPUT: ValueInfoProto = {
  name: CHOSEN_ROWS,
  type: { tensorType: { elemType: DATA_TYPE.int64, shape: { dim: [{ dimParam: 'rows' }] } } },
};

function gather(source: string): NodeProto {
  const axis = { name: 'axis', i: POSITION_AXIS, type: ATTRIBUTE_TYPE.int, floats: [], ints: [] };
  return { name: 'choose rows', opType: 'Gather', input: [source, CHOSEN_ROWS], output: [CHOSEN], attribute: [axis] };
}

/** The one value that the last product makes `output` of, and the nodes behind it. */
function lastProduct(model: ModelFile, output: string): { readonly source: string; readonly behind: Set<NodeProto> } {
  const { makers, given } = flowOf(model);
  const behind = new Set<NodeProto>();
  const open = new Set([output]);
  let isPast = false;
  for (;;) {
    const [only] = open;
    if (isPast && open.size === 1 && only !== undefined && makers.has(only)) return { source: only, behind };
    const last = [...open].sort((a, b) => (makers.get(b)?.index ?? -1) - (makers.get(a)?.index ?? -1))[0] ?? '';
    const maker = makers.get(last);
    if (maker === undefined) throw new Error(`${model.path}: ${output} is not made by a product of one value`);
    behind.add(maker.node);
    isPast ||= PRODUCTS.has(maker.node.opType ?? '');
    for (const made of maker.node.output) open.delete(made);
    for (const input of maker.node.input) if (given.has(input)) open.add(input);
  }
}

/** Which node makes each value, and which values depend on what the graph is given. */
function flowOf({ nodes, inputs, constants }: ModelFile) {
  const given = new Set(inputs.flatMap(({ name = '' }) => (constants.has(name) ? [] : [name])));
  const makers = new Map<string, { readonly node: NodeProto; readonly index: number }>();
  for (const [index, node] of nodes.entries())
    for (const made of node.output) {
      makers.set(made, { node, index });
      if (node.input.some((input) => given.has(input))) given.add(made);
    }
  return { makers, given };
}
