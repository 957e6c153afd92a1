/** Which type of 8-bit weights this processor multiplies fastest without overflow. */

import { floatsOf } from '../onnx.ts';
import { InferenceSession, Tensor } from '../onnxruntime.ts';
import { GraphBuilder } from './builder.ts';
import { tensor } from './tensors.ts';
import type { WeightType } from './weights.ts';

const ROWS = 64;
const COLUMNS = 48;
/** The greatest values of both types: the sum of two products overflows 16 bits. */
const ACTIVATION = 255;
const WEIGHT = 127;

/**
 * Signed weights take half the time where the processor multiplies bytes for neural networks (VNNI). Where it does not,
 * onnxruntime adds their products up in 16 bits, which overflow, and unsigned weights are right. A product that would
 * overflow shows which of the two it is.
 * https://onnxruntime.ai/docs/performance/model-optimizations/quantization.html#when-and-why-do-i-need-to-try-u8u8
 */
export async function findProductType(): Promise<WeightType> {
  const session = await InferenceSession.create(greatestProduct(), {
    executionProviders: ['cpu'],
    intraOpNumThreads: 1,
    interOpNumThreads: 1,
  });
  try {
    const counts = await Promise.all([1, 8].map((count) => isExact(session, count)));
    return counts.every(Boolean) ? 'int8' : 'uint8';
  } finally {
    await session.release();
  }
}

function greatestProduct(): Uint8Array {
  const graph = new GraphBuilder();
  graph.input('values', { type: 'float', dims: ['count', ROWS] });
  const weights = graph.constant(
    tensor('weights', 'int8', [ROWS, COLUMNS], new Uint8Array(ROWS * COLUMNS).fill(WEIGHT)),
  );
  const scale = graph.constant(tensor('scale', 'float', [], Float32Array.of(1)));
  const zeroPoint = graph.constant(tensor('zero point', 'int8', [], Uint8Array.of(0)));
  const product = graph.add('DynamicQuantizeMatMul', ['values', weights, scale, zeroPoint], { microsoft: true });
  graph.output(product, 'sums', { type: 'float', dims: ['count', COLUMNS] });
  return graph.file('greatest product');
}

async function isExact(session: InferenceSession, count: number): Promise<boolean> {
  const values = new Float32Array(count * ROWS).fill(ACTIVATION);
  const sums = floatsOf(await session.run({ values: new Tensor('float32', values, [count, ROWS]) }), 'sums');
  return sums.every((sum) => sum === ROWS * ACTIVATION * WEIGHT);
}
