/**
 * Peers that are no dependency of ours, installed by their own package managers into a folder under the system's
 * temporary one. An install that is complete is used again.
 */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const OUTPUT_MAX_BYTES = 16 * 2 ** 20;
const INSTALL_TIMEOUT_MS = 300_000;

/** Versions that the figures are of. onnxruntime is the one that this engine has. */
export const PEER_VERSIONS = { transformersJs: '4.3.1', moonshineOnnx: '20251121', onnxruntime: '1.30.0' } as const;

/** Something installed, or why it could not be. */
export type Install = { readonly folder: string } | { readonly missing: string };

/** `@huggingface/transformers` by npm, without install scripts: what it needs for the CPU comes with the packages. */
export function installTransformersJs(): Promise<Install> {
  const version = PEER_VERSIONS.transformersJs;
  return install(`transformers-js-${version}`, async (folder) => {
    await writeFile(join(folder, 'package.json'), JSON.stringify({ private: true }));
    await command(
      'npm',
      ['install', '--ignore-scripts', '--no-audit', '--no-fund', `@huggingface/transformers@${version}`],
      folder,
    );
  });
}

/** `useful-moonshine-onnx` by pip in a virtual environment; `bin/python` in the folder has it. */
export function installMoonshineOnnx(): Promise<Install> {
  const { moonshineOnnx, onnxruntime } = PEER_VERSIONS;
  return install(`moonshine-onnx-${moonshineOnnx}`, async (folder) => {
    await command('python3', ['-m', 'venv', '.'], folder);
    const packages = [`useful-moonshine-onnx==${moonshineOnnx}`, `onnxruntime==${onnxruntime}`];
    await command(join(folder, 'bin', 'python'), ['-m', 'pip', 'install', '--quiet', ...packages], folder);
  });
}

async function install(name: string, make: (folder: string) => Promise<void>): Promise<Install> {
  const folder = join(tmpdir(), `trunkline-bench-${name}`);
  const complete = join(folder, 'complete');
  if (existsSync(complete)) return { folder };
  process.stderr.write(`installing ${name} into ${folder}\n`);
  try {
    await rm(folder, { recursive: true, force: true });
    await mkdir(folder, { recursive: true });
    await make(folder);
    await writeFile(complete, '');
    return { folder };
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    return { missing: `not installed: ${lastLine(error)}` };
  }
}

async function command(program: string, parameters: readonly string[], cwd: string): Promise<void> {
  await run(program, [...parameters], { cwd, timeout: INSTALL_TIMEOUT_MS, maxBuffer: OUTPUT_MAX_BYTES });
}

function lastLine(error: unknown): string {
  const { stderr, message } = error as { stderr?: string; message?: string };
  const lines = (stderr || message || String(error)).trim().split('\n');
  return lines.findLast((line) => /error/i.test(line)) ?? lines.at(-1) ?? 'no reason given';
}
