/**
 * How well live finals know when their words were said. Words that a voice said one by one are put behind one another
 * with pauses, so that the start of each is known to the sample.
 */
import { ENGINE_RATE_HZ } from '../../engine/contract.ts';
import { Resampler } from '../../src/audio/resample.ts';
import type { Engine } from '../../src/engine-client/engine.ts';
import { systemClock } from '../../src/foundation/clock.ts';
import { spreadWords } from '../../src/transcription/estimated-word-times.ts';
import { type Caption, LiveTranscriber } from '../../src/transcription/live-transcriber.ts';
import { readSettings } from '../helpers/settings.ts';
import { figure, quantile, type Report } from './report.ts';
import { startEngineClient } from './start-engine-client.ts';
import { normaliseWords } from './wer/normalise.ts';

const SENTENCES = [
  'please call my office tomorrow morning',
  'the number is seven three nine two',
  'we need another bottle of water',
  'your account was closed last september',
  'open the window and close the door',
  'nobody answered when I called again',
  'send the letter to my old address',
  'there are eleven people in this room',
];
/** Pauses between words, in ms: drawn from these, in turn. None of them ends an utterance here. */
const PAUSES_MS = [
  [40, 60, 80, 50, 70],
  [60, 700, 60, 450, 80],
] as const;
const LEAD_MS = 400;
/** Of a word's loudest sample: what is below it before and behind the word is cut off. */
const QUIET = 0.02;
const ENDPOINT_MS = 2000;

interface Phrase {
  readonly samples: Int16Array;
  readonly words: readonly string[];
  readonly startsMs: readonly number[];
}

/** Runs the benchmark with each voice of `voices`. */
export async function benchLiveWords({ voices }: { readonly voices: readonly string[] }): Promise<Report> {
  const engine = await startEngineClient(1);
  try {
    const rows: string[][] = [];
    const means = new Map<string, number>();
    for (const [index, pauses] of PAUSES_MS.entries()) {
      const found = await measure(engine, voices, pauses);
      const title = index === 0 ? 'short pauses' : 'long pauses';
      for (const [name, errorsMs] of Object.entries(found.errorsMs)) {
        means.set(`${title} ${name}`, mean(errorsMs));
        const shares = [0.5, 0.9].map((share) => figure(quantile(errorsMs, share)));
        rows.push([title, name, String(errorsMs.length), figure(mean(errorsMs)), ...shares]);
      }
      rows.push([
        title,
        'ms to a final, without and with times',
        '',
        ...found.tookMs.map((ms) => figure(mean(ms))),
        '',
      ]);
    }
    return report(rows, means);
  } finally {
    await engine.close();
  }
}

async function measure(engine: Engine, voices: readonly string[], pauses: readonly number[]) {
  const errorsMs: Record<string, number[]> = { spread: [], estimated: [], aligned: [] };
  const tookMs: [number[], number[]] = [[], []];
  for (const voice of voices) {
    for (const sentence of SENTENCES) {
      const phrase = await say(engine, { voice, sentence, pauses });
      const untimed = await hear(without(engine), phrase);
      const timed = await hear(engine, phrase);
      if (untimed === null || timed === null) continue;
      tookMs[0].push(untimed.tookMs);
      tookMs[1].push(timed.tookMs);
      const { text, startMs, endMs, words = [] } = timed.caption;
      note(errorsMs['spread'], phrase, spreadWords(text, startMs, endMs));
      note(errorsMs['estimated'], phrase, untimed.caption.words ?? []);
      note(errorsMs['aligned'], phrase, words);
    }
  }
  return { errorsMs, tookMs };
}

/** The same recogniser, which says no times. */
function without(engine: Engine): Engine {
  return new Proxy(engine, {
    get: (target, name) => {
      if (name === 'transcribe')
        return (request: Parameters<Engine['transcribe']>[0]) => target.transcribe({ ...request, timed: false });
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

function note(errorsMs: number[] = [], { startsMs }: Phrase, words: readonly { readonly startMs: number }[]): void {
  for (const [index, startMs] of startsMs.entries()) errorsMs.push(Math.abs((words[index]?.startMs ?? 0) - startMs));
}

async function say(
  engine: Engine,
  { voice, sentence, pauses }: { voice: string; sentence: string; pauses: readonly number[] },
): Promise<Phrase> {
  const words = sentence.split(' ');
  const parts: Int16Array[] = [new Int16Array((LEAD_MS * ENGINE_RATE_HZ) / 1000)];
  const startsMs: number[] = [];
  let length = parts[0]?.length ?? 0;
  for (const [index, text] of words.entries()) {
    const sound = await engine.speak({ text, voice, speed: 1, urgency: 'speak', dueInMs: 1000 });
    const resampler = new Resampler(sound.rateHz, ENGINE_RATE_HZ);
    const spoken = trim(Int16Array.from([...resampler.push(sound.samples), ...resampler.flush()]));
    const pause = new Int16Array(((pauses[index % pauses.length] ?? 0) * ENGINE_RATE_HZ) / 1000);
    startsMs.push((1000 * length) / ENGINE_RATE_HZ);
    parts.push(spoken, pause);
    length += spoken.length + pause.length;
  }
  parts.push(new Int16Array((LEAD_MS * ENGINE_RATE_HZ) / 1000));
  return { samples: Int16Array.from(parts.flatMap((part) => [...part])), words, startsMs };
}

function trim(samples: Int16Array): Int16Array {
  const limit = QUIET * samples.reduce((most, sample) => Math.max(most, Math.abs(sample)), 0);
  const isLoud = (sample: number) => Math.abs(sample) > limit;
  return samples.slice(samples.findIndex(isLoud), samples.findLastIndex(isLoud) + 1);
}

/** Null where not every word was understood: then it is not certain which is which. */
async function hear(engine: Engine, { samples, words }: Phrase) {
  const finals: Caption[] = [];
  const nothing = (): void => undefined;
  let tookMs = 0;
  const transcriber = new LiveTranscriber({
    engine,
    clock: systemClock,
    settings: { ...readSettings({ JOIN_MS: '0' }), ENDPOINT_MS },
    originMs: 0,
    partials: false,
    wordTimes: true,
    metrics: { partial: nothing, final: nothing, partialDropped: nothing, finalLost: nothing, joint: nothing },
    emit: (event) => event.type === 'caption' && event.final && finals.push(event),
    onSettled: ({ decode }) => {
      tookMs = decode === null ? 0 : decode.answeredMs - decode.askedMs;
    },
  });
  transcriber.push(samples);
  await transcriber.end();
  const [caption] = finals;
  if (caption === undefined || finals.length > 1) return null;
  return normaliseWords(caption.text).join(' ') === normaliseWords(words.join(' ')).join(' ') &&
    caption.words?.length === words.length
    ? { caption, tookMs }
    : null;
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / Math.max(values.length, 1);
}

function report(rows: readonly string[][], means: ReadonlyMap<string, number>): Report {
  const [spread = 0, aligned = 0] = ['spread', 'aligned'].map((name) => means.get(`long pauses ${name}`));
  return {
    name: 'live-words',
    about:
      'When was a word of a live final said? Words that a voice said one by one, with known pauses between them; ' +
      'phrases in which every word was understood.',
    tables: [
      { title: 'Error of the start of a word, ms', heads: ['pauses', 'times', 'words', 'mean', 'median', 'p90'], rows },
    ],
    goals: [
      {
        goal: 'the times of finals are better than letters spread over them',
        found: `${figure(aligned)} ms instead of ${figure(spread)}`,
        met: aligned < spread,
      },
    ],
  };
}
