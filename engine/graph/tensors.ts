/** Constants of a graph as typed arrays, and back. */
import { DATA_TYPE, type TensorProto } from './onnx-proto.ts';

type Numbers = Float32Array | Uint8Array | Int32Array | BigInt64Array | readonly bigint[];

/** A constant of `dims`; no dims make a scalar. The numbers are not copied. */
export function tensor(
  name: string,
  type: keyof typeof DATA_TYPE,
  dims: readonly number[],
  numbers: Numbers,
): TensorProto {
  const array = Array.isArray(numbers) ? BigInt64Array.from(numbers) : (numbers as Exclude<Numbers, readonly bigint[]>);
  const rawData = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
  return {
    name,
    dims: dims.map(BigInt),
    dataType: DATA_TYPE[type],
    floatData: [],
    int32Data: [],
    int64Data: [],
    rawData,
  };
}

/** Numbers of a float constant. @throws Error when it is of another type. */
export function floatsIn(constant: TensorProto): Float32Array {
  if (constant.dataType !== DATA_TYPE.float) throw typeError(constant, 'float');
  const { rawData, floatData } = constant;
  if (rawData === undefined) return Float32Array.from(floatData);
  return new Float32Array(new Uint8Array(rawData).buffer);
}

/**
 * Bytes of an 8-bit constant, without a copy where they are contiguous. @throws Error when it is of another type than
 * `type`.
 */
export function bytesIn(constant: TensorProto, type: 'uint8' | 'int8'): Uint8Array {
  if (constant.dataType !== DATA_TYPE[type]) throw typeError(constant, type);
  return constant.rawData ?? Uint8Array.from(constant.int32Data);
}

function typeError({ name, dataType }: TensorProto, expected: string): Error {
  return new Error(`constant ${name ?? 'without a name'}: got data type ${dataType}, expected ${expected}`);
}
