/**
 * This engine beside what one would otherwise run with the same weights: same machine, same audio, one thread each, in
 * turn.
 */

import { shippedFiles } from '../../engine/models/moonshine.ts';
import { FIXED_ENGINE_SETTINGS } from '../../src/engine-client/engine-client-factory.ts';
import { ENGINE_ENVIRONMENT } from '../../src/engine-client/engine-fork.ts';
import { packagePath } from '../../src/foundation/folders/paths.ts';
import { readSettings } from '../../src/foundation/settings/config.ts';
import { LINE_RATE_HZ } from '../helpers/signals.ts';
import { type Install, installMoonshineOnnx, installTransformersJs, PEER_VERSIONS } from './peers/install.ts';
import { arrangeModels, MODEL_NAME, type ModelFolder } from './peers/model-folder.ts';
import { type Memory, Peer, type PeerCommand } from './peers/peer.ts';
import type { Prompt } from './prompts.ts';
import { figure, mean, type Report } from './report.ts';
import { loadSpeech, phoneFile, type SampleFiles, sampleFiles } from './speech-set.ts';
import { barPlot } from './svg.ts';
import { countEdits, type Edits, sumEdits, wordErrorRate } from './wer/align.ts';
import { normaliseWords } from './wer/normalise.ts';

const LENGTHS_S = [1, 2, 4, 8];
const PROMPTS_PER_TURN = 12;
const RATIO_TO_SHIPPED = 0.45;
const RATIO_TO_TRANSFORMERS_JS = 0.35;

const OURS = 'Trunkline (rewritten graphs)';
const PACKAGE = "shipped graphs, moonshine-js's loop";
const OUR_LOOP = "shipped graphs, Trunkline's loop";
const TRANSFORMERS_JS = `@huggingface/transformers ${PEER_VERSIONS.transformersJs}`;
const PYTHON = `useful-moonshine-onnx ${PEER_VERSIONS.moonshineOnnx}`;

interface Options {
  /** Every so-many-th prompt is decoded for the error rate. */
  readonly every: number;
  /** Prompts for each length. */
  readonly stretches: number;
  /** Each of them is timed so often; the shortest time counts. */
  readonly rounds: number;
}

/** A peer, and what has been found of it. */
interface Entry {
  readonly name: string;
  readonly peer: Peer;
  readonly loaded: Memory;
  /** By length: the shortest ms of each stretch. */
  readonly bestMs: Map<number, number[]>;
  readonly edits: Edits[];
  audioSeconds: number;
  ms: number;
  cpuMs: number;
}

interface Absent {
  readonly name: string;
  readonly missing: string;
}

/** Runs the benchmark. */
export async function benchCompare(options: Options): Promise<Report> {
  const models = await arrangeModels();
  const files = sampleFiles();
  const entries: Entry[] = [];
  try {
    const { about, prompts } = await loadSpeech();
    const absent: Absent[] = [];
    for (const [name, command] of await commands(models)) await start(name, command, entries, absent);
    await timeLengths(entries, prompts, files, options);
    await decodeAll(
      entries,
      prompts.filter((_, index) => index % options.every === 0),
      files,
    );
    return report(entries, absent, about);
  } finally {
    await Promise.all(entries.map(({ peer }) => peer.close()));
    files.remove();
    models.remove();
  }
}

async function commands(models: ModelFolder): Promise<[name: string, command: PeerCommand | Absent][]> {
  const { MODEL_CACHE_DIR } = readSettings({});
  const { decodeRunTokens: runTokens } = FIXED_ENGINE_SETTINGS;
  const trunkline = (graphs: string): PeerCommand => ({
    script: 'trunkline.mjs',
    parameters: [packagePath('dist', 'engine', 'models'), graphs, MODEL_CACHE_DIR, String(runTokens)],
    environment: ENGINE_ENVIRONMENT,
  });
  const { encoder, decoder } = shippedFiles();
  const [transformersJs, moonshineOnnx] = [await installTransformersJs(), await installMoonshineOnnx()];
  return [
    [OURS, trunkline('rewritten')],
    [OUR_LOOP, trunkline('shipped')],
    [PACKAGE, { script: 'moonshine-js.mjs', parameters: [encoder, decoder] }],
    [TRANSFORMERS_JS, ifInstalled(TRANSFORMERS_JS, transformersJs, (folder) => transformersJsCommand(folder, models))],
    [
      PYTHON,
      ifInstalled(PYTHON, moonshineOnnx, (folder) => ({
        program: `${folder}/bin/python`,
        script: 'moonshine-onnx.py',
        parameters: [models.moonshineOnnx],
      })),
    ],
  ];
}

