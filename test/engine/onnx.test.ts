import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findCudaProblem, openSession } from '../../engine/onnx.ts';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'trunkline-onnx-'));
});

afterEach(() => rmSync(folder, { recursive: true }));

describe('findCudaProblem', () => {
  it('has every remedy, and the way without CUDA', () => {
    const loader = { libraryPath: '', cacheFile: join(folder, 'absent'), folders: [] };
    const machine = { platform: 'linux', arch: 'x64', folder, loader, driverFile: join(folder, 'absent') };
    expect(findCudaProblem(machine)).toMatch(/^CUDA cannot be used: .*npm run gpu:install.*EXECUTION_PROVIDER=cpu$/);
  });
});

describe('openSession', () => {
  it('refuses a file that is not there, by name', async () => {
    const file = join(folder, 'absent.onnx');
    await expect(openSession(file, { device: { provider: 'cpu' }, threads: 1 })).rejects.toMatchObject({
      code: 'model_missing',
      message: expect.stringContaining(file),
    });
  });
});
