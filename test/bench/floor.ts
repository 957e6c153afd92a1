/** How near the way through engine and gateway comes to the model runs alone, stage by stage on the same audio. */
import { ENGINE_RATE_HZ } from '../../engine/contract.ts';
import type { ManagedEngine } from '../../src/engine-client/managed-engine.ts';
import {
  BareModels,
  type BareTime,
  type Job,
  LocalEngine,
  runOnEngineClient,
  transcribeLive,
  windowsOf,
} from './floor-stages.ts';
import type { Prompt } from './prompts.ts';
import { figure, mean, type Report } from './report.ts';
import { loadSpeech } from './speech-set.ts';
import { startEngineClient } from './start-engine-client.ts';
import { barPlot } from './svg.ts';
import { throughPhone } from './whole-recordings.ts';

const RATIO_MAX = 1.05;
/** Lengths between which finals are gathered in the plot, in s. */
const BOUNDS_S = [0, 2, 4, 8, 20];

interface Options {
  readonly prompts: number;
  /** Each job is timed so often in each stage; the shortest time counts. */
  readonly rounds: number;
}

/** One decode by stage, the shortest of all rounds, in ms; every stage contains the ones before it. */
interface Decode extends BareTime {
  readonly seconds: number;
  readonly schedulerMs: number;
  readonly contractMs: number;
  readonly transcriberMs: number;
}

/** One voice-detection job likewise. */
interface Detection {
  readonly windows: number;
  readonly bareMs: number;
  readonly schedulerMs: number;
  readonly contractMs: number;
}

interface Found {
  readonly decodes: readonly Decode[];
  readonly detections: readonly Detection[];
  /** Time of the live transcriber without its decodes, over all utterances. */
  readonly transcriberDetectionMs: number;
}

/** Runs the benchmark. */
export async function benchFloor(options: Options): Promise<Report> {
  const { about, prompts } = await loadSpeech();
  const every = Math.max(Math.floor(prompts.length / options.prompts), 1);
  const chosen = prompts.filter((_, index) => index % every === 0).slice(0, options.prompts);
  const engineClient = await startEngineClient(1);
  try {
    const rounds = [];
    const stages = { models: await BareModels.load(), local: await LocalEngine.start(), engineClient };
    for (let round = 0; round < options.rounds; round++) {
      rounds.push(await runRound(stages, chosen));
      process.stderr.write(`round ${round + 1} of ${options.rounds}\n`);
    }
    return report(shortest(rounds), `${chosen.length} ${about}`);
  } finally {
    await engineClient.close();
  }
}

interface Stages {
  readonly models: BareModels;
  readonly local: LocalEngine;
  readonly engineClient: ManagedEngine;
}

/**
 * Every utterance through the live transcriber, and then the jobs that it asked for through each stage in turn. Prompts
 * with a pause inside are left out: there the live transcriber detects speech in what follows while the engine still
 * decodes what came before, and the two times cannot be told apart.
 */
async function runRound({ models, local, engineClient }: Stages, prompts: readonly Prompt[]): Promise<Found> {
  const decodes: Decode[] = [];
  const detections: Detection[] = [];
  let transcriberDetectionMs = 0;
  for (const { samples } of prompts) {
    const jobs: Job[] = [];
    const { listeningMs, finalMs } = await transcribeLive(engineClient, throughPhone(samples), (job) => jobs.push(job));
    const [transcriberMs] = finalMs;
    if (transcriberMs === undefined || jobs.filter(({ kind }) => kind === 'transcribe').length !== 1) continue;
    transcriberDetectionMs += listeningMs - transcriberMs;
    for (const job of jobs) {
      const [contractMs, schedulerMs] = [await runOnEngineClient(engineClient, job), await local.run(job)];
      if (job.kind === 'detect') {
        detections.push({ windows: windowsOf(job), bareMs: await models.detect(job.samples), schedulerMs, contractMs });
      } else {
        const seconds = job.samples.length / ENGINE_RATE_HZ;
        decodes.push({ seconds, ...(await models.transcribe(job.samples)), schedulerMs, contractMs, transcriberMs });
      }
    }
  }
  return { decodes, detections, transcriberDetectionMs };
}

/** The jobs are the same in every round, because the live transcriber decides by the audio alone. */
function shortest(rounds: readonly Found[]): Found {
  const [first, ...others] = rounds;
  if (first === undefined) throw new Error('expected at least one round');
  return others.reduce(
    (best, round) => ({
      decodes: best.decodes.map((decode, index) => least(decode, round.decodes[index])),
      detections: best.detections.map((detection, index) => least(detection, round.detections[index])),
      transcriberDetectionMs: Math.min(best.transcriberDetectionMs, round.transcriberDetectionMs),
    }),
    first,
  );
}

/** The smaller of each figure. */
function least<T extends { readonly [Key in keyof T]: number }>(a: T, b: T | undefined): T {
  if (b === undefined) return a;
  return Object.fromEntries(
    Object.entries<number>(a).map(([key, value]) => [key, Math.min(value, b[key as keyof T])]),
  ) as T;
}

function totalOf<T extends Record<K, number>, K extends string>(items: readonly T[], key: K): number {
  return items.reduce((sum, item) => sum + item[key], 0);
}

