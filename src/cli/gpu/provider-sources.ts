/** Where onnxruntime's CUDA provider comes from: the npm package's own installer, or a wheel by pip. */
import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { childEnvironment } from '../../foundation/settings/config.ts';
import type { Package } from '../../models/catalog-model.ts';
import { FetchFailed, type FetchOptions, fetchPackage } from '../../models/packages.ts';

/**
 * The wheel of the version that package.json names, for CUDA 13; the libraries in it are the same for each Python. Its
 * SHA-256 is that of the Python Package Index.
 */
export const PROVIDER_WHEEL: Package = {
  kind: 'pip',
  name: 'onnxruntime-gpu',
  version: '1.30.0',
  file: 'onnxruntime_gpu-1.30.0-cp312-cp312-manylinux_2_28_x86_64.whl',
  url:
    'https://files.pythonhosted.org/packages/9e/80/d96143329dbe925d434b016c890a5caa785fac8e14a1570e5d6818b63545/' +
    'onnxruntime_gpu-1.30.0-cp312-cp312-manylinux_2_28_x86_64.whl',
  bytes: 246_685_715,
  sha256: '6acc0f4b3d5ac5f2984432faa59dd8fcce6775f8b43a7140afa0f322c7a703b1',
};

const run = promisify(execFile);
const TIMEOUT_MS = 30 * 60_000;
const OUTPUT_MAX_BYTES = 4_000_000;
/** Lines of a program that failed, of which the first says why. */
const LINES_SHOWN = 3;

/**
 * Runs the installer of the npm package in `root`, which downloads from NuGet, in a folder of its own: it writes to its
 * place bit by bit. `use` is given the folder, which is removed afterwards.
 *
 * The variable must be `true`: by 1.30 the installer takes `cuda12`, which its text names, for no wish at all, and then
 * does nothing where npm runs it.
 * @throws Error that says why it failed; errors of `use`
 */
export async function withNpmFiles<T>(root: string, use: (folder: string) => Promise<T>): Promise<T> {
  const work = await mkdtemp(join(root, '.gpu-'));
  try {
    await cp(join(root, 'script'), join(work, 'script'), { recursive: true });
    const bin = join(work, 'bin', 'napi-v6', process.platform, process.arch);
    await mkdir(bin, { recursive: true });
    await runInstaller(join(work, 'script', 'install.js'));
    if ((await readdir(bin)).length === 0) throw new Error("onnxruntime-node's installer has nothing for this machine");
    return await use(bin);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

async function runInstaller(script: string): Promise<void> {
  try {
    await run(process.execPath, [script], {
      env: { ...childEnvironment({}), ONNXRUNTIME_NODE_INSTALL: 'true' },
      timeout: TIMEOUT_MS,
      maxBuffer: OUTPUT_MAX_BYTES,
    });
  } catch (error) {
    const { stderr = '' } = error as { stderr?: string };
    const lines = stderr.split('\n').map((line) => line.trim());
    const reason = lines.filter((line) => /error|failed/i.test(line)).slice(0, LINES_SHOWN);
    throw new Error(
      `onnxruntime-node's own installer, which asks NuGet, failed: ${reason.join(' ') || String(error)}; ` +
        '`npm run gpu:install -- --wheel pip` asks the Python index',
    );
  }
}

/**
 * Fetches {@link PROVIDER_WHEEL}; `use` is given the path of the wheel, which is removed afterwards.
 * @throws Error that has a line for each source that was tried; errors of `use`
 */
export async function withWheel<T>(
  wheel: Package,
  options: FetchOptions,
  use: (path: string) => Promise<T>,
): Promise<T> {
  const work = await mkdtemp(join(tmpdir(), 'trunkline-gpu-'));
  try {
    return await use(await fetchPackage(wheel, work, options));
  } catch (error) {
    throw error instanceof FetchFailed ? new Error([error.message, ...error.reasons].join('\n  ')) : error;
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}
