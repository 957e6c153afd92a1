import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { GraphBuilder } from '../../../engine/graph/builder.ts';
import { decode, encode } from '../../../engine/graph/codec.ts';
import { cutByInputs, cutByWeights } from '../../../engine/graph/cut.ts';
import { rewriteProducts } from '../../../engine/graph/integer-products.ts';
import { type ModelFile, placeOf, readModelFile } from '../../../engine/graph/model-file.ts';
import {
  EXTERNAL_DATA,
  MODEL,
  type ModelProto,
  type NodeProto,
  type TensorProto,
} from '../../../engine/graph/onnx-proto.ts';
import { findEncoderPlaces } from '../../../engine/graph/streaming-encoder.ts';
import { tensor } from '../../../engine/graph/tensors.ts';
import { openParts } from '../../../engine/models/cut-graph.ts';
import { floatsOf } from '../../../engine/onnx.ts';
import { InferenceSession, Tensor } from '../../../engine/onnxruntime.ts';
import { packagePath } from '../../../src/foundation/folders/paths.ts';

const OPTIONS = { device: { provider: 'cpu' }, threads: 1 } as const;
const WIDTH = 256;
const FRAMES = 5;

let folder = '';
let path = '';

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'trunkline-graphs-'));
  path = join(folder, 'model.onnx');
});

afterEach(() => rmSync(folder, { recursive: true }));

/** Numbers that look random, the same each time. */
const scattered = (length: number) => Float32Array.from({ length }, (_, i) => Math.sin(i * i * 0.37));
const bytes = (length: number) => Uint8Array.from({ length }, (_, i) => (i * i * 31 + 7 * i) % 256);

/** Four layers of 64 K weights with a value that passes all of them, and an input that only the last one reads. */
function layered(): Uint8Array {
  const graph = new GraphBuilder();
  const start = graph.input('start', { type: 'float', dims: [1, 'frames', WIDTH] });
  const late = graph.input('late', { type: 'float', dims: [1, 'frames', WIDTH] });
  let value = start;
  for (let layer = 0; layer < 4; layer++) {
    const weights = graph.constant(tensor(`weights ${layer}`, 'float', [WIDTH, WIDTH], scattered(WIDTH * WIDTH)));
    value = graph.add('Add', [graph.add('Tanh', [graph.add('MatMul', [value, weights])]), start]);
  }
  graph.output(graph.add('Mul', [value, late]), 'end', { type: 'float', dims: [1, 'frames', WIDTH] });
  return graph.file('layers');
}

/** A product and two convolutions, of one tap and of three, on bytes. */
function quantized(): Uint8Array {
  const graph = new GraphBuilder();
  const start = graph.input('start', { type: 'float', dims: [1, 'frames', WIDTH] });
  const scales = graph.constant(tensor('scale', 'float', [], Float32Array.of(0.001)));
  const zero = graph.constant(tensor('zero', 'uint8', [], Uint8Array.of(120)));
  const weightsOf = (name: string, dims: readonly number[]) =>
    graph.constant(tensor(name, 'uint8', dims, bytes(dims.reduce((product, dim) => product * dim, 1))));
  const layer = (value: string, operator: string, weights: string, attributes = {}) => {
    const [quantizedValue = '', scale = '', offset = ''] = graph.addMany('DynamicQuantizeLinear', [value], 3);
    const sums = graph.add(operator, [quantizedValue, weights, offset, zero], { attributes });
    return graph.add('Mul', [graph.add('Cast', [sums], { attributes: { to: 1n } }), graph.add('Mul', [scale, scales])]);
  };
  const transposed = (value: string) => graph.add('Transpose', [value], { attributes: { perm: [0n, 2n, 1n] } });
  const product = layer(start, 'MatMulInteger', weightsOf('matrix', [WIDTH, WIDTH]));
  const pointwise = layer(transposed(product), 'ConvInteger', weightsOf('single tap', [WIDTH, WIDTH, 1]));
  const taps = weightsOf('taps', [WIDTH, 1, 3]);
  const wide = layer(pointwise, 'ConvInteger', taps, { group: BigInt(WIDTH), pads: [1n, 1n], kernel_shape: [3n] });
  const matrix = weightsOf('matrix', [WIDTH, WIDTH]);
  const [values = '', scale = '', offset = ''] = graph.addMany('DynamicQuantizeLinear', [start], 3);
  const whole = graph.add('DynamicQuantizeMatMul', [start, matrix, scales, zero], { microsoft: true });
  const rest = graph.add('MatMulIntegerToFloat', [values, matrix, scale, scales, offset, zero], { microsoft: true });
  graph.output(whole, 'whole', { type: 'float', dims: [1, 'frames', WIDTH] });
  graph.output(rest, 'rest', { type: 'float', dims: [1, 'frames', WIDTH] });
  graph.output(product, 'product', { type: 'float', dims: [1, 'frames', WIDTH] });
  graph.output(pointwise, 'pointwise', { type: 'float', dims: [1, WIDTH, 'frames'] });
  graph.output(wide, 'wide', { type: 'float', dims: [1, WIDTH, 'frames'] });
  return graph.file('bytes');
}

