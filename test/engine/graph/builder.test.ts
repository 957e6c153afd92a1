import { describe, expect, it } from 'vitest';
import { GraphBuilder } from '../../../engine/graph/builder.ts';
import { decode } from '../../../engine/graph/codec.ts';
import { MODEL, type ModelProto } from '../../../engine/graph/onnx-proto.ts';
import { bytesIn, floatsIn, tensor } from '../../../engine/graph/tensors.ts';
import { InferenceSession, Tensor } from '../../../engine/onnxruntime.ts';
import { smallGraph } from './small-graph.ts';

describe('GraphBuilder', () => {
  it('builds a graph that onnxruntime loads and runs, loop and all', async () => {
    const session = await InferenceSession.create(smallGraph());
    const outputs = await session.run({
      value: new Tensor('float32', Float32Array.of(1, 3), [1, 2]),
      turns: new Tensor('int64', BigInt64Array.of(3n), []),
    });
    expect(Array.from(outputs['doubled']?.data as Float32Array)).toEqual([8, 24]);
    expect(Array.from(outputs['halves']?.data as Float32Array)).toEqual([0.5, 1.5, 1, 3, 2, 6]);
  });

  it('builds the same bytes every time', () => {
    expect(Buffer.compare(smallGraph(), smallGraph())).toBe(0);
  });

  it('keeps the constants of a body in the outer graph, each of them once', () => {
    const { graph } = decode<ModelProto>(MODEL, smallGraph());
    expect(graph?.initializer.map(({ name }) => name)).toEqual(['always', 'two']);
    expect(
      graph?.node.flatMap(({ attribute }) => attribute).find(({ name }) => name === 'body')?.g?.initializer,
    ).toEqual([]);
  });

  it('gives no name twice, in bodies neither', () => {
    const outer = new GraphBuilder();
    const inner = outer.body().body();
    const names = [outer.add('Abs', ['x']), inner.add('Abs', ['x']), outer.add('Abs', ['x']), inner.add('Abs', ['x'])];
    expect(new Set(names).size).toBe(names.length);
  });
});

describe('constants', () => {
  it('come out as they went in', () => {
    expect(Array.from(floatsIn(tensor('x', 'float', [2], Float32Array.of(0.5, -2))))).toEqual([0.5, -2]);
    expect(Array.from(bytesIn(tensor('x', 'uint8', [], Uint8Array.of(7)), 'uint8'))).toEqual([7]);
  });

  it('are not taken for another type', () => {
    const bytes = tensor('weights', 'uint8', [1], Uint8Array.of(7));
    expect(() => floatsIn(bytes)).toThrow('constant weights: got data type 2, expected float');
    expect(() => bytesIn(tensor('scale', 'float', [], Float32Array.of(1)), 'int8')).toThrow(
      'constant scale: got data type 1, expected int8',
    );
  });
});
