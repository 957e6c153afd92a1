/**
 * Sessions of onnxruntime-node: which provider they run on, with which options, and what to say when that cannot work.
 */
import { existsSync } from 'node:fs';
import { type CudaMachine, ownMachine, reportCuda } from './cuda/cuda-report.ts';
import { InferenceSession, Tensor } from './onnxruntime.ts';
import { Refusal } from './refusal.ts';

/** What always helps where CUDA does not work. */
const CPU_REMEDY = 'or set EXECUTION_PROVIDER=cpu';

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
      `CUDA device ${device.deviceId} cannot be used: ${cudaReasonOf(error)}; see \`trunkline doctor\`, ${CPU_REMEDY}`,
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

/**
 * What onnxruntime is told. Of CUDA it takes nothing but the device's number: its arena doubles as it grows, so weights
 * are kept out of it. Outputs are always fetched to the CPU: onnxruntime-node has no other place for them but WebGPU's.
 */
export function creationOf({ device, threads, config }: SessionOptions): InferenceSession.SessionOptions {
  const cuda = device.provider === 'cuda' ? [{ name: 'cuda', deviceId: device.deviceId }] : [];
  const memory = device.provider === 'cuda' ? { use_device_allocator_for_initializers: '1' } : {};
  return {
    executionProviders: [...cuda, 'cpu'],
    intraOpNumThreads: threads,
    interOpNumThreads: 1,
    graphOptimizationLevel: 'all',
    enableMemPattern: false,
    enableCpuMemArena: false,
    extra: { session: { ...memory, ...config } },
  };
}

/** What CUDA lacks on a machine, in words with the remedies; null = nothing that can be known without using it. */
export function findCudaProblem(machine: CudaMachine): string | null {
  const { problems } = reportCuda(machine);
  return problems.length === 0 ? null : `CUDA cannot be used: ${problems.join('; ')}; ${CPU_REMEDY}`;
}

/** @throws Refusal `cuda_missing` when this machine lacks something of CUDA */
export function requireCuda(): void {
  const problem = findCudaProblem(ownMachine());
  if (problem !== null) throw new Refusal('cuda_missing', problem);
}

/** What CUDA said itself; around it are the files of onnxruntime's build and this machine's name. */
const CUDA_FAILURE = /(?:CUDA|CUDNN|CUBLAS) failure \d+: [^;]*[^;\s]/;

function cudaReasonOf(error: unknown): string {
  const reason = reasonOf(error);
  return CUDA_FAILURE.exec(reason)?.[0] ?? reason;
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
