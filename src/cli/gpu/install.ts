/** `trunkline gpu install`: gets onnxruntime's CUDA provider and says what is missing beside it. */
import { join, resolve } from 'node:path';
import { type CudaMachine, type CudaReport, ownMachine, reportCuda } from '../../../engine/cuda/cuda-report.ts';
import { systemClock } from '../../foundation/clock.ts';
import { formatBytes } from '../../foundation/format-bytes.ts';
import type { Package } from '../../models/catalog-model.ts';
import { EXIT_INTERRUPTED, EXIT_OK } from '../exit-codes.ts';
import { Interruption } from '../interruption.ts';
import { Progress } from '../models/progress.ts';
import type { Terminal } from '../terminal.ts';
import { type InstalledProvider, installProvider, versionIn } from './provider-files.ts';
import { PROVIDER_WHEEL, withNpmFiles, withWheel } from './provider-sources.ts';

/** Where the provider is to come from; neither = the npm package's own installer. */
export interface GpuInstallOptions {
  /** A wheel of onnxruntime-gpu, or `pip`. */
  readonly wheel?: string;
  /** A file or folder that has the provider's files. */
  readonly from?: string;
}

/** Where the command runs; tests have a machine and a wheel of their own. */
export interface GpuInstallContext {
  readonly terminal: Terminal;
  readonly machine?: CudaMachine;
  readonly wheel?: Package;
  readonly allowPrivate?: boolean;
}

const LICENCES =
  "ONNX Runtime's CUDA provider: MIT, Copyright (c) Microsoft Corporation. CUDA and cuDNN, which it needs, come from " +
  "NVIDIA under NVIDIA's terms; this command does not install them.";

/**
 * Installs the provider. Returns the exit code.
 * @throws Error that says what is wrong and what helps
 */
export async function installGpu(options: GpuInstallOptions, context: GpuInstallContext): Promise<number> {
  const { terminal, machine = ownMachine() } = context;
  const { platform, arch, folder } = machine;
  if (options.wheel !== undefined && options.from !== undefined) throw new Error('--wheel and --from: give one');
  if (platform !== 'linux' || arch !== 'x64')
    throw new Error(`CUDA needs linux/x64 and this is ${platform}/${arch}: there is nothing to install`);
  terminal.err.line(LICENCES);
  const version = await versionIn(rootOf(folder));
  const take = (from: string) => installProvider(from, { folder, version });
  const abort = new AbortController();
  const interruption = new Interruption(() => abort.abort(new Error('interrupted')));
  try {
    const { major, bytes } = await obtain(options, context, { folder, version, signal: abort.signal, take });
    terminal.out.line(`Installed version ${version} for CUDA ${major} (${formatBytes(bytes)}) in ${folder}`);
    describeRest(reportCuda(machine), terminal);
    return EXIT_OK;
  } catch (error) {
    if (!interruption.came) throw error;
    return EXIT_INTERRUPTED;
  } finally {
    interruption.ignore();
  }
}

interface Obtaining {
  readonly folder: string;
  readonly version: string;
  readonly signal: AbortSignal;
  take(from: string): Promise<InstalledProvider>;
}

async function obtain(
  { wheel, from }: GpuInstallOptions,
  { terminal, wheel: known = PROVIDER_WHEEL, allowPrivate = false }: GpuInstallContext,
  { folder, version, signal, take }: Obtaining,
): Promise<InstalledProvider> {
  const path = from ?? (wheel === 'pip' ? undefined : wheel);
  if (path !== undefined) return take(resolve(path));
  if (wheel === undefined) return withNpmFiles(rootOf(folder), take);
  if (known.version !== version)
    throw new Error(
      `onnxruntime-node is ${version}, and only the wheel of ${known.version} is known here: get it by ` +
        `\`pip download --no-deps onnxruntime-gpu==${version}\` and give it by --wheel`,
    );
  const progress = new Progress(terminal.err, systemClock);
  try {
    const onTry = (what: string) => progress.begin(`${known.file} by ${what}`, known.bytes);
    return await withWheel(known, { clock: systemClock, signal, allowPrivate, onTry, onBytes: progress.add }, take);
  } finally {
    progress.end();
  }
}

/** The npm package that has the folder `bin/napi-v6/<platform>/<arch>`. */
function rootOf(folder: string): string {
  return join(folder, '..', '..', '..', '..');
}

function describeRest({ problems }: CudaReport, { out }: Terminal): void {
  if (problems.length === 0)
    out.line('Nothing is missing: EXECUTION_PROVIDER=cuda uses it, npm run bench -- gpu tries it');
  for (const problem of problems) out.line(`Still to be done: ${problem}`);
}
