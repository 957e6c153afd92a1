/**
 * The encoder's stem: three convolutions that make frames of 24 ms out of a waveform. The first one, over samples, is
 * copied node by node. The other two take half of the encoder's time in the shipped graph, where they compute in float.
 * Here they are integer products: their weights are 8-bit numbers anyway, and the activations are given in two parts of
 * 8 bits, which is as precise as 16 bits.
 */
import type { GraphBuilder } from './builder.ts';
import { addProductOf, type QuantizedValue, SLICE_END } from './moonshine-layers.ts';
import { CONVOLUTIONS } from './moonshine-shape.ts';
import type { QuantizedMatrix, ShippedGraph } from './weights.ts';

/** Where the first convolution, its activation and its norm end: [1, channels, frames]. */
const FIRST_OUTPUT = '/groupnorm/Add_output_0';

/** The frames [1, frames, hidden size] of a waveform [1, samples]. */
export function addStem(graph: GraphBuilder, encoder: ShippedGraph): string {
  for (const node of encoder.ancestors(FIRST_OUTPUT)) {
    for (const input of node.input) if (encoder.hasConstant(input)) graph.constant(encoder.constant(input));
    graph.addCopy(node);
  }
  let frames = graph.add('Transpose', [FIRST_OUTPUT], { attributes: { perm: [0n, 2n, 1n] } });
  for (const convolution of CONVOLUTIONS) {
    const { name } = convolution;
    const weights = encoder.convolution(name);
    const bias = encoder.floats(`${name}.bias`);
    frames = graph.add('Gelu', [addConvolution(graph, frames, { ...convolution, weights, bias })], { microsoft: true });
  }
  return frames;
}

interface Convolution {
  readonly name: string;
  readonly channels: number;
  /** Frames from one output to the next. An output depends on `strides` times as many and one more. */
  readonly stride: number;
  readonly strides: number;
  /** One row for each channel of each frame that an output depends on. */
  readonly weights: QuantizedMatrix;
  readonly bias: Float32Array;
}

/**
 * Applies a convolution to frames [1, count, channels], as two matrix products on the frames that each output depends
 * on, side by side: one for their values in 8 bits, one for the rounding error of these.
 */
function addConvolution(graph: GraphBuilder, value: string, convolution: Convolution): string {
  const { name, weights, bias } = convolution;
  const productOf = (part: QuantizedValue, added?: Float32Array) =>
    addProductOf(graph, { ...part, bytes: addUnfolded(graph, part.bytes, convolution) }, name, weights, added);
  const coarse = addQuantized(graph, value);
  const most = productOf(coarse, bias);
  const seen = graph.add('DequantizeLinear', [coarse.bytes, coarse.scale, coarse.zeroPoint]);
  const fine = addQuantized(graph, graph.add('Sub', [value, seen]));
  return graph.add('Add', [most, productOf(fine)]);
}

function addQuantized(graph: GraphBuilder, value: string): QuantizedValue {
  const [bytes = '', scale = '', zeroPoint = ''] = graph.addMany('DynamicQuantizeLinear', [value], 3);
  return { bytes, scale, zeroPoint };
}

/**
 * For each output of a convolution, the frames that it depends on in one row: all whole strides, then the last frame.
 */
function addUnfolded(graph: GraphBuilder, frames: string, { channels, stride, strides }: Convolution): string {
  const axis = graph.integers([1n]);
  const last = graph.add('Slice', [
    frames,
    graph.integers([BigInt(stride * strides)]),
    graph.integers([SLICE_END]),
    axis,
    graph.integers([BigInt(stride)]),
  ]);
  const count = graph.add('Shape', [last], { attributes: { start: 1n, end: 2n } });
  const length = graph.add('Mul', [count, graph.integers([BigInt(stride)])]);
  const whole = Array.from({ length: strides }, (_, index) => {
    const start = graph.integers([BigInt(index * stride)]);
    const cut = graph.add('Slice', [frames, start, graph.add('Add', [start, length]), axis]);
    return graph.add('Reshape', [cut, graph.integers([0n, -1n, BigInt(stride * channels)])]);
  });
  return graph.add('Concat', [...whole, last], { attributes: { axis: -1n } });
}
