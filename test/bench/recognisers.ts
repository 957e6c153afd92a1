/**
 * What each recogniser costs: finals of several lengths, and an utterance read again every 400 ms as calls read it;
 * memory; how many calls a core holds, with one recogniser or with a fast one for partials and a better one for finals.
 */
import { ENGINE_RATE_HZ } from '../../engine/contract.ts';
import { LINE_RATE_HZ } from '../helpers/signals.ts';
import type { Prompt } from './prompts.ts';
import { type Cost, type Found, type Measured, measureTogether, prepare, type Task } from './recognisers/measure.ts';
import { PEER_NAMES, type PeerName, type RecogniserRow, recogniserRows } from './recognisers/rows.ts';
import { figure, type Report, type Table } from './report.ts';
import { loadSpeech, phoneFile, type SampleFiles, sampleFiles } from './speech-set.ts';

const LENGTHS_S = [2, 4, 8, 16];
/** The final that programs are compared by. */
const COMPARED_S = 4;
const LIVE_S = 6;
const STEP_SAMPLES = 0.4 * ENGINE_RATE_HZ;
/** How much of a call its caller speaks. */
const SPEECH_SHARE = 0.45;
const RATIO_MAX: Readonly<Record<PeerName, number>> = { transformers: 0.5, 'sherpa-onnx': 0.8 };

/** Names of tasks. */
const LIVE = 'live';
const DRAFTED = 'drafted';
const FINAL = finalOf(COMPARED_S);

interface Options {
  readonly python: string | undefined;
  readonly parakeetLayers: number;
  /** Each stretch is read so often by us, and so often by others; the least processor time counts. */
  readonly rounds: number;
  readonly peerRounds: number;
}

interface RowFound {
  readonly row: RecogniserRow;
  readonly ours: Found;
  readonly published: Found;
  readonly peers: ReadonlyMap<PeerName, Found>;
}

/** A row that could be measured. */
interface RowMeasured {
  readonly row: RecogniserRow;
  readonly ours: Measured;
}

/** Runs the benchmark. */
export async function benchRecognisers(options: Options): Promise<Report> {
  const { about, prompts } = await loadSpeech();
  const files = sampleFiles();
  try {
    const tasks = makeTasks(prompts, files);
    const found: RowFound[] = [];
    for (const row of recogniserRows(options)) found.push(await measureRow(row, tasks, options));
    return report(found, about);
  } finally {
    files.remove();
  }
}

/** Finals of all lengths, the compared one also with its text as a draft, and an utterance as calls read it. */
function makeTasks(prompts: readonly Prompt[], files: SampleFiles): Task[] {
  const finals = LENGTHS_S.map((seconds) => {
    return { name: finalOf(seconds), seconds, path: stretchOf(prompts, seconds, files), request: {} };
  });
  const compared = finals.filter(({ seconds }) => seconds === COMPARED_S);
  return [
    ...finals,
    ...compared.map((final) => ({ ...final, name: DRAFTED, request: { drafted: 1 } })),
    {
      name: LIVE,
      seconds: LIVE_S,
      path: stretchOf(prompts, LIVE_S, files),
      request: { stepSamples: STEP_SAMPLES },
    },
  ];
}

function finalOf(seconds: number): string {
  return `final of ${seconds} s`;
}

/** Sentences one after the other, cut at so many seconds, in a file. */
function stretchOf(prompts: readonly Prompt[], seconds: number, files: SampleFiles): string {
  const joined = new Int16Array(seconds * LINE_RATE_HZ);
  let at = 0;
  for (let index = 0; at < joined.length; index++) {
    const { samples } = prompts[index % prompts.length] as Prompt;
    joined.set(samples.subarray(0, joined.length - at), at);
    at += samples.length;
  }
  return phoneFile(files, joined);
}

async function measureRow(row: RecogniserRow, tasks: readonly Task[], options: Options): Promise<RowFound> {
  const named = (...names: string[]) => tasks.filter(({ name }) => names.includes(name));
  await prepare(row.ours);
  const [ours, published] = (await measureTogether(
    [
      { name: row.name, runnable: row.ours, tasks },
      { name: `${row.name} as published`, runnable: row.published, tasks: named(FINAL, LIVE) },
    ],
    options.rounds,
  )) as [Found, Found];
  const peers = new Map<PeerName, Found>();
  for (const peer of PEER_NAMES) {
    const runnable = row.peers[peer];
    if (runnable === undefined) continue;
    const program = { name: `${row.name}, ${peer}`, runnable, tasks: named(FINAL) };
    const [found] = (await measureTogether([program], options.peerRounds)) as [Found];
    peers.set(peer, found);
  }
  return { row, ours, published, peers };
}

function report(found: readonly RowFound[], speech: string): Report {
  const there = found.flatMap(({ row, ours }) => ('missing' in ours ? [] : [{ row, ours }]));
  return {
    name: 'recognisers',
    about: `What recognisers cost on one thread, on ${speech}, as the phone has them.`,
    tables: [costTable(found), publishedTable(found), peerTable(found), callTable(there)],
    notes: [
      ...found.map(({ row, ours }) => `${row.name}: ${row.about}${'missing' in ours ? `; ${ours.missing}` : ''}.`),
      `A call has speech ${SPEECH_SHARE * 100} % of its time. Detection of speech and everything else is not counted.`,
      'Random weights say nonsense: what they cost is what counts, and it does not depend on the weights.',
      'Where they know no end, calls per core count as many tokens as moonshine-tiny writes of the same speech.',
      'With one recogniser the last partial step is the final; with two, a final of 4 s comes on top.',
    ],
    goals: PEER_NAMES.flatMap((name) => found.flatMap((row) => goalOf(row, name))),
  };
}

