import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { runCli } from '../../src/cli/program.ts';
import { anchorsOf, readText } from '../docs/markdown.ts';
import { captureTerminal } from '../helpers/terminal.ts';
import { findProblems } from './promql.ts';

interface Rules {
  readonly groups: readonly {
    readonly rules: readonly {
      readonly alert: string;
      readonly expr: string;
      readonly annotations: Readonly<Record<string, string>>;
    }[];
  }[];
}
interface RuleTests {
  readonly tests: readonly {
    readonly alert_rule_test: readonly { readonly alertname: string; readonly exp_alerts: readonly unknown[] }[];
  }[];
}
interface Dashboard {
  readonly panels: readonly {
    readonly id: number;
    readonly type: string;
    readonly title: string;
    readonly targets?: readonly { readonly expr: string }[];
  }[];
  readonly templating: { readonly list: readonly { readonly name: string; readonly query: unknown }[] };
}

const RULES = (parse(readText('deploy/prometheus/trunkline.rules.yaml')) as Rules).groups.flatMap(({ rules }) => rules);
const CASES = (parse(readText('deploy/prometheus/trunkline.rules.test.yaml')) as RuleTests).tests.flatMap(
  (test) => test.alert_rule_test,
);
const DASHBOARD = JSON.parse(readText('deploy/grafana/trunkline.json')) as Dashboard;
const EXPRESSIONS = DASHBOARD.panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => [title, expr]));

describe('findProblems', () => {
  it.each([
    ['sum by (carrier) (trunkline_calls_live{job="x"})', []],
    ['rate(trunkline_final_lag_seconds_bucket{le="1"}[$__rate_interval])', []],
    ['sum(trunkline_calls_live', ['cannot be read at ""']],
    ['trunkline_calls_alive', ['no metric trunkline_calls_alive']],
    ['rate(trunkline_final_lag_seconds[5m])', ['no metric trunkline_final_lag_seconds']],
    ['trunkline_calls_live{reason="x"}', ['trunkline_calls_live has no reason']],
    ['sum by (urgency) (trunkline_calls_live)', ['nothing has urgency']],
    ['1 + 1', ['asks for no metric']],
  ])('says of %s: %j', (expression, problems) => {
    expect(findProblems(expression)).toEqual(problems);
  });
});

describe('the alarms of Prometheus', () => {
  it.each(RULES.map(({ alert, expr }) => [alert, expr]))('%s asks for what there is', (_alert, expr) => {
    expect(findProblems(expr)).toEqual([]);
  });

  it.each(RULES.map(({ alert, annotations }) => [alert, annotations]))(
    '%s names a page and a command that there are',
    async (_alert, { page = '', command = '' }) => {
      const [path = '', anchor] = page.split('#');
      expect(anchor === undefined || anchorsOf(readText(path)).includes(anchor), page).toBe(true);
      const [program, ...words] = command.split(' ');
      const option = words.findLast((word) => word.startsWith('--')) ?? '';
      const { terminal, out } = captureTerminal();
      expect([program, await runCli([...words.filter((word) => word !== option), '--help'], terminal)]).toEqual([
        'trunkline',
        0,
      ]);
      expect(out.text).toContain(`Usage: ${[program, ...words.filter((word) => word !== option)].join(' ')}`);
      expect(out.text).toContain(option);
    },
  );

  it('are each tried once where they fire and once where they do not', () => {
    const names = RULES.map(({ alert }) => alert);
    const casesThat = (fires: boolean) =>
      CASES.filter(({ exp_alerts: expected }) => expected.length > 0 === fires).map(({ alertname }) => alertname);
    expect(casesThat(true)).toEqual(names);
    expect(casesThat(false)).toEqual(names);
  });
});

describe('the dashboard of Grafana', () => {
  it.each(EXPRESSIONS)('%s asks for what there is: %s', (_title, expr) => {
    expect(findProblems(expr ?? '')).toEqual([]);
  });

  it('has at least one expression in each panel, and no id twice', () => {
    const empty = DASHBOARD.panels.filter(({ type, targets = [] }) => type !== 'row' && targets.length === 0);
    expect(empty).toEqual([]);
    const ids = DASHBOARD.panels.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('uses the variables that it has', () => {
    const known = DASHBOARD.templating.list.map(({ name }) => name);
    const used = [...JSON.stringify(DASHBOARD).matchAll(/\$\{?([a-z]\w*)/g)].map(([, name]) => name);
    expect([...new Set(used)].filter((name) => !known.includes(name ?? ''))).toEqual([]);
  });
});
