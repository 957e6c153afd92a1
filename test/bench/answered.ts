/** Who answers: simulated callees of many kinds, called through the code of real calls on a clock of its own. */
import { TEST_MODELS_DIR } from '../helpers/installed-models.ts';
import { type AnsweredCall, CountedEngine, callCallee } from './answered/call.ts';
import { type Callee, CalleeMaker } from './answered/callees.ts';
import { HELD_OUT, TUNED } from './answered/texts.ts';
import { tonesTable } from './answered/tones.ts';
import type { Report, Table } from './report.ts';
import { startEngineClient } from './start-engine-client.ts';

const RIGHT_GOAL = 0.97;
const WAIT_GOAL_MS = 1200;

interface Found extends AnsweredCall {
  readonly callee: Callee;
  readonly by: string;
  /** When who answered was known, in ms of the call. */
  readonly knownMs: number;
}

/** @param tuned whether the callees say what the rules were tuned on */
export async function benchAnswered({ every, tuned }: { every: number; tuned: boolean }): Promise<Report> {
  const engine = await startEngineClient(1, { MODELS_DIR: TEST_MODELS_DIR || 'none' });
  const callees = await new CalleeMaker(engine).all(tuned ? TUNED : HELD_OUT, every);
  const counted = new CountedEngine(engine);
  const found: Found[] = [];
  for (const callee of callees) {
    const call = await callCallee(counted, callee.samples);
    const first = call.news.find(({ type }) => type === 'answered');
    const by = first?.type === 'answered' ? first.by : 'nothing';
    found.push({ ...call, callee, by, knownMs: first?.atMs ?? Number.POSITIVE_INFINITY });
  }
  await engine.close();
  return reportOf(found, tuned);
}

const isRight = ({ by, callee }: Found): boolean => by === callee.by;

function reportOf(found: readonly Found[], tuned: boolean): Report {
  const right = found.filter(isRight).length / found.length;
  const waits = found.flatMap((one) => waitOf(one) ?? []);
  const longest = Math.max(...waits);
  return {
    name: 'answered',
    about:
      'Who answers a call that we make. The callees are simulated: our own voices, human voicemail prompts of ' +
      'Debian (`asterisk-core-sounds`), and tones by arithmetic; no real call was made. They go through the voice ' +
      'detection, the embedded recogniser and the rules of real calls, on a clock that waits for the recogniser. ' +
      (tuned ? 'Their texts are those that the rules were tuned on.' : 'The rules were tuned on other texts.'),
    tables: [kindsTable(found), beepsTable(found), tonesTable(), wrongTable(found)],
    goals: [
      {
        goal: `right: at least ${RIGHT_GOAL * 100} %`,
        found: `${(100 * right).toFixed(1)} % of ${found.length}`,
        met: right >= RIGHT_GOAL,
      },
      {
        goal: `no person waits longer than ${WAIT_GOAL_MS} ms from the end of the words to the verdict`,
        found: `${Math.round(longest)} ms`,
        met: longest <= WAIT_GOAL_MS,
      },
    ],
  };
}

/** How long a person who was known as one waited after their words; null = it was none. */
function waitOf({ callee, knownMs, by }: Found): number | null {
  return callee.spokeUntilMs === null || by !== 'person' ? null : knownMs - callee.spokeUntilMs;
}

function kindsTable(found: readonly Found[]): Table {
  const kinds = [...new Set(found.map(({ callee }) => callee.kind))];
  return {
    title: 'Kinds of callees',
    heads: ['', 'calls', 'right', 'a person waited, median and longest, ms', 'known after the answer, median, ms'],
    rows: kinds.map((kind) => {
      const of = found.filter(({ callee }) => callee.kind === kind);
      const waits = of.flatMap((one) => waitOf(one) ?? []).toSorted((a, b) => a - b);
      const known = of.map(({ knownMs }) => knownMs).toSorted((a, b) => a - b);
      const waited = waits.length === 0 ? '–' : `${Math.round(middle(waits))}, ${Math.round(waits.at(-1) ?? 0)}`;
      return [kind, of.length, of.filter(isRight).length, waited, Math.round(middle(known))];
    }),
  };
}

function beepsTable(found: readonly Found[]): Table {
  const beeping = found.filter(({ callee, by }) => callee.beepEndMs !== null && by === 'machine');
  const offs = beeping.flatMap(({ callee, news }) => {
    const beep = news.find(({ type }) => type === 'beep');
    return beep === undefined ? [] : [beep.atMs - (callee.beepEndMs ?? 0)];
  });
  const early = offs.filter((ms) => ms < 0).length;
  const good = offs.filter((ms) => ms >= 0).toSorted((a, b) => a - b);
  return {
    title: 'A message behind the beep',
    heads: [
      'machines with a beep',
      'message began too early',
      'never',
      'ms from the end of the beep, median',
      'longest',
    ],
    rows: [
      [beeping.length, early, beeping.length - offs.length, Math.round(middle(good)), Math.round(good.at(-1) ?? 0)],
    ],
  };
}

function wrongTable(found: readonly Found[]): Table {
  return {
    title: 'Those that were wrong',
    heads: ['kind', 'callee', 'taken for', 'by', 'heard'],
    rows: found
      .filter((one) => !isRight(one))
      .map(({ callee, by, reason, text }) => [callee.kind, callee.what, by, reason, text]),
  };
}

function middle(sorted: readonly number[]): number {
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
