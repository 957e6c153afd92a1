/** The weights in a shipped Moonshine graph, found by the names that its exporter gave the nodes. */
import { decode } from './codec.ts';
import { type GraphProto, MODEL, type ModelProto, type NodeProto, type TensorProto } from './onnx-proto.ts';
import { bytesIn, floatsIn } from './tensors.ts';

/** How the bytes of 8-bit weights are to be read. */
export type WeightType = 'uint8' | 'int8';

/** The bit that changes when an unsigned byte becomes a signed one that is 128 less. */
const SIGN_BIT = 0x80;

/**
 * A matrix of 8-bit weights, row by row: weight = scale × (byte − zero point). Scale and zero point are one for all
 * columns, or one for each.
 */
export interface QuantizedMatrix {
  readonly type: WeightType;
  readonly rows: number;
  readonly columns: number;
  readonly bytes: Uint8Array;
  readonly scales: Float32Array;
  readonly zeroPoints: Uint8Array;
}

/** A graph with its constants and nodes at hand. */
export class ShippedGraph {
  readonly nodes: readonly NodeProto[];
  readonly #products: WeightType;
  readonly #constants: ReadonlyMap<string, TensorProto>;
  readonly #nodesByName: ReadonlyMap<string, NodeProto>;

  /** @param products the type in which the weights of linear layers are returned. */
  constructor(nodes: readonly NodeProto[], constants: readonly TensorProto[], products: WeightType = 'uint8') {
    this.nodes = nodes;
    this.#products = products;
    this.#constants = new Map(constants.map((constant) => [constant.name ?? '', constant]));
    this.#nodesByName = new Map(nodes.map((node) => [node.name ?? '', node]));
  }

  /** The graph in a file. @throws Error when `bytes` hold no model. */
  static read(bytes: Uint8Array, products?: WeightType): ShippedGraph {
    const { graph } = decode<ModelProto>(MODEL, bytes);
    if (graph === undefined) throw new Error('a model without a graph');
    return new ShippedGraph(graph.node, graph.initializer, products);
  }

  /**
   * One branch of the `If` that a merged decoder consists of; its constants are the outer graph's. @throws Error when
   * there is none.
   */
  static readBranch(bytes: Uint8Array, branch: 'then_branch' | 'else_branch', products?: WeightType): ShippedGraph {
    const { graph } = decode<ModelProto>(MODEL, bytes);
    const choice = graph?.node.find((node) => node.opType === 'If');
    const body: GraphProto | undefined = choice?.attribute.find(({ name }) => name === branch)?.g;
    if (graph === undefined || body === undefined) throw new Error(`a model without a ${branch}`);
    return new ShippedGraph(body.node, [...graph.initializer, ...body.initializer], products);
  }

  /** @throws Error when the graph has no such constant: its weights are not those that the rewrite knows. */
  constant(name: string): TensorProto {
    const constant = this.#constants.get(name);
    if (constant === undefined) throw new Error(`the shipped graph has no constant ${name}`);
    return constant;
  }

  /** Whether `name` is a constant, rather than an input or the output of a node. */
  hasConstant(name: string): boolean {
    return this.#constants.has(name);
  }

  /** The numbers of a float constant. @throws Error when there is no such constant. */
  floats(name: string): Float32Array {
    return floatsIn(this.constant(name));
  }

