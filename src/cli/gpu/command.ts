/** The `trunkline gpu` commands: what they take. Their code is loaded when one is run. */
import type { Command } from 'commander';
import type { Terminal } from '../terminal.ts';
import type { GpuInstallOptions } from './install.ts';

const NOTES = `
Without an option the installer of the npm package onnxruntime-node is run, which
asks NuGet: a provider for CUDA 12. The wheel of the Python index is for CUDA 13.
What is given must have the version of onnxruntime-node. "trunkline doctor" says
what is missing beside it.

Examples:
  $ trunkline gpu install
  $ trunkline gpu install --wheel pip
  $ trunkline gpu install --wheel onnxruntime_gpu-1.30.0-cp312-….whl
  $ trunkline gpu install --from onnxruntime-linux-x64-gpu-1.30.0.tgz`;

/** Adds the commands to `program`; `done` gets the exit code. */
export function describeGpu(program: Command, terminal: Terminal, done: (exitCode: number) => void): void {
  const gpu = program.command('gpu').description('what a GPU needs: install');
  gpu
    .command('install')
    .description("get onnxruntime's CUDA provider (Linux on x64)")
    .option('--wheel <file>', 'from a wheel of onnxruntime-gpu; pip = fetch it by pip or uv')
    .option('--from <path>', 'from a folder with the files, or an archive of them')
    .addHelpText('after', NOTES)
    .action(async (options: GpuInstallOptions) => {
      const { installGpu } = await import('./install.ts');
      done(await installGpu(options, { terminal }));
    });
}
