/** Whether alarms fire, by Prometheus's own evaluation of what a server's `/metrics` said before and after. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';

const PROMTOOL = '/usr/bin/promtool';
const RULES_FILE = join('deploy', 'prometheus', 'trunkline.rules.yaml');

interface Rules {
  readonly groups: readonly { readonly rules: readonly { readonly alert: string; readonly expr: string }[] }[];
}

/** For the name of a test: '' where promtool is installed, else that the test is not run. */
export const whyNoPromtool = existsSync(PROMTOOL) ? '' : ' (not run: promtool is not installed)';

/** A page of `/metrics`; of a server that has just been scraped for the first time. */
interface Scraped {
  readonly before: string;
  readonly after: string;
}

/**
 * The expressions of these alarms of deploy/prometheus; `changed` has other limits for what a test cannot wait for.
 * @throws Error when there is no such alarm
 */
export function alarms(
  names: readonly string[],
  changed: readonly (readonly [string, string])[] = [],
): Record<string, string> {
  const rules = (parse(readFileSync(RULES_FILE, 'utf8')) as Rules).groups.flatMap((group) => group.rules);
  return Object.fromEntries(
    names.map((name) => {
      const rule = rules.find(({ alert }) => alert === name);
      if (rule === undefined) throw new Error(`there is no alarm ${name}`);
      return [name, changed.reduce((text, [from, to]) => text.replace(from, to), rule.expr)];
    }),
  );
}

/**
 * Of `expressions` by name those that come to nothing: their alarm would not fire. It is scraped once a minute: five
 * times as before, then as after.
 */
export function quietOnes(expressions: Readonly<Record<string, string>>, { before, after }: Scraped): string[] {
  const [old, fresh] = [samplesOf(before), samplesOf(after)];
  const series = [...fresh].map(([name, value]) => ({
    series: name,
    // What is not there before is `_` then.
    values: `${old.has(name) ? `${old.get(name)}x4` : '_x4'} ${value}x4`,
  }));
  const folder = mkdtempSync(join(tmpdir(), 'trunkline-promtool-'));
  try {
    return Object.entries(expressions).flatMap(([name, expr]) => {
      // promtool's clock begins in 1970.
      const now = expr.replaceAll('time()', String(Date.now() / 1000));
      const tests = [
        {
          interval: '1m',
          input_series: series,
          promql_expr_test: [
            { expr: `count(${now}) > bool 0`, eval_time: '6m', exp_samples: [{ labels: '{}', value: 1 }] },
          ],
        },
      ];
      const path = join(folder, 'test.yaml');
      writeFileSync(path, stringify({ evaluation_interval: '1m', tests }));
      try {
        execFileSync(PROMTOOL, ['test', 'rules', path], { stdio: 'pipe' });
        return [];
      } catch (error) {
        return [
          `${name}: ${String((error as { stdout: Buffer }).stdout)}${String((error as { stderr: Buffer }).stderr)}`,
        ];
      }
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The value of each sample of Trunkline's own metrics. */
function samplesOf(page: string): Map<string, string> {
  const lines = page.split('\n').filter((line) => line.startsWith('trunkline_') && !line.includes('_bucket{'));
  return new Map(
    lines.map((line) => {
      const end = line.lastIndexOf(' ');
      return [line.slice(0, end), Number(line.slice(end + 1)).toString()];
    }),
  );
}
