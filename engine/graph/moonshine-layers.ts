/** Parts of both encoder and decoder layers, each in as few nodes as onnxruntime's operators allow. */
import type { GraphBuilder } from './builder.ts';
import { HEADS, ROTARY_SIZE } from './moonshine-shape.ts';
import { tensor } from './tensors.ts';
import type { QuantizedMatrix } from './weights.ts';

/** The end of a `Slice` that takes everything up to the end. */
export const SLICE_END = 2n ** 62n;

/** Rotary frequencies: turns per position, in radians, of each pair of numbers. */
export function addRotaryTables(graph: GraphBuilder, frequencies: Float32Array, positions: number): RotaryTables {
  const [cosines, sines] = [
    new Float32Array(positions * frequencies.length),
    new Float32Array(positions * frequencies.length),
  ];
  for (let position = 0; position < positions; position++) {
    for (const [index, frequency] of frequencies.entries()) {
      const angle = Math.fround(position * frequency);
      cosines[position * frequencies.length + index] = Math.cos(angle);
      sines[position * frequencies.length + index] = Math.sin(angle);
    }
  }
  const dims = [positions, frequencies.length];
  return {
    cosines: graph.constant(tensor('rotary cosines', 'float', dims, cosines)),
    sines: graph.constant(tensor('rotary sines', 'float', dims, sines)),
  };
}

/** Cosine and sine of every position and frequency, as values of a graph. */
export interface RotaryTables {
  readonly cosines: string;
  readonly sines: string;
}

/** Turns queries or keys by their positions, the first of them being `start` (a vector of one number). */
export function addRotary(graph: GraphBuilder, value: string, start: string, { cosines, sines }: RotaryTables): string {
  return graph.add('RotaryEmbedding', [value, start, cosines, sines], {
    microsoft: true,
    attributes: { interleaved: 1n, num_heads: BigInt(HEADS), rotary_embedding_dim: BigInt(ROTARY_SIZE) },
  });
}

/**
 * A linear layer on 8-bit weights: one node quantises the activations for each run, multiplies them as integers and
 * scales the product back, with the arithmetic of the five nodes (DynamicQuantizeLinear, MatMulInteger, Cast, Mul, Mul)
 * that it replaces.
 */
export function addLinear(
  graph: GraphBuilder,
  value: string,
  name: string,
  weights: QuantizedMatrix,
  bias?: Float32Array,
): string {
  const [bytes, scale, zeroPoint] = addWeights(graph, name, weights);
  return graph.add('DynamicQuantizeMatMul', [value, bytes, scale, zeroPoint, ...addBias(graph, name, bias)], {
    microsoft: true,
  });
}

/** Activations that have been quantised: value = scale × (byte − zero point). */
export interface QuantizedValue {
  readonly bytes: string;
  readonly scale: string;
  readonly zeroPoint: string;
}

/** Like {@link addLinear}, for activations that are already quantised. */
export function addProductOf(
  graph: GraphBuilder,
  value: QuantizedValue,
  name: string,
  weights: QuantizedMatrix,
  bias?: Float32Array,
): string {
  const [bytes, scale, zeroPoint] = addWeights(graph, name, weights);
  const inputs = [value.bytes, bytes, value.scale, scale, value.zeroPoint, zeroPoint, ...addBias(graph, name, bias)];
  return graph.add('MatMulIntegerToFloat', inputs, { microsoft: true });
}

/** The constants of a matrix: its bytes, scale and zero point. */
function addWeights(graph: GraphBuilder, name: string, weights: QuantizedMatrix): readonly [string, string, string] {
  const { type, rows, columns, bytes, scales, zeroPoints } = weights;
  const perColumn = scales.length === 1 ? [] : [columns];
  return [
    graph.constant(tensor(`${name} weights`, type, [rows, columns], bytes)),
    graph.constant(tensor(`${name} scale`, 'float', perColumn, scales)),
    graph.constant(tensor(`${name} zero point`, type, perColumn, zeroPoints)),
  ];
}

function addBias(graph: GraphBuilder, name: string, bias: Float32Array | undefined): readonly string[] {
  return bias === undefined ? [] : [graph.constant(tensor(`${name} bias`, 'float', [bias.length], bias))];
}

/** A layer norm without a bias. */
export function addNorm(graph: GraphBuilder, value: string, name: string, { weights, epsilon }: Norm): string {
  const scale = graph.constant(tensor(name, 'float', [weights.length], weights));
  return graph.add('LayerNormalization', [value, scale], { attributes: { axis: -1n, epsilon } });
}

/** The parameters of a layer norm. */
export interface Norm {
  readonly weights: Float32Array;
  readonly epsilon: number;
}

/** Splits one projection into equal parts, e.g. queries, keys and values. */
export function addSplit(graph: GraphBuilder, value: string, parts: number): readonly string[] {
  return graph.addMany('Split', [value], parts, { attributes: { axis: -1n } });
}