function save(file: Uint8Array): ModelFile {
  writeFileSync(path, file);
  return readModelFile(path);
}

const inputs = () => ({
  start: new Tensor('float32', scattered(FRAMES * WIDTH), [1, FRAMES, WIDTH]),
  late: new Tensor('float32', scattered(FRAMES * WIDTH).map(Math.cos), [1, FRAMES, WIDTH]),
});

async function runParts(model: ModelFile, parts: ReturnType<typeof cutByWeights>): Promise<Map<string, Tensor>> {
  const values = new Map<string, Tensor>(Object.entries(inputs()));
  for (const part of await openParts(model, parts, OPTIONS)) await part.run(values);
  return values;
}

describe('a model file', () => {
  it('is read without its large constants, which are where it says', () => {
    const file = layered();
    const { nodes, constants, inputs: read, outputs } = save(file);
    expect([...read, ...outputs].map(({ name }) => name)).toEqual(['start', 'late', 'end']);
    expect(nodes.filter(({ opType }) => opType === 'MatMul').length).toBe(4);
    const place = placeOf(constants.get('weights 2') ?? { dims: [], floatData: [], int32Data: [], int64Data: [] });
    expect(place).toMatchObject({ location: 'model.onnx', length: 4 * WIDTH * WIDTH });
    const { offset = 0, length = 0 } = place ?? {};
    const there = new Float32Array(file.slice(offset, offset + length).buffer);
    expect(there).toEqual(scattered(WIDTH * WIDTH));
  });

  it('has the properties that its author gave it', () => {
    const { metadata } = readModelFile(packagePath('fixtures', 'models', 'parakeet-tdt', 'sherpa', 'encoder.onnx'));
    expect(metadata.get('vocab_size')).toBe('60');
    expect(metadata.get('normalize_type')).toBe('per_feature');
  });

  it.each([
    ['that ends early', () => layered().slice(0, 100_000)],
    ['that is empty', () => new Uint8Array(0)],
    ['of something else', () => Buffer.from('{"not": "a model"}')],
  ])('%s is refused', (_, file) => {
    expect(() => save(file())).toThrow(/model.onnx is no ONNX file: /);
  });

  it.each([
    ['is nothing but zeros', () => new Uint8Array(1000), /field number 0/],
    [
      'has no end of parts',
      () => new Uint8Array(600_000).map((_, at) => 16 * ((at + 1) % 2)),
      /more than 250000 parts/,
    ],
    ['has a constant of a billion billions', () => withConstant({ dims: [2n ** 30n, 2n ** 30n] }), /big has the shape/],
    ['has a constant of less than nothing', () => withConstant({ dims: [-3n] }), /big has the shape -3/],
    ['has its numbers above its folder', () => withConstant(at('a/../../secret')), /big is in a\/\.\.\/\.\.\/secret/],
    ['has its numbers anywhere', () => withConstant(at('/etc/passwd')), /expected a file in the folder of the model/],
  ])('is refused when it %s', (_, file, message) => {
    expect(() => save(file())).toThrow(message);
  });
});

const at = (location: string): Partial<TensorProto> => ({
  dataLocation: EXTERNAL_DATA,
  externalData: [{ key: 'location', value: location }],
});

/** With one constant more. */
function withConstant(constant: Partial<TensorProto>): Uint8Array {
  const model = decode<ModelProto>(MODEL, layered());
  const big: TensorProto = { name: 'big', dims: [4n], dataType: 1, floatData: [], int32Data: [], int64Data: [] };
  const initializer = [...(model.graph?.initializer ?? []), { ...big, ...constant }];
  return encode(MODEL, { ...model, graph: { ...model.graph, initializer } });
}

