/** Rows of tensors, of 32-bit or 16-bit floats alike. */
import { Tensor } from '../../onnxruntime.ts';

/** What the data of a tensor of floats are. Those of 16 bits are numbers or their bits, as the machine has them. */
type Floats = Float32Array;

/** Tensors [rows, width] one after the other; at least one. */
export function joinRows(tensors: readonly Tensor[]): Tensor {
  const [first] = tensors;
  if (first === undefined || tensors.length === 1) return first as Tensor;
  const rows = tensors.reduce((sum, { dims }) => sum + (dims[0] ?? 0), 0);
  const width = first.dims[1] ?? 0;
  const data = zerosLike(first, rows * width);
  let at = 0;
  for (const tensor of tensors) {
    data.set(tensor.data as Floats, at);
    at += tensor.data.length;
  }
  return new Tensor(first.type as 'float32', data, [rows, width]);
}

/** Rows `from` (inclusive) to `to` (exclusive) of a tensor [rows, width], without a copy. */
export function rowsOf(tensor: Tensor, from: number, to: number): Tensor {
  const [, width = 0] = tensor.dims;
  const data = (tensor.data as Floats).subarray(from * width, to * width);
  return new Tensor(tensor.type as 'float32', data, [to - from, width]);
}

/** A tensor of the same type that has no numbers. @param dims with a 0 among them */
export function withoutFloats(tensor: Tensor, dims: readonly number[]): Tensor {
  return new Tensor(tensor.type as 'float32', zerosLike(tensor, 0), dims);
}

function zerosLike(tensor: Tensor, length: number): Floats {
  const Type = tensor.data.constructor as Float32ArrayConstructor;
  return new Type(length);
}
