/**
 * The rewritten graphs beside the shipped ones, in one run on the same speech: do they say the same, how many words are
 * wrong, how long do they take, what do their processes weigh. See docs/internals/graphs.md.
 */

import { existsSync, readFileSync } from 'node:fs';
import type { Asr, Recognition } from '../../engine/models/model.ts';
import { loadMoonshine, moonshineOn, shippedFiles } from '../../engine/models/moonshine.ts';
import { shippedGraphs } from '../../engine/models/moonshine-shipped.ts';
import { InferenceSession } from '../../engine/onnxruntime.ts';
import { toSample } from '../../src/audio/pcm.ts';
import { FIXED_ENGINE_SETTINGS } from '../../src/engine-client/engine-client-factory.ts';
import { readSettings } from '../../src/foundation/settings/config.ts';
import { msToSamples } from '../../src/foundation/units.ts';
import { finish } from '../engine/speech.ts';
import { LINE_RATE_HZ } from '../helpers/signals.ts';
import { concatenate, loadPrompts, type Prompt } from './prompts.ts';
import { figure, type Report } from './report.ts';
import { startEngineClient } from './start-engine-client.ts';
import { countEdits, type Edits, sumEdits, wordErrorRate } from './wer/align.ts';
import { normaliseWords } from './wer/normalise.ts';
import { throughPhone } from './whole-recordings.ts';

/** Longer prompts are left out: the recogniser cannot take them whole. */
const PROMPT_MAX_SECONDS = 20;
const LENGTHS_S = [1, 2, 4, 8];
/** Share of a window that its draft was made from. */
const DRAFT_SHARE = 0.8;

const WAYS = ['rewritten', 'shipped, session option', 'shipped as published'] as const;
type Way = (typeof WAYS)[number];

type Line = (prompt: Int16Array) => Int16Array;

/**
 * The same prompts as other lines would carry them: what one recording's rounding decides, by chance, another's decides
 * otherwise. 264 prompts alone tell word error rates apart to 0.3 points.
 */
const LINES: Readonly<Record<string, Line>> = {
  'as recorded': (prompt) => prompt,
  '6 dB quieter': (prompt) => prompt.map((sample) => sample / 2),
  '11 ms later': (prompt) => concatenate([new Int16Array(msToSamples(11, LINE_RATE_HZ)), prompt]),
  'with noise at -54 dB': (prompt) => prompt.map((sample, at) => toSample(Math.trunc(sample + 92 * Math.sin(at * at)))),
};

interface Options {
  /** Every so-many-th prompt is decoded. */
  readonly every: number;
  /** Each length is timed so often; the shortest time counts. */
  readonly rounds: number;
}

/** Runs the benchmark. */
export async function benchEquality({ every, rounds }: Options): Promise<Report> {
  const prompts = loadPrompts().filter((prompt) => prompt.samples.length <= PROMPT_MAX_SECONDS * LINE_RATE_HZ);
  const chosen = prompts.filter((_, index) => index % every === 0);
  const weights = [await weigh('rewritten', chosen), await weigh('shipped', chosen)];
  const asrs = await loadAll();
  const times = await timeLengths(asrs, prompts, rounds);
  const agreements: Agreement[] = [];
  for (const line of Object.entries(LINES)) agreements.push(await compare(asrs, chosen, line));
  return report({ prompts: chosen, times, agreements, weights });
}

async function loadAll(): Promise<Record<Way, Asr>> {
  return {
    rewritten: await load('rewritten'),
    'shipped, session option': await load('shipped'),
    'shipped as published': await loadPublished(),
  };
}

/** As an engine does. */
async function load(graphs: 'rewritten' | 'shipped'): Promise<Asr> {
  const { MODEL_CACHE_DIR: cacheDir } = readSettings({});
  const progress = (text: string) => process.stderr.write(`${text}\n`);
  const { asr, warning } = await loadMoonshine({
    device: { provider: 'cpu' },
    threads: 1,
    graphs,
    cacheDir,
    runTokens: FIXED_ENGINE_SETTINGS.decodeRunTokens,
    progress,
  });
  if (warning !== null) throw new Error(warning);
  return asr;
}

/**
 * With onnxruntime's own session options but for the one thread, as whoever takes the graphs from the package would run
 * them.
 */
async function loadPublished(): Promise<Asr> {
  const { encoder, decoder } = shippedFiles();
  const options = { executionProviders: ['cpu'], intraOpNumThreads: 1, interOpNumThreads: 1 };
  const sessions = [
    await InferenceSession.create(encoder, options),
    await InferenceSession.create(decoder, options),
  ] as const;
  return moonshineOn(shippedGraphs(...sessions), 'cpu');
}

