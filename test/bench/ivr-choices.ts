/**
 * What an IVR makes of answers: synthetic voices and a person answer its questions over the phone, through noise and
 * losses; the recogniser's words are understood as flows do. And what of noise cuts its prompts off.
 */
import { availableParallelism } from 'node:os';
import type { ManagedEngine } from '../../src/engine-client/managed-engine.ts';
import type { FlowValue } from '../../src/flows/file/conditions.ts';
import { isSure } from '../../src/flows/verbs/question.ts';
import { systemClock } from '../../src/foundation/clock.ts';
import { readSettings } from '../../src/foundation/settings/config.ts';
import { msToSamples } from '../../src/foundation/units.ts';
import type { ExpectedAnswer } from '../../src/transcription/expected-answer.ts';
import { LiveTranscriber } from '../../src/transcription/live-transcriber.ts';
import { TrackLanguage } from '../../src/transcription/track-language.ts';
import { TurnText } from '../../src/transcription/turn-text.ts';
import { TEST_MODELS_DIR } from '../helpers/installed-models.ts';
import { gaussian, LINE_RATE_HZ, nonSpeechSignals, pinkNoise } from '../helpers/signals.ts';
import { type BargeInFound, measureBargeIn } from './backchannels.ts';
import { type BadLine, overLine } from './bad-line.ts';
import { ANSWERS, expectationOf, loadHumanAnswers, meaning, type SpokenAnswer } from './ivr-choices-set.ts';
import { concatenate } from './prompts.ts';
import { figure, type Report, type Table } from './report.ts';
import { startEngineClient } from './start-engine-client.ts';
import { throughPhone, toLineRate } from './whole-recordings.ts';

const VOICES = ['hibari:heart', 'rms', 'slt', 'awb', 'kal', 'espeak:en-us'];
const VOICES_MAX = 5;
const PERSON = 'a person';
/** Pauses around an answer. */
const BEFORE_MS = 700;
const AFTER_MS = 1800;
const AT_ONCE = 4;
/** Noise of a quiet line, 66 dB below full scale. */
const LINE_RMS = 0.0005;
const SETTINGS = readSettings({});
const NO_METRICS = {
  partial: () => undefined,
  final: () => undefined,
  partialDropped: () => undefined,
  finalLost: () => undefined,
  joint: () => undefined,
};
const NOISE_SECONDS = 20;
const BARGE_IN_SECONDS = 6;
const RIGHT_MIN = 0.9;
const WRONG_MAX = 0.03;

/** A line: noise below the speech by so many dB, and losses. */
interface Condition {
  readonly title: string;
  readonly snrDb?: number;
  readonly loss?: BadLine;
}

const FIVE_LOST: BadLine = { title: '5 % lost', lossShare: 0.05, reorderShare: 0, burst: 1 };
const CONDITIONS: readonly Condition[] = [
  { title: 'µ-law' },
  { title: 'noise 20 dB below', snrDb: 20 },
  { title: 'noise 10 dB below', snrDb: 10 },
  { title: 'noise 5 dB below', snrDb: 5 },
  { title: '5 % of packets lost', loss: FIVE_LOST },
  { title: 'noise 20 dB below, 5 % lost', snrDb: 20, loss: FIVE_LOST },
];

interface Sounding extends SpokenAnswer {
  readonly voice: string;
  /** 8 kHz. */
  readonly samples: Int16Array;
}

interface Outcome extends Sounding {
  readonly condition: string;
  readonly heard: string;
  readonly understood: FlowValue;
}

/** Runs the benchmark with every `every`-th answer. */
export async function benchChoices({ every }: { readonly every: number }): Promise<Report> {
  const synthetic = await speakAnswers(ANSWERS.filter((_, index) => index % every === 0));
  const { answers, missing } = loadHumanAnswers();
  const human = answers.filter((_, index) => index % every === 0).map((answer) => ({ ...answer, voice: PERSON }));
  const outcomes: Outcome[] = [];
  const unexpected: Outcome[] = [];
  const engine = await startEngineClient(availableParallelism());
  for (const condition of CONDITIONS) {
    const all = [...synthetic.said, ...human];
    const found = await hear(engine, all, { condition, isExpected: true });
    const before = await hear(engine, all, { condition, isExpected: false });
    outcomes.push(...found);
    unexpected.push(...before);
    process.stderr.write(
      `${condition.title}: ${share(found, isRight)} right, ${share(found, isWrong)} wrong; without expectations ` +
        `${share(before, isRight)} and ${share(before, isWrong)}\n`,
    );
  }
  await engine.close();
  for (const { condition, voice, kind, text, value, heard, understood } of outcomes.filter((each) => !isRight(each)))
    console.log(`${condition}, ${voice}, ${kind}: ${text} (${value}) heard as "${heard}": ${understood}`);
  const cut = await bargeIns();
  const lacking = [
    ...synthetic.lacking,
    ...(missing > 0 ? [`${missing} recordings of asterisk-core-sounds-en-wav`] : []),
  ];
  return report({ outcomes, unexpected, cut, lacking });
}