describe('an encoder whose scores are scaled by themselves', () => {
  it('is refused', () => {
    const path = packagePath('fixtures', 'models', 'moonshine-streaming', 'onnx', 'encoder.onnx');
    const model = decode<ModelProto>(MODEL, readFileSync(path));
    const nodes = model.graph?.node ?? [];
    const [softmax] = nodes.filter(({ opType }) => opType === 'Softmax');
    const circle: NodeProto = { opType: 'Mul', input: ['circle', 'circle'], output: ['circle'], attribute: [] };
    const isMask = ({ output }: NodeProto) => output.includes(softmax?.input[0] ?? '');
    const node = nodes.map((each) => (isMask(each) ? { ...each, input: each.input.map(() => 'circle') } : each));
    const file = encode(MODEL, { ...model, graph: { ...model.graph, node: [...node, circle] } });
    expect(() => findEncoderPlaces(file)).toThrow('no product of queries and keys');
  });
});

describe('a graph that is cut', () => {
  it.each([1, 2, 3, 4, 9])('into %i parts gives what it gives as a whole', async (count) => {
    const model = save(layered());
    const whole = floatsOf(await (await InferenceSession.create(path)).run(inputs()), 'end');
    const parts = cutByWeights(model, count);
    expect(parts.length).toBeLessThanOrEqual(count);
    const values = await runParts(model, parts);
    const end = values.get('end')?.data as Float32Array;
    expect(Math.max(...whole.map((value, index) => Math.abs(value - (end[index] as number))))).toBeLessThan(1e-5);
  });

  it('shares its weights evenly, and passes few values on', () => {
    const parts = cutByWeights(save(layered()), 4);
    expect(parts.map(({ nodes }) => nodes.filter(({ opType }) => opType === 'MatMul').length)).toEqual([1, 1, 1, 1]);
    expect(parts.slice(0, 3).map(({ outputs }) => outputs.length)).toEqual([1, 1, 1]);
  });

  it('may read constants by ways without number', () => {
    const graph = new GraphBuilder();
    const start = graph.input('start', { type: 'float', dims: [WIDTH] });
    let fixed = graph.constant(tensor('fixed', 'float', [WIDTH], scattered(WIDTH)));
    for (let layer = 0; layer < 60; layer++) fixed = graph.add('Max', [fixed, fixed]);
    graph.output(graph.add('Add', [start, fixed]), 'end', { type: 'float', dims: [WIDTH] });
    const [part] = cutByWeights(save(graph.file('ways')), 2);
    expect(part?.nodes.filter(({ opType }) => opType === 'Max').length).toBe(60);
  });

  it('by an input has all that does not need it in the first part', async () => {
    const model = save(layered());
    const [before, behind] = cutByInputs(model, ['late']);
    expect(before?.inputs).toEqual(['start']);
    expect(behind?.nodes.map(({ opType }) => opType)).toEqual(['Mul', 'Identity']);
    expect(
      (
        await runParts(
          model,
          [before, behind].flatMap((part) => part ?? []),
        )
      ).has('end'),
    ).toBe(true);
  });

  it('by an input may leave all but some operators in the second part', () => {
    const model = save(layered());
    const [before, behind] = cutByInputs(model, ['late'], new Set(['MatMul']));
    expect(before?.nodes.map(({ opType }) => opType)).toEqual(['MatMul']);
    expect(before?.outputs.every((output) => behind?.inputs.includes(output))).toBe(true);
  });
});

describe('products on bytes', () => {
  it.each(['int8', 'uint8'] as const)('are the same on weights of %s', async (products) => {
    const model = save(quantized());
    const { start } = inputs();
    const expected = await (await InferenceSession.create(path)).run({ start });
    const rewritten = rewriteProducts(model, products);
    const values = await runParts(rewritten, cutByWeights(rewritten, 1));
    for (const name of ['product', 'pointwise', 'whole', 'rest'])
      expect(values.get(name)?.data).toEqual(floatsOf(expected, name));
    const wide = values.get('wide')?.data as Float32Array;
    const greatest = Math.max(...wide.map(Math.abs));
    const off = floatsOf(expected, 'wide').map((value, index) => Math.abs(value - (wide[index] as number)));
    expect(Math.max(...off)).toBeLessThan(greatest / 50);
  });

  it('are in other operators than before', () => {
    const { nodes } = rewriteProducts(save(quantized()), 'int8');
    const operators = nodes.map(({ opType }) => opType);
    expect(operators).not.toContain('ConvInteger');
    const turned = nodes.filter(({ input }) => input[1] === 'matrix turned').map(({ opType }) => opType);
    expect(turned).toEqual(['MatMulInteger', 'DynamicQuantizeMatMul', 'MatMulIntegerToFloat']);
    expect(operators.filter((operator) => operator === 'MatMulInteger').length).toBe(2);
    expect(operators.filter((operator) => operator === 'Conv').length).toBe(1);
  });
});
