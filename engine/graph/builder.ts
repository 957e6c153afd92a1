/** Builds a graph node by node. A value is represented by its name. */
import { encode } from './codec.ts';
import {
  ATTRIBUTE_TYPE,
  type AttributeProto,
  DATA_TYPE,
  type GraphProto,
  MODEL,
  type ModelProto,
  type NodeProto,
  type TensorProto,
  type ValueInfoProto,
} from './onnx-proto.ts';
import { tensor } from './tensors.ts';

/** The operator sets that the graphs use: the standard one, and onnxruntime's own. */
const OPERATOR_SETS = [
  { domain: '', version: 17n },
  { domain: 'com.microsoft', version: 1n },
];
const IR_VERSION = 8n;

/** An attribute by its value: a bigint is an int, a number a float. */
type AttributeValue = number | bigint | readonly bigint[] | GraphProto;

interface NodeOptions {
  readonly attributes?: Readonly<Record<string, AttributeValue>>;
  /** onnxruntime's own operator rather than a standard one. */
  readonly microsoft?: true;
  /** Names of the outputs; generated when they are not given. */
  readonly outputs?: readonly string[];
}

/** A length known now, or the name of one that is known when the graph runs. */
type Dimension = number | string;

/** Shape and element type of an input or output. */
export interface ValueType {
  readonly type: keyof typeof DATA_TYPE;
  readonly dims: readonly Dimension[];
}

/** Builds one graph. The body of a loop reads the values and constants of the graph around it by their names. */
export class GraphBuilder {
  readonly #nodes: NodeProto[] = [];
  readonly #inputs: ValueInfoProto[] = [];
  readonly #outputs: ValueInfoProto[] = [];
  readonly #around: GraphBuilder | null;
  readonly #constants = new Map<string, TensorProto>();
  readonly #prefix: string;
  #named = 0;

  /** @param prefix of all names that are generated: apart from those of a graph whose nodes are copied */
  constructor(around: GraphBuilder | null = null, prefix = '') {
    this.#around = around;
    this.#prefix = prefix;
  }

  /** A builder for a graph within this one. Its constants are stored in this one, and node names stay unique. */
  body(): GraphBuilder {
    return new GraphBuilder(this);
  }

  input(name: string, type: ValueType): string {
    this.#inputs.push(valueInfo(name, type));
    return name;
  }

  /** Makes `value` an output under the name `name`. */
  output(value: string, name: string, type: ValueType): void {
    this.add('Identity', [value], { outputs: [name] });
    this.#outputs.push(valueInfo(name, type));
  }

  /** Adds a constant and returns its value. Constants of the same name are taken to be equal. */
  constant(constant: TensorProto): string {
    if (this.#around !== null) return this.#around.constant(constant);
    const name = constant.name ?? '';
    if (!this.#constants.has(name)) this.#constants.set(name, constant);
    return name;
  }

  /** Whole numbers as a constant: a scalar for one number, a vector for an array. */
  integers(numbers: bigint | readonly bigint[]): string {
    if (typeof numbers === 'bigint') return this.constant(tensor(`int ${numbers}`, 'int64', [], [numbers]));
    return this.constant(tensor(`ints ${numbers.join(' ')}`, 'int64', [numbers.length], numbers));
  }

  /** Adds an operation with one output and returns it. */
  add(operator: string, inputs: readonly string[], options: NodeOptions = {}): string {
    return this.addMany(operator, inputs, 1, options)[0] ?? '';
  }

  /** Adds an operation with `count` outputs and returns them. */
  addMany(operator: string, inputs: readonly string[], count: number, options: NodeOptions = {}): readonly string[] {
    const name = this.#nextName(operator);
    const output = options.outputs ?? Array.from({ length: count }, (_, index) => `${name}/${index}`);
    const attribute = Object.entries(options.attributes ?? {}).map(([key, value]) => attributeOf(key, value));
    const domain = options.microsoft ? 'com.microsoft' : '';
    this.#nodes.push({ name, opType: operator, domain, input: inputs, output, attribute });
    return output;
  }

  /** Adds a node of another graph, with its names unchanged. */
  addCopy(node: NodeProto): void {
    this.#nodes.push(node);
  }

  #nextName(operator: string): string {
    return this.#around === null ? `${this.#prefix}${operator} ${++this.#named}` : this.#around.#nextName(operator);
  }

  /** The graph as built so far. */
  graph(name: string): GraphProto {
    const initializer = [...this.#constants.values()];
    return { name, node: this.#nodes, initializer, input: this.#inputs, output: this.#outputs, valueInfo: [] };
  }

  /** The graph as the bytes of an ONNX file. */
  file(name: string): Uint8Array {
    const model: ModelProto = {
      irVersion: IR_VERSION,
      producerName: 'trunkline',
      graph: this.graph(name),
      opsetImport: OPERATOR_SETS,
    };
    return encode(MODEL, model);
  }
}

function attributeOf(name: string, value: AttributeValue): AttributeProto {
  const none = { name, floats: [], ints: [] };
  if (typeof value === 'bigint') return { ...none, i: value, type: ATTRIBUTE_TYPE.int };
  if (typeof value === 'number') return { ...none, f: value, type: ATTRIBUTE_TYPE.float };
  if ('node' in value) return { ...none, g: value, type: ATTRIBUTE_TYPE.graph };
  return { ...none, ints: value, type: ATTRIBUTE_TYPE.ints };
}

function valueInfo(name: string, { type, dims }: ValueType): ValueInfoProto {
  const dim = dims.map((length) => (typeof length === 'string' ? { dimParam: length } : { dimValue: BigInt(length) }));
  return { name, type: { tensorType: { elemType: DATA_TYPE[type], shape: { dim } } } };
}
