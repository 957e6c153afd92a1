/**
 * Whether a caller has finished: what the turn model says in pauses whose kind is known, what rules make of it, and
 * what it costs calls.
 */
import { TEST_MODELS_DIR, whyNotRun } from '../helpers/installed-models.ts';
import type { Report } from './report.ts';
import { startEngineClient } from './start-engine-client.ts';
import { loadTurnCases } from './turn-cases.ts';
import { findPauses, type Pause } from './turn-pauses.ts';
import { grammarTable, ruleTable, silenceTable } from './turn-rules.ts';

const CASES_AT_ONCE = 8;

/** Runs the benchmark on every `every`-th prompt. @throws Error when smart-turn is not there */
export async function benchTurns({ every }: { readonly every: number }): Promise<Report> {
  const reason = whyNotRun('smart-turn');
  if (reason !== '') throw new Error(`This benchmark needs smart-turn${reason}`);
  const pauses = await measurePauses(every);
  return {
    name: 'turns',
    about:
      'Has the caller finished? Human prompts through µ-law and voice detection, whole and cut where a word begins, ' +
      'with line noise behind them; the turn model is asked once, in the pause.',
    tables: [silenceTable(pauses), ruleTable(pauses), grammarTable(pauses)],
    goals: [],
  };
}

async function measurePauses(every: number): Promise<Pause[]> {
  const engine = await startEngineClient(1, { MODELS_DIR: TEST_MODELS_DIR, TURN_MODEL: 'smart-turn' });
  const waiting = await loadTurnCases(engine, every);
  process.stderr.write(`${waiting.length} cases\n`);
  const pauses: Pause[] = [];
  const lines = Array.from({ length: CASES_AT_ONCE }, async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift())
      pauses.push(...(await findPauses(engine, next)));
  });
  await Promise.all(lines);
  await engine.close();
  return pauses;
}
