import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { BUILDER_VERSION, buildGraphs } from '../../../engine/graph/moonshine.ts';
import { ShippedGraph, type WeightType } from '../../../engine/graph/weights.ts';
import { loadMoonshine, shippedFiles } from '../../../engine/models/moonshine.ts';
import { finish, speech } from '../speech.ts';
import { smallGraph } from './small-graph.ts';

/** What each version of the builder makes of the shipped graphs. Different graphs under an old version would not replace those in people's caches. */
const DIGESTS: Readonly<Record<number, Readonly<Record<WeightType, string>>>> = {
  4: {
    uint8: '1c4cb930e569c2189a3055470f5f7b24c60be9e932418202bce28360adb3e5fd',
    int8: '6f17d3a7b35bca84a177e93e48f9ebd5b215c5f5f270eb629fdb0e6070ecf892',
  },
};

let cacheDir: string;

beforeEach(() => {
  cacheDir = mkdtempSync(join(tmpdir(), 'trunkline-graphs-'));
});

afterEach(() => rmSync(cacheDir, { recursive: true }));

/** Loads the recogniser and lets it write what it hears. */
async function hear(options: { cacheDir: string }) {
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

describe('the rewritten graphs', () => {
  it.each(['uint8', 'int8'] as const)(
    'are the ones of this version of the builder on %s weights: count BUILDER_VERSION up and write the new digest down',
    async (products) => {
      const digest = createHash('sha256');
      for (const bytes of (await buildGraphs(shippedFiles(), products)).values()) digest.update(bytes);
      expect(digest.digest('hex')).toBe(DIGESTS[BUILDER_VERSION]?.[products]);
    },
  );

  it('have weights of the same value whichever type they are of', async () => {
    const shipped = readFileSync(shippedFiles().encoder);
    const [unsigned, signed] = (['uint8', 'int8'] as const).map((products) =>
      ShippedGraph.read(shipped, products).linear('/layers.0/mlp/fc1'),
    );
    if (unsigned === undefined || signed === undefined) throw new Error('no weights');
    const zeroPoints = [unsigned.zeroPoints[0] ?? 0, new Int8Array(signed.zeroPoints.buffer)[0] ?? 0] as const;
    const values = new Int8Array(signed.bytes.buffer, signed.bytes.byteOffset, signed.bytes.length);
    expect(signed.type).toBe('int8');
    expect(unsigned.bytes.findIndex((byte, index) => byte - zeroPoints[0] !== (values[index] ?? 0) - zeroPoints[1])).toBe(-1);
  });

  it('are made with one line of progress, and then taken from the cache, unless they are damaged', async () => {
    const first = await hear({ cacheDir });
    expect(first).toMatchObject({ text: expect.stringContaining('after the tone'), warning: null });
    expect(first.progress).toEqual([expect.stringContaining(cacheDir)]);
    expect((await hear({ cacheDir })).progress).toEqual([]);
    const [folder = ''] = readdirSync(cacheDir);
    const file = join(cacheDir, folder, 'decoder.onnx');
    writeFileSync(file, readFileSync(file).subarray(0, 1_000_000));
    expect(await hear({ cacheDir })).toEqual(first);
  });

  it('are done without, and a warning says why, where they cannot be kept', async () => {
    const file = join(cacheDir, 'file');
    writeFileSync(file, '');
    const heard = await hear({ cacheDir: join(file, 'cache') });
    expect(heard.text).toContain('after the tone');
    expect(heard.warning).toContain('ENOTDIR');
    expect(heard.warning).toContain('MODEL_CACHE_DIR');
    expect(heard.runs).toBeGreaterThan(4);
  });

  it('are not made of graphs that are not those of Moonshine tiny', async () => {
    const file = join(cacheDir, 'small.onnx');
    writeFileSync(file, smallGraph());
    await expect(buildGraphs({ ...shippedFiles(), decoder: file }, 'uint8')).rejects.toThrow('a model without a else_branch');
    await expect(buildGraphs({ ...shippedFiles(), encoder: file }, 'uint8')).rejects.toThrow(
      'the shipped graph has no constant /rotary_emb',
    );
    expect(() => ShippedGraph.read(smallGraph()).linear('/x')).toThrow('the shipped graph has no node /x/MatMul_quant');
  });
});
