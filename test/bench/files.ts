/** How fast recordings are transcribed on one core, what memory that takes, and whether cutting and joining costs words. */
import { type GatewayProcess, startGateway, usageOf } from '../helpers/gateway.ts';
import { LINE_RATE_HZ } from '../helpers/signals.ts';
import { loadPrompts, type Prompt } from './prompts.ts';
import { peakRssOf, recordingOf, sendRecording } from './recordings.ts';
import { figure, type Report } from './report.ts';
import { countEdits, type Edits, sumEdits, wordErrorRate } from './wer/align.ts';
import { normaliseWords } from './wer/normalise.ts';
import { decodeWhole } from './whole.ts';

/** Longer prompts are left out: the recogniser cannot take them whole, so there is nothing to compare with. */
const PROMPT_MAX_SECONDS = 20;
const JOIN_LOSS_MAX = 0.5;

interface Timing {
  readonly seconds: number;
  readonly wallSeconds: number;
  readonly cpuSeconds: number;
  readonly gatewayPeakMb: number;
  readonly enginePeakMb: number;
}

/** Runs the benchmark on recordings of `lengths` seconds, and the joining on one of `joinSeconds`. */
export async function benchFiles(options: { readonly lengths: readonly number[]; readonly joinSeconds: number }): Promise<Report> {
  const prompts = loadPrompts().filter((prompt) => prompt.samples.length <= PROMPT_MAX_SECONDS * LINE_RATE_HZ);
  const timings: Timing[] = [];
  for (const seconds of options.lengths) timings.push(await time(recordingOf(prompts, seconds).samples));
  return report(timings, await measureJoining(prompts, options.joinSeconds), options.joinSeconds);
}

/** A gateway of its own for each recording, so that none inherits another's memory. */
async function time(samples: Int16Array): Promise<Timing> {
  const gateway = await startGateway({ ENGINE_WORKERS: '1' });
  await sendRecording(gateway.url, samples.subarray(0, 3 * LINE_RATE_HZ));
  const cpuBefore = cpuOf(gateway);
  const startedMs = performance.now();
  await sendRecording(gateway.url, samples);
  const wallSeconds = (performance.now() - startedMs) / 1000;
  const timing = {
    seconds: samples.length / LINE_RATE_HZ,
    wallSeconds,
    cpuSeconds: cpuOf(gateway) - cpuBefore,
    gatewayPeakMb: peakRssOf(gateway.pid) / 1e6,
    enginePeakMb: Math.max(...gateway.enginePids().map(peakRssOf)) / 1e6,
  };
  await gateway.stop();
  process.stderr.write(`${figure(timing.seconds)} s in ${figure(wallSeconds, 1)} s\n`);
  return timing;
}

function cpuOf(gateway: GatewayProcess): number {
  return [gateway.pid, ...gateway.enginePids()].reduce((sum, pid) => sum + usageOf(pid).cpuSeconds, 0);
}

interface Joining {
  readonly joined: Edits;
  readonly whole: Edits;
}

/** The same prompts in one recording, and each by itself. */
async function measureJoining(prompts: readonly Prompt[], seconds: number): Promise<Joining> {
  const { samples, words } = recordingOf(prompts, seconds);
  const gateway = await startGateway();
  const joined = countEdits(words, normaliseWords(await sendRecording(gateway.url, samples)));
  await gateway.stop();
  const used: Prompt[] = [];
  for (let count = 0; count < words.length; count += used.at(-1)?.words.length ?? words.length) {
    const next = prompts[used.length % prompts.length];
    if (next === undefined) break;
    used.push(next);
  }
  const texts = await decodeWhole(used.map((prompt) => prompt.samples));
  return { joined, whole: sumEdits(used.map((prompt, index) => countEdits(prompt.words, normaliseWords(texts[index] ?? '')))) };
}

function report(timings: readonly Timing[], { joined, whole }: Joining, joinSeconds: number): Report {
  const loss = wordErrorRate(joined) - wordErrorRate(whole);
  return {
    name: 'files',
    about:
      'Recordings made of human prompts (Debian asterisk-core-sounds-en-wav, 8 kHz) with pauses between them, sent to POST /v1/audio/transcriptions of an idle ' +
      'gateway with one engine of one thread. Processor time is that of gateway and engine together, decoding and voice detection included.',
    tables: [
      {
        title: 'Speed and memory',
        heads: ['recording, s', 'wall, s', '× real time', '× real time per core', 'gateway peak RSS, MB', 'engine peak RSS, MB'],
        rows: timings.map((timing) => [
          figure(timing.seconds),
          figure(timing.wallSeconds, 2),
          figure(timing.seconds / timing.wallSeconds),
          figure(timing.seconds / timing.cpuSeconds),
          figure(timing.gatewayPeakMb),
          figure(timing.enginePeakMb),
        ]),
      },
      {
        title: `Joining: ${figure(joinSeconds / 60)} minutes`,
        heads: ['path', 'WER, %', 'substituted', 'deleted', 'inserted', 'words'],
        rows: [row('one recording, cut and joined', joined), row('each prompt by itself, off line through µ-law', whole)],
      },
    ],
    goals: [
      { goal: `joining costs at most ${JOIN_LOSS_MAX} points of WER`, found: `${figure(loss, 2)} points`, met: loss <= JOIN_LOSS_MAX },
    ],
  };
}

function row(path: string, edits: Edits): (string | number)[] {
  return [path, figure(wordErrorRate(edits), 2), edits.substitutions, edits.deletions, edits.insertions, edits.words];
}