async function speakAnswers(answers: readonly SpokenAnswer[]): Promise<{ said: Sounding[]; lacking: string[] }> {
  const engine = await startEngineClient(1, { MODELS_DIR: TEST_MODELS_DIR || 'none' });
  const there = VOICES.filter((voice) => engine.voices.some(({ name }) => name === voice));
  const said: Sounding[] = [];
  for (const voice of there.slice(0, VOICES_MAX)) {
    for (const answer of answers) {
      const request = { text: answer.text, voice, speed: 1, urgency: 'batch', dueInMs: 600_000 } as const;
      const { samples, rateHz } = await engine.speak(request);
      said.push({ ...answer, voice, samples: toLineRate(samples, rateHz) });
    }
    process.stderr.write(`${voice}: ${answers.length} answers\n`);
  }
  await engine.close();
  return { said, lacking: VOICES.filter((voice) => !there.includes(voice)).map((voice) => `the voice ${voice}`) };
}

/** Understands all of it as calls do, as fast as the engines can. */
async function hear(
  engine: ManagedEngine,
  sounding: readonly Sounding[],
  { condition, isExpected }: { readonly condition: Condition; readonly isExpected: boolean },
): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  const waiting = [...sounding.entries()];
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
        const [index, answer] = next;
        const expected = isExpected ? expectationOf(answer.kind) : null;
        const { text, confidence } = await transcribe(engine, onLine(answer, condition), expected);
        const understood = !isExpected || isSure({ confidence }) ? meaning(answer.kind, text) : null;
        outcomes[index] = { ...answer, condition: condition.title, heard: text, understood };
      }
    }),
  );
  return outcomes;
}

/** The words of a turn, and the least confidence of its finals. */
async function transcribe(engine: ManagedEngine, line: Int16Array, answer: ExpectedAnswer | null) {
  const turn = new TurnText();
  let confidence: number | null = null;
  const transcriber = new LiveTranscriber({
    settings: SETTINGS,
    engine,
    clock: systemClock,
    originMs: 0,
    partials: false,
    urgency: 'batch',
    metrics: NO_METRICS,
    expected: { language: new TrackLanguage(), hotWords: [], answer },
    emit: (event) => {
      if (event.type === 'caption') turn.add(event);
      if (event.type === 'revision') turn.revise(event);
      if (event.type === 'caption' && event.confidence !== undefined)
        confidence = Math.min(confidence ?? 1, event.confidence);
    },
  });
  transcriber.push(throughPhone(line));
  await transcriber.end();
  transcriber.close();
  return { text: turn.take(Number.POSITIVE_INFINITY), confidence };
}

/** The answer as it arrives, on a line that is never quite silent. */
function onLine({ samples }: Sounding, { snrDb, loss }: Condition): Int16Array {
  const silence = (ms: number) => new Int16Array(msToSamples(ms, LINE_RATE_HZ));
  const clean = concatenate([silence(BEFORE_MS), samples, silence(AFTER_MS)]);
  const noise = pinkNoise(NOISE_SECONDS, 0.1, gaussian(18));
  const speech = clean.filter((sample) => Math.abs(sample) > 100);
  const wanted = snrDb === undefined ? LINE_RMS * 32_768 : level(speech) / 10 ** (snrDb / 20);
  const gain = wanted / level(noise);
  const mixed = clean.map((sample, index) => {
    const sum = sample + gain * (noise[index % noise.length] ?? 0);
    return Math.max(-32_768, Math.min(32_767, Math.round(sum)));
  });
  return loss === undefined ? mixed : overLine(mixed, loss);
}

function level(samples: Int16Array): number {
  return Math.sqrt(samples.reduce((sum, sample) => sum + sample * sample, 0) / Math.max(samples.length, 1));
}

