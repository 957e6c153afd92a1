/**
 * ONNX files too large to be read as a whole: their graph with its small constants, and where in the file the large
 * ones are. https://github.com/onnx/onnx/blob/main/docs/ExternalData.md
 */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { basename, isAbsolute, normalize } from 'node:path';
import { decode } from './codec.ts';
import {
  DATA_TYPE,
  EXTERNAL_DATA,
  MODEL,
  type ModelProto,
  NODE,
  type NodeProto,
  STRING_ENTRY,
  type StringEntryProto,
  TENSOR,
  type TensorProto,
  VALUE_INFO,
  type ValueInfoProto,
} from './onnx-proto.ts';

/** Constants up to this are read. */
const INLINE_MAX_BYTES = 65_536;
/** Everything that is read of one file, but for its large constants, and how many parts its graph may have. */
const READ_MAX_BYTES = 256 * 2 ** 20;
const FIELDS_MAX = 250_000;
/** Constants have few axes, and fewer numbers than memory has room for. */
const WEIGHTS_MAX = 2n ** 40n;
const WINDOW_BYTES = 65_536;
const BITS_PER_BYTE = 7;

/** A constant whose numbers may still be in a file. */
export interface ModelConstant extends TensorProto {
  /** 8-bit numbers of the other type: those in the file have the other highest bit. */
  readonly isTurned?: true;
}

/** What a file holds. */
export interface ModelFile {
  readonly path: string;
  readonly irVersion: bigint;
  readonly opsetImport: ModelProto['opsetImport'];
  /** In an order in which they can run. */
  readonly nodes: readonly NodeProto[];
  /** By name. The numbers of large ones are left in the file. */
  readonly constants: ReadonlyMap<string, ModelConstant>;
  readonly inputs: readonly ValueInfoProto[];
  readonly outputs: readonly ValueInfoProto[];
  /** The author's own properties. */
  readonly metadata: ReadonlyMap<string, string>;
}

/**
 * Reads an ONNX file without its large constants.
 * @throws Error when the file is no model; errors of the disk
 */
export function readModelFile(path: string): ModelFile {
  const file = new FileReader(path);
  try {
    return readModel(file, path);
  } catch (error) {
    throw new Error(`${path} is no ONNX file: ${error instanceof Error ? error.message : String(error)}`);
  } finally {
    file.close();
  }
}

/** A model that is in memory, all its constants with it. @throws Error when it has no graph */
export function modelFileOf({ irVersion = 8n, opsetImport, graph }: ModelProto): ModelFile {
  if (graph === undefined) throw new Error('a model without a graph');
  const constants = new Map(graph.initializer.map((constant) => [constant.name ?? '', constant]));
  const { node: nodes, input: inputs, output: outputs } = graph;
  return { path: '', irVersion, opsetImport, nodes, constants, inputs, outputs, metadata: new Map() };
}

/** The bytes `length` from `offset` on in a file. @throws Error when they are not there. */
export function readBytes(path: string, offset: number, length: number): Uint8Array {
  const file = new FileReader(path);
  try {
    return file.bytes(offset, length);
  } finally {
    file.close();
  }
}

/** Field numbers of `ModelProto` and `GraphProto` that are read. */
const MODEL_FIELD = { irVersion: 1, graph: 7, opsetImport: 8, metadata: 14 } as const;
const GRAPH_FIELD = { node: 1, initializer: 5, input: 11, output: 12 } as const;
const RAW_DATA_FIELD = 9;

function readModel(file: FileReader, path: string): ModelFile {
  const nodes: NodeProto[] = [];
  const constants = new Map<string, TensorProto>();
  const [inputs, outputs]: [ValueInfoProto[], ValueInfoProto[]] = [[], []];
  const metadata = new Map<string, string>();
  const pieces: Uint8Array[] = [];
  for (const field of file.fields(0, file.size)) {
    if (field.number === MODEL_FIELD.irVersion || field.number === MODEL_FIELD.opsetImport)
      pieces.push(file.bytes(field.start, field.end - field.start));
    if (field.number === MODEL_FIELD.metadata) {
      const { key = '', value = '' } = decode<StringEntryProto>(STRING_ENTRY, file.contentOf(field));
      metadata.set(key, value);
    }
    if (field.number !== MODEL_FIELD.graph) continue;
    for (const part of file.fields(field.from, field.end)) {
      if (part.number === GRAPH_FIELD.node) nodes.push(decode(NODE, file.contentOf(part)));
      if (part.number === GRAPH_FIELD.input) inputs.push(decode(VALUE_INFO, file.contentOf(part)));
      if (part.number === GRAPH_FIELD.output) outputs.push(decode(VALUE_INFO, file.contentOf(part)));
      if (part.number !== GRAPH_FIELD.initializer) continue;
      const constant = checkConstant(readConstant(file, part, path));
      constants.set(constant.name ?? '', constant);
    }
  }
  if (nodes.length === 0) throw new Error('it has no graph');
  const { irVersion = 8n, opsetImport } = decode<ModelProto>(MODEL, Buffer.concat(pieces));
  return { path, irVersion, opsetImport, nodes, constants, inputs, outputs, metadata };
}

function readConstant(file: FileReader, field: FileField, path: string): TensorProto {
  if (field.end - field.from <= INLINE_MAX_BYTES) return decode(TENSOR, file.contentOf(field));
  const pieces: Uint8Array[] = [];
  let data: FileField | null = null;
  for (const part of file.fields(field.from, field.end)) {
    if (part.number === RAW_DATA_FIELD) data = part;
    else pieces.push(file.bytes(part.start, part.end - part.start));
  }
  const constant = decode<TensorProto>(TENSOR, Buffer.concat(pieces));
  if (data === null) return constant;
  const at = { location: basename(path), offset: data.from, length: data.end - data.from };
  return {
    ...constant,
    dataLocation: EXTERNAL_DATA,
    externalData: Object.entries(at).map(([key, value]) => ({ key, value: String(value) })),
  };
}

