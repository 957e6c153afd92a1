/** How long the runs of the two graphs take, by the size of what they are given. */
import { chunksToRun } from '../../../engine/models/buckets.ts';
import type { Device } from '../../../engine/onnx.ts';
import { quantile } from '../report.ts';
import { QwenGraphs } from './qwen-graphs.ts';

/** Seconds of each clip in a batch; tokens that are generated for each. */
const BATCH_CLIP_S = 4;
const TOKENS_FEW = 1;
const TOKENS_MANY = 33;
/** The greatest part of a batch's first convolution must fit into the device's memory. */
const CHUNKS_MAX = 128;

/** One clip of so many seconds. */
export interface BucketTime {
  readonly chunks: number;
  /** The first run of this size, and the median of those behind it. */
  readonly firstMs: number;
  readonly encodeMs: number;
}

/** So many clips of 4 s in one run. */
export interface BatchTime {
  readonly rows: number;
  readonly encodeMs: number;
  /** The prompt with its audio, and the first token. */
  readonly promptMs: number;
  /** Each token behind the first, for all rows together. */
  readonly tokenMs: number;
}

/** All that was timed. */
export interface Times {
  readonly buckets: readonly BucketTime[];
  readonly batches: readonly BatchTime[];
}

/** What is timed. */
export interface TimingOptions {
  readonly chunks: readonly number[];
  readonly rows: readonly number[];
  readonly rounds: number;
}

/** Times the graphs of `folder`. */
export async function timeGraphs(folder: string, device: Device, options: TimingOptions): Promise<Times> {
  const graphs = await QwenGraphs.open(folder, device);
  try {
    const buckets: BucketTime[] = [];
    for (const chunks of options.chunks) buckets.push(await timeBucket(graphs, device, chunks, options.rounds));
    const batches: BatchTime[] = [];
    for (const rows of options.rows) {
      if (rows * BATCH_CLIP_S > CHUNKS_MAX) continue;
      batches.push(await timeBatch(graphs, device, rows, options.rounds));
    }
    return { buckets, batches };
  } finally {
    await graphs.close();
  }
}

async function timeBucket(graphs: QwenGraphs, device: Device, chunks: number, rounds: number): Promise<BucketTime> {
  const run = () => graphs.encode([chunks], chunksToRun(chunks, device.provider));
  const firstMs = await msOf(run);
  return { chunks, firstMs, encodeMs: await medianMs(run, rounds) };
}

async function timeBatch(graphs: QwenGraphs, device: Device, rows: number, rounds: number): Promise<BatchTime> {
  const clips = new Array<number>(rows).fill(BATCH_CLIP_S);
  const encode = () => graphs.encode(clips, chunksToRun(rows * BATCH_CLIP_S, device.provider));
  const features = await encode();
  const encodeMs = await medianMs(encode, rounds);
  const promptMs = await medianMs(() => graphs.decode(features, clips, TOKENS_FEW), rounds);
  const longMs = await medianMs(() => graphs.decode(features, clips, TOKENS_MANY), rounds);
  return { rows, encodeMs, promptMs, tokenMs: Math.max(0, longMs - promptMs) / (TOKENS_MANY - TOKENS_FEW) };
}

/** The first run of a shape prepares what the others use. */
async function medianMs(run: () => Promise<unknown>, rounds: number): Promise<number> {
  await run();
  const times: number[] = [];
  for (let round = 0; round < rounds; round++) times.push(await msOf(run));
  return quantile(times, 0.5);
}

async function msOf(run: () => Promise<unknown>): Promise<number> {
  const startMs = performance.now();
  await run();
  return performance.now() - startMs;
}
