import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type CudaMachine, PROVIDER_FILES } from '../../../engine/cuda/cuda-report.ts';
import { type GpuInstallOptions, installGpu } from '../../../src/cli/gpu/install.ts';
import { PROVIDER_WHEEL } from '../../../src/cli/gpu/provider-sources.ts';
import { packagePath } from '../../../src/foundation/folders/paths.ts';
import type { Package } from '../../../src/models/catalog-model.ts';
import { makeElf } from '../../helpers/elf.ts';
import { knownBytes } from '../../helpers/models.ts';
import { captureTerminal } from '../../helpers/terminal.ts';
import { makeZip } from '../../helpers/zip.ts';

const [SHARED, CUDA] = PROVIDER_FILES;
const CAPI = 'onnxruntime/capi';
const VERSION = '2.3.4';

let root: string;
let machine: CudaMachine;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'trunkline-gpu-install-'));
  const folder = join(root, 'onnxruntime-node', 'bin', 'napi-v6', 'linux', 'x64');
  mkdirSync(folder, { recursive: true });
  mkdirSync(join(root, 'onnxruntime-node', 'script'));
  mkdirSync(join(root, 'bin'));
  writeFileSync(join(root, 'onnxruntime-node', 'package.json'), JSON.stringify({ version: VERSION }));
  const loader = { libraryPath: '', cacheFile: join(root, 'absent'), folders: [] };
  machine = { platform: 'linux', arch: 'x64', folder, loader, driverFile: join(root, 'absent') };
});

afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(root, { recursive: true });
});

function provider(version: string, needed = ['libcudart.so.13', 'libcuda.so.1']): Buffer {
  return makeElf({ needed, text: `\0${version}\0` });
}

function wheelOf(files: Readonly<Record<string, Buffer>>, version = VERSION): Buffer {
  const metadata = Buffer.from(`Metadata-Version: 2.4\nName: onnxruntime-gpu\nVersion: ${version}\n`);
  const all = { ...files, [`onnxruntime_gpu-${version}.dist-info/METADATA`]: metadata };
  return makeZip(Object.entries(all).map(([path, data]) => ({ path, data })));
}

const GOOD = { [`${CAPI}/${SHARED}`]: makeElf({ needed: [] }), [`${CAPI}/${CUDA}`]: provider(VERSION) };

function put(name: string, data: Buffer): string {
  const path = join(root, name);
  writeFileSync(path, data);
  return path;
}

async function install(options: GpuInstallOptions, wheel?: Package) {
  const { terminal, out, err } = captureTerminal();
  const all = { terminal, machine, allowPrivate: true, ...(wheel && { wheel }) };
  const code = await installGpu(options, all);
  return { code, out: out.text, err: err.text };
}

const installed = () => readdirSync(machine.folder).sort();

