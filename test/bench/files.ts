/**
 * How fast recordings are transcribed on one core, what memory that takes, both beside transformers.js, and whether
 * cutting and joining costs words.
 */
import { type GatewayProcess, startGateway, usageOf } from '../helpers/gateway.ts';
import { LINE_RATE_HZ } from '../helpers/signals.ts';
import { type PeerTiming, TransformersJs, WINDOW_SECONDS } from './files-peer.ts';
import { PEER_VERSIONS } from './peers/install.ts';
import { memoryOf } from './peers/peer.ts';
import type { Prompt } from './prompts.ts';
import { type PromptRecording, recordingOf, sendRecording } from './recordings.ts';
import { figure, type Report } from './report.ts';
import { loadSpeech } from './speech-set.ts';
import { barPlot } from './svg.ts';
import { countEdits, type Edits, sumEdits, wordErrorRate } from './wer/align.ts';
import { normaliseWords } from './wer/normalise.ts';
import { decodeWhole, toEngineRate } from './whole-recordings.ts';

const JOIN_LOSS_MAX = 0.5;
const WER_DIFFERENCE_MAX = 0.3;
/** Longer recordings are not given to the peer a second time, on our pieces. */
const PIECES_MAX_SECONDS = 600;
const PEER = `@huggingface/transformers ${PEER_VERSIONS.transformersJs}`;

/** A recording by one of them. */
interface Row {
  readonly seconds: number;
  readonly who: string;
  readonly wallSeconds: number;
  readonly cpuSeconds: number;
  /** Most resident memory, in MB; of the gateway and of the engine. */
  readonly peakMb: readonly number[];
  readonly wer: number;
}

const [OURS, WINDOWS, PIECES] = [
  'Trunkline',
  `${PEER}, windows of ${WINDOW_SECONDS} s`,
  `${PEER}, Trunkline's pieces`,
] as const;

/** Runs the benchmark on recordings of `lengths` seconds, and the joining on one of `joinSeconds`. */
export async function benchFiles(options: {
  readonly lengths: readonly number[];
  readonly joinSeconds: number;
}): Promise<Report> {
  const { about, prompts } = await loadSpeech();
  const rows: Row[] = [];
  const peer = await TransformersJs.install();
  try {
    for (const seconds of options.lengths) {
      const before = rows.length;
      const recording = recordingOf(prompts, seconds);
      rows.push(await transcribeOurs(recording));
      if (peer instanceof TransformersJs) rows.push(...(await transcribePeer(peer, recording)));
      process.stderr.write(
        `${seconds} s: ${rows
          .slice(before)
          .map(({ wallSeconds }) => `${figure(wallSeconds, 1)} s`)
          .join(', ')}\n`,
      );
    }
  } finally {
    if (peer instanceof TransformersJs) peer.remove();
  }
  const joining = await measureJoining(prompts, options.joinSeconds);
  return report({
    rows,
    missing: peer instanceof TransformersJs ? null : peer.missing,
    joining,
    joinSeconds: options.joinSeconds,
    about,
  });
}

/** A gateway of its own for each recording, so that none inherits another's memory. */
async function transcribeOurs({ samples, words }: PromptRecording): Promise<Row> {
  const gateway = await startGateway({ ENGINE_WORKERS: '1' });
  await sendRecording(gateway.url, samples.subarray(0, 3 * LINE_RATE_HZ));
  const cpuBefore = cpuOf(gateway);
  const startedMs = performance.now();
  const text = await sendRecording(gateway.url, samples);
  const row = {
    seconds: samples.length / LINE_RATE_HZ,
    who: OURS,
    wallSeconds: (performance.now() - startedMs) / 1000,
    cpuSeconds: cpuOf(gateway) - cpuBefore,
    peakMb: [gateway.pid, ...gateway.enginePids()].map((pid) => memoryOf(pid).peakMb),
    wer: errorRate(words, text),
  };
  await gateway.stop();
  return row;
}

function cpuOf(gateway: GatewayProcess): number {
  return [gateway.pid, ...gateway.enginePids()].reduce((sum, pid) => sum + usageOf(pid).cpuSeconds, 0);
}

async function transcribePeer(peer: TransformersJs, { samples, words }: PromptRecording): Promise<Row[]> {
  const seconds = samples.length / LINE_RATE_HZ;
  const audio = toEngineRate(samples);
  const row = (who: string, { text, peakMb, ...times }: PeerTiming): Row => ({
    seconds,
    who,
    ...times,
    peakMb: [peakMb],
    wer: errorRate(words, text),
  });
  const rows = [row(WINDOWS, await peer.inWindows(audio))];
  if (seconds <= PIECES_MAX_SECONDS * 1.1) rows.push(row(PIECES, await peer.inPieces(audio)));
  return rows;
}

