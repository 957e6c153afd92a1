/**
 * The thread of Kokoro's network. A run takes as long as its speech, during which the engine's own thread goes on with
 * work for calls. The thread is the last to be given a core.
 */
import { readFileSync } from 'node:fs';
import { setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import { openSession, tensorOf } from '../../onnx.ts';
import { type InferenceSession, Tensor } from '../../onnxruntime.ts';
import { systemTime } from '../../time.ts';
import type { KokoroAnswer, KokoroRun } from './kokoro-process.ts';

const LOWEST_PRIORITY = 19;
/** Of `/proc/thread-self/stat`. */
const TICKS_PER_SECOND = 100;
const USER_TICKS_AT = 11;

lowerPriority();
const session = openSession(workerData as string, { device: { provider: 'cpu' }, threads: 1 });
// It is awaited with the first run, and reported there.
session.catch(() => undefined);
let last: Promise<void> = Promise.resolve();
parentPort?.on('message', (run: KokoroRun) => {
  last = last.then(() => answer(run));
});

/** Linux has a priority for each thread; where it is that of the process, or may not be changed, it stays. */
function lowerPriority(): void {
  if (process.platform === 'linux') setPriority(LOWEST_PRIORITY);
}

async function answer(run: KokoroRun): Promise<void> {
  const { id } = run;
  try {
    const network = await session;
    const fromMs = spentMs();
    const samples = await synthesize(network, run);
    const message: KokoroAnswer = { id, samples, spentMs: spentMs() - fromMs };
    parentPort?.postMessage(message, [samples.buffer as ArrayBuffer]);
  } catch (error) {
    parentPort?.postMessage({ id, error: error instanceof Error ? error.message : String(error) });
  }
}

/** Exports call their tensors by two sets of names. */
async function synthesize(network: InferenceSession, { ids, style, speed }: KokoroRun): Promise<Float32Array> {
  const tokens = network.inputNames.includes('tokens') ? 'tokens' : 'input_ids';
  const outputs = await network.run({
    [tokens]: new Tensor('int64', BigInt64Array.from(ids, BigInt), [1, ids.length]),
    style: new Tensor('float32', style, [1, style.length]),
    speed: new Tensor('float32', Float32Array.of(speed), [1]),
  });
  const { data } = tensorOf(outputs, network.outputNames[0] ?? '');
  if (data instanceof Float32Array) return data.slice();
  throw new Error('the sound of the model is not float32');
}

/** Processor time of this thread; where the system does not say it, time of the clock. */
function spentMs(): number {
  try {
    const fields = readFileSync('/proc/thread-self/stat', 'utf8')
      .replace(/^.*\) /, '')
      .split(' ');
    const [user, system] = fields.slice(USER_TICKS_AT, USER_TICKS_AT + 2).map(Number);
    return (((user ?? 0) + (system ?? 0)) * 1000) / TICKS_PER_SECOND;
  } catch {
    return systemTime.nowMs();
  }
}
