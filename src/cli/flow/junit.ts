/** Test results in JUnit's XML, as build servers read them. */
import type { TestResult } from './test-result.ts';

/** One suite for each file of tests. */
export function junitOf(results: readonly TestResult[]): string {
  const files = [...new Set(results.map(({ file }) => file))];
  const suites = files.map((file) =>
    suiteOf(
      file,
      results.filter((result) => result.file === file),
    ),
  );
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites${totalsOf(results)}>\n${suites.join('')}</testsuites>\n`;
}

function suiteOf(file: string, results: readonly TestResult[]): string {
  return `  <testsuite name="${escaped(file)}"${totalsOf(results)}>\n${results.map(caseOf).join('')}  </testsuite>\n`;
}

function caseOf({ flow, name, durationMs, failures, dialogue }: TestResult): string {
  const head = `    <testcase classname="${escaped(flow)}" name="${escaped(name)}" time="${seconds(durationMs)}"`;
  if (failures.length === 0) return `${head}/>\n`;
  const text = [...failures, '', ...dialogue].join('\n');
  const failure = `<failure message="${escaped(failures[0] ?? '')}">${escaped(text)}</failure>`;
  return `${head}>\n      ${failure}\n    </testcase>\n`;
}

function totalsOf(results: readonly TestResult[]): string {
  const failed = results.filter(({ failures }) => failures.length > 0).length;
  const durationMs = results.reduce((sum, result) => sum + result.durationMs, 0);
  return ` tests="${results.length}" failures="${failed}" time="${seconds(durationMs)}"`;
}

const seconds = (ms: number): string => (ms / 1000).toFixed(3);

/** XML 1.0 has no other characters below space than tab and line ends. */
function escaped(text: string): string {
  return text
    .replace(/[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu, '\uFFFD')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}
