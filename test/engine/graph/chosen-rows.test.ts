import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { GraphBuilder } from '../../../engine/graph/builder.ts';
import { CHOSEN_ROWS, withChosenRows } from '../../../engine/graph/chosen-rows.ts';
import { readModelFile } from '../../../engine/graph/model-file.ts';
import { DATA_TYPE } from '../../../engine/graph/onnx-proto.ts';
import { tensor } from '../../../engine/graph/tensors.ts';
import { floatsOf, openGraph } from '../../../engine/onnx.ts';
import { Tensor } from '../../../engine/onnxruntime.ts';

const POSITIONS = 5;
const WIDTH = 3;
const NUMBERS = 4;

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'trunkline-rows-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** A file with the graph `x` [1, n, 3] → `logits` [1, n, 4], whose last product `build` writes. */
function write(name: string, build: (graph: GraphBuilder, x: string) => string): string {
  const graph = new GraphBuilder();
  const x = graph.input('x', { type: 'float', dims: [1, 'n', WIDTH] });
  const doubled = graph.add('Add', [x, x]);
  graph.output(build(graph, doubled), 'logits', { type: 'float', dims: [1, 'n', NUMBERS] });
  const path = join(folder, `${name}.onnx`);
  writeFileSync(path, graph.file(name));
  return path;
}

const weights = (graph: GraphBuilder) =>
  graph.constant(
    tensor(
      'weights',
      'float',
      [WIDTH, NUMBERS],
      Float32Array.from({ length: 12 }, (_, i) => i - 5),
    ),
  );

const product = (graph: GraphBuilder, x: string) => graph.add('MatMul', [x, weights(graph)]);

/** As onnxruntime quantises a product: what comes is brought to 8 bits by its own range. */
function quantised(graph: GraphBuilder, x: string): string {
  const [bits = '', scale = '', zero = ''] = graph.addMany('DynamicQuantizeLinear', [x], 3);
  const eight = Uint8Array.from({ length: 12 }, (_, i) => 17 * i);
  const table = graph.constant(tensor('weights', 'uint8', [WIDTH, NUMBERS], eight));
  const half = graph.constant(tensor('zero', 'uint8', [], Uint8Array.of(128)));
  const whole = graph.add('MatMulInteger', [bits, table, zero, half]);
  const real = graph.add('Cast', [whole], { attributes: { to: BigInt(DATA_TYPE.float) } });
  const step = graph.constant(tensor('step', 'float', [], Float32Array.of(0.01)));
  return graph.add('Mul', [real, graph.add('Mul', [scale, step])]);
}

const input = Float32Array.from({ length: POSITIONS * WIDTH }, (_, i) => Math.sin(i));
const options = { device: { provider: 'cpu' }, threads: 1 } as const;

describe('a graph that gives chosen rows', () => {
  it('gives those of the whole one, in the order that is asked for', async () => {
    const model = readModelFile(write('product', product));
    const session = await openGraph(withChosenRows(model, 'logits'), folder, options);
    const x = new Tensor('float32', input, [1, POSITIONS, WIDTH]);
    const run = async (rows: readonly number[]) => {
      const chosen = new Tensor('int64', BigInt64Array.from(rows, BigInt), [rows.length]);
      return floatsOf(await session.run({ x, [CHOSEN_ROWS]: chosen }), 'logits');
    };
    const all = await run([0, 1, 2, 3, 4]);
    const row = (index: number) => [...all.subarray(index * NUMBERS, (index + 1) * NUMBERS)];
    expect([...(await run([4, 2]))]).toEqual([...row(4), ...row(2)]);
    for (const [column, value] of row(1).entries()) expect(value).toBeCloseTo(expectedAt(1, column), 4);
  });

  it('brings only the chosen rows to 8 bits, where that is how products are made', async () => {
    const model = readModelFile(write('quantised', quantised));
    const session = await openGraph(withChosenRows(model, 'logits'), folder, options);
    const chosen = new Tensor('int64', BigInt64Array.of(3n), [1]);
    const x = new Tensor('float32', input, [1, POSITIONS, WIDTH]);
    expect(floatsOf(await session.run({ x, [CHOSEN_ROWS]: chosen }), 'logits').length).toBe(NUMBERS);
  });

  it.each([
    ['of no product', (_: GraphBuilder, x: string) => x],
    [
      'of two values',
      (graph: GraphBuilder, x: string) => graph.add('Add', [product(graph, x), graph.add('ReduceSum', ['x'])]),
    ],
  ])('is refused where its output is made %s', (name, build) => {
    const model = readModelFile(write(name, build));
    expect(() => withChosenRows(model, 'logits')).toThrow(/logits is not made by a product of one value/);
  });
});

/** Twice the input times the weights. */
function expectedAt(position: number, column: number): number {
  let sum = 0;
  for (let i = 0; i < WIDTH; i++) sum += 2 * (input[position * WIDTH + i] ?? 0) * (i * NUMBERS + column - 5);
  return sum;
}
