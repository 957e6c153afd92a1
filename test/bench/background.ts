/**
 * Callers with others behind them: what is put into the caller's mouth, whether turns end in time, and whether others
 * interrupt. In the time of the audio, so that it does not matter what else the machine does.
 */
import type { Engine } from '../../src/engine-client/engine.ts';
import { type Caption, LiveTranscriber } from '../../src/transcription/live-transcriber.ts';
import { readSettings } from '../helpers/settings.ts';
import { AudioClock, NO_METRICS } from './audio-clock.ts';
import { type BackgroundKind, CALLER_DB, LEAD_MS, mixScene, type SpokenScene } from './background-talk.ts';
import { loadPrompts } from './prompts.ts';
import { figure, quantile, type Report } from './report.ts';
import { startEngineClient } from './start-engine-client.ts';
import { countEdits, wordErrorRate } from './wer/align.ts';
import { normaliseWords } from './wer/normalise.ts';
import { throughPhone } from './whole-recordings.ts';

const WORDS_MIN = 4;
const PROMPT_MAX_SAMPLES = 6 * 8000;
/** The endpoint of calls with an app, and how much later the end of a turn may be told. */
const ENDPOINT_MS = 400;
const LATE_MS = 400;
/** What is awaited of a final is waited for in the time of the audio. */
const FINAL_WAIT_MS = 100;

interface BackgroundBenchOptions {
  readonly prompts: number;
  readonly kinds: readonly BackgroundKind[];
  readonly belowDb: readonly number[];
}

/** What was heard of one scene. */
interface Heard {
  readonly finals: readonly Caption[];
  /** When turns were told to be over, and when somebody began to speak who may interrupt. */
  readonly turnsMs: readonly number[];
  readonly startsMs: readonly number[];
}

interface Found {
  readonly wrong: number;
  readonly inTime: number;
  readonly lateP50Ms: number;
  readonly interrupts: number;
  readonly marked: number;
}

/** Runs the benchmark. */
export async function benchBackground({ prompts, kinds, belowDb }: BackgroundBenchOptions): Promise<Report> {
  const said = loadPrompts(WORDS_MIN)
    .filter(({ samples }) => samples.length <= PROMPT_MAX_SAMPLES)
    .filter((_, index, all) => index % Math.max(Math.floor(all.length / prompts), 1) === 0)
    .slice(0, prompts);
  const engine = await startEngineClient(1);
  const rows: (string | number)[][] = [];
  const all: { belowDb: number; found: Found }[] = [];
  try {
    for (const kind of [null, ...kinds])
      for (const below of kind === null ? [0] : belowDb) {
        const scene = mixScene(said, kind, below);
        const keep = judge(scene, await hear(engine, scene, false));
        const mark = judge(scene, await hear(engine, scene, true));
        all.push({ belowDb: kind === null ? Number.POSITIVE_INFINITY : below, found: mark });
        rows.push([kind ?? 'nobody', kind === null ? '' : `−${below}`, ...cells(keep, mark)]);
        process.stderr.write(`${rows.at(-1)?.join(' | ')}\n`);
      }
  } finally {
    await engine.close();
  }
  return report(rows, all, said.length);
}

async function hear(engine: Engine, scene: SpokenScene, marksBackground: boolean): Promise<Heard> {
  const audio = throughPhone(scene.samples);
  const finals: Caption[] = [];
  const [turnsMs, startsMs]: [number[], number[]] = [[], []];
  const clock = new AudioClock();
  const ignore = (): void => undefined;
  const transcriber = new LiveTranscriber({
    settings: { ...readSettings({ JOIN_MS: '0' }), ENDPOINT_MS },
    engine,
    clock,
    originMs: 0,
    partials: false,
    marksBackground,
    turns: { isWanted: () => true, expected: () => null, onEnded: ignore, onContinued: ignore, onAnswer: ignore },
    emit: (event) => {
      if (event.type === 'caption' && event.final) finals.push(event);
      if (event.type === 'turn.ended') turnsMs.push(clock.nowMs());
      if (event.type === 'speech.certain' || (event.type === 'speech.started' && event.isUnsure !== true))
        startsMs.push(clock.nowMs());
    },
    metrics: NO_METRICS,
  });
  await clock.play(audio, transcriber, FINAL_WAIT_MS);
  return { finals, turnsMs, startsMs };
}

