/**
 * Everything that must be known of a GPU, in one command: what CUDA lacks, on which device each node runs, whether it
 * computes what the CPU computes, and how long that takes. `--provider cpu` goes through all of it without a GPU.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { ownMachine, reportCuda } from '../../engine/cuda/cuda-report.ts';
import type { Device } from '../../engine/onnx.ts';
import { checkGpu, describeCuda } from '../../src/checks/check-cuda.ts';
import { packagePath } from '../../src/foundation/folders/paths.ts';
import { CALL_USES, callsHeld } from './gpu/calls.ts';
import { compareBatches, compareDevices, type Parity } from './gpu/parity.ts';
import { type Placement, takePlacement } from './gpu/placement.ts';
import { isQwenFolder, QwenGraphs } from './gpu/qwen-graphs.ts';
import { clipsOf, compareRecogniser, type RecogniserParity } from './gpu/recogniser.ts';
import { type Times, timeGraphs } from './gpu/timing.ts';
import { figure, type Report, type Table } from './report.ts';

/** What the command was told. */
export interface GpuOptions {
  readonly provider: 'cpu' | 'cuda';
  readonly deviceId: number;
  /** A folder of Qwen3-ASR to be measured; absent = the tiny one of the tests. */
  readonly model: string | undefined;
  /** The same weights in float32, to be compared with on the CPU. */
  readonly reference: string | undefined;
  /** A folder of WAV files for the recogniser. */
  readonly clips: string | undefined;
  readonly quick: boolean;
}

const TINY = (type: string) => packagePath('fixtures', 'models', 'qwen3-asr', type);
/** Of the encoder's greatest number. Without TF32 a GPU adds in another order, no more. */
const FLOAT_DIFFERENCE_MAX = 1e-4;
/** Weights of 10 bits alone make 1e-3. */
const HALF_DIFFERENCE_MAX = 5e-3;
/** Of float16. Random weights have tokens that are almost equally likely. */
const TOKENS_EQUAL_MIN = { tiny: 0.95, real: 0.99 };
const BATCH = { clips: [1, 3, 2, 5], paddedChunks: 16 };

interface Goal {
  readonly goal: string;
  readonly found: string;
  readonly met: boolean;
}

/** All that was found of one folder of graphs. */
interface FolderFound {
  readonly name: string;
  readonly placement: Readonly<Record<'encoder' | 'decoder', Placement>>;
  readonly parity: Parity;
  /** Of float16, the greatest difference is that of its type. */
  readonly isHalf: boolean;
  /** Whether it is a model of the tests. */
  readonly isTiny: boolean;
  readonly batches: { readonly encoder: number; readonly equalRows: number };
}

/** Runs the benchmark. The exit code is 1 when a goal is missed. @throws Error when CUDA is wanted and not there */
export async function benchGpu(options: GpuOptions): Promise<Report> {
  const { provider, deviceId, quick } = options;
  const cuda = reportCuda(ownMachine());
  if (provider === 'cuda' && cuda.problems.length > 0)
    throw new Error(`CUDA cannot be used:\n  ${cuda.problems.join('\n  ')}`);
  // Read when CUDA is loaded. TF32 would round float32 to 10 bits; float16 has no part in it.
  process.env['NVIDIA_TF32_OVERRIDE'] ??= '0';
  const device: Device = provider === 'cuda' ? { provider, deviceId } : { provider };
  const findings = [...describeCuda('cuda', cuda), ...(await checkGpu('cuda'))];
  const model = options.model === undefined ? null : resolve(options.model);
  if (model !== null && !isQwenFolder(model)) throw new Error(`${model}: expected a folder of Qwen3-ASR`);
  const folders = [await examine(TINY('float'), TINY('float'), device, quick ? 8 : 50)];
  folders.push(await examine(TINY('f16'), TINY('float'), device, quick ? 8 : 50));
  if (model !== null) folders.push(await examine(model, resolve(options.reference ?? model), device, quick ? 4 : 50));
  const chunks = quick ? [1, 2, 4] : [1, 2, 4, 8, 16, 32];
  const rows = quick ? [1, 2] : [1, 2, 4, 8, 16];
  const times = await timeGraphs(model ?? TINY('f16'), device, { chunks, rows, rounds: quick ? 2 : 10 });
  const said = await compareRecogniser('moonshine-tiny', 'moonshine-tiny', {
    provider,
    clips: clipsOf(options.clips, quick ? 4 : 20),
  });
  const goals = [...folders.flatMap((folder) => goalsOf(folder)), recogniserGoal(said)];
  if (goals.some(({ met }) => !met)) process.exitCode = 1;
  return {
    name: 'gpu',
    about: aboutOf(options, model),
    tables: [
      {
        title: 'What `trunkline doctor` says of CUDA',
        heads: ['check', 'status', 'detail'],
        rows: findings.map(({ name, status, detail }) => [name, status, detail.replaceAll(packagePath(), '.')]),
      },
      placementTable(folders),
      ...timeTables(times),
    ],
    notes: [
      'Weights of the tiny models are random: they have the graphs of the real ones, and none of their cost.',
      'Float32 is computed without TF32 (NVIDIA_TF32_OVERRIDE=0); what the product does with it is up to the driver.',
    ],
    goals,
  };
}

