/**
 * What lost and overtaken packets cost the recogniser: human prompts as RTP over a bad line, put together as a call
 * does, each decoded whole.
 */
import { decodeG711, encodeG711 } from '../../src/audio/g711.ts';
import { Timeline } from '../../src/audio/timeline.ts';
import { SETTINGS } from '../../src/foundation/settings/settings.ts';
import { FRAME_MS, MULAW_8K, msToSamples } from '../../src/foundation/units.ts';
import { RtpReceiver } from '../../src/trunks/rtp/receiver.ts';
import { LINE_RATE_HZ, uniform } from '../helpers/signals.ts';
import { concatenate, loadPrompts, type Prompt } from './prompts.ts';
import { figure, type Report } from './report.ts';
import { countEdits, sumEdits, wordErrorRate } from './wer/align.ts';
import { normaliseWords } from './wer/normalise.ts';
import { decodeWhole, toEngineRate } from './whole-recordings.ts';

const FRAME_SAMPLES = msToSamples(FRAME_MS, LINE_RATE_HZ);
/** The recogniser cannot take longer ones whole. */
const PROMPT_MAX_SECONDS = 20;
const REORDER_MS = Number(SETTINGS.REORDER_MS.defaultText);
const GAP_MAX_MS = Number(SETTINGS.GAP_MAX_MS.defaultText);

/**
 * A line: shares of packets lost and overtaken, how many are lost in a row, and whether what is lost is concealed or
 * left silent.
 */
interface BadLine {
  readonly title: string;
  readonly lossShare: number;
  readonly reorderShare: number;
  readonly burst: number;
  readonly silent?: true;
}

const LINES: readonly BadLine[] = [
  { title: 'no loss', lossShare: 0, reorderShare: 0, burst: 1 },
  { title: '10 % overtaken', lossShare: 0, reorderShare: 0.1, burst: 1 },
  { title: '5 % lost', lossShare: 0.05, reorderShare: 0, burst: 1 },
  { title: '10 % lost', lossShare: 0.1, reorderShare: 0, burst: 1 },
  { title: '10 % lost, 10 % overtaken', lossShare: 0.1, reorderShare: 0.1, burst: 1 },
  { title: '10 % lost, three at a time', lossShare: 0.1, reorderShare: 0, burst: 3 },
  { title: '10 % lost and left silent', lossShare: 0.1, reorderShare: 0, burst: 1, silent: true },
];

/** Runs the benchmark on every prompt, or on every `every`-th. */
export async function benchLoss(options: { readonly every: number }): Promise<Report> {
  const short = loadPrompts().filter(({ samples }) => samples.length <= PROMPT_MAX_SECONDS * LINE_RATE_HZ);
  const prompts = short.filter((_, index) => index % options.every === 0);
  const rows: (string | number)[][] = [];
  const rates: number[] = [];
  for (const line of LINES) {
    const texts = await decodeWhole(
      prompts.map(({ samples }) => samples),
      (samples) => toEngineRate(overLine(samples, line)),
    );
    const edits = sumEdits(
      prompts.map((prompt: Prompt, index) => countEdits(prompt.words, normaliseWords(texts[index] ?? ''))),
    );
    rates.push(wordErrorRate(edits));
    rows.push([line.title, figure(wordErrorRate(edits), 2), edits.substitutions, edits.deletions, edits.insertions]);
    process.stderr.write(`${line.title}: ${figure(wordErrorRate(edits), 2)} %\n`);
  }
  const words = prompts.reduce((sum, prompt) => sum + prompt.words.length, 0);
  const [clean = Number.NaN, , , lossy = Number.NaN] = rates;
  return {
    name: 'loss',
    about:
      `${prompts.length} human prompts (${words} words) as RTP of ${FRAME_MS} ms µ-law packets over bad lines, ` +
      'received, put in order and concealed as in a call ' +
      `(REORDER_MS ${REORDER_MS}), each then decoded whole.`,
    tables: [{ title: 'Word error rate', heads: ['line', 'WER, %', 'substituted', 'deleted', 'inserted'], rows }],
    goals: [
      { goal: '10 % loss costs ≤ 4 points', found: `${figure(lossy - clean, 2)} points`, met: lossy - clean <= 4 },
    ],
  };
}

/**
 * What arrives in a call of `samples` (8 kHz) that were sent over `line`; which packets suffer depends on how many
 * there are.
 */
function overLine(samples: Int16Array, line: BadLine): Int16Array {
  const received: Int16Array[] = [];
  const timeline = new Timeline({ rateHz: LINE_RATE_HZ, reorderMs: REORDER_MS, gapMaxMs: GAP_MAX_MS });
  const remote = {
    address: '',
    port: 0,
    rtcpPort: null,
    payloadType: 0,
    codec: MULAW_8K,
    ptimeMs: FRAME_MS,
    telephoneEventType: null,
  };
  const receiver = new RtpReceiver({
    codec: MULAW_8K,
    remote: { ...remote, sends: true, receives: true },
    listener: {
      receiveAudio: ({ bytes, atMs, sequence }) =>
        received.push(...timeline.push({ samples: decodeG711(bytes, MULAW_8K), atMs, sequence })),
      receiveDigit: () => undefined,
    },
    counter: { count: () => undefined },
  });
  for (const index of arrivals(Math.floor(samples.length / FRAME_SAMPLES), line, samples.length)) {
    const lost = index < 0;
    const at = Math.abs(index) * FRAME_SAMPLES;
    const frame = lost ? new Int16Array(FRAME_SAMPLES) : samples.subarray(at, at + FRAME_SAMPLES);
    const payload = encodeG711(frame, MULAW_8K);
    receiver.receive(
      { marker: false, payloadType: 0, sequence: Math.abs(index), timestamp: at, ssrc: 1, payload },
      Math.abs(index) * FRAME_MS,
    );
  }
  return concatenate([...received, ...timeline.flush()]);
}

/** The packets in order of arrival; one with a number below 0 is lost and becomes silence. */
function arrivals(count: number, { lossShare, reorderShare, burst, silent }: BadLine, seed: number): number[] {
  const random = uniform(seed);
  const order: number[] = [];
  let losing = 0;
  for (let i = 0; i < count; i++) {
    if (losing === 0 && i > 0 && random() < lossShare / burst) losing = burst;
    if (losing > 0) {
      losing--;
      if (silent === true) order.push(-i);
      continue;
    }
    if (order.length > 0 && random() < reorderShare) order.splice(-1, 0, i);
    else order.push(i);
  }
  return order;
}