type Times = readonly { readonly seconds: number; readonly bestMs: Record<Way, number> }[];

/**
 * The same stretch of speech for each length, all ways in turn, so that a busy moment of the machine meets them all.
 */
async function timeLengths(asrs: Record<Way, Asr>, prompts: readonly Prompt[], rounds: number): Promise<Times> {
  const longest = Math.max(...LENGTHS_S) * LINE_RATE_HZ;
  const prompt = prompts.find(({ samples }) => samples.length >= longest);
  if (prompt === undefined) throw new Error(`no prompt is ${longest / LINE_RATE_HZ} s long`);
  const times = [];
  for (const seconds of LENGTHS_S) {
    const speech = throughPhone(prompt.samples.subarray(0, seconds * LINE_RATE_HZ));
    const bestMs = { rewritten: Infinity, 'shipped, session option': Infinity, 'shipped as published': Infinity };
    for (let round = 0; round < rounds; round++) {
      for (const way of WAYS) {
        const startMs = performance.now();
        await finish(asrs[way].transcribe(speech, []));
        bestMs[way] = Math.min(bestMs[way], performance.now() - startMs);
      }
    }
    times.push({ seconds, bestMs });
  }
  return times;
}

interface Agreement {
  readonly line: string;
  readonly decodes: number;
  readonly equalTokens: number;
  readonly equalTexts: number;
  readonly equalWithDraft: number;
  readonly edits: { readonly rewritten: Edits; readonly shipped: Edits };
}

async function compare(
  asrs: Record<Way, Asr>,
  prompts: readonly Prompt[],
  [line, carry]: readonly [string, Line],
): Promise<Agreement> {
  const [ours, theirs] = [asrs.rewritten, asrs['shipped, session option']];
  const edits: { rewritten: Edits[]; shipped: Edits[] } = { rewritten: [], shipped: [] };
  let [equalTokens, equalTexts, equalWithDraft] = [0, 0, 0];
  for (const [index, prompt] of prompts.entries()) {
    const speech = throughPhone(carry(prompt.samples));
    const said = await both(ours, theirs, speech, []);
    const draft = (await finish(theirs.transcribe(speech.subarray(0, speech.length * DRAFT_SHARE), []))).result.tokens;
    const drafted = await both(ours, theirs, speech, draft);
    if (isSame(said)) equalTokens++;
    if (said.ours.text === said.theirs.text) equalTexts++;
    if (isSame(drafted)) equalWithDraft++;
    edits.rewritten.push(countEdits(prompt.words, normaliseWords(said.ours.text)));
    edits.shipped.push(countEdits(prompt.words, normaliseWords(said.theirs.text)));
    process.stderr.write(`\r${line}: ${index + 1} of ${prompts.length} prompts, ${equalTokens} equal `);
  }
  process.stderr.write('\n');
  const sums = { rewritten: sumEdits(edits.rewritten), shipped: sumEdits(edits.shipped) };
  return { line, decodes: prompts.length, equalTokens, equalTexts, equalWithDraft, edits: sums };
}

/** All lines as one. */
function total(agreements: readonly Agreement[]): Agreement {
  const sum = (count: (agreement: Agreement) => number) => agreements.reduce((all, each) => all + count(each), 0);
  return {
    line: 'all',
    decodes: sum(({ decodes }) => decodes),
    equalTokens: sum(({ equalTokens }) => equalTokens),
    equalTexts: sum(({ equalTexts }) => equalTexts),
    equalWithDraft: sum(({ equalWithDraft }) => equalWithDraft),
    edits: {
      rewritten: sumEdits(agreements.map(({ edits }) => edits.rewritten)),
      shipped: sumEdits(agreements.map(({ edits }) => edits.shipped)),
    },
  };
}

interface Pair {
  readonly ours: Recognition;
  readonly theirs: Recognition;
}

async function both(ours: Asr, theirs: Asr, speech: Int16Array, draft: readonly number[]): Promise<Pair> {
  return {
    ours: (await finish(ours.transcribe(speech, draft))).result,
    theirs: (await finish(theirs.transcribe(speech, draft))).result,
  };
}

function isSame({ ours, theirs }: Pair): boolean {
  return ours.tokens.join() === theirs.tokens.join();
}

interface Weight {
  readonly graphs: 'rewritten' | 'shipped';
  readonly readyMs: number;
  readonly idleMb: number;
  readonly usedMb: number;
}