function costTable(found: readonly RowFound[]): Table {
  return {
    title: 'Processor seconds for each second of speech',
    heads: ['model', ...LENGTHS_S.map(finalOf), '400 ms steps', 'ms for each token', 'held at most, ms', 'MB'],
    rows: found.map(({ row, ours }) => {
      const names = [...LENGTHS_S.map(finalOf), LIVE];
      if ('missing' in ours) return [row.name, ...names.map(() => '–'), '–', '–', '–'];
      const longest = Math.max(...[...ours.costs.values()].map(({ longestMs }) => longestMs));
      const cells = names.map((name) => costCell(ours.costs.get(name)));
      return [row.name, ...cells, figure(tokenSeconds(ours) * 1000, 1), figure(longest), figure(ours.peakMb)];
    }),
  };
}

function costCell(cost: Cost | undefined): string {
  return cost === undefined ? '–' : `${figure(cost.perSecond, 4)} (${figure(cost.tokens)} tokens)`;
}

/** A draft that is right saves one run for each token but the last. NaN = the difference was less than chance. */
function tokenSeconds({ costs }: Measured): number {
  const [plain, drafted] = [costs.get(FINAL), costs.get(DRAFTED)];
  if (plain === undefined || drafted === undefined) return Number.NaN;
  const saved = (COMPARED_S * (plain.perSecond - drafted.perSecond)) / plain.tokens;
  return saved > 0 ? saved : Number.NaN;
}

function publishedTable(found: readonly RowFound[]): Table {
  const parts = [FINAL, LIVE];
  return {
    title: 'Rewritten graphs beside those that are published: processor time of ours ÷ published',
    heads: ['model', FINAL, '400 ms steps', 'MB'],
    rows: found.map(({ row, ours, published }) => {
      if ('missing' in ours) return [row.name, ...parts.map(() => ours.missing), ''];
      if ('missing' in published) return [row.name, ...parts.map(() => published.missing), ''];
      const ratio = (name: string) =>
        (ours.costs.get(name)?.perSecond ?? Number.NaN) / (published.costs.get(name)?.perSecond ?? Number.NaN);
      return [row.name, ...parts.map((name) => figure(ratio(name), 2)), figure(ours.peakMb / published.peakMb, 2)];
    }),
  };
}

function peerTable(found: readonly RowFound[]): Table {
  return {
    title: `Beside others: processor seconds for each second of a ${FINAL}, peak MB`,
    heads: ['model', 'Trunkline', ...PEER_NAMES],
    rows: found.map(({ row, ours, peers }) => [
      row.name,
      peerCell(ours),
      ...PEER_NAMES.map((name) => {
        const peer = peers.get(name);
        return peer === undefined ? 'not comparable' : peerCell(peer);
      }),
    ]),
  };
}

function peerCell(found: Found): string {
  if ('missing' in found) return found.missing;
  return `${figure(found.costs.get(FINAL)?.perSecond ?? Number.NaN, 4)}, ${figure(found.peakMb)} MB`;
}

/** Each recogniser alone, and each for partials with each other for finals. */
function callTable(there: readonly RowMeasured[]): Table {
  const speaking = there.find(({ row }) => !row.isEndless);
  const cost = (measured: RowMeasured, name: string) => costAsSpoken(measured, name, speaking?.ours);
  const rows = there.flatMap((fast) =>
    there.map((slow) => {
      const perSecond = cost(fast, LIVE) + (slow === fast ? 0 : cost(slow, FINAL));
      return [fast.row.name, slow.row.name, figure(1 / (SPEECH_SHARE * perSecond), 1)];
    }),
  );
  return { title: 'Calls that a core holds', heads: ['partials', 'finals', 'calls per core'], rows };
}

/** With as many tokens as `speaking` wrote, where this one knows no end. */
function costAsSpoken({ row, ours }: RowMeasured, name: string, speaking: Measured | undefined): number {
  const [cost, spoken] = [ours.costs.get(name), speaking?.costs.get(name)];
  if (cost === undefined) return Number.NaN;
  if (!row.isEndless || spoken === undefined) return cost.perSecond;
  const seconds = name === LIVE ? LIVE_S : COMPARED_S;
  return cost.perSecond - ((cost.tokens - spoken.tokens) * tokenSeconds(ours)) / seconds;
}

function goalOf({ row, ours, peers }: RowFound, name: PeerName): Report['goals'] {
  const peer = peers.get(name);
  if (peer === undefined || 'missing' in peer || 'missing' in ours) return [];
  const ratio = (ours.costs.get(FINAL)?.perSecond ?? Number.NaN) / (peer.costs.get(FINAL)?.perSecond ?? Number.NaN);
  const goal = `${row.name}: at most ${RATIO_MAX[name]} of what ${name} takes for a ${FINAL}`;
  return [{ goal, found: figure(ratio, 2), met: ratio <= RATIO_MAX[name] }];
}
