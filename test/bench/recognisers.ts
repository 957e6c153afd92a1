/**
 * What each recogniser costs: finals of several lengths, and an utterance read again every 400 ms as calls read it;
 * memory; how many calls a core holds, with one recogniser or with a fast one for partials and a better one for finals.
 */
import { ENGINE_RATE_HZ } from '../../engine/contract.ts';
import { LINE_RATE_HZ } from '../helpers/signals.ts';
import { Peer, type PeerAnswer } from './peers/peer.ts';
import type { Prompt } from './prompts.ts';
import { PEER_NAMES, type PeerName, type RecogniserRow, type Runnable, recogniserRows } from './recognisers/rows.ts';
import { figure, type Report, type Table } from './report.ts';
import { loadSpeech, phoneFile, type SampleFiles, sampleFiles } from './speech-set.ts';

const LENGTHS_S = [2, 4, 8, 16];
const LIVE_S = 6;
const STEP_SAMPLES = 0.4 * ENGINE_RATE_HZ;
/** How much of a call its caller speaks. */
const SPEECH_SHARE = 0.45;
const RATIO_MAX: Readonly<Record<PeerName, number>> = { transformers: 0.5, 'sherpa-onnx': 0.8 };

interface Options {
  readonly python: string | undefined;
  readonly parakeetLayers: number;
  /** Each stretch is read so often; the least processor time counts. */
  readonly rounds: number;
}

/** Processor seconds for each second of speech, and what came with them. */
interface Cost {
  readonly perSecond: number;
  readonly tokens: number;
  /** The longest that the engine's thread was held; NaN of others' programs. */
  readonly longestMs: number;
}

interface Measured {
  readonly finals: ReadonlyMap<number, Cost>;
  /** Null of programs that read finals alone. */
  readonly live: Cost | null;
  readonly peakMb: number;
}

type Found = Measured | { readonly missing: string };

/** A stretch of speech of about so many seconds, in a file. */
interface Stretch {
  readonly path: string;
  readonly seconds: number;
}

interface Stretches {
  readonly finals: ReadonlyMap<number, Stretch>;
  readonly live: Stretch;
}

interface RowFound {
  readonly row: RecogniserRow;
  readonly ours: Found;
  readonly peers: ReadonlyMap<PeerName, Found>;
}

/** Runs the benchmark. */
export async function benchRecognisers(options: Options): Promise<Report> {
  const { about, prompts } = await loadSpeech();
  const files = sampleFiles();
  try {
    const stretches: Stretches = {
      finals: new Map(LENGTHS_S.map((seconds) => [seconds, stretchOf(prompts, seconds, files)])),
      live: stretchOf(prompts, LIVE_S, files),
    };
    const found: RowFound[] = [];
    for (const row of recogniserRows(options)) {
      const peers = new Map<PeerName, Found>();
      const ours = await measure(row.name, row.ours, stretches, { rounds: options.rounds, isLive: true });
      for (const name of PEER_NAMES) {
        const peer = row.peers[name];
        if (peer === undefined) continue;
        peers.set(
          name,
          await measure(`${row.name}, ${name}`, peer, stretches, { rounds: options.rounds, isLive: false }),
        );
      }
      found.push({ row, ours, peers });
    }
    return report(found, about);
  } finally {
    files.remove();
  }
}

/** Sentences one after the other, cut at so many seconds. */
function stretchOf(prompts: readonly Prompt[], seconds: number, files: SampleFiles): Stretch {
  const joined = new Int16Array(seconds * LINE_RATE_HZ);
  let at = 0;
  for (let index = 0; at < joined.length; index++) {
    const { samples } = prompts[index % prompts.length] as Prompt;
    joined.set(samples.subarray(0, joined.length - at), at);
    at += samples.length;
  }
  return { path: phoneFile(files, joined), seconds };
}

async function measure(
  name: string,
  runnable: Runnable,
  { finals, live }: Stretches,
  { rounds, isLive }: { rounds: number; isLive: boolean },
): Promise<Found> {
  if ('missing' in runnable) return runnable;
  let peer: Peer | null = null;
  try {
    peer = await Peer.start(runnable);
    const costs = new Map<number, Cost>();
    for (const [seconds, stretch] of finals) costs.set(seconds, await costOf(peer, stretch, rounds, {}));
    const stepped = isLive ? await costOf(peer, live, rounds, { stepSamples: STEP_SAMPLES }) : null;
    process.stderr.write(`${name}: loaded in ${figure(peer.loadMs)} ms, measured\n`);
    return { finals: costs, live: stepped, peakMb: peer.memory().peakMb };
  } catch (error) {
    return { missing: `did not run: ${error instanceof Error ? error.message : String(error)}` };
  } finally {
    await peer?.close();
  }
}