/** Noise of lines and rooms into a prompt that speech may cut off. */
async function bargeIns(): Promise<BargeInFound[]> {
  const signals = Object.entries(nonSpeechSignals(BARGE_IN_SECONDS));
  return measureBargeIn(signals.map(([text, samples]) => ({ isAgreement: true, text, voice: 'noise', samples })));
}

function isRight({ value, understood }: Outcome): boolean {
  return value === understood;
}

/** Taken for another answer, or for one although it is none. */
function isWrong(outcome: Outcome): boolean {
  return !isRight(outcome) && outcome.understood !== null;
}

function isAskedAgain(outcome: Outcome): boolean {
  return !isRight(outcome) && outcome.understood === null;
}

function part(outcomes: readonly Outcome[], is: (outcome: Outcome) => boolean): number {
  return outcomes.filter(is).length / Math.max(outcomes.length, 1);
}

function share(outcomes: readonly Outcome[], is: (outcome: Outcome) => boolean): string {
  return `${figure(100 * part(outcomes, is), 1)} %`;
}

function grouped(outcomes: readonly Outcome[], nameOf: (outcome: Outcome) => string): Map<string, Outcome[]> {
  const groups = new Map<string, Outcome[]>();
  for (const outcome of outcomes) groups.set(nameOf(outcome), [...(groups.get(nameOf(outcome)) ?? []), outcome]);
  return groups;
}

function table(title: string, head: string, groups: ReadonlyMap<string, readonly Outcome[]>): Table {
  return {
    title,
    heads: [head, 'answers', 'right', 'asked again', 'wrong'],
    rows: [...groups].map(([name, of]) => [
      name,
      of.length,
      share(of, isRight),
      share(of, isAskedAgain),
      share(of, isWrong),
    ]),
  };
}

interface Found {
  readonly outcomes: readonly Outcome[];
  /** The same sound, where the recogniser knows nothing of the question. */
  readonly unexpected: readonly Outcome[];
  readonly cut: readonly BargeInFound[];
  readonly lacking: readonly string[];
}

function report({ outcomes, unexpected, cut, lacking }: Found): Report {
  const clean = outcomes.filter(({ condition }) => condition === CONDITIONS[0]?.title);
  const byCondition = ({ condition }: Outcome) => condition;
  const machines = grouped(
    outcomes.filter(({ voice }) => voice !== PERSON),
    byCondition,
  );
  const persons = grouped(
    outcomes.filter(({ voice }) => voice === PERSON),
    byCondition,
  );
  const usual = outcomes.filter(({ condition }) => condition !== 'noise 5 dB below');
  const interrupted = cut.filter((each) => each.interrupted);
  return {
    name: 'choices',
    about:
      'Answers to the questions of an IVR, over a line. What is heard of each is understood as the verbs menu, ' +
      'gather and confirm do: the recogniser is told which answers are expected, and what is not sure is asked again.',
    tables: [
      table('Synthetic voices, by line', 'line', machines),
      table("A person's recorded words, put together, by line", 'line', persons),
      table(
        'By voice, over µ-law alone',
        'voice',
        grouped(clean, ({ voice }) => voice),
      ),
      table(
        'By kind, over all lines',
        'kind',
        grouped(outcomes, ({ kind }) => kind),
      ),
      table('All voices, where the recogniser knows nothing of the question', 'line', grouped(unexpected, byCondition)),
      {
        title: 'Noise into a prompt that speech may cut off',
        heads: ['signals', 'cut the prompt off', 'which'],
        rows: [[cut.length, interrupted.length, interrupted.map(({ text }) => text).join(', ') || '–']],
      },
    ],
    notes: [
      'Asked again: nothing was understood, so that the question is repeated. Wrong: something else was understood, ' +
        'or what is no answer was taken for one.',
      'Noise is pink; its level is below that of the speech without its pauses.',
      ...(lacking.length > 0 ? [`Not there, so not measured: ${lacking.join(', ')}.`] : []),
    ],
    goals: [
      {
        goal: `over µ-law at least ${100 * RIGHT_MIN} % right`,
        found: share(clean, isRight),
        met: part(clean, isRight) >= RIGHT_MIN,
      },
      {
        goal: `at most ${100 * WRONG_MAX} % wrong, with noise 10 dB below and 5 % loss too`,
        found: share(usual, isWrong),
        met: part(usual, isWrong) <= WRONG_MAX,
      },
      {
        goal: 'no noise cuts a prompt off',
        found: `${interrupted.length} of ${cut.length}`,
        met: interrupted.length === 0,
      },
    ],
  };
}