function ifInstalled(name: string, install: Install, command: (folder: string) => PeerCommand): PeerCommand | Absent {
  return 'folder' in install ? command(install.folder) : { name, ...install };
}

/** `@huggingface/transformers` as installed in `folder`. */
export function transformersJsCommand(folder: string, models: ModelFolder): PeerCommand {
  return { script: 'transformers-js.mjs', parameters: [folder, models.transformersJs, MODEL_NAME] };
}

async function start(name: string, command: PeerCommand | Absent, entries: Entry[], absent: Absent[]): Promise<void> {
  if ('missing' in command) {
    absent.push(command);
    return;
  }
  try {
    const peer = await Peer.start(command);
    entries.push({ name, peer, loaded: peer.memory(), bestMs: new Map(), edits: [], audioSeconds: 0, ms: 0, cpuMs: 0 });
    process.stderr.write(`${name}: loaded in ${figure(peer.loadMs)} ms\n`);
  } catch (error) {
    absent.push({ name, missing: `did not start: ${error instanceof Error ? error.message : String(error)}` });
  }
}

/**
 * Whole prompts of about each length: one that is cut within a word sends the model into a loop, which every peer
 * bounds in another place. The same for all, all in turn, so that a busy moment of the machine meets them all.
 */
async function timeLengths(
  entries: readonly Entry[],
  prompts: readonly Prompt[],
  files: SampleFiles,
  options: Options,
): Promise<void> {
  for (const seconds of LENGTHS_S) {
    for (const { samples } of nearest(prompts, seconds, options.stretches)) {
      const path = phoneFile(files, samples);
      const best = entries.map(() => Number.POSITIVE_INFINITY);
      for (let round = 0; round < options.rounds; round++) {
        for (const [index, { peer }] of entries.entries())
          best[index] = Math.min(best[index] ?? 0, (await peer.transcribe(path)).ms);
      }
      for (const [index, { bestMs }] of entries.entries())
        bestMs.set(seconds, [...(bestMs.get(seconds) ?? []), best[index] ?? Number.NaN]);
    }
    process.stderr.write(
      `${seconds} s: ${entries.map((entry) => `${figure(msOf(entry, seconds), 1)} ms`).join(', ')}\n`,
    );
  }
}

function nearest(prompts: readonly Prompt[], seconds: number, count: number): Prompt[] {
  const distance = ({ samples }: Prompt) => Math.abs(samples.length / LINE_RATE_HZ - seconds);
  return prompts.toSorted((a, b) => distance(a) - distance(b)).slice(0, count);
}

/**
 * Each peer takes a few prompts before the next one has its turn: with a turn for every prompt, each would always find
 * its weights driven out of the processor's caches by the others'.
 */
async function decodeAll(entries: readonly Entry[], prompts: readonly Prompt[], files: SampleFiles): Promise<void> {
  for (let from = 0; from < prompts.length; from += PROMPTS_PER_TURN) {
    const turn = prompts
      .slice(from, from + PROMPTS_PER_TURN)
      .map((prompt) => ({ prompt, path: phoneFile(files, prompt.samples) }));
    for (const entry of entries) {
      for (const { prompt, path } of turn) await decode(entry, prompt, path);
    }
    process.stderr.write(`\r${from + turn.length} of ${prompts.length} prompts `);
  }
  process.stderr.write('\n');
}

async function decode(entry: Entry, prompt: Prompt, path: string): Promise<void> {
  const { text, ms, cpuMs } = await entry.peer.transcribe(path);
  entry.edits.push(countEdits(prompt.words, normaliseWords(text)));
  entry.audioSeconds += prompt.samples.length / LINE_RATE_HZ;
  entry.ms += ms;
  entry.cpuMs += cpuMs;
}

function msOf(entry: Entry | undefined, seconds: number): number {
  return mean(entry?.bestMs.get(seconds) ?? []);
}

function realTimeFactor(entry: Entry | undefined): number {
  return entry === undefined ? Number.NaN : entry.ms / 1000 / entry.audioSeconds;
}

