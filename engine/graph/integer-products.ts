/**
 * Faster products on the 8-bit weights of a published graph, as `quantize_dynamic` of onnxruntime leaves them:
 * - Weights become of the type that this processor multiplies fastest: the same products.
 * - Convolutions of one tap become products of matrices: the same sums, in an operator that prepares its weights.
 * - Other convolutions become float: onnxruntime is slow at small ones on bytes, and their input then keeps what
 *   rounding it to bytes would lose.
 * Nothing here reads weights: they are turned when a part is made of the graph, and put in order by onnxruntime when it
 * opens that.
 */
import { GraphBuilder } from './builder.ts';
import type { ModelConstant, ModelFile } from './model-file.ts';
import { DATA_TYPE, type NodeProto, type TensorProto } from './onnx-proto.ts';
import type { WeightType } from './weights.ts';

/** Products whose second input is their weights, and which input is those weights' zero point. */
const ZERO_POINT_INPUT: Readonly<Record<string, number>> = {
  MatMulInteger: 3,
  MatMulIntegerToFloat: 5,
  DynamicQuantizeMatMul: 3,
};

/** The same graph with faster products, on weights of the type `products`. */
export function rewriteProducts(model: ModelFile, products: WeightType): ModelFile {
  const rewrite = new Rewrite(model, products);
  for (const node of model.nodes) rewrite.add(node);
  return rewrite.result();
}

class Rewrite {
  readonly #model: ModelFile;
  readonly #products: WeightType;
  readonly #graph = new GraphBuilder(null, 'rewritten ');
  readonly #makers = new Map<string, NodeProto>();
  readonly #readers = new Map<string, NodeProto[]>();
  readonly #turned: ModelConstant[] = [];
  /** Nodes that a float convolution replaces. */
  readonly #replaced = new Set<NodeProto>();

  constructor(model: ModelFile, products: WeightType) {
    this.#model = model;
    this.#products = products;
    for (const node of model.nodes) {
      for (const output of node.output) this.#makers.set(output, node);
      for (const input of node.input) {
        const readers = this.#readers.get(input);
        if (readers === undefined) this.#readers.set(input, [node]);
        else readers.push(node);
      }
    }
  }