/** An engine process: how long until it is ready, and its resident memory then and after it has decoded the prompts. */
async function weigh(graphs: Weight['graphs'], prompts: readonly Prompt[]): Promise<Weight> {
  const startMs = performance.now();
  const engineClient = await startEngineClient(1, {}, { modelGraphs: graphs });
  const readyMs = performance.now() - startMs;
  const [pid = 0] = engineClient.status.pids;
  const idleMb = residentMb(pid);
  for (const prompt of prompts) {
    await engineClient.transcribe({
      samples: throughPhone(prompt.samples),
      urgency: 'batch',
      dueInMs: 600_000,
      draft: [],
    });
  }
  const usedMb = residentMb(pid);
  await engineClient.close();
  return { graphs, readyMs, idleMb, usedMb };
}

/** NaN where the system has no /proc. */
function residentMb(pid: number): number {
  const path = `/proc/${pid}/status`;
  if (!existsSync(path)) return Number.NaN;
  return (Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(path, 'utf8'))?.[1]) * 1024) / 1e6;
}

interface Found {
  readonly prompts: readonly Prompt[];
  readonly times: Times;
  /** One for each line. */
  readonly agreements: readonly Agreement[];
  readonly weights: readonly Weight[];
}

function report({ prompts, times, agreements, weights }: Found): Report {
  const all = total(agreements);
  const sharePercent = (count: number, { decodes }: Agreement) => (100 * count) / decodes;
  const equalPercent = sharePercent(all.equalTokens, all);
  const rates = { rewritten: wordErrorRate(all.edits.rewritten), shipped: wordErrorRate(all.edits.shipped) };
  const ratioAt = (length: number) => {
    const bestMs = times.find(({ seconds }) => seconds === length)?.bestMs;
    return bestMs === undefined ? Number.NaN : bestMs.rewritten / bestMs['shipped as published'];
  };
  const usedMb = weights.find(({ graphs }) => graphs === 'rewritten')?.usedMb ?? Number.NaN;
  return {
    name: 'equality',
    about:
      `The recogniser's graphs as they are shipped and as docs/internals/graphs.md rewrites them, on ` +
      `${prompts.length} human prompts of Debian's asterisk-core-sounds-en-wav ` +
      `(one voice, 8 kHz, through µ-law), as ${Object.keys(LINES).length} lines carry them, each decoded whole, ` +
      'with one thread, all ways in one process and in turn.',
    tables: [
      {
        title: 'Decodes that are the same, %',
        heads: ['line', 'decodes', 'tokens', 'text', `tokens, with a draft from the first ${100 * DRAFT_SHARE} %`],
        rows: [...agreements, all].map((each) => [
          each.line,
          each.decodes,
          ...[each.equalTokens, each.equalTexts, each.equalWithDraft].map((count) =>
            figure(sharePercent(count, each), 1),
          ),
        ]),
      },
      {
        title: 'Word error rate',
        heads: ['line', 'graphs', 'WER, %', 'substituted', 'deleted', 'inserted', 'words'],
        rows: [...agreements, all].flatMap(({ line, edits }) =>
          (['rewritten', 'shipped'] as const).map((graphs) => {
            const { substitutions, deletions, insertions, words } = edits[graphs];
            return [line, graphs, figure(wordErrorRate(edits[graphs]), 2), substitutions, deletions, insertions, words];
          }),
        ),
      },
      {
        title: 'Time for a stretch of speech, shortest of many, ms',
        heads: ['speech, s', ...WAYS, 'rewritten ÷ published'],
        rows: times.map(({ seconds, bestMs }) => [
          seconds,
          ...WAYS.map((way) => figure(bestMs[way], 1)),
          figure(bestMs.rewritten / bestMs['shipped as published'], 2),
        ]),
      },
      {
        title: 'One engine process',
        heads: ['graphs', 'fork to ready, ms', 'resident when ready, MB', 'after all prompts, MB'],
        rows: weights.map(({ graphs, readyMs, idleMb, usedMb: used }) => [
          graphs,
          figure(readyMs),
          figure(idleMb),
          figure(used),
        ]),
      },
    ],
    goals: [
      { goal: 'tokens equal in ≥ 90 %', found: `${figure(equalPercent, 1)} %`, met: equalPercent >= 90 },
      {
        goal: 'WER within 0.3 points',
        found: `${figure(rates.rewritten - rates.shipped, 2)}`,
        met: Math.abs(rates.rewritten - rates.shipped) <= 0.3,
      },
      ...[4, 8].map((length) => ({
        goal: `${length} s ≤ 0.45 × as published`,
        found: figure(ratioAt(length), 2),
        met: ratioAt(length) <= 0.45,
      })),
      { goal: 'engine ≤ 250 MB', found: `${figure(usedMb)} MB`, met: usedMb <= 250 },
    ],
  };
}