/** @throws Error when it can be no constant, or says that its numbers are elsewhere than beside its model */
function checkConstant(constant: TensorProto): TensorProto {
  const { name = '', dims } = constant;
  const numbers = dims.reduce((product, length) => product * length, 1n);
  if (dims.some((length) => length < 0n) || numbers > WEIGHTS_MAX)
    throw new Error(`the constant ${name} has the shape ${dims.join(' × ')}`);
  const place = placeOf(constant);
  if (place !== null && (isAbsolute(place.location) || normalize(place.location).startsWith('..')))
    throw new Error(`the constant ${name} is in ${place.location}, expected a file in the folder of the model`);
  return constant;
}

/** Where a constant's numbers lie in a file beside its model; null where they are in the constant itself. */
export function placeOf({ dataLocation, externalData = [] }: TensorProto): ConstantPlace | null {
  if (dataLocation !== EXTERNAL_DATA) return null;
  const entry = (key: string) => externalData.find((each) => each.key === key)?.value;
  return { location: entry('location') ?? '', offset: Number(entry('offset') ?? 0), length: Number(entry('length')) };
}

/** Bytes of a file in the model's folder. */
export interface ConstantPlace {
  readonly location: string;
  readonly offset: number;
  readonly length: number;
}

/** Bytes of one number of a type that {@link placeOf} may have placed; 0 = unknown. */
export function bytesOf(dataType: number | undefined): number {
  if (dataType === DATA_TYPE.uint8 || dataType === DATA_TYPE.int8 || dataType === DATA_TYPE.bool) return 1;
  if (dataType === DATA_TYPE.float || dataType === DATA_TYPE.int32) return 4;
  return dataType === DATA_TYPE.int64 ? 8 : 0;
}

/** A field of a message in a file: tag and length from `start`, content from `from`, everything to `end`. */
interface FileField {
  readonly number: number;
  readonly start: number;
  readonly from: number;
  readonly end: number;
}

const WIRE = { varint: 0, bits64: 1, delimited: 2, bits32: 5 } as const;

/** Reads messages field by field. https://protobuf.dev/programming-guides/encoding/ */
class FileReader {
  readonly size: number;
  readonly #file: number;
  #window = new Uint8Array(0);
  #windowFrom = 0;
  #read = 0;
  #fields = 0;

  constructor(path: string) {
    this.#file = openSync(path, 'r');
    this.size = fstatSync(this.#file).size;
  }

  close(): void {
    closeSync(this.#file);
  }

  /** The fields of the message between two places. */
  *fields(from: number, end: number): Generator<FileField> {
    let at = from;
    while (at < end) {
      const tag = this.#varint(at);
      const field = this.#fieldAt(at, tag.value, tag.end);
      if (field.end > end) throw new Error(`a field at ${at} goes beyond its message`);
      yield field;
      at = field.end;
    }
  }

  #fieldAt(start: number, tag: number, from: number): FileField {
    const number = Math.floor(tag / 8);
    if (number === 0) throw new Error(`got field number 0 at ${start}`);
    this.#fields++;
    if (this.#fields > FIELDS_MAX) throw new Error(`its graph has more than ${FIELDS_MAX} parts`);
    const wire = tag % 8;
    if (wire === WIRE.varint) return { number, start, from, end: this.#varint(from).end };
    if (wire === WIRE.bits64) return { number, start, from, end: from + 8 };
    if (wire === WIRE.bits32) return { number, start, from, end: from + 4 };
    if (wire !== WIRE.delimited) throw new Error(`got wire type ${wire} at ${start}`);
    const length = this.#varint(from);
    return { number, start, from: length.end, end: length.end + length.value };
  }

  contentOf({ from, end }: FileField): Uint8Array {
    return this.bytes(from, end - from);
  }

  /** @throws Error when the file ends before */
  bytes(from: number, length: number): Uint8Array {
    this.#read += length;
    if (from + length > this.size) throw new Error(`it ends at ${this.size}, within a field`);
    if (this.#read > READ_MAX_BYTES) throw new Error(`its graph has more than ${READ_MAX_BYTES} bytes`);
    const bytes = new Uint8Array(length);
    if (readSync(this.#file, bytes, 0, length, from) !== length) throw new Error('it cannot be read to its end');
    return bytes;
  }

  #varint(from: number): { readonly value: number; readonly end: number } {
    let [value, factor, at] = [0, 1, from];
    for (;;) {
      const byte = this.#byte(at++);
      value += (byte & 0x7f) * factor;
      if (byte < 0x80) return { value, end: at };
      factor *= 2 ** BITS_PER_BYTE;
      if (at - from > 10) throw new Error(`a number at ${from} has more than 10 bytes`);
    }
  }

  #byte(at: number): number {
    if (at < this.#windowFrom || at >= this.#windowFrom + this.#window.length) {
      if (at >= this.size) throw new Error(`it ends at ${this.size}, within a field`);
      this.#window = new Uint8Array(Math.min(WINDOW_BYTES, this.size - at));
      this.#window = this.#window.subarray(0, readSync(this.#file, this.#window, 0, this.#window.length, at));
      this.#windowFrom = at;
    }
    return this.#window[at - this.#windowFrom] ?? 0;
  }
}
