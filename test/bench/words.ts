/**
 * How well it is known when words were said. Where one prompt follows another without a pause that voice detection
 * would see, the place is known to the sample: there the recogniser's own times are compared with the estimate that
 * serves without them.
 */

import { ENGINE_RATE_HZ, VAD_WINDOW_SAMPLES } from '../../engine/contract.ts';
import type { Asr, Vad } from '../../engine/models/model.ts';
import { loadMoonshine } from '../../engine/models/moonshine.ts';
import { loadSilero } from '../../engine/models/silero.ts';
import { FIXED_ENGINE_SETTINGS } from '../../src/engine-client/engine-client-factory.ts';
import { readSettings } from '../../src/foundation/settings/config.ts';
import { timeClipWords } from '../../src/transcription/clip-word-times.ts';
import { ClipCutter, type RecordedClip } from '../../src/transcription/speech-clips.ts';
import { finish } from '../engine/speech.ts';
import { LINE_RATE_HZ } from '../helpers/signals.ts';
import { concatenate, loadPrompts, type Prompt } from './prompts.ts';
import { figure, quantile, type Report } from './report.ts';
import { normaliseWords } from './wer/normalise.ts';
import { throughPhone } from './whole-recordings.ts';

/** Two prompts that together fit into one piece. */
const PAIR_MAX_S = 9;
const GAP_S = 0.08;
/** Of a prompt's loudest sample: what is below it before the first and behind the last word is cut off. */
const QUIET = 0.04;

interface Pair {
  readonly samples: Int16Array;
  readonly words: readonly string[];
  /** Words of the first prompt. */
  readonly before: number;
  /** When the second one begins. */
  readonly jointMs: number;
}

/** Errors in ms at the joints, and what the times cost. */
interface Found {
  readonly alignedMs: number[];
  readonly estimatedMs: number[];
  readonly plainMs: number[];
  readonly timedMs: number[];
  pairs: number;
  refused: number;
}

/** Runs the benchmark on every so-many-th pair of prompts. */
export async function benchWords({ every }: { readonly every: number }): Promise<Report> {
  const settings = readSettings({});
  const device = { provider: 'cpu' } as const;
  const { asr } = await loadMoonshine({
    device,
    threads: 1,
    graphs: 'rewritten',
    cacheDir: settings.MODEL_CACHE_DIR,
    runTokens: FIXED_ENGINE_SETTINGS.decodeRunTokens,
    progress: () => undefined,
  });
  const vad = await loadSilero({ threads: 1 });
  const found: Found = { alignedMs: [], estimatedMs: [], plainMs: [], timedMs: [], pairs: 0, refused: 0 };
  for (const pair of pairsOf(loadPrompts()).filter((_, index) => index % every === 0)) {
    const pieces = await cut(pair.samples, vad, new ClipCutter(settings));
    const [piece] = pieces;
    if (piece !== undefined && pieces.length === 1) await measure(pair, { piece, asr, found });
  }
  return report(found);
}

function pairsOf(prompts: readonly Prompt[]): Pair[] {
  return prompts.flatMap((second, index) => {
    const first = prompts[(index + 1) % prompts.length];
    if (first === undefined) return [];
    const parts = [trim(first.samples), new Int16Array(GAP_S * LINE_RATE_HZ), trim(second.samples)];
    const whole = concatenate(parts);
    if (whole.length > PAIR_MAX_S * LINE_RATE_HZ) return [];
    const joint = (parts[0]?.length ?? 0) + (parts[1]?.length ?? 0);
    const words = [...first.words, ...second.words];
    return [
      { samples: throughPhone(whole), words, before: first.words.length, jointMs: (1000 * joint) / LINE_RATE_HZ },
    ];
  });
}

function trim(samples: Int16Array): Int16Array {
  const limit = QUIET * samples.reduce((most, sample) => Math.max(most, Math.abs(sample)), 0);
  const isLoud = (sample: number) => Math.abs(sample) > limit;
  return samples.slice(samples.findIndex(isLoud), samples.findLastIndex(isLoud) + 1);
}

async function cut(samples: Int16Array, vad: Vad, cutter: ClipCutter): Promise<RecordedClip[]> {
  const padded = new Int16Array(Math.ceil(samples.length / VAD_WINDOW_SAMPLES + 1) * VAD_WINDOW_SAMPLES);
  padded.set(samples);
  const [track] = (await finish(vad.detect([{ samples: padded, state: null }]))).result;
  return [...cutter.push(padded, track?.probabilities ?? new Float32Array(0)), ...cutter.finish()];
}

/** Only where every word was understood is it certain which of them begins at the joint. */
async function measure(
  { words, before, jointMs }: Pair,
  { piece, asr, found }: { piece: RecordedClip; asr: Asr; found: Found },
): Promise<void> {
  const plain = await timeRun(asr, piece, false);
  const timed = await timeRun(asr, piece, true);
  found.plainMs.push(plain.tookMs);
  found.timedMs.push(timed.tookMs);
  const { text, words: spoken = [] } = timed.result;
  if (normaliseWords(text).join(' ') !== words.join(' ')) return;
  const { words: estimated } = timeClipWords(text, undefined, piece);
  const index = estimated.findIndex((_, at) => normaliseWords(textTo(estimated, at)).length === before);
  const { words: timedWords, wordTimes } = timeClipWords(text, spoken, piece);
  if (index === -1) return;
  found.pairs++;
  if (wordTimes === 'estimated') found.refused++;
  found.estimatedMs.push(Math.abs((estimated[index]?.startMs ?? 0) - jointMs));
  found.alignedMs.push(Math.abs((timedWords[index]?.startMs ?? 0) - jointMs));
}

function textTo(words: readonly { readonly text: string }[], end: number): string {
  return words
    .slice(0, end)
    .map(({ text }) => text)
    .join(' ');
}

async function timeRun(asr: Asr, { spliced: { samples } }: RecordedClip, timed: boolean) {
  const startMs = performance.now();
  const { result } = await finish(asr.transcribe(samples, [], { timed }));
  return { result, tookMs: ((performance.now() - startMs) * ENGINE_RATE_HZ) / samples.length };
}

function report({ alignedMs, estimatedMs, plainMs, timedMs, pairs, refused }: Found): Report {
  const row = (name: string, errorsMs: readonly number[]) => [
    name,
    figure(mean(errorsMs)),
    ...[0.5, 0.9, 1].map((share) => figure(quantile(errorsMs, share))),
  ];
  return {
    name: 'words',
    about:
      `When was a word said? Two human prompts, trimmed and ${1000 * GAP_S} ms apart, through µ-law, as one piece: ` +
      `the second one's first word begins at a known place. ` +
      `${pairs} pairs in which every word was understood.`,
    tables: [
      {
        title: 'Error of the start of a word, ms',
        heads: ['times', 'mean', 'median', 'p90', 'most'],
        rows: [row('estimated', estimatedMs), row('aligned', alignedMs)],
      },
      {
        title: 'Cost',
        heads: ['', 'ms for a second of speech'],
        rows: [
          ['text', figure(mean(plainMs), 1)],
          ['text and times', figure(mean(timedMs), 1)],
        ],
      },
    ],
    goals: [
      {
        goal: 'half of the error of the estimate',
        found: `${figure(mean(alignedMs) / mean(estimatedMs), 2)} ×`,
        met: mean(alignedMs) <= mean(estimatedMs) / 2,
      },
      { goal: 'seldom given up', found: `${refused} of ${pairs}`, met: refused <= pairs / 20 },
    ],
  };
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / Math.max(values.length, 1);
}
