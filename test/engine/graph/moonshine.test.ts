import { createHash } from 'node:crypto';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { BUILDER_VERSION, buildGraphs } from '../../../engine/graph/moonshine.ts';
import { bytesIn } from '../../../engine/graph/tensors.ts';
import { ShippedGraph, type WeightType } from '../../../engine/graph/weights.ts';
import { loadMoonshine, shippedFiles } from '../../../engine/models/moonshine.ts';
import { finish, speech } from '../speech.ts';
import { smallGraph } from './small-graph.ts';

/**
 * What each version of the builder makes of the shipped graphs. Different graphs under an old version would not replace
 * those in people's caches.
 */
const DIGESTS: Readonly<Record<number, Readonly<Record<WeightType, string>>>> = {
  9: {
    uint8: '3ec7f7428246f4e8eb3e6f8cdf3a7b32402e13c9b42a6427830be7c16cf1ba64',
    int8: '17cd8aad410a4801edd8d7cc26c4a95664673c4b43fef4d473eba62740e9d829',
  },
};

let cacheDir: string;

beforeEach(() => {
  cacheDir = mkdtempSync(join(tmpdir(), 'trunkline-graphs-'));
});

afterEach(() => rmSync(cacheDir, { recursive: true }));

/** Loads the recogniser and lets it write what it hears. */
async function transcribeWith(options: { cacheDir: string }) {
  const progress: string[] = [];
  const device = { provider: 'cpu' } as const;
  const loaded = await loadMoonshine({
    ...options,
    device,
    threads: 1,
    graphs: 'rewritten',
    runTokens: 16,
    progress: (text) => progress.push(text),
  });
  const { result, runs } = await finish(loaded.asr.transcribe(speech('short'), []));
  return { text: result.text.toLowerCase(), warning: loaded.warning, progress, runs };
}

/** A byte as the signed number that it stands for. */
function signed(byte = 0): number {
  return Int8Array.of(byte)[0] ?? 0;
}

describe('the rewritten graphs', () => {
  it.each(['uint8', 'int8'] as const)(
    'are the ones of this version of the builder on %s weights: count BUILDER_VERSION up and write the new digest down',
    async (products) => {
      const digest = createHash('sha256');
      for (const bytes of (await buildGraphs(shippedFiles(), products)).values()) digest.update(bytes);
      expect(digest.digest('hex')).toBe(DIGESTS[BUILDER_VERSION]?.[products]);
    },
  );

  it.each([
    ['a linear layer', (graph: ShippedGraph) => graph.linear('/layers.0/mlp/fc1')],
    ['a convolution', (graph: ShippedGraph) => graph.convolution('conv2')],
  ])('have weights of the same value whichever type they are of: those of %s', (_, weightsIn) => {
    const shipped = readFileSync(shippedFiles().encoder);
    const [unsigned, signed] = (['uint8', 'int8'] as const).map((products) =>
      weightsIn(ShippedGraph.read(shipped, products)),
    );
    if (unsigned === undefined || signed === undefined) throw new Error('no weights');
    const zeroPoints = [unsigned.zeroPoints[0] ?? 0, new Int8Array(signed.zeroPoints.buffer)[0] ?? 0] as const;
    const values = new Int8Array(signed.bytes.buffer, signed.bytes.byteOffset, signed.bytes.length);
    expect([unsigned.type, signed.type]).toEqual(['uint8', 'int8']);
    expect(
      unsigned.bytes.findIndex((byte, index) => byte - zeroPoints[0] !== (values[index] ?? 0) - zeroPoints[1]),
    ).toBe(-1);
  });

  it("have a convolution's weights as they are shipped, a row for each tap and channel in", () => {
    const graph = ShippedGraph.read(readFileSync(shippedFiles().encoder), 'int8');
    const { rows, columns, bytes, scales, zeroPoints } = graph.convolution('conv3');
    const shipped = bytesIn(graph.constant('conv3.weight_quantized'), 'int8');
    const [scale = 0, offset = 0] = [graph.floats('conv3.weight_scale')[0], graph.floats('conv3.weight_zero_point')[0]];
    const [taps, channelsIn, channelsOut] = [3, 576, 288];
    expect([rows, columns]).toEqual([taps * channelsIn, channelsOut]);
    for (const [tap, channel, out] of [
      [0, 0, 0],
      [2, 575, 287],
      [1, 300, 17],
    ] as const) {
      const row = tap * channelsIn + channel;
      const weight = (scales[0] ?? 0) * (signed(bytes[row * columns + out]) - signed(zeroPoints[0]));
      const asShipped = scale * signed(shipped[(out * channelsIn + channel) * taps + tap]) + offset;
      expect(weight).toBeCloseTo(asShipped, 5);
    }
  });

  it('are made with one line of progress, and then taken from the cache, unless they are damaged', async () => {
    const first = await transcribeWith({ cacheDir });
    expect(first).toMatchObject({ text: expect.stringContaining('after the tone'), warning: null });
    expect(first.progress).toEqual([expect.stringContaining(cacheDir)]);
    expect((await transcribeWith({ cacheDir })).progress).toEqual([]);
    const [folder = ''] = readdirSync(cacheDir);
    const file = join(cacheDir, folder, 'decoder.onnx');
    writeFileSync(file, readFileSync(file).subarray(0, 1_000_000));
    expect(await transcribeWith({ cacheDir })).toEqual(first);
  });

  it('are done without, and a warning says why, where they cannot be kept', async () => {
    const file = join(cacheDir, 'file');
    writeFileSync(file, '');
    const result = await transcribeWith({ cacheDir: join(file, 'cache') });
    expect(result.text).toContain('after the tone');
    expect(result.warning).toContain('ENOTDIR');
    expect(result.warning).toContain('MODEL_CACHE_DIR');
    expect(result.runs).toBeGreaterThan(4);
  });

  it('are done without, and a warning says why, where others could put their own', async () => {
    await transcribeWith({ cacheDir });
    chmodSync(cacheDir, 0o777);
    const result = await transcribeWith({ cacheDir });
    expect(result.text).toContain('after the tone');
    expect(result.warning).toContain(`nothing in ${cacheDir} is used: it can be written by everybody`);
    expect(result.warning).toContain('MODEL_CACHE_DIR');
    expect(result.runs).toBeGreaterThan(4);
  });

  it('are not made of graphs that are not those of Moonshine tiny', async () => {
    const file = join(cacheDir, 'small.onnx');
    writeFileSync(file, smallGraph());
    await expect(buildGraphs({ ...shippedFiles(), decoder: file }, 'uint8')).rejects.toThrow(
      'a model without a else_branch',
    );
    await expect(buildGraphs({ ...shippedFiles(), encoder: file }, 'uint8')).rejects.toThrow(
      'the shipped graph has no constant conv2.weight_quantized',
    );
    expect(() => ShippedGraph.read(smallGraph()).linear('/x')).toThrow('the shipped graph has no node /x/MatMul_quant');
    expect(() => ShippedGraph.read(smallGraph()).convolution('x')).toThrow(
      'the shipped graph has no constant x.weight_quantized',
    );
  });
});