describe('the installation of the CUDA provider', () => {
  it('takes both files from a wheel, tells the licences, and what is still to be done', async () => {
    const { code, out, err } = await install({ wheel: put('a.whl', wheelOf(GOOD)) });
    expect(code).toBe(0);
    expect(err).toMatch(/MIT, Copyright \(c\) Microsoft.*NVIDIA's terms/);
    expect(out).toContain(`Installed version ${VERSION} for CUDA 13`);
    expect(out).toMatch(/Still to be done: libcudart\.so\.13, libcudnn\.so\.9 missing/);
    expect(installed()).toEqual([...PROVIDER_FILES].sort());
    expect(readFileSync(join(machine.folder, CUDA))).toEqual(provider(VERSION));
  });

  it('takes them from a folder as they are', async () => {
    mkdirSync(join(root, 'own'));
    put(join('own', SHARED), makeElf({ needed: [] }));
    put(join('own', CUDA), provider(VERSION));
    expect((await install({ from: join(root, 'own') })).code).toBe(0);
    expect(installed()).toEqual([...PROVIDER_FILES].sort());
  });

  const version = `got version 2.3.5 of the CUDA provider, expected ${VERSION}`;
  it.each([
    ['of another version by its metadata', wheelOf(GOOD, '2.3.5'), version],
    [
      'of another version inside',
      wheelOf({ ...GOOD, [`${CAPI}/${CUDA}`]: provider('2.3.5') }),
      'got another version of the CUDA provider',
    ],
    ['without one of the files', wheelOf({ [`${CAPI}/${CUDA}`]: provider(VERSION) }), `has no ${SHARED}`],
    [
      'that was cut off',
      wheelOf({ ...GOOD, [`${CAPI}/${CUDA}`]: provider(VERSION).subarray(0, 300) }),
      `${CUDA}: it ends after 300 bytes`,
    ],
    [
      'for other machines',
      wheelOf({ ...GOOD, [`${CAPI}/${SHARED}`]: makeElf({ needed: [], machine: 183 }) }),
      `${SHARED} is for arm64, expected x64`,
    ],
    ['that needs no CUDA', wheelOf({ ...GOOD, [`${CAPI}/${CUDA}`]: makeElf({ needed: [] }) }), 'needs no CUDA'],
  ])('refuses one %s, and leaves everything as it was', async (_, wheel, message) => {
    put(join('onnxruntime-node/bin/napi-v6/linux/x64', CUDA), Buffer.from('before'));
    await expect(install({ wheel: put('a.whl', wheel) })).rejects.toThrow(message);
    expect(installed()).toEqual([CUDA]);
    expect(readFileSync(join(machine.folder, CUDA), 'utf8')).toBe('before');
  });

  it('has pip fetch the one wheel that is known, and checks its SHA-256', async () => {
    const wheel = wheelOf(GOOD);
    const known = { ...PROVIDER_WHEEL, ...knownBytes(wheel), version: VERSION, url: 'http://127.0.0.1:1/x' };
    put('wheel', wheel);
    putPip(`cp "${join(root, 'wheel')}" "$dest/${known.file}"`);
    expect((await install({ wheel: 'pip' }, known)).code).toBe(0);
    expect(installed()).toEqual([...PROVIDER_FILES].sort());
    const other = { ...known, sha256: '0'.repeat(64) };
    await expect(install({ wheel: 'pip' }, other)).rejects.toThrow(/could not be fetched\n.*another size or SHA-256/);
  });

  function putPip(script: string): void {
    const path = join(root, 'bin', 'pip3');
    const head = '#!/bin/sh\nwhile [ $# -gt 0 ]; do [ "$1" = --dest ] && dest=$2; shift; done\n';
    writeFileSync(path, `${head}${script}\n`);
    chmodSync(path, 0o755);
    vi.stubEnv('PATH', `${join(root, 'bin')}:/bin:/usr/bin`);
  }

  it('fetches no wheel of another version than onnxruntime-node has', async () => {
    await expect(install({ wheel: 'pip' })).rejects.toThrow(/is 2\.3\.4, and only the wheel of/);
  });

  it("runs the npm package's own installer in a folder of its own", async () => {
    const files = JSON.stringify(Object.fromEntries(Object.entries(GOOD).map(([path, data]) => [path, [...data]])));
    const script = `
      const { join, basename } = require('node:path');
      if (process.env.ONNXRUNTIME_NODE_INSTALL !== 'true') throw new Error('failed: not asked for');
      for (const [path, bytes] of Object.entries(${files}))
        require('node:fs').writeFileSync(join(__dirname, '..', 'bin/napi-v6/linux/x64', basename(path)), Buffer.from(bytes));`;
    vi.stubEnv('ONNXRUNTIME_NODE_INSTALL', 'skip');
    put('onnxruntime-node/script/install.js', Buffer.from(script));
    expect((await install({})).code).toBe(0);
    expect(installed()).toEqual([...PROVIDER_FILES].sort());
    expect(readdirSync(join(root, 'onnxruntime-node')).sort()).toEqual(['bin', 'package.json', 'script']);
  });

  it('says what that installer said when it fails, and what else there is', async () => {
    put('onnxruntime-node/script/install.js', Buffer.from("throw new Error('Failed to download Nuget index')"));
    await expect(install({})).rejects.toThrow(/Failed to download Nuget index.*--wheel pip/);
    expect(existsSync(join(machine.folder, CUDA))).toBe(false);
  });

  it('refuses two sources, and machines that have no provider', async () => {
    await expect(install({ wheel: 'pip', from: '.' })).rejects.toThrow('give one');
    machine = { ...machine, arch: 'arm64' };
    await expect(install({})).rejects.toThrow('this is linux/arm64');
  });
});

describe('the wheel that is known', () => {
  it('is of the version of onnxruntime-node, which package.json names', () => {
    const { dependencies } = JSON.parse(readFileSync(packagePath('package.json'), 'utf8')) as {
      dependencies: Record<string, string>;
    };
    expect(PROVIDER_WHEEL.version).toBe(dependencies['onnxruntime-node']);
    expect(PROVIDER_WHEEL.url.endsWith(`/${PROVIDER_WHEEL.file}`)).toBe(true);
  });
});
