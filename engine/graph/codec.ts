/** Protobuf messages to and from bytes, by field tables. https://protobuf.dev/programming-guides/encoding/ */
import { BinaryReader, BinaryWriter, WireType } from '@bufbuild/protobuf/wire';

type Scalar = 'int32' | 'int64' | 'float' | 'string' | 'bytes';

interface Field {
  readonly number: number;
  /** A scalar, or the table of a nested message; a function where tables refer to each other. */
  readonly type: Scalar | Schema | (() => Schema);
  readonly many?: true;
  /** Written as one length-delimited run. Both forms are read, as the encoding requires. */
  readonly packed?: true;
}

/** Which fields a message has, by the name of the property that holds them. */
export interface Schema {
  readonly [property: string]: Field;
}

/** A field that its message's table does not have, with its bytes unchanged. */
export interface UnknownField {
  readonly number: number;
  readonly wireType: WireType;
  readonly bytes: Uint8Array;
}

type Message = Record<string, unknown>;

/** Deepest nesting (graphs in attributes of nodes of graphs); real models stay far below. */
const DEPTH_MAX = 64;

const WIRE_TYPES: Readonly<Record<Scalar, WireType>> = {
  int32: WireType.Varint,
  int64: WireType.Varint,
  float: WireType.Bit32,
  string: WireType.LengthDelimited,
  bytes: WireType.LengthDelimited,
};

/**
 * The message in `bytes`. Repeated fields are always there, others only if they were written; `bytes` fields are views
 * into `bytes`.
 * @throws Error when the bytes are no such message.
 */
export function decode<T>(schema: Schema, bytes: Uint8Array): T {
  try {
    return decodeMessage(schema, bytes, 0) as T;
  } catch (error) {
    throw new Error(`not a message of the expected kind: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function decodeMessage(schema: Schema, bytes: Uint8Array, depth: number): Message {
  if (depth > DEPTH_MAX) throw new Error(`nested more than ${DEPTH_MAX} deep`);
  const message: Message = {};
  for (const [property, field] of Object.entries(schema)) if (field.many) message[property] = [];
  const reader = new BinaryReader(bytes);
  while (reader.pos < reader.len) {
    const [number, wireType] = reader.tag();
    const known = fieldOf(schema, number);
    if (known === null) keepUnknown(message, { number, wireType, bytes: reader.skip(wireType, number) });
    else readField(reader, message, known, { wireType, depth });
  }
  return message;
}

type NamedField = readonly [property: string, field: Field];

/** Tables by field number, made once for each. */
const indexes = new WeakMap<Schema, Map<number, NamedField>>();

function fieldOf(schema: Schema, number: number): NamedField | null {
  let index = indexes.get(schema);
  if (index === undefined) {
    index = new Map(Object.entries(schema).map((entry) => [entry[1].number, entry]));
    indexes.set(schema, index);
  }
  return index.get(number) ?? null;
}

function keepUnknown(message: Message, field: UnknownField): void {
  const known = message['unknown'] as UnknownField[] | undefined;
  if (known === undefined) message['unknown'] = [field];
  else known.push(field);
}

function readField(
  reader: BinaryReader,
  message: Message,
  [property, field]: NamedField,
  at: { wireType: WireType; depth: number },
): void {
  const expected = wireTypeOf(field);
  const isPacked =
    field.many === true && at.wireType === WireType.LengthDelimited && expected !== WireType.LengthDelimited;
  if (!isPacked && at.wireType !== expected)
    throw new Error(`${property}: got wire type ${at.wireType}, expected ${expected}`);
  if (isPacked) {
    const run = new BinaryReader(reader.bytes());
    while (run.pos < run.len) (message[property] as unknown[]).push(readValue(run, field, at.depth));
  } else if (field.many) (message[property] as unknown[]).push(readValue(reader, field, at.depth));
  else message[property] = readValue(reader, field, at.depth);
}

function readValue(reader: BinaryReader, { type }: Field, depth: number): unknown {
  switch (type) {
    case 'int32':
      return reader.int32();
    case 'int64':
      return BigInt(reader.int64());
    case 'float':
      return reader.float();
    case 'string':
      return reader.string(true);
    case 'bytes':
      return reader.bytes();
    default:
      return decodeMessage(schemaOf(type), reader.bytes(), depth + 1);
  }
}

function schemaOf(type: Schema | (() => Schema)): Schema {
  return typeof type === 'function' ? (type as () => Schema)() : type;
}

function wireTypeOf({ type }: Field): WireType {
  return typeof type === 'string' ? WIRE_TYPES[type] : WireType.LengthDelimited;
}

/**
 * The bytes of a message: its fields in the order of the table, then what was unknown. Absent and empty fields take no
 * space.
 */
export function encode(schema: Schema, message: object): Uint8Array {
  const writer = new BinaryWriter();
  writeMessage(writer, schema, message as Message);
  return writer.finish();
}

function writeMessage(writer: BinaryWriter, schema: Schema, message: Message): void {
  for (const [property, field] of Object.entries(schema)) {
    const value = message[property];
    if (value === undefined) continue;
    if (!field.many) writeTagged(writer, field, value);
    else if (field.packed) writePacked(writer, field, value as unknown[]);
    else for (const item of value as unknown[]) writeTagged(writer, field, item);
  }
  for (const { number, wireType, bytes } of (message['unknown'] as UnknownField[] | undefined) ?? []) {
    writer.tag(number, wireType).raw(bytes);
  }
}

function writePacked(writer: BinaryWriter, field: Field, values: readonly unknown[]): void {
  if (values.length === 0) return;
  writer.tag(field.number, WireType.LengthDelimited).fork();
  for (const value of values) writeValue(writer, field, value);
  writer.join();
}

function writeTagged(writer: BinaryWriter, field: Field, value: unknown): void {
  writer.tag(field.number, wireTypeOf(field));
  writeValue(writer, field, value);
}

function writeValue(writer: BinaryWriter, { type }: Field, value: unknown): void {
  switch (type) {
    case 'int32':
      writer.int32(value as number);
      return;
    case 'int64':
      writer.int64(value as bigint);
      return;
    case 'float':
      writer.float(value as number);
      return;
    case 'string':
      writer.string(value as string);
      return;
    case 'bytes':
      writer.bytes(value as Uint8Array);
      return;
    default:
      writer.fork();
      writeMessage(writer, schemaOf(type), value as Message);
      writer.join();
  }
}
