/**
 * The messages of an ONNX file that graphs are made of, as types and as field tables for the codec. Field numbers and
 * packing are those of https://github.com/onnx/onnx/blob/main/onnx/onnx.proto; what the tables leave out travels
 * through as `unknown` fields.
 */
import type { Schema, UnknownField } from './codec.ts';

/** Element types (`TensorProto.DataType`) that the graphs use. */
export const DATA_TYPE = { float: 1, uint8: 2, int8: 3, int32: 6, int64: 7, bool: 9 } as const;

/** Kinds of attributes (`AttributeProto.AttributeType`) that the graphs use. */
export const ATTRIBUTE_TYPE = { float: 1, int: 2, graph: 5, ints: 7 } as const;

interface Extensible {
  readonly unknown?: readonly UnknownField[];
}

/** A property by its name. */
export interface StringEntryProto extends Extensible {
  readonly key?: string;
  readonly value?: string;
}

/** `TensorProto.DataLocation`: the numbers lie in another file. */
export const EXTERNAL_DATA = 1;

/** A constant. Its numbers lie little-endian in `rawData`, in the field of their type, or elsewhere. */
export interface TensorProto extends Extensible {
  readonly name?: string;
  readonly dims: readonly bigint[];
  readonly dataType?: number;
  readonly floatData: readonly number[];
  readonly int32Data: readonly number[];
  readonly int64Data: readonly bigint[];
  readonly rawData?: Uint8Array;
  /** With {@link EXTERNAL_DATA}: `location`, a path from the model's folder, and `offset` and `length` in bytes. */
  readonly externalData?: readonly StringEntryProto[];
  readonly dataLocation?: number;
}

/** A named argument of a node; which field counts says `type`. */
export interface AttributeProto extends Extensible {
  readonly name?: string;
  readonly f?: number;
  readonly i?: bigint;
  readonly s?: Uint8Array;
  readonly t?: TensorProto;
  readonly g?: GraphProto;
  readonly floats: readonly number[];
  readonly ints: readonly bigint[];
  readonly type?: number;
}

/** One operation: its inputs and outputs by name, an empty name being an input left out. */
export interface NodeProto extends Extensible {
  readonly input: readonly string[];
  readonly output: readonly string[];
  readonly name?: string;
  readonly opType?: string;
  readonly domain?: string;
  readonly attribute: readonly AttributeProto[];
}

/** One axis of a shape: a length, or a name for a length that is known when the graph runs. */
interface DimensionProto extends Extensible {
  readonly dimValue?: bigint;
  readonly dimParam?: string;
}

/** Name, element type and shape of an input or output. */
export interface ValueInfoProto extends Extensible {
  readonly name?: string;
  readonly type?: {
    readonly tensorType?: { readonly elemType?: number; readonly shape?: { readonly dim: readonly DimensionProto[] } };
  };
}

/** Nodes in an order in which they can run, and the constants that they read. */
export interface GraphProto extends Extensible {
  readonly node: readonly NodeProto[];
  readonly name?: string;
  readonly initializer: readonly TensorProto[];
  readonly input: readonly ValueInfoProto[];
  readonly output: readonly ValueInfoProto[];
  readonly valueInfo: readonly ValueInfoProto[];
}

/** A whole file. */
export interface ModelProto extends Extensible {
  readonly irVersion?: bigint;
  readonly producerName?: string;
  readonly producerVersion?: string;
  readonly graph?: GraphProto;
  readonly opsetImport: readonly { readonly domain?: string; readonly version?: bigint }[];
}

/** Field table of {@link StringEntryProto}. */
export const STRING_ENTRY: Schema = {
  key: { number: 1, type: 'string' },
  value: { number: 2, type: 'string' },
};

/** Field table of {@link TensorProto}. */
export const TENSOR: Schema = {
  dims: { number: 1, type: 'int64', many: true },
  dataType: { number: 2, type: 'int32' },
  floatData: { number: 4, type: 'float', many: true, packed: true },
  int32Data: { number: 5, type: 'int32', many: true, packed: true },
  int64Data: { number: 7, type: 'int64', many: true, packed: true },
  name: { number: 8, type: 'string' },
  rawData: { number: 9, type: 'bytes' },
  externalData: { number: 13, type: STRING_ENTRY, many: true },
  dataLocation: { number: 14, type: 'int32' },
};

const ATTRIBUTE: Schema = {
  name: { number: 1, type: 'string' },
  f: { number: 2, type: 'float' },
  i: { number: 3, type: 'int64' },
  s: { number: 4, type: 'bytes' },
  t: { number: 5, type: TENSOR },
  g: { number: 6, type: () => GRAPH },
  floats: { number: 7, type: 'float', many: true },
  ints: { number: 8, type: 'int64', many: true },
  type: { number: 20, type: 'int32' },
};

/** Field table of {@link NodeProto}. */
export const NODE: Schema = {
  input: { number: 1, type: 'string', many: true },
  output: { number: 2, type: 'string', many: true },
  name: { number: 3, type: 'string' },
  opType: { number: 4, type: 'string' },
  attribute: { number: 5, type: ATTRIBUTE, many: true },
  domain: { number: 7, type: 'string' },
};

const DIMENSION: Schema = {
  dimValue: { number: 1, type: 'int64' },
  dimParam: { number: 2, type: 'string' },
};

const TENSOR_TYPE: Schema = {
  elemType: { number: 1, type: 'int32' },
  shape: { number: 2, type: { dim: { number: 1, type: DIMENSION, many: true } } },
};

/** Field table of {@link ValueInfoProto}. */
export const VALUE_INFO: Schema = {
  name: { number: 1, type: 'string' },
  type: { number: 2, type: { tensorType: { number: 1, type: TENSOR_TYPE } } },
};

const GRAPH: Schema = {
  node: { number: 1, type: NODE, many: true },
  name: { number: 2, type: 'string' },
  initializer: { number: 5, type: TENSOR, many: true },
  input: { number: 11, type: VALUE_INFO, many: true },
  output: { number: 12, type: VALUE_INFO, many: true },
  valueInfo: { number: 13, type: VALUE_INFO, many: true },
};

const OPERATOR_SET: Schema = {
  domain: { number: 1, type: 'string' },
  version: { number: 2, type: 'int64' },
};

/** Field table of {@link ModelProto}. */
export const MODEL: Schema = {
  irVersion: { number: 1, type: 'int64' },
  producerName: { number: 2, type: 'string' },
  producerVersion: { number: 3, type: 'string' },
  graph: { number: 7, type: GRAPH },
  opsetImport: { number: 8, type: OPERATOR_SET, many: true },
};