  result(): ModelFile {
    const { node, initializer } = this.#graph.graph('');
    const added = [...initializer, ...this.#turned].map((constant) => [constant.name ?? '', constant] as const);
    return { ...this.#model, nodes: node, constants: new Map([...this.#model.constants, ...added]) };
  }

  add(node: NodeProto): void {
    if (this.#replaced.has(node)) return;
    const isDone =
      this.#addProduct(node) ||
      (node.opType === 'ConvInteger' && (this.#addPointwise(node) || this.#addFloatConvolution(node)));
    if (!isDone) this.#graph.addCopy(node);
  }

  /** @returns false where it is none, can stay as it is, or must. */
  #addProduct(node: NodeProto): boolean {
    const zeroAt = ZERO_POINT_INPUT[node.opType ?? ''];
    if (zeroAt === undefined) return false;
    const [weights = '', weightsZero = ''] = [node.input[1], node.input[zeroAt]];
    const [constant, zero] = [this.#model.constants.get(weights), this.#model.constants.get(weightsZero)];
    if (constant === undefined || zero === undefined || !this.#isToTurn(constant)) return false;
    const input = node.input.with(1, this.#turn(weights)).with(zeroAt, this.#turn(weightsZero));
    this.#graph.addCopy({ ...node, input });
    return true;
  }

  /** A convolution of one tap, on [1, channels, frames]. */
  #addPointwise(node: NodeProto): boolean {
    const [values = '', weights = '', valuesZero = '', weightsZero = ''] = node.input;
    const [constant, zero] = [this.#model.constants.get(weights), this.#model.constants.get(weightsZero)];
    if (constant === undefined || zero === undefined || !isPointwise(node, constant)) return false;
    const graph = this.#graph;
    const [out = 0n, channels = 0n] = constant.dims;
    const isToTurn = this.#isToTurn(constant);
    const rows = graph.add('Reshape', [isToTurn ? this.#turn(weights) : weights, graph.integers([out, channels])]);
    const columns = graph.add('Transpose', [rows], { attributes: { perm: [1n, 0n] } });
    const frames = graph.add('Transpose', [values], { attributes: { perm: [0n, 2n, 1n] } });
    const product = graph.add('MatMulInteger', [
      frames,
      columns,
      valuesZero,
      isToTurn ? this.#turn(weightsZero) : weightsZero,
    ]);
    graph.add('Transpose', [product], { attributes: { perm: [0n, 2n, 1n] }, outputs: node.output });
    return true;
  }

  /** Quantise, convolve, cast and scale become one convolution. */
  #addFloatConvolution(node: NodeProto): boolean {
    const [quantized = '', weights = '', , weightsZero = ''] = node.input;
    const quantizer = this.#makers.get(quantized);
    const cast = this.#onlyReader(node);
    const scaling = cast === null ? null : this.#onlyReader(cast);
    const constant = this.#model.constants.get(weights);
    if (quantizer?.opType !== 'DynamicQuantizeLinear' || cast?.opType !== 'Cast' || scaling?.opType !== 'Mul')
      return false;
    const scales = scaling.input.map((input) => this.#makers.get(input)).find((maker) => maker?.opType === 'Mul');
    const scale = scales?.input.find((input) => this.#model.constants.has(input));
    if (constant === undefined || scale === undefined) return false;
    const graph = this.#graph;
    const perChannel = (value: string) => this.#perChannel(value, constant.dims.length);
    const float = (value: string) => graph.add('Cast', [value], { attributes: { to: BigInt(DATA_TYPE.float) } });
    const centred = graph.add('Sub', [float(weights), perChannel(float(weightsZero))]);
    const kernel = graph.add('Mul', [centred, perChannel(scale)]);
    graph.addCopy({ ...node, opType: 'Conv', input: [quantizer.input[0] ?? '', kernel], output: scaling.output });
    this.#replaced.add(cast);
    this.#replaced.add(scaling);
    return true;
  }

  #onlyReader(node: NodeProto): NodeProto | null {
    const readers = this.#readers.get(node.output[0] ?? '') ?? [];
    return readers.length === 1 ? (readers[0] ?? null) : null;
  }

  /** One number, or one for each channel out, beside weights of so many axes. */
  #perChannel(value: string, axes: number): string {
    const shape = [-1n, ...Array.from({ length: axes - 1 }, () => 1n)];
    return this.#graph.add('Reshape', [value, this.#graph.integers(shape)]);
  }

  #isToTurn({ dataType }: TensorProto): boolean {
    return (dataType === DATA_TYPE.uint8 || dataType === DATA_TYPE.int8) && dataType !== DATA_TYPE[this.#products];
  }

  /** A constant of the other type, moved by 128: the same differences from a zero point that is moved, too. */
  #turn(name: string): string {
    const constant = this.#model.constants.get(name);
    const turned = `${name} turned`;
    if (constant !== undefined)
      this.#turned.push({ ...constant, name: turned, dataType: DATA_TYPE[this.#products], isTurned: true });
    return turned;
  }
}

/** Whether each value out is a sum over one frame. */
function isPointwise({ attribute }: NodeProto, { dims }: TensorProto): boolean {
  const one = (name: string) => {
    const found = attribute.find((each) => each.name === name);
    return (found?.i ?? 1n) === 1n && (found?.ints ?? []).every((number) => number === 1n);
  };
  const pads = attribute.find(({ name }) => name === 'pads')?.ints ?? [];
  const isOneTap = dims.length === 3 && dims[2] === 1n;
  return isOneTap && one('group') && one('strides') && pads.every((pad) => pad === 0n);
}