function report(entries: readonly Entry[], absent: readonly Absent[], about: string): Report {
  const find = (name: string) => entries.find((entry) => entry.name === name);
  const ours = find(OURS);
  const audioSeconds = ours?.audioSeconds ?? 0;
  const dashes = (count: number) => Array.from({ length: count }, () => '–');
  const ratio = (of: (entry: Entry | undefined) => number, name: string) => of(ours) / of(find(name));
  const withShipped = [4, 8].map((seconds) => ({ seconds, found: ratio((entry) => msOf(entry, seconds), PACKAGE) }));
  const withTransformersJs = ratio(realTimeFactor, TRANSFORMERS_JS);
  return {
    name: 'compare',
    about:
      'The recogniser alone, beside what one would otherwise run with the same weights (Moonshine tiny, int8, as ' +
      'the npm package @moonshine-ai/moonshine-js ships ' +
      'them), each in a process of its own with one thread, all on the same audio and in turn: ' +
      `${ours?.edits.length ?? 0} ${about}, ${figure(audioSeconds)} s, ` +
      `through 8 kHz µ-law. Everything runs on onnxruntime ${PEER_VERSIONS.onnxruntime}.`,
    plots: [{ name: 'lengths', title: 'Time to transcribe a stretch of speech', svg: lengthsPlot(entries) }],
    tables: [
      {
        title: 'Time for a stretch of speech, ms',
        heads: ['', ...LENGTHS_S.map((seconds) => `${seconds} s`)],
        rows: entries.map((entry) => [entry.name, ...LENGTHS_S.map((seconds) => figure(msOf(entry, seconds), 1))]),
      },
      {
        title: 'All prompts',
        heads: [
          '',
          'real-time factor',
          'processor s per s of speech',
          '× Trunkline',
          'WER, %',
          'substituted',
          'deleted',
          'inserted',
        ],
        rows: [
          ...entries.map((entry) => {
            const edits = sumEdits(entry.edits);
            return [
              entry.name,
              figure(realTimeFactor(entry), 4),
              figure(entry.cpuMs / 1000 / entry.audioSeconds, 4),
              figure(realTimeFactor(entry) / realTimeFactor(ours), 2),
              figure(wordErrorRate(edits), 2),
              edits.substitutions,
              edits.deletions,
              edits.insertions,
            ];
          }),
          ...absent.map(({ name, missing }) => [`${name}: ${missing}`, ...dashes(7)]),
        ],
      },
      {
        title: 'Process',
        heads: ['', 'start to loaded, ms', 'resident when loaded, MB', 'after all prompts, MB', 'most, MB'],
        rows: entries.map(({ name, peer, loaded }) => {
          const { nowMb, peakMb } = peer.memory();
          return [name, figure(peer.loadMs), figure(loaded.nowMb), figure(nowMb), figure(peakMb)];
        }),
      },
    ],
    notes: NOTES,
    goals: [
      ...withShipped.map(({ seconds, found }) => ({
        goal: `${seconds} s in ≤ ${RATIO_TO_SHIPPED} × the time of the shipped graphs in the package's own way`,
        found: `${figure(found, 2)} ×`,
        met: found <= RATIO_TO_SHIPPED,
      })),
      {
        goal: `real-time factor ≤ ${RATIO_TO_TRANSFORMERS_JS} × that of @huggingface/transformers`,
        found: `${figure(withTransformersJs, 2)} ×`,
        met: withTransformersJs <= RATIO_TO_TRANSFORMERS_JS,
      },
    ],
  };
}

const NOTES = [
  'Times by length are the shortest of several rounds, averaged over the prompts whose length is nearest. The ' +
    'real-time factor is over all ' +
    `prompts, once each, ${PROMPTS_PER_TURN} at a turn.`,
  `"${PACKAGE}": src/model.ts of @moonshine-ai/moonshine-js 0.1.29 on onnxruntime-node, its search for the ` +
    `likeliest token included. "${OUR_LOOP}": the same graphs and ` +
    'the same session options, decoded with the care that this engine takes: what is left between it and the first ' +
    'row is the graphs. ' +
    'Both run in the environment that the gateway gives its engines (settings of malloc, huge pages among them), ' +
    'the others in the one that they find.',
  '@huggingface/transformers loads the two shipped graphs as they are (renamed; config.json and tokenizer.json are ' +
    'written by this benchmark) and runs its pipeline with its ' +
    'defaults, among them at most 6 tokens for each whole second of audio.',
  'useful-moonshine-onnx loads them from a folder (`models_dir`) and allows 192 tokens whatever the length. It ' +
    'gives its sessions no options; the one thread is ' +
    'forced on it from outside.',
  'The rewritten graphs are in their cache: the first start of all takes a few seconds more.',
];

function lengthsPlot(entries: readonly Entry[]): string {
  return barPlot({
    title: 'Time to transcribe a stretch of speech, one thread',
    x: { label: 'speech' },
    y: { label: 'ms' },
    isStacked: false,
    names: entries.map(({ name }) => name),
    groups: LENGTHS_S.map((seconds) => ({
      name: `${seconds} s`,
      values: entries.map((entry) => msOf(entry, seconds)),
    })),
  });
}
