/** What `trunkline doctor` says of CUDA: the provider, NVIDIA's libraries, the driver and the GPU. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { CudaReport } from '../../engine/cuda/cuda-report.ts';
import type { Finding } from '../foundation/finding.ts';
import type { Settings } from '../foundation/settings/settings.ts';

type Provider = Settings['EXECUTION_PROVIDER'];

const run = promisify(execFile);
const SMI_TIMEOUT_MS = 20_000;
const SMI_QUERY = ['--query-gpu=index,name,driver_version,memory.total,memory.used', '--format=csv,noheader'];
/** As many as CUDA_DEVICE can name. */
const GPUS_MAX = 64;

const NOT_WANTED = 'not used (EXECUTION_PROVIDER=cpu); with cuda, this line says what is missing for a GPU';

/** One finding for each thing that CUDA lacks. It is a problem only for those who want CUDA. */
export function describeCuda(provider: Provider, { problems, major, libraries, driver }: CudaReport): Finding[] {
  const name = 'cuda';
  if (problems.length > 0 && provider !== 'cpu')
    return problems.map((detail) => ({ name, status: provider === 'cuda' ? 'fail' : 'warn', detail }));
  if (problems.length > 0) return [{ name, status: 'ok', detail: NOT_WANTED }];
  const found = Object.values(libraries).filter((path) => path !== null);
  const kernel = driver === null ? '' : `; driver ${driver}`;
  return [{ name, status: 'ok', detail: `the provider is installed, for CUDA ${major}: ${found.join(', ')}${kernel}` }];
}

/** The GPUs that nvidia-smi(1) lists; nothing without it, or where no GPU is wanted. */
export async function checkGpu(provider: Provider, program = 'nvidia-smi'): Promise<Finding[]> {
  if (provider === 'cpu') return [];
  try {
    const { stdout } = await run(program, SMI_QUERY, { timeout: SMI_TIMEOUT_MS });
    const lines = stdout.trim().split('\n').slice(0, GPUS_MAX);
    return lines.map((line) => ({ name: 'gpu', status: 'ok', detail: line.replace(/[^ -~]/g, '') }));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    const [reason = ''] = (error instanceof Error ? error.message : String(error)).split('\n');
    return [{ name: 'gpu', status: 'warn', detail: `${program} fails: ${reason}` }];
  }
}
