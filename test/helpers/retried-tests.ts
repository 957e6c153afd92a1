import type { Reporter, TestCase } from 'vitest/node';

/** A reporter for CI: names each test that failed at first and passed when it was run again. */
export default class RetriedTests implements Reporter {
  onTestCaseResult(test: TestCase): void {
    if (test.diagnostic()?.flaky !== true) return;
    process.stdout.write(`passed at the second try: ${test.module.relativeModuleId} > ${test.fullName}\n`);
  }
}