function aboutOf({ provider, deviceId }: GpuOptions, model: string | null): string {
  const where = provider === 'cuda' ? `CUDA device ${deviceId}` : 'the CPU: **not run on a GPU**';
  const what = model === null ? 'the tiny random models of the tests' : 'the model of `--model`';
  return (
    `Placement, parity and time of ${what} on ${where}. With \`--provider cpu\` every check is made with the CPU in ` +
    "the GPU's place: it shows that the command works, and its figures say nothing of a GPU."
  );
}

async function examine(folder: string, reference: string, device: Device, clips: number): Promise<FolderFound> {
  const [type = ''] = folder.split('/').slice(-1);
  process.stderr.write(`${type}: placement, parity\n`);
  const { graphs, placement } = await profile(folder, device);
  return {
    name: type,
    placement,
    parity: await compareDevices({ folder, device }, reference, clips),
    isHalf: graphs.shape.dtype === 'f16',
    isTiny: folder.startsWith(packagePath('fixtures')),
    batches: await compareBatches(folder, device, BATCH),
  };
}

async function profile(folder: string, device: Device) {
  const work = mkdtempSync(join(tmpdir(), 'trunkline-profile-'));
  try {
    const prefixes = { encoder: join(work, 'encoder'), decoder: join(work, 'decoder') };
    const graphs = await QwenGraphs.open(folder, device, prefixes);
    await graphs.decode(await graphs.encode([2, 1], 3), [2, 1], 4);
    await graphs.close();
    const placement = { encoder: takePlacement(prefixes.encoder), decoder: takePlacement(prefixes.decoder) };
    return { graphs, placement };
  } finally {
    rmSync(work, { recursive: true });
  }
}

function goalsOf({ name, placement, parity, isHalf, isTiny, batches }: FolderFound): Goal[] {
  const limit = isHalf ? HALF_DIFFERENCE_MAX : FLOAT_DIFFERENCE_MAX;
  const { inLoop } = placement.decoder.copies;
  const tokensMin = isHalf ? TOKENS_EQUAL_MIN[isTiny ? 'tiny' : 'real'] : 1;
  const greatest = Math.max(parity.encoder, batches.encoder);
  return [
    { goal: `${name}: no copy between devices in the loop`, found: String(inLoop), met: inLoop === 0 },
    {
      goal: `${name}: encoder as on the CPU, also padded, within ${limit} of its greatest number`,
      found: greatest.toExponential(1),
      met: greatest <= limit,
    },
    {
      goal: `${name}: ≥ ${100 * tokensMin} % of tokens as float32 has them on the CPU`,
      found: `${figure(100 * parity.tokens, 1)} %, ${parity.equalClips} of ${parity.clips} clips whole`,
      met: parity.tokens >= tokensMin,
    },
    {
      goal: `${name}: clips of a batch say what they say alone`,
      found: `${batches.equalRows} of ${BATCH.clips.length}`,
      met: batches.equalRows === BATCH.clips.length,
    },
  ];
}

function recogniserGoal({ name, clips, equalClips, deviceMs, cpuMs }: RecogniserParity): Goal {
  return {
    goal: `${name} through the engine: ≥ 95 % of clips as on the CPU`,
    found: `${equalClips} of ${clips}, in ${figure(deviceMs)} ms (CPU ${figure(cpuMs)} ms)`,
    met: clips > 0 && equalClips >= 0.95 * clips,
  };
}

function placementTable(folders: readonly FolderFound[]): Table {
  const list = (counts: Readonly<Record<string, number>>) =>
    Object.entries(counts)
      .map(([name, count]) => `${count} ${name.replace('ExecutionProvider', '')}`)
      .join(', ') || 'none';
  return {
    title: 'Where the nodes of one pass ran',
    heads: ['weights', 'graph', 'kernels', 'copies outside of loops', 'copies in loops', 'on the CPU in loops'],
    rows: folders.flatMap(({ name, placement }) =>
      (['encoder', 'decoder'] as const).map((graph) => {
        const { kernels, copies, onCpuInLoop } = placement[graph];
        const isGpu = Object.keys(kernels).some((provider) => provider.startsWith('CUDA'));
        const onCpu = isGpu ? list(onCpuInLoop) : 'all';
        return [name, graph, list(kernels), copies.outside, copies.inLoop, onCpu];
      }),
    ),
  };
}

function timeTables({ buckets, batches }: Times): Table[] {
  return [
    {
      title: 'Encoder by the length of one clip, ms',
      heads: ['chunks of 1 s', 'first run', 'median'],
      rows: buckets.map(({ chunks, firstMs, encodeMs }) => [chunks, figure(firstMs, 1), figure(encodeMs, 1)]),
    },
    {
      title: 'Clips of 4 s in one run, ms',
      heads: ['clips', 'encoder', 'prompt and first token', 'each further token', 'pass with 8 tokens, for each clip'],
      rows: batches.map(({ rows, encodeMs, promptMs, tokenMs }) => [
        rows,
        figure(encodeMs, 1),
        figure(promptMs, 1),
        figure(tokenMs, 2),
        figure((encodeMs + promptMs + 7 * tokenMs) / rows, 1),
      ]),
    },
    {
      title: 'Live calls by what they ask for and how many share a run',
      heads: ['a call with', 'passes in a second', 'tokens of a pass', ...batches.map(({ rows }) => `${rows} share`)],
      rows: CALL_USES.map((use) => [
        use.name,
        use.passesPerSecond,
        use.newTokens,
        ...batches.map((batch) => callsHeld(batch, use)),
      ]),
    },
  ];
}
