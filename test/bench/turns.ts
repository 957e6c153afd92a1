/**
 * Whether a caller has finished: what the turn model says in pauses whose kind is known, what rules make of it, and
 * what it costs calls.
 */
import { TEST_MODELS_DIR, whyNotRun } from '../helpers/installed-models.ts';
import { bargeInTable, measureBargeIn, speakCases } from './backchannels.ts';
import { figure, quantile, type Report } from './report.ts';
import { startEngineClient } from './start-engine-client.ts';
import {
  type LoadFound,
  loadTable,
  MODES,
  type ModeFound,
  measureLoad,
  measureTurns,
  turnTable,
} from './turn-calls.ts';
import { loadTurnCases, speakNumbers, type TurnCase } from './turn-cases.ts';
import { findPauses, type Pause } from './turn-pauses.ts';
import { grammarTable, probabilityOf, ruleTable, silenceTable } from './turn-rules.ts';

const CASES_AT_ONCE = 8;
const WORKERS = 2;
/** The silences that calls do not ask after are measured in every so-many-th case. */
const ALL_SILENCES_EVERY = 5;
const CALLS = 10;
const GOAL_LAG_MS = 20;
const GOAL_DELAYED = 0.05;

interface TurnsOptions {
  /** Every so-many-th prompt. */
  readonly every: number;
  /** So many whole turns and so many with a pause are called. */
  readonly turns: number;
  /** How long the calls at once last, and how often they are placed with each setting. */
  readonly seconds: number;
  readonly rounds: number;
}

/** Runs the benchmark. @throws Error when smart-turn is not there */
export async function benchTurns({ every, turns, seconds, rounds }: TurnsOptions): Promise<Report> {
  const reason = whyNotRun('smart-turn');
  if (reason !== '') throw new Error(`This benchmark needs smart-turn${reason}`);
  const { cases, pauses } = await measurePauses(every);
  const called = chooseCases(cases, turns);
  const inCalls: ModeFound[] = [];
  for (const mode of MODES) inCalls.push(await measureTurns(mode, called));
  const saidInto = await measureBargeIn(await speakCases(every));
  const atOnce: LoadFound[] = [];
  for (let round = 0; round < rounds; round++)
    for (const mode of MODES) atOnce.push(await measureLoad(mode, CALLS, seconds));
  return {
    name: 'turns',
    about:
      'Has the caller finished? Human prompts through µ-law and voice detection, whole and cut where a word begins, ' +
      'with line noise behind them; the turn model is asked once, in the pause.',
    tables: [
      silenceTable(pauses),
      ruleTable(pauses),
      grammarTable(pauses),
      turnTable(inCalls),
      bargeInTable(saidInto),
      loadTable(atOnce, CALLS),
    ],
    goals: goalsOf(pauses, atOnce),
  };
}

/** As many whole turns as turns that can be paused. */
function chooseCases(cases: readonly TurnCase[], count: number): TurnCase[] {
  const spread = (of: readonly TurnCase[]) => of.filter((_, index) => index % Math.ceil(of.length / count) === 0);
  return [
    ...spread(cases.filter(({ kind }) => kind === 'complete')),
    ...spread(cases.filter(({ rest }) => rest.length > 0)),
  ];
}

function goalsOf(pauses: readonly Pause[], atOnce: readonly LoadFound[]): Report['goals'] {
  const complete = pauses.filter(({ kind }) => kind === 'complete');
  const delayed = complete.filter((pause) => probabilityOf(pause) < 0.2).length / complete.length;
  const p95 = (mode: string): number =>
    quantile(
      atOnce.filter((found) => found.mode === mode).flatMap(({ lateMs }) => lateMs),
      0.95,
    );
  const moreMs = p95('smart-turn') - p95('off');
  return [
    {
      goal: `at most ${100 * GOAL_DELAYED} % of whole turns delayed`,
      found: `${figure(100 * delayed, 1)} %`,
      met: delayed <= GOAL_DELAYED,
    },
    {
      goal: `final captions of ${CALLS} calls no later with the model: p95 within ${GOAL_LAG_MS} ms`,
      found: `${figure(moreMs)} ms`,
      met: moreMs <= GOAL_LAG_MS,
    },
  ];
}

async function measurePauses(every: number): Promise<{ cases: readonly TurnCase[]; pauses: readonly Pause[] }> {
  const engine = await startEngineClient(WORKERS, { MODELS_DIR: TEST_MODELS_DIR, TURN_MODEL: 'smart-turn' });
  const cases = await loadTurnCases(engine, every);
  process.stderr.write(`${cases.length} cases\n`);
  const waiting = [...[...cases, ...(await speakNumbers(engine))].entries()];
  const pauses: Pause[] = [];
  const lines = Array.from({ length: CASES_AT_ONCE }, async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const [index, turn] = next;
      pauses.push(...(await findPauses(engine, turn, index % ALL_SILENCES_EVERY === 0)));
    }
  });
  await Promise.all(lines);
  await engine.close();
  return { cases, pauses };
}