function judge({ words, stretches }: SpokenScene, { finals, turnsMs, startsMs }: Heard): Found {
  const callers = finals.filter(({ background }) => background !== true);
  const text = callers.map((caption) => caption.text).join(' ');
  const latesMs = stretches.map(({ endMs }, index) => {
    const nextMs = stretches[index + 1]?.startMs ?? Number.POSITIVE_INFINITY;
    const turnMs = turnsMs.find((ms) => ms > endMs - ENDPOINT_MS / 2 && ms < nextMs);
    return turnMs === undefined ? Number.POSITIVE_INFINITY : turnMs - endMs;
  });
  const isCaller = (ms: number): boolean =>
    stretches.some(({ startMs, endMs }) => ms >= startMs - 50 && ms <= endMs + 50);
  return {
    wrong: wordErrorRate(countEdits(words, normaliseWords(text))),
    inTime: latesMs.filter((ms) => ms <= ENDPOINT_MS + LATE_MS).length / stretches.length,
    lateP50Ms: quantile(latesMs, 0.5),
    interrupts: startsMs.filter((ms) => !isCaller(ms)).length,
    marked: finals.length - callers.length,
  };
}

function cells(keep: Found, mark: Found): (string | number)[] {
  const pair = (name: (found: Found) => string): string[] => [name(keep), name(mark)];
  return [
    ...pair(({ wrong }) => figure(wrong, 1)),
    ...pair(({ inTime }) => figure(100 * inTime)),
    ...pair(({ lateP50Ms }) => (Number.isFinite(lateP50Ms) ? figure(lateP50Ms) : 'never')),
    ...pair(({ interrupts }) => String(interrupts)),
    mark.marked,
  ];
}

function report(
  rows: readonly (readonly (string | number)[])[],
  all: readonly { readonly belowDb: number; readonly found: Found }[],
  prompts: number,
): Report {
  const far = all.filter(({ belowDb }) => belowDb >= 15).map(({ found }) => found);
  const least = Math.min(...far.map(({ inTime }) => inTime));
  const interrupts = far.reduce((sum, found) => sum + found.interrupts, 0);
  return {
    name: 'background',
    about:
      `${prompts} human prompts at ${CALLER_DB} dB of full scale, with pauses, and others behind them all the time, ` +
      `also in the ${LEAD_MS / 1000} s before the first: a man who speaks Italian, a woman who speaks French, six ` +
      'voices at once, music. `keep` = BACKGROUND_VOICES=keep, as it was before; `mark` = the default. In the time ' +
      'of the audio.',
    tables: [
      {
        title: 'Callers with others behind them',
        heads: [
          'behind the caller',
          'dB',
          'words wrong keep, %',
          'mark',
          'turns ended in time keep, %',
          'mark',
          'end of a turn p50 keep, ms',
          'mark',
          'false interruptions keep',
          'mark',
          'marked finals',
        ],
        rows,
      },
    ],
    notes: [
      `In time: at most ${ENDPOINT_MS + LATE_MS} ms after the last word, with an endpoint of ${ENDPOINT_MS} ms.`,
      'A false interruption is speech that would pause or interrupt what is said, begun while the caller is silent.',
      'The caller speaks English, as the recogniser does; what it makes of the others is marked or wrong.',
    ],
    goals: [
      {
        goal: 'from 15 dB on, 95 % of turns end in time',
        found: `${figure(100 * least)} %`,
        met: least >= 0.95,
      },
      { goal: 'from 15 dB on, nobody else interrupts', found: String(interrupts), met: interrupts === 0 },
    ],
  };
}
