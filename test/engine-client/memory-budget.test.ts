import { mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { engineMemory } from '../../src/engine-client/memory-budget.ts';
import { readSettings } from '../helpers/settings.ts';

const MB = 2 ** 20;
const TWO = { workers: 2, finalWorkers: 1 };

let folder: string;

/** A file of so many MB that takes no room on the disk. */
function write(name: string, sizeMb: number): void {
  const path = join(folder, name);
  writeFileSync(path, '');
  truncateSync(path, sizeMb * MB);
}

const memory = (environment: Record<string, string>, wanted = TWO, machineMb = 16_384) =>
  engineMemory(readSettings({ MODELS_DIR: 'none', ...environment }), wanted, machineMb * MB);

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'trunkline-memory-'));
});

afterEach(() => rmSync(folder, { recursive: true }));

describe('the memory of the engines', () => {
  it('is not looked at where everything is in the npm packages', () => {
    expect(memory({}, { workers: 8, finalWorkers: 0 }, 100)).toBeNull();
  });

  it('is estimated from the files of the recognisers, without float twins', () => {
    write('encoder-model.int8.onnx', 640);
    write('encoder-model.onnx', 2400);
    write('encoder-model.onnx.data', 100);
    write('decoder_joint-model.int8.onnx', 18);
    write('vocab.txt', 5);
    const found = memory({ ASR_FINAL_MODEL: folder });
    expect(found).toMatchObject({ neededBytes: (2 * 200 + 500 + 1.2 * 658) * MB, problem: null });
  });

  it.each([
    [
      'Moonshine streaming small',
      ['streaming_config.json', 'tokenizer.bin'],
      { 'encoder.onnx': 42, 'adapter.onnx': 10, 'cross_kv.onnx': 5, 'decoder_kv.onnx': 78, 'frontend.onnx': 30 },
      { leastMb: 529, mostMb: 680 },
    ],
    [
      'Moonshine streaming medium with word times',
      ['streaming_config.json', 'tokenizer.bin'],
      { 'encoder.ort': 90, 'frontend.ort': 69, 'decoder_kv.ort': 140, 'decoder_kv_with_attention.ort': 140 },
      { leastMb: 1154, mostMb: 1250 },
    ],
    [
      'Parakeet TDT 0.6B',
      ['vocab.txt'],
      { 'encoder-model.int8.onnx': 584, 'decoder_joint-model.int8.onnx': 17 },
      { leastMb: 1219, mostMb: 1320 },
    ],
  ])('with %s is about what was measured', (_, names, weights, { leastMb, mostMb }) => {
    for (const name of names) write(name, 0);
    for (const [name, sizeMb] of Object.entries(weights)) write(name, sizeMb);
    const found = memory({ ASR_MODEL: folder, ASR_FINAL_MODEL: '' }, { workers: 1, finalWorkers: 0 });
    expect(found?.neededBytes).toBeGreaterThanOrEqual(leastMb * MB);
    expect(found?.neededBytes).toBeLessThan(mostMb * MB);
  });

  it('is refused with what would fit', () => {
    for (const name of ['encoder_model.ort', 'decoder_model_merged.ort']) write(name, 200);
    write('tokenizer.bin', 0);
    const final = { ASR_FINAL_MODEL: folder };
    expect(memory(final, TWO, 512 + 1300)?.problem).toBe(
      '2 processes of 200 MB and 1 process of 1050 MB of the speech engine need about 1450 MB, more than the 1300 MB ' +
        'that this machine has for them. ENGINE_WORKERS=1 would fit',
    );
    expect(memory(final, { workers: 4, finalWorkers: 2 }, 512 + 1300)?.problem).toMatch(/ENGINE_WORKERS=1 would fit$/);
    expect(memory(final, TWO, 1024)?.problem).toMatch(/choose a smaller ASR_FINAL_MODEL$/);
    expect(memory({ ASR_MODEL: folder }, { workers: 2, finalWorkers: 0 }, 1024)?.problem).toMatch(/smaller ASR_MODEL$/);
  });

  it('is what ENGINE_MEMORY_BYTES allows', () => {
    const budget = { ENGINE_MEMORY_BYTES: String(300 * MB) };
    expect(memory(budget, { workers: 2, finalWorkers: 0 })?.problem).toMatch(
      /300 MB that ENGINE_MEMORY_BYTES allows. ENGINE_WORKERS=1 would fit$/,
    );
  });

  it('is known of a folder with a link to itself, too', () => {
    for (const name of ['tokenizer.json', 'config.json', 'encoder.onnx']) write(name, 1);
    symlinkSync('decoder_loop.onnx', join(folder, 'decoder_loop.onnx'));
    expect(memory({ ASR_MODEL: folder }, { workers: 1, finalWorkers: 0 })?.neededBytes).toBeGreaterThan(900 * MB);
  });

  it.runIf(process.platform === 'linux')('counts weights once that processes share', () => {
    for (const name of ['tokenizer.json', 'config.json', 'encoder.onnx', 'decoder_loop.onnx']) write(name, 1);
    write('encoder.onnx.data', 200);
    write('decoder_loop.onnx.data', 700);
    const [own, shared] = [900 + 1.1 * 902 - 0.85 * 900, 0.85 * 900];
    const needed = (workers: number) => memory({ ASR_MODEL: folder }, { workers, finalWorkers: 0 })?.neededBytes ?? 0;
    expect(needed(1)).toBeCloseTo((own + shared) * MB, -3);
    expect(needed(3)).toBeCloseTo((3 * own + shared) * MB, -3);
    const problem = memory({ ASR_MODEL: folder }, { workers: 4, finalWorkers: 0 }, 512 + 4000)?.problem;
    expect(problem).toMatch(
      /^4 processes of 1893 MB, 765 MB of it once, of .* about 5274 MB, .*ENGINE_WORKERS=2 would fit$/,
    );
  });
});
