import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { engineMemory } from '../../src/engine-client/memory-budget.ts';
import { readSettings } from '../../src/foundation/settings/config.ts';

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
    write('vocab.txt', 5);
    const found = memory({ ASR_FINAL_MODEL: folder });
    expect(found).toMatchObject({ neededBytes: (2 * 200 + 150 + 1.5 * 640) * MB, problem: null });
  });

  it('is refused with what would fit', () => {
    write('decoder.ort', 600);
    const final = { ASR_FINAL_MODEL: folder };
    expect(memory(final, TWO, 512 + 1300)?.problem).toBe(
      '2 processes of 200 MB and 1 process of 1050 MB of the speech engine need about 1450 MB, more than the 1300 MB ' +
        'that this machine has for them. ENGINE_WORKERS=1 would fit',
    );
    expect(memory(final, { workers: 4, finalWorkers: 2 }, 512 + 1300)?.problem).toMatch(
      /ENGINE_WORKERS=1 with ENGINE_FINAL_WORKERS=1 would fit$/,
    );
    expect(memory(final, TWO, 1024)?.problem).toMatch(/choose a smaller ASR_FINAL_MODEL$/);
    expect(memory({ ASR_MODEL: folder }, { workers: 2, finalWorkers: 0 }, 1024)?.problem).toMatch(/smaller ASR_MODEL$/);
  });

  it('is what ENGINE_MEMORY_BYTES allows', () => {
    const budget = { ENGINE_MEMORY_BYTES: String(300 * MB) };
    expect(memory(budget, { workers: 2, finalWorkers: 0 })?.problem).toMatch(
      /300 MB that ENGINE_MEMORY_BYTES allows. ENGINE_WORKERS=1 would fit$/,
    );
  });
});
