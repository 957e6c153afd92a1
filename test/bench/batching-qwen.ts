/** Readings that share runs of real graphs: Qwen3-ASR with tiny random weights on the CPU, through the scheduler. */
import { join } from 'node:path';
import { ENGINE_RATE_HZ } from '../../engine/contract.ts';
import type { Recognition } from '../../engine/models/model.ts';
import { LoopDecoder } from '../../engine/models/qwen3-asr/decoder.ts';
import { QwenEncoder } from '../../engine/models/qwen3-asr/encoder.ts';
import { readQwenFolder } from '../../engine/models/qwen3-asr/folder.ts';
import { Qwen3Asr } from '../../engine/models/qwen3-asr/qwen3-asr.ts';
import { openSession } from '../../engine/onnx.ts';
import { Scheduler } from '../../engine/scheduler.ts';
import { systemTime } from '../../engine/time.ts';
import { speechLikeNoise } from '../../engine/warm-up.ts';
import { packagePath } from '../../src/foundation/folders/paths.ts';
import { figure, type Table } from './report.ts';

const FOLDER = packagePath('fixtures', 'models', 'qwen3-asr', 'float');
const READINGS = 32;
const RUN_TOKENS = 32;
const BATCHES = [1, 4, 16];
/** Of speech, by turns. */
const SECONDS = [2, 3, 4, 5];

/** What the readings cost by the rows of a run, and whether they say what those that were alone say. */
export async function measureQwenBatches(rounds: number): Promise<Table> {
  const found = new Map<number, { readonly cpuMs: number; readonly texts: readonly string[] }>();
  const models = await Promise.all(BATCHES.map(openWith));
  const stretches = makeStretches();
  for (const asr of models) await readAll(asr, stretches);
  for (let round = 0; round < rounds; round++) {
    for (const asr of models) {
      const read = await readAll(asr, stretches);
      const before = found.get(asr.batchMax);
      if (before === undefined || read.cpuMs < before.cpuMs) found.set(asr.batchMax, read);
    }
  }
  const alone = found.get(1);
  return {
    title: `Tiny Qwen3-ASR on one thread of the CPU, ${READINGS} readings that come together`,
    heads: ['rows at most', 'CPU ms of a reading', 'times as many', 'texts as alone'],
    rows: [...found].map(([batchMax, { cpuMs, texts }]) => [
      batchMax,
      figure(cpuMs, 1),
      figure((alone?.cpuMs ?? Number.NaN) / cpuMs, 2),
      `${texts.filter((text, index) => text === alone?.texts[index]).length} of ${texts.length}`,
    ]),
  };
}

/** As on a GPU: nothing is kept from run to run, so that rows can share it. */
async function openWith(batchMax: number): Promise<Qwen3Asr> {
  const { config, tokenizer, prompts } = readQwenFolder(FOLDER);
  const session = { device: { provider: 'cpu' }, threads: 1 } as const;
  const encoder = await openSession(join(FOLDER, 'encoder.onnx'), session);
  const decoder = await openSession(join(FOLDER, 'decoder_loop.onnx'), session);
  return new Qwen3Asr({
    name: 'tiny',
    provider: 'cpu',
    batchMax,
    config,
    tokenizer,
    prompts,
    encoder: new QwenEncoder(encoder, config, { isWindowed: false, isRounded: true, batchMax }),
    decoder: new LoopDecoder(decoder, config, { runTokens: RUN_TOKENS, keepsPast: false, batchMax }),
    aligner: null,
    languages: ['en'],
  });
}

/** Each another one. */
function makeStretches(): Int16Array[] {
  const noise = speechLikeNoise((Math.max(...SECONDS) + READINGS) * ENGINE_RATE_HZ);
  return Array.from({ length: READINGS }, (_, id) =>
    noise.subarray(id * ENGINE_RATE_HZ, (id + (SECONDS[id % SECONDS.length] ?? 1)) * ENGINE_RATE_HZ),
  );
}

async function readAll(
  asr: Qwen3Asr,
  stretches: readonly Int16Array[],
): Promise<{ readonly cpuMs: number; readonly texts: readonly string[] }> {
  const texts = new Map<number, string>();
  const answers = {
    done: (id: number, { text }: Recognition): void => void texts.set(id, text),
    failed: (id: number, _code: string, message: string): void => void texts.set(id, `failed: ${message}`),
  };
  const scheduler = new Scheduler<Recognition>({ time: systemTime, answers });
  const begun = process.cpuUsage();
  for (const [id, samples] of stretches.entries())
    scheduler.submit({ id, kind: 'transcribe', urgency: 'final', dueInMs: 60_000, steps: asr.transcribe(samples, []) });
  await scheduler.idle();
  const { user, system } = process.cpuUsage(begun);
  const inOrder = stretches.map((_, id) => texts.get(id) ?? '');
  return { cpuMs: (user + system) / 1000 / READINGS, texts: inOrder };
}