  /**
   * The weights of the quantised linear layer at `path`, e.g. `/layers.0/mlp/fc1`. @throws Error when there is no such
   * layer.
   */
  linear(path: string): QuantizedMatrix {
    const product = this.#node(`${path}/MatMul_quant`);
    const scaling = this.#node(`${path}/MatMul_quant_scales_mul`);
    return this.forProduct(this.#matrix(product.input[1] ?? '', scaling.input[1] ?? '', product.input[3] ?? ''));
  }

  /**
   * The weights of the convolution `name` as those of a product: a row for each tap and channel in it, a column for
   * each channel out.
   * @throws Error when there is no such convolution.
   */
  convolution(name: string): QuantizedMatrix {
    const constant = this.constant(`${name}.weight_quantized`);
    const scales = this.floats(`${name}.weight_scale`);
    const offset = this.floats(`${name}.weight_zero_point`)[0] ?? Number.NaN;
    const zeroPoint = Math.round(-offset / (scales[0] ?? Number.NaN));
    return this.forProduct({
      type: 'int8',
      ...tapsAsRows(constant),
      scales,
      zeroPoints: Uint8Array.from(Int8Array.of(zeroPoint)),
    });
  }

  /** The weights of the embedding `name`, one row for each token. @throws Error when there is no such embedding. */
  embedding(name: string): QuantizedMatrix {
    return this.#matrix(`${name}_quantized`, `${name}_scale`, `${name}_zero_point`);
  }

  /** The same weights in the type of the products. */
  forProduct(matrix: QuantizedMatrix): QuantizedMatrix {
    if (matrix.type === this.#products) return matrix;
    const turn = (byte: number) => byte ^ SIGN_BIT;
    return { ...matrix, type: this.#products, bytes: matrix.bytes.map(turn), zeroPoints: matrix.zeroPoints.map(turn) };
  }

  #matrix(weights: string, scale: string, zeroPoint: string): QuantizedMatrix {
    const constant = this.constant(weights);
    const [rows = 0, columns = 0] = constant.dims.map(Number);
    return {
      type: 'uint8',
      rows,
      columns,
      bytes: bytesIn(constant, 'uint8'),
      scales: this.floats(scale),
      zeroPoints: bytesIn(this.constant(zeroPoint), 'uint8'),
    };
  }

  #node(name: string): NodeProto {
    const node = this.#nodesByName.get(name);
    if (node === undefined) throw new Error(`the shipped graph has no node ${name}`);
    return node;
  }

  /** The nodes that compute `value`, in order. */
  ancestors(value: string): NodeProto[] {
    const wanted = new Set([value]);
    const found: NodeProto[] = [];
    for (const node of this.nodes.toReversed()) {
      if (!node.output.some((output) => wanted.has(output))) continue;
      for (const input of node.input) wanted.add(input);
      found.unshift(node);
    }
    return found;
  }
}

/** Weights by channel out, channel in and tap, as rows by tap and channel in of channels out. */
function tapsAsRows(constant: TensorProto): Pick<QuantizedMatrix, 'rows' | 'columns' | 'bytes'> {
  const [columns = 0, channels = 0, taps = 0] = constant.dims.map(Number);
  const shipped = bytesIn(constant, 'int8');
  const bytes = new Uint8Array(shipped.length);
  for (let out = 0; out < columns; out++) {
    for (let channel = 0; channel < channels; channel++) {
      for (let tap = 0; tap < taps; tap++) {
        bytes[(tap * channels + channel) * columns + out] = shipped[(out * channels + channel) * taps + tap] ?? 0;
      }
    }
  }
  return { rows: taps * channels, columns, bytes };
}

/** Joins matrices of equally many rows side by side. Each column keeps its scale and zero point. */
export function sideBySide(matrices: readonly QuantizedMatrix[]): QuantizedMatrix {
  const rows = matrices[0]?.rows ?? 0;
  const columns = matrices.reduce((sum, matrix) => sum + matrix.columns, 0);
  const joined = {
    type: matrices[0]?.type ?? 'uint8',
    rows,
    columns,
    bytes: new Uint8Array(rows * columns),
    scales: new Float32Array(columns),
    zeroPoints: new Uint8Array(columns),
  };
  let at = 0;
  for (const { columns: width, bytes, scales, zeroPoints } of matrices) {
    for (let row = 0; row < rows; row++)
      joined.bytes.set(bytes.subarray(row * width, (row + 1) * width), row * columns + at);
    for (let column = 0; column < width; column++) {
      joined.scales[at + column] = scales[scales.length === 1 ? 0 : column] ?? 0;
      joined.zeroPoints[at + column] = zeroPoints[zeroPoints.length === 1 ? 0 : column] ?? 0;
    }
    at += width;
  }
  return joined;
}

/** The transpose of a matrix with one scale. */
export function transposed({ type, rows, columns, bytes, scales, zeroPoints }: QuantizedMatrix): QuantizedMatrix {
  const turned = new Uint8Array(bytes.length);
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++) turned[column * rows + row] = bytes[row * columns + column] ?? 0;
  }
  return { type, rows: columns, columns: rows, bytes: turned, scales, zeroPoints };
}
