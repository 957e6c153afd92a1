import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
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
  it('names the libraries that are missing, where they belong and the command that installs them', () => {
    writeFileSync(join(folder, 'libonnxruntime_providers_shared.so'), '');
    const problem = findCudaProblem({ platform: 'linux', arch: 'x64', folder });
    expect(problem).toContain(`libonnxruntime_providers_cuda.so missing in ${folder}`);
    expect(problem).not.toContain('providers_shared');
    expect(problem).toContain('npm run gpu:install');
  });

  it('finds nothing wrong when both are there', () => {
    for (const name of ['shared', 'cuda']) writeFileSync(join(folder, `libonnxruntime_providers_${name}.so`), '');
    expect(findCudaProblem({ platform: 'linux', arch: 'x64', folder })).toBeNull();
  });

  it.each([
    ['darwin', 'arm64'],
    ['linux', 'arm64'],
    ['win32', 'x64'],
  ])('says that %s/%s has no CUDA provider', (platform, arch) => {
    expect(findCudaProblem({ platform, arch, folder })).toContain(`needs linux/x64 and this is ${platform}/${arch}`);
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
