/** `trunkline flow test`: scripted callers try flows. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FlowSet } from '../../flows/file/flow.ts';
import { coverageOf, type FlowCoverage } from '../../flows/testing/coverage.ts';
import type { Settings } from '../../foundation/settings/settings.ts';
import { FileError } from '../../foundation/yaml-text.ts';
import { EXIT_FAILED, EXIT_INTERRUPTED, EXIT_OK } from '../exit-codes.ts';
import { Interruption } from '../interruption.ts';
import { ownGateway } from '../own-gateway.ts';
import type { Terminal } from '../terminal.ts';
import { findTests } from './find-tests.ts';
import { junitOf } from './junit.ts';
import { TestLine } from './line-tests.ts';
import { casesOf, type TestCase } from './test-cases.ts';
import { printResult, printSummary } from './test-report.ts';
import type { TestResult, TestRunner } from './test-result.ts';
import { runTextTest } from './text-tests.ts';

/** The options of the command. */
export interface TestOptions {
  /** How many tests run at the same time. */
  readonly parallel: number;
  readonly json: boolean;
  /** Without sound. */
  readonly text: boolean;
  /** Where JUnit's XML goes. */
  readonly junit?: string;
}

/**
 * Runs the tests at `paths`, those of FLOWS_DIR where there are none. Returns the exit code.
 * @throws FileError when flows or tests cannot be used
 */
export async function runTests(
  paths: readonly string[],
  options: TestOptions,
  environment: Settings,
  terminal: Terminal,
): Promise<number> {
  const found = await findTests(placesOf(paths, environment));
  const results: TestResult[] = [];
  const sets: FlowSet[] = [];
  const stop = new AbortController();
  const interrupted = new Interruption(() => stop.abort());
  try {
    for (const folder of new Set(found.map((file) => file.folder))) {
      const cases = await casesOf(
        folder,
        found.filter((file) => file.folder === folder),
      );
      sets.push(...new Set(cases.map(({ set }) => set)));
      const runner = await openRunner(folder, options, environment);
      const run = async ({ file, ...one }: TestCase): Promise<void> => {
        const result = await runner.run({ ...one, file: file.shown, tests: file.tests });
        results.push(result);
        if (options.json) terminal.out.line(JSON.stringify(shownIn(result)));
        else printResult(result, terminal.out);
      };
      await inParallel(cases, options.parallel, stop.signal, run).finally(() => runner.close());
    }
  } finally {
    interrupted.ignore();
  }
  if (options.junit !== undefined) await writeFile(options.junit, junitOf(results));
  summarize(results, coverageOfAll(sets, results), options, terminal);
  if (interrupted.came) return EXIT_INTERRUPTED;
  return results.every(({ failures }) => failures.length === 0) ? EXIT_OK : EXIT_FAILED;
}

function placesOf(paths: readonly string[], { FLOWS_DIR }: Pick<Settings, 'FLOWS_DIR'>): readonly string[] {
  if (paths.length > 0) return paths;
  if (FLOWS_DIR === '') throw new FileError('name a folder of flows or a file of tests, or set FLOWS_DIR');
  return [FLOWS_DIR];
}

async function openRunner(folder: string, { text, parallel }: TestOptions, environment: Settings): Promise<TestRunner> {
  if (text) return { run: (run) => runTextTest(run, environment), close: () => Promise.resolve() };
  const own = ownGateway(environment);
  // Messages are kept while a test runs.
  const DATA_DIR = await mkdtemp(join(tmpdir(), 'trunkline-flow-test-'));
  const remove = (): Promise<void> => rm(DATA_DIR, { recursive: true, force: true });
  const settings = { ...own, DATA_DIR, FLOWS_DIR: folder, APP_URL: '', MAX_CALLS: Math.max(own.MAX_CALLS, parallel) };
  try {
    const line = await TestLine.open(settings);
    return { run: (run) => line.run(run), close: () => closeBoth(line, remove) };
  } catch (error) {
    await remove();
    throw error;
  }
}

async function closeBoth(line: TestLine, remove: () => Promise<void>): Promise<void> {
  try {
    await line.close();
  } finally {
    await remove();
  }
}

/** Runs `work` for all `items`, so many at a time, in their order; none begins after `signal` aborts. */
async function inParallel<T>(
  items: readonly T[],
  count: number,
  signal: AbortSignal,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const waiting = [...items];
  const next = async (): Promise<void> => {
    for (let item = waiting.shift(); item !== undefined && !signal.aborted; item = waiting.shift()) await work(item);
  };
  await Promise.all(Array.from({ length: count }, next));
}

/** Of every flow that the tests call, and of those that they call. */
function coverageOfAll(sets: readonly FlowSet[], results: readonly TestResult[]): FlowCoverage[] {
  const flows = new Map(sets.flatMap(({ flows }) => [...flows]));
  return coverageOf(
    [...flows].map(([flow, { steps }]) => ({ flow, steps: [...steps.keys()] })),
    results.flatMap(({ steps }) => steps),
  );
}

function shownIn({ name, steps, ...result }: TestResult): object {
  return { test: name, passed: result.failures.length === 0, ...result, steps: steps.map(({ step }) => step) };
}

function summarize(
  results: readonly TestResult[],
  coverage: readonly FlowCoverage[],
  { json }: TestOptions,
  { out }: Terminal,
): void {
  if (!json) {
    printSummary(results, coverage, out);
    return;
  }
  const failed = results.filter(({ failures }) => failures.length > 0).length;
  out.line(JSON.stringify({ summary: { passed: results.length - failed, failed, coverage } }));
}