/** Ms in all, of detection and of decoding, up to and with each stage. */
function stageTotals({
  decodes,
  detections,
  transcriberDetectionMs,
}: Found): [stage: string, detectionMs: number, decodingMs: number][] {
  const bareMs = totalOf(detections, 'bareMs');
  return [
    ['model runs in a bare loop', bareMs, totalOf(decodes, 'encoderMs') + totalOf(decodes, 'decoderMs')],
    ['+ recogniser: floats, tokens, text', bareMs, totalOf(decodes, 'recogniserMs')],
    ['+ engine: messages checked, scheduler', totalOf(detections, 'schedulerMs'), totalOf(decodes, 'schedulerMs')],
    ['+ contract: another process, engine client', totalOf(detections, 'contractMs'), totalOf(decodes, 'contractMs')],
    ['+ live transcriber', transcriberDetectionMs, totalOf(decodes, 'transcriberMs')],
  ];
}

function report(found: Found, about: string): Report {
  const totals = stageTotals(found);
  const [bare, last] = [totals[0], totals.at(-1)];
  const ratio = (part: 1 | 2) => (last?.[part] ?? Number.NaN) / (bare?.[part] ?? Number.NaN);
  const { decodes, detections } = found;
  const windows = totalOf(detections, 'windows');
  return {
    name: 'floor',
    about:
      `What engine and gateway add to the model runs. Of ${about}, those without a pause inside, 8 kHz µ-law, each ` +
      'pushed at once into a live transcriber of its own, finals only and none decoded ahead: ' +
      `${decodes.length} decodes of ${figure(totalOf(decodes, 'seconds'))} s and ${windows} voice-detection ` +
      `windows of 32 ms in ${detections.length} jobs. The very same jobs then ` +
      'go through each stage alone, one after the other; of each job the shortest time of several rounds counts. ' +
      'One engine of one thread.',
    plots: [
      {
        name: 'caption',
        title: 'From the end of speech being certain to the final caption',
        svg: captionPlot(decodes),
      },
    ],
    tables: [
      {
        title: 'Stage by stage',
        heads: ['', 'final: mean, ms', '÷ bare', 'voice detection: µs per window', '÷ bare'],
        rows: totals.map(([stage, detectionMs, decodingMs]) => [
          stage,
          figure(decodingMs / decodes.length, 2),
          figure(decodingMs / (bare?.[2] ?? Number.NaN), 3),
          figure((1000 * detectionMs) / windows),
          figure(detectionMs / (bare?.[1] ?? Number.NaN), 3),
        ]),
      },
      {
        title: 'One final by length of speech, ms',
        heads: ['speech, s', 'finals', ...PARTS.map(([name]) => name)],
        rows: lengthRows(decodes),
      },
    ],
    notes: [
      'In a call the windows are judged while the caller still speaks, those of all calls in one job; what the ' +
        'caller waits for is the final. A detection job by itself costs a ' +
        'message to the engine and back, and by design none is sent within 5 ms of the one before.',
    ],
    goals: [
      {
        goal: `final caption ≤ ${RATIO_MAX} × its model runs`,
        found: `${figure(ratio(2), 3)} ×`,
        met: ratio(2) <= RATIO_MAX,
      },
      {
        goal: `all, voice detection included, ≤ ${RATIO_MAX} × the model runs`,
        found: `${figure(allOf(last) / allOf(bare), 3)} ×`,
        met: allOf(last) / allOf(bare) <= RATIO_MAX,
      },
    ],
  };
}

function allOf(total: [stage: string, detectionMs: number, decodingMs: number] | undefined): number {
  return (total?.[1] ?? Number.NaN) + (total?.[2] ?? Number.NaN);
}

/** What each stage adds to a final. Timings waver, so that a part may seem to be less than nothing. */
const PARTS: readonly (readonly [name: string, of: (decode: Decode) => number])[] = [
  ['encoder', ({ encoderMs }) => encoderMs],
  ['decoder', ({ decoderMs }) => decoderMs],
  ['recogniser', ({ encoderMs, decoderMs, recogniserMs }) => Math.max(recogniserMs - encoderMs - decoderMs, 0)],
  ['scheduler', ({ recogniserMs, schedulerMs }) => Math.max(schedulerMs - recogniserMs, 0)],
  ['contract', ({ schedulerMs, contractMs }) => Math.max(contractMs - schedulerMs, 0)],
  ['live transcriber', ({ contractMs, transcriberMs }) => Math.max(transcriberMs - contractMs, 0)],
];

interface LengthGroup {
  readonly name: string;
  readonly decodes: readonly Decode[];
}

function groupsOf(decodes: readonly Decode[]): LengthGroup[] {
  const groups = BOUNDS_S.slice(1).map((to, index) => {
    const from = BOUNDS_S[index] ?? 0;
    return { name: `${from}–${to} s`, decodes: decodes.filter(({ seconds }) => seconds >= from && seconds < to) };
  });
  return groups.filter((group) => group.decodes.length > 0);
}

function lengthRows(decodes: readonly Decode[]): (string | number)[][] {
  return groupsOf(decodes).map((group) => [
    group.name,
    group.decodes.length,
    ...PARTS.map(([, of]) => figure(mean(group.decodes.map(of)), 2)),
  ]);
}

function captionPlot(decodes: readonly Decode[]): string {
  return barPlot({
    title: 'From the end of speech being certain to the final caption',
    x: { label: 'speech' },
    y: { label: 'ms, mean' },
    isStacked: true,
    names: PARTS.map(([name]) => name),
    groups: groupsOf(decodes).map((group) => ({
      name: group.name,
      values: PARTS.map(([, of]) => mean(group.decodes.map(of))),
    })),
  });
}
