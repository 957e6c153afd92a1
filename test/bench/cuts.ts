/**
 * Where speech without pauses is cut: what the cuts cost words, and how long the words before a cut wait for it. In the
 * time of the audio, so that it does not matter what else the machine does.
 */
import { ENGINE_RATE_HZ } from '../../engine/contract.ts';
import { Resampler } from '../../src/audio/resample.ts';
import type { Engine } from '../../src/engine-client/engine.ts';
import { MULAW_8K } from '../../src/foundation/units.ts';
import { LiveTranscriber } from '../../src/transcription/live-transcriber.ts';
import { readSettings } from '../helpers/settings.ts';
import { AudioClock, NO_METRICS } from './audio-clock.ts';
import { concatenate, loadPrompts, type Prompt } from './prompts.ts';
import { figure, quantile, type Report } from './report.ts';
import { startEngineClient } from './start-engine-client.ts';
import { countEdits, sumEdits, wordErrorRate } from './wer/align.ts';
import { normaliseWords } from './wer/normalise.ts';

const WORDS_MIN = 6;
const PROMPTS_PER_TALK = 14;
/** What is quieter at the edges of a prompt is cut off, but for some samples. */
const QUIET = 300;
const EDGE_SAMPLES = 200;
const GOAL_WAIT_MS = 1000;

interface Heard {
  readonly text: string;
  /** From the last sound before each cut to the time at which it was known, in ms of the audio. */
  readonly waitsMs: readonly number[];
  readonly lengthsMs: readonly number[];
}

/** Runs the benchmark over `talks` talks of nearly a minute each. */
export async function benchCuts({ talks }: { readonly talks: number }): Promise<Report> {
  const prompts = loadPrompts(WORDS_MIN).slice(0, talks * PROMPTS_PER_TALK);
  const engine = await startEngineClient(1);
  const heard: Heard[] = [];
  const edits = [];
  try {
    for (let at = 0; at + PROMPTS_PER_TALK <= prompts.length; at += PROMPTS_PER_TALK) {
      const said = prompts.slice(at, at + PROMPTS_PER_TALK);
      const found = await hear(engine, said);
      heard.push(found);
      edits.push(
        countEdits(
          said.flatMap(({ words }) => [...words]),
          normaliseWords(found.text),
        ),
      );
    }
  } finally {
    await engine.close();
  }
  const waitsMs = heard.flatMap((each) => each.waitsMs);
  const lengthsMs = heard.flatMap((each) => each.lengthsMs);
  const sum = sumEdits(edits);
  const p95 = quantile(waitsMs, 0.95);
  return {
    name: 'cuts',
    about:
      `Human prompts behind one another without pauses, ${PROMPTS_PER_TALK} to a talk. Speech that is too long for ` +
      'one utterance is cut; a word before the cut waits until the place is known, and is read then.',
    tables: [
      {
        title: 'Cuts',
        heads: ['talks', 'words', 'wrong, %', 'cuts', 'utterance, s', 'wait for the cut p50, ms', 'p95', 'most'],
        rows: [
          [
            heard.length,
            sum.words,
            figure(wordErrorRate(sum), 2),
            waitsMs.length,
            figure(quantile(lengthsMs, 0.5) / 1000, 1),
            figure(quantile(waitsMs, 0.5)),
            figure(p95),
            figure(Math.max(...waitsMs)),
          ],
        ],
      },
    ],
    goals: [
      {
        goal: `a word waits ≤ ${GOAL_WAIT_MS} ms for a cut, p95`,
        found: `${figure(p95)} ms`,
        met: p95 <= GOAL_WAIT_MS,
      },
    ],
  };
}

async function hear(engine: Engine, prompts: readonly Prompt[]): Promise<Heard> {
  const silence = new Int16Array(2 * MULAW_8K.rateHz);
  const audio = new Resampler(MULAW_8K.rateHz, ENGINE_RATE_HZ).push(
    concatenate([...prompts.map(({ samples }) => trimmed(samples)), silence]),
  );
  const texts: string[] = [];
  const [waitsMs, lengthsMs]: [number[], number[]] = [[], []];
  const clock = new AudioClock();
  const transcriber = new LiveTranscriber({
    settings: readSettings({ JOIN_MS: '0' }),
    engine,
    clock,
    originMs: 0,
    partials: false,
    emit: (event) => {
      if (event.type === 'caption' && event.final) texts.push(event.text);
    },
    onSettled: ({ isCut, decidedMs, stoppedMs, speechMs }) => {
      if (!isCut) return;
      waitsMs.push(decidedMs - stoppedMs);
      lengthsMs.push(speechMs);
    },
    metrics: NO_METRICS,
  });
  await clock.play(audio, transcriber);
  return { text: texts.join(' '), waitsMs, lengthsMs };
}

function trimmed(samples: Int16Array): Int16Array {
  const isLoud = (sample: number): boolean => Math.abs(sample) >= QUIET;
  const [from, to] = [samples.findIndex(isLoud), samples.findLastIndex(isLoud)];
  return samples.subarray(Math.max(from - EDGE_SAMPLES, 0), to + EDGE_SAMPLES);
}