function errorRate(words: readonly string[], text: string): number {
  return wordErrorRate(countEdits(words, normaliseWords(text)));
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
  const texts = await decodeWhole(
    used.map((prompt) => prompt.samples),
    { convert: toEngineRate },
  );
  return {
    joined,
    whole: sumEdits(used.map((prompt, index) => countEdits(prompt.words, normaliseWords(texts[index] ?? '')))),
  };
}

interface Found {
  readonly rows: readonly Row[];
  /** Why there is no peer. */
  readonly missing: string | null;
  readonly joining: Joining;
  readonly joinSeconds: number;
  readonly about: string;
}

function report({ rows, missing, joining: { joined, whole }, joinSeconds, about }: Found): Report {
  const loss = wordErrorRate(joined) - wordErrorRate(whole);
  const longest = rows.findLast(({ who }) => who === PIECES);
  const ours = rows.find(({ who, seconds }) => who === OURS && seconds === longest?.seconds);
  const werDifference = (ours?.wer ?? Number.NaN) - (longest?.wer ?? Number.NaN);
  return {
    name: 'files',
    about:
      `Recordings made of ${about} at 8 kHz with pauses between them. Trunkline: sent to POST ` +
      '/v1/audio/transcriptions of an idle gateway with one engine of one thread; ' +
      'upload, decoding, resampling, voice detection and cutting are included, and processor time is that of ' +
      'gateway and engine together. ' +
      `${PEER}: the same weights in one process of one thread, its pipeline on samples that are read and resampled ` +
      'for it.',
    plots: [{ name: 'speed', title: 'Recordings: × real time on one core', svg: speedPlot(rows) }],
    tables: [
      {
        title: 'Speed, memory and error rate',
        heads: [
          'recording, s',
          '',
          'wall, s',
          '× real time',
          '× real time per core',
          'most memory resident, MB',
          'WER, %',
        ],
        rows: rows.map((row) => [
          figure(row.seconds),
          row.who,
          figure(row.wallSeconds, 2),
          figure(row.seconds / row.wallSeconds),
          figure(row.seconds / row.cpuSeconds),
          row.peakMb.map((mb) => figure(mb)).join(' + '),
          figure(row.wer, 2),
        ]),
      },
      {
        title: `Joining: ${figure(joinSeconds / 60)} minutes`,
        heads: ['path', 'WER, %', 'substituted', 'deleted', 'inserted', 'words'],
        rows: [editsRow('one recording, cut and joined', joined), editsRow('each prompt by itself', whole)],
      },
    ],
    notes: [
      `Memory of Trunkline: gateway + engine. ${missing === null ? '' : `${PEER}: ${missing}.`}`.trim(),
      `The pipeline of ${PEER} does not cut long audio for this model, and the model cannot take it whole: whoever ` +
        `uses it cuts. Windows of ${WINDOW_SECONDS} s are what its ` +
        'documentation shows for another model; they cut through words. To see the same text from the same audio, ' +
        'it also gets the pieces that Trunkline cuts, ready made.',
      'The prompts repeat in recordings longer than they are together.',
    ],
    goals: [
      {
        goal: `joining costs at most ${JOIN_LOSS_MAX} points of WER`,
        found: `${figure(loss, 2)} points`,
        met: loss <= JOIN_LOSS_MAX,
      },
      {
        goal: `WER within ${WER_DIFFERENCE_MAX} points of the peer's on the same pieces`,
        found: `${figure(werDifference, 2)} points`,
        met: Math.abs(werDifference) <= WER_DIFFERENCE_MAX,
      },
    ],
  };
}

function editsRow(path: string, edits: Edits): (string | number)[] {
  return [path, figure(wordErrorRate(edits), 2), edits.substitutions, edits.deletions, edits.insertions, edits.words];
}

function speedPlot(rows: readonly Row[]): string {
  const names = [OURS, WINDOWS, PIECES].filter((name) => rows.some(({ who }) => who === name));
  const lengths = [...new Set(rows.map(({ seconds }) => seconds))];
  const speed = (seconds: number, name: string) => {
    const row = rows.find((candidate) => candidate.seconds === seconds && candidate.who === name);
    return row === undefined ? Number.NaN : row.seconds / row.cpuSeconds;
  };
  return barPlot({
    title: 'Recordings: × real time on one core',
    x: { label: 'recording' },
    y: { label: 's of audio per s of processor time' },
    isStacked: false,
    names,
    groups: lengths.map((seconds) => ({
      name: `${figure(seconds)} s`,
      values: names.map((name) => speed(seconds, name)),
    })),
  });
}
