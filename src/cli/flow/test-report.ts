/** Prints how tests went. */
import type { FlowCoverage } from '../../flows/testing/coverage.ts';
import type { Output } from '../terminal.ts';
import type { TestResult } from './test-result.ts';

/** A line for the test; for one that failed also why, and the dialogue. */
export function printResult(result: TestResult, out: Output): void {
  const { flow, name, failures, dialogue, durationMs, answersMs } = result;
  const answers =
    answersMs.length === 0 ? '' : `, answers after ${answersMs.map((ms) => Math.round(ms)).join(', ')} ms`;
  const figures = out.dim(`${(durationMs / 1000).toFixed(1)} s${answers}`);
  out.line(`${failures.length === 0 ? 'passed' : out.bold('FAILED')}  ${flow}: ${name}  ${figures}`);
  if (failures.length === 0) return;
  for (const failure of failures) out.line(`        ${failure}`);
  out.line('        The call:');
  for (const line of dialogue) out.line(`          ${line}`);
}

/** The steps that were reached, and how many tests passed. */
export function printSummary(results: readonly TestResult[], coverage: readonly FlowCoverage[], out: Output): void {
  const passed = results.filter(({ failures }) => failures.length === 0).length;
  out.line();
  for (const { flow, reached, total, unreached } of coverage) {
    const missing = unreached.length === 0 ? '' : `; not reached: ${unreached.join(', ')}`;
    out.line(`${flow}: ${reached} of ${total} steps reached${missing}`);
  }
  out.line(`${passed} of ${results.length} tests passed`);
}
