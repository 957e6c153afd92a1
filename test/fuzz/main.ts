/**
 * npm run fuzz -- [SECONDS] [--seed N] [--target NAME] [--replay FILE]
 * Fuzzes every target in turn for its share of the seconds (60 in all by default). A failing input is shrunk and saved
 * under tmp/fuzz; exit code 1.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type FuzzTarget, fuzz, loadTargets, tryInput } from './fuzz.ts';

const FOUND = join(import.meta.dirname, '../../tmp/fuzz');
/** The clock is looked at once in so many inputs. */
const STRIDE = 32;

function stop(message: string): never {
  console.error(message);
  process.exit(2);
}

function readOptions(): { seconds: number; seed: number; only: string | undefined; replay: string | undefined } {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { seed: { type: 'string' }, target: { type: 'string' }, replay: { type: 'string' } },
  });
  const seconds = Number(positionals[0] ?? 60);
  const seed = Number(values.seed ?? Date.now() % 2 ** 32);
  if (!(seconds > 0)) stop(`got ${positionals[0]} seconds, expected a number above 0`);
  if (!Number.isInteger(seed)) stop(`got the seed ${values.seed}, expected a whole number`);
  return { seconds, seed, only: values.target, replay: values.replay };
}

function replayFile(targets: readonly FuzzTarget[], file: string): boolean {
  const input = readFileSync(file);
  const failures = targets.flatMap((target) => tryInput(target, input) ?? []);
  for (const { error } of failures) console.error(error);
  console.log(`${file}: ${failures.length === 0 ? 'passes' : 'fails'}`);
  return failures.length === 0;
}

/** Reports one target; false when it failed. */
function runTarget(target: FuzzTarget, seed: number, budgetMs: number): boolean {
  const beganMs = performance.now();
  const result = fuzz(
    target,
    seed,
    (executions) => executions % STRIDE !== 0 || performance.now() - beganMs < budgetMs,
  );
  const seconds = (performance.now() - beganMs) / 1000;
  const rate = Math.round(result.executions / seconds);
  console.log(
    `${target.name.padEnd(20)} ${String(result.executions).padStart(9)} inputs ${String(rate).padStart(8)}/s ` +
      ` ${result.failure === null ? 'ok' : 'FAILED'}`,
  );
  if (result.failure === null) return true;
  mkdirSync(FOUND, { recursive: true });
  const file = join(FOUND, `${target.name}-${seed}.bin`);
  writeFileSync(file, result.failure.input);
  console.error(result.failure.error);
  console.error(`again: npm run fuzz -- --target ${target.name} --replay ${file}   (found with --seed ${seed})`);
  return false;
}

const { seconds, seed, only, replay } = readOptions();
const all = await loadTargets();
const targets = all.filter((target) => only === undefined || target.name === only);
if (targets.length === 0)
  stop(`no target is called ${only}, expected one of ${all.map((target) => target.name).join(', ')}`);
console.log(`seed ${seed}`);
const passed =
  replay === undefined
    ? targets.map((target) => runTarget(target, seed, (seconds * 1000) / targets.length)).every(Boolean)
    : replayFile(targets, replay);
process.exitCode = passed ? 0 : 1;
