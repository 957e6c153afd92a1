/**
 * What lost and overtaken packets cost the recogniser: human prompts as RTP over a bad line, put together as a call
 * does, each decoded whole.
 */
import { FRAME_MS } from '../../src/foundation/units.ts';
import { LINE_RATE_HZ } from '../helpers/signals.ts';
import { type BadLine, overLine, REORDER_MS } from './bad-line.ts';
import { loadPrompts, type Prompt } from './prompts.ts';
import { figure, type Report } from './report.ts';
import { countEdits, sumEdits, wordErrorRate } from './wer/align.ts';
import { normaliseWords } from './wer/normalise.ts';
import { decodeWhole, toEngineRate } from './whole-recordings.ts';

/** The recogniser cannot take longer ones whole. */
const PROMPT_MAX_SECONDS = 20;

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
      { convert: (samples) => toEngineRate(overLine(samples, line)) },
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