async function costOf(
  peer: Peer,
  { path, seconds }: Stretch,
  rounds: number,
  request: Readonly<Record<string, number>>,
): Promise<Cost> {
  const answers: PeerAnswer[] = [];
  for (let round = 0; round < rounds; round++) answers.push(await peer.transcribe(path, request));
  const least = answers.reduce((best, each) => (each.cpuMs < best.cpuMs ? each : best));
  const longest = answers.map(({ longestMs }) => longestMs ?? Number.NaN);
  return {
    perSecond: least.cpuMs / 1000 / seconds,
    tokens: least.tokens ?? Number.NaN,
    longestMs: Math.min(...longest),
  };
}

function report(found: readonly RowFound[], speech: string): Report {
  return {
    name: 'recognisers',
    about: `What recognisers cost on one thread, on ${speech}, as the phone has them.`,
    tables: [costTable(found), peerTable(found), callTable(found)],
    notes: [
      ...found.map(({ row, ours }) => `${row.name}: ${row.about}${'missing' in ours ? `; ${ours.missing}` : ''}.`),
      `A call has speech ${SPEECH_SHARE * 100} % of its time. Detection of speech and everything else is not counted.`,
      'Random weights say nonsense: what they cost is what counts, and it does not depend on the weights.',
    ],
    goals: PEER_NAMES.flatMap((name) => found.flatMap((row) => goalOf(row, name))),
  };
}

function costTable(found: readonly RowFound[]): Table {
  return {
    title: 'Processor seconds for each second of speech',
    heads: ['model', ...LENGTHS_S.map((seconds) => `final of ${seconds} s`), '400 ms steps', 'held at most, ms', 'MB'],
    rows: found.map(({ row, ours }) => {
      if ('missing' in ours) return [row.name, ...LENGTHS_S.map(() => '–'), '–', '–', '–'];
      const longest = Math.max(...[...ours.finals.values()].map(({ longestMs }) => longestMs));
      return [
        row.name,
        ...LENGTHS_S.map((seconds) => costCell(ours.finals.get(seconds))),
        costCell(ours.live ?? undefined),
        figure(longest),
        figure(ours.peakMb),
      ];
    }),
  };
}

function costCell(cost: Cost | undefined): string {
  return cost === undefined ? '–' : `${figure(cost.perSecond, 4)} (${figure(cost.tokens)} tokens)`;
}

function peerTable(found: readonly RowFound[]): Table {
  return {
    title: 'Beside others: processor seconds for each second of a final of 4 s, peak MB',
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
  return `${figure(found.finals.get(4)?.perSecond ?? Number.NaN, 4)}, ${figure(found.peakMb)} MB`;
}

/** Each recogniser for partials with each for finals. */
function callTable(found: readonly RowFound[]): Table {
  const there = found.flatMap(({ row, ours }) => ('missing' in ours ? [] : [{ name: row.name, ours }]));
  const rows = there.flatMap((fast) =>
    there.map((slow) => {
      const live = fast.ours.live?.perSecond ?? Number.NaN;
      const final = slow.ours.finals.get(4)?.perSecond ?? Number.NaN;
      return [fast.name, slow.name, figure(1 / (SPEECH_SHARE * (live + final)), 1)];
    }),
  );
  return { title: 'Calls that a core holds', heads: ['partials', 'finals', 'calls per core'], rows };
}

function goalOf({ row, ours, peers }: RowFound, name: PeerName): Report['goals'] {
  const peer = peers.get(name);
  if (peer === undefined || 'missing' in peer || 'missing' in ours) return [];
  const ratio = (ours.finals.get(4)?.perSecond ?? Number.NaN) / (peer.finals.get(4)?.perSecond ?? Number.NaN);
  const goal = `${row.name}: at most ${RATIO_MAX[name]} of what ${name} takes for a final of 4 s`;
  return [{ goal, found: figure(ratio, 2), met: ratio <= RATIO_MAX[name] }];
}
