import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { CudaReport } from '../../engine/cuda/cuda-report.ts';
import { checkGpu, describeCuda } from '../../src/checks/check-cuda.ts';

const WHOLE: CudaReport = {
  major: 12,
  libraries: { 'libcudart.so.12': '/opt/libcudart.so.12' },
  driver: '570.1',
  problems: [],
};
const BROKEN: CudaReport = { major: null, libraries: {}, driver: null, problems: ['no library', 'no driver'] };

describe("the doctor's findings on CUDA", () => {
  it('take what is missing as seriously as the settings do, each in a line of its own', () => {
    expect(describeCuda('cpu', WHOLE)).toMatchObject([{ status: 'ok' }]);
    expect(describeCuda('cpu', BROKEN)).toMatchObject([{ status: 'ok', detail: expect.stringContaining('not used') }]);
    expect(describeCuda('auto', BROKEN)).toMatchObject([{ status: 'warn' }, { status: 'warn' }]);
    expect(describeCuda('cuda', BROKEN)).toMatchObject([
      { status: 'fail', detail: 'no library' },
      { status: 'fail', detail: 'no driver' },
    ]);
  });

  it('name the CUDA version, the libraries and the driver where all is well', () => {
    expect(describeCuda('cuda', WHOLE).map(({ detail }) => detail)).toEqual([
      'the provider is installed, for CUDA 12: /opt/libcudart.so.12; driver 570.1',
    ]);
  });
});

describe('the GPUs of a machine', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'trunkline-smi-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  function program(script: string): string {
    const path = join(folder, 'nvidia-smi');
    writeFileSync(path, `#!/bin/sh\n${script}\n`);
    chmodSync(path, 0o755);
    return path;
  }

  it('are a line each, as nvidia-smi lists them', async () => {
    const smi = program("printf '0, NVIDIA L4, 570.1, 23034 MiB, 0 MiB\\n1, NVIDIA L4, 570.1, 23034 MiB, 0 MiB\\n'");
    expect(await checkGpu('cuda', smi)).toMatchObject([
      { name: 'gpu', status: 'ok', detail: '0, NVIDIA L4, 570.1, 23034 MiB, 0 MiB' },
      { name: 'gpu', status: 'ok', detail: expect.stringMatching(/^1, /) },
    ]);
  });

  it('are not asked for without a need or a program, and a program that fails is told of', async () => {
    expect(await checkGpu('cpu', program('exit 9'))).toEqual([]);
    expect(await checkGpu('cuda', join(folder, 'absent'))).toEqual([]);
    expect(await checkGpu('auto', program('exit 9'))).toMatchObject([{ status: 'warn' }]);
  });
});
