/**
 * Sessions of onnxruntime-node: which provider they run on, with which options, and what to say when that cannot work.
 */
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { InferenceSession, Tensor } from './onnxruntime.ts';
import { Refusal } from './refusal.ts';

/** How to get what the CUDA provider is missing. */
const CUDA_REMEDY = 'run `npm run gpu:install`, or set EXECUTION_PROVIDER=cpu';

/** Libraries of the CUDA provider that the npm package does not bring along. */
const CUDA_LIBRARIES = ['libonnxruntime_providers_shared.so', 'libonnxruntime_providers_cuda.so'];

/** Where a session runs. */
export type Device = { readonly provider: 'cpu' } | { readonly provider: 'cuda'; readonly deviceId: number };

/** How a session runs. */
export interface SessionOptions {
  readonly device: Device;
  /** Intra-op threads. */
  readonly threads: number;
  /** Session configuration keys, see onnxruntime_session_options_config_keys.h. */
  readonly config?: Readonly<Record<string, string>>;
}

/**
 * Opens a model file. One run at a time is made, so operators are never run beside one another. Memory goes back to the
 * system after each run: what the longest stretch needed would else stay with the process (38 MB after a minute of use)
 * and saves no time.
 * @throws Refusal `model_missing` or `cuda_missing`; Error that names the file when onnxruntime cannot read it.
 */
export async function openSession(file: string, options: SessionOptions): Promise<InferenceSession> {
  if (!existsSync(file)) throw new Refusal('model_missing', `model file ${file} is missing: run \`npm ci\` again`);
  const { device } = options;
  try {
    return await InferenceSession.create(file, creationOf(options));
  } catch (error) {
    if (device.provider === 'cpu') throw new Error(`${file}: ${reasonOf(error)}`);
    throw new Refusal(
      'cuda_missing',
      `CUDA device ${device.deviceId} cannot be used: ${reasonOf(error)}; ${CUDA_REMEDY}`,
    );
  }
}

/**
 * Opens a graph made here, on the CPU, whose large constants lie in files in `folder`. They are mapped into memory, not
 * read.
 * @throws whatever onnxruntime throws for a graph that it cannot run.
 */
export function openGraph(bytes: Uint8Array, folder: string, options: SessionOptions): Promise<InferenceSession> {
  const config = { ...options.config, model_external_initializers_file_folder_path: folder };
  return InferenceSession.create(bytes, creationOf({ ...options, device: { provider: 'cpu' }, config }));
}

function creationOf({ device, threads, config }: SessionOptions): InferenceSession.SessionOptions {
  const cuda = device.provider === 'cuda' ? [{ name: 'cuda', deviceId: device.deviceId }] : [];
  return {
    executionProviders: [...cuda, 'cpu'],
    intraOpNumThreads: threads,
    interOpNumThreads: 1,
    graphOptimizationLevel: 'all',
    enableMemPattern: false,
    enableCpuMemArena: false,
    extra: { session: { ...config } },
  };
}

/** What the CUDA provider lacks on a machine, in words with the remedy; null = its files are there. */
export function findCudaProblem(machine: { platform: string; arch: string; folder: string }): string | null {
  const { platform, arch, folder } = machine;
  if (platform !== 'linux' || arch !== 'x64') {
    return `CUDA needs linux/x64 and this is ${platform}/${arch}; set EXECUTION_PROVIDER=cpu`;
  }
  const missing = CUDA_LIBRARIES.filter((name) => !existsSync(join(folder, name)));
  return missing.length === 0
    ? null
    : `CUDA cannot be used: ${missing.join(' and ')} missing in ${folder}; ${CUDA_REMEDY}`;
}

/**
 * @throws Refusal `cuda_missing` when this machine lacks the files of the CUDA provider; onnxruntime looks for them
 * beside its own.
 */
export function requireCuda(): void {
  const { platform, arch } = process;
  const packageRoot = dirname(dirname(createRequire(import.meta.url).resolve('onnxruntime-node')));
  const problem = findCudaProblem({ platform, arch, folder: join(packageRoot, 'bin', 'napi-v6', platform, arch) });
  if (problem !== null) throw new Refusal('cuda_missing', problem);
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** An output of a run. @throws Error when the model has no such tensor. */
export function tensorOf(outputs: InferenceSession.OnnxValueMapType, name: string): Tensor {
  const value = outputs[name];
  if (value instanceof Tensor) return value;
  throw new Error(`the model gave no tensor ${name}`);
}

/** The numbers of a float32 output, in place. @throws Error when the model has no such output. */
export function floatsOf(outputs: InferenceSession.OnnxValueMapType, name: string): Float32Array {
  const { data } = tensorOf(outputs, name);
  if (data instanceof Float32Array) return data;
  throw new Error(`the model's ${name} is not float32`);
}
