import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type CudaMachine, PROVIDER_FILES, reportCuda } from '../../../engine/cuda/cuda-report.ts';
import { makeElf } from '../../helpers/elf.ts';

const [SHARED, CUDA] = PROVIDER_FILES;
const NEEDED_12 = ['libcublasLt.so.12', 'libcurand.so.10', 'libcudart.so.12', 'libcuda.so.1', 'libc.so.6'];

let root: string;
let machine: CudaMachine;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'trunkline-cuda-'));
  for (const name of ['ort', 'pip', 'own', 'system']) mkdirSync(join(root, name));
  machine = {
    platform: 'linux',
    arch: 'x64',
    folder: join(root, 'ort'),
    loader: { libraryPath: join(root, 'pip'), cacheFile: join(root, 'ld.so.cache'), folders: [join(root, 'system')] },
    driverFile: join(root, 'version'),
  };
});

afterEach(() => rmSync(root, { recursive: true }));

function put(folder: string, ...names: readonly string[]): void {
  for (const name of names) writeFileSync(join(root, folder, name), '');
}

function putProvider(needed: readonly string[], runPath = ''): void {
  put('ort', SHARED);
  writeFileSync(join(root, 'ort', CUDA), makeElf({ needed, runPath }));
}

function putDriver(version: string): void {
  const text = `NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  ${version}  Release Build  (root@host)\n`;
  writeFileSync(machine.driverFile, text);
}

describe('what CUDA lacks on a machine', () => {
  it('is the provider, where it belongs, and the command that installs it', () => {
    put('ort', SHARED);
    const { problems } = reportCuda(machine);
    expect(problems).toEqual([`${CUDA} missing in ${machine.folder}: run \`npm run gpu:install\``]);
  });

  it('is nothing when all is there', () => {
    putProvider(NEEDED_12);
    put('pip', 'libcublasLt.so.12', 'libcurand.so.10', 'libcudart.so.12', 'libcudnn.so.9');
    put('system', 'libcuda.so.1');
    putDriver('570.86.10');
    expect(reportCuda(machine)).toMatchObject({ major: 12, driver: '570.86.10', problems: [] });
  });

  it.each([
    ['libcuda.so.1', /^libcuda\.so\.1 missing.*driver 525 or later.*--gpus all/],
    ['libcudart.so.12', /^libcudart\.so\.12 missing \(CUDA 12\).*cuda-libraries-12-9.*nvidia-cuda-runtime-cu12/],
    ['libcublasLt.so.12', /^libcublasLt\.so\.12 missing .*nvidia-cublas-cu12/],
    ['libcurand.so.10', /^libcurand\.so\.10 missing .*nvidia-curand-cu12/],
    ['libcudnn.so.9', /^libcudnn\.so\.9 missing .*apt-get install libcudnn9-cuda-12`.*nvidia-cudnn-cu12/],
  ])('is %s alone, with the command that installs it', (missing, expected) => {
    putProvider(NEEDED_12);
    put('pip', ...[...NEEDED_12, 'libcudnn.so.9'].filter((name) => name !== missing));
    const { problems } = reportCuda(machine);
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatch(expected);
  });

  it('has the names of packages for the CUDA version that the provider was built for', () => {
    putProvider(['libcublas.so.13', 'libcudart.so.13', 'libcuda.so.1']);
    const [libraries = '', driver = ''] = reportCuda(machine).problems;
    expect(libraries).toMatch(/^libcublas\.so\.13, libcudart\.so\.13, libcudnn\.so\.9 missing \(CUDA 13\)/);
    expect(libraries).toContain('nvidia-cuda-runtime nvidia-cublas nvidia-cudnn-cu13`');
    expect(driver).toContain('driver 580 or later');
  });

  it('is a driver that is too old', () => {
    putProvider(NEEDED_12);
    put('pip', ...NEEDED_12, 'libcudnn.so.9');
    putDriver('470.57.02');
    expect(reportCuda(machine).problems).toEqual([expect.stringMatching(/driver is 470\.57\.02, and CUDA 12 needs/)]);
  });

  it('is a whole file where a download was cut off', () => {
    putProvider(NEEDED_12);
    const file = join(machine.folder, CUDA);
    writeFileSync(file, makeElf({ needed: NEEDED_12 }).subarray(0, 300));
    const { problems } = reportCuda(machine);
    expect(problems).toEqual([expect.stringMatching(/cannot be used: it ends after 300 bytes.*gpu:install` again$/)]);
  });

  it.each([
    ['darwin', 'arm64'],
    ['linux', 'arm64'],
    ['win32', 'x64'],
  ])('is everything on %s/%s', (platform, arch) => {
    expect(reportCuda({ ...machine, platform, arch }).problems).toEqual([
      `CUDA needs linux/x64 and this is ${platform}/${arch}`,
    ]);
  });
});

describe('the search for libraries', () => {
  it("looks where the loader does: at LD_LIBRARY_PATH, the file's own folders, ldconfig's cache, the system's", () => {
    putProvider(['libcudart.so.12', 'libcublas.so.12', 'libcurand.so.10', 'libcuda.so.1'], '$ORIGIN/../own');
    put('pip', 'libcudart.so.12', 'libcudnn.so.9');
    put('own', 'libcudart.so.12', 'libcublas.so.12');
    put('system', 'libcuda.so.1');
    const cached = join(root, 'elsewhere');
    mkdirSync(cached);
    put('elsewhere', 'libcurand.so.10');
    const cache = `glibc-ld.so.cache1.1\0\u0001/gone/libcurand.so.10\0${cached}/libcurand.so.10\0`;
    writeFileSync(machine.loader.cacheFile, cache);
    expect(reportCuda(machine).libraries).toEqual({
      'libcudart.so.12': join(root, 'pip', 'libcudart.so.12'),
      'libcublas.so.12': join(root, 'own', 'libcublas.so.12'),
      'libcurand.so.10': join(cached, 'libcurand.so.10'),
      'libcuda.so.1': join(root, 'system', 'libcuda.so.1'),
      'libcudnn.so.9': join(root, 'pip', 'libcudnn.so.9'),
    });
  });
});
