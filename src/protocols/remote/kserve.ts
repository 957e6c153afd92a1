/**
 * The messages of KServe's gRPC protocol, version 2, that recognition needs; NVIDIA Triton speaks it:
 * https://github.com/kserve/open-inference-protocol/blob/main/specification/protocol/inference_grpc.md
 */
import { BinaryReader, BinaryWriter, WireType } from '@bufbuild/protobuf/wire';

/** The service's methods, as gRPC names them. */
export const KSERVE = {
  metadata: '/inference.GRPCInferenceService/ModelMetadata',
  infer: '/inference.GRPCInferenceService/ModelInfer',
} as const;

/** A tensor of a model, as the server describes it. */
export interface KserveTensor {
  readonly name: string;
  /** `FP32`, `BYTES` … */
  readonly datatype: string;
}

/** What a model takes and gives. */
export interface KserveModel {
  readonly inputs: readonly KserveTensor[];
  readonly outputs: readonly KserveTensor[];
}

/** A tensor that is sent. */
export interface KserveInput extends KserveTensor {
  readonly shape: readonly number[];
  /** Little-endian; texts as {@link kserveText} writes them. */
  readonly content: Uint8Array;
}

/** The server's answer is no message, or has not what was asked for. */
export class KserveError extends Error {}

/** Asks what a model takes and gives. */
export function metadataRequest(model: string): Uint8Array {
  return new BinaryWriter().tag(1, WireType.LengthDelimited).string(model).finish();
}

/** @throws KserveError */
export function readMetadata(message: Uint8Array): KserveModel {
  const model: { inputs: KserveTensor[]; outputs: KserveTensor[] } = { inputs: [], outputs: [] };
  readFields(message, (field, reader) => {
    if (field === 4) model.inputs.push(readTensor(reader.bytes()));
    else if (field === 5) model.outputs.push(readTensor(reader.bytes()));
    else return false;
    return true;
  });
  return model;
}

/** One run of `model` over `inputs`, of which the tensor `output` is wanted. */
export function inferRequest(model: string, inputs: readonly KserveInput[], output: string): Uint8Array {
  const writer = new BinaryWriter().tag(1, WireType.LengthDelimited).string(model);
  for (const { name, datatype, shape } of inputs) {
    writer.tag(5, WireType.LengthDelimited).fork();
    writer.tag(1, WireType.LengthDelimited).string(name).tag(2, WireType.LengthDelimited).string(datatype);
    writer.tag(3, WireType.LengthDelimited).fork();
    for (const size of shape) writer.int64(size);
    writer.join().join();
  }
  writer.tag(6, WireType.LengthDelimited).fork().tag(1, WireType.LengthDelimited).string(output).join();
  for (const { content } of inputs) writer.tag(7, WireType.LengthDelimited).bytes(content);
  return writer.finish();
}

/** The first text of the tensor `output` in an answer to {@link inferRequest}. @throws KserveError */
export function readInferredText(message: Uint8Array, output: string): string {
  const names: string[] = [];
  const contents: Uint8Array[] = [];
  readFields(message, (field, reader) => {
    if (field === 5) names.push(readTensor(reader.bytes()).name);
    else if (field === 6) contents.push(reader.bytes());
    else return false;
    return true;
  });
  const content = contents[names.indexOf(output)];
  if (content === undefined) throw new KserveError(`it answered without ${output}`);
  return readText(content);
}

/** A tensor of one text: its length, then UTF-8. */
export function kserveText(text: string): Uint8Array {
  const bytes = new TextEncoder().encode(text);
  const content = new Uint8Array(4 + bytes.length);
  new DataView(content.buffer).setUint32(0, bytes.length, true);
  content.set(bytes, 4);
  return content;
}

function readText(content: Uint8Array): string {
  if (content.length < 4) throw new KserveError('it answered with a tensor that has no text');
  const length = new DataView(content.buffer, content.byteOffset).getUint32(0, true);
  if (length > content.length - 4) throw new KserveError('it answered with a text that is cut off');
  return new TextDecoder().decode(content.subarray(4, 4 + length));
}

function readTensor(message: Uint8Array): KserveTensor {
  const tensor = { name: '', datatype: '' };
  readFields(message, (field, reader) => {
    if (field === 1) tensor.name = reader.string();
    else if (field === 2) tensor.datatype = reader.string();
    else return false;
    return true;
  });
  return tensor;
}

/** `take` reads a field and returns true, or leaves it to be passed over. @throws KserveError */
function readFields(message: Uint8Array, take: (field: number, reader: BinaryReader) => boolean): void {
  const reader = new BinaryReader(message);
  try {
    while (reader.pos < reader.len) {
      const [field, wireType] = reader.tag();
      if (wireType !== WireType.LengthDelimited || !take(field, reader)) reader.skip(wireType, field);
    }
  } catch (error) {
    if (error instanceof KserveError) throw error;
    throw new KserveError('it answered with what is no message of the protocol');
  }
}
