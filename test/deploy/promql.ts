/** What a PromQL expression asks for, as Prometheus's own grammar reads it. */
import { parser } from '@prometheus-io/lezer-promql';
import { Metrics } from '../../src/foundation/metrics.ts';

/** Labels that Prometheus adds to every series. */
const TARGET_LABELS = ['instance', 'job'];

/** Metrics of Prometheus itself: whether a target answered. */
const OWN_METRICS = ['up'];

interface Asked {
  readonly metric: string;
  readonly labels: readonly string[];
}

/**
 * What is wrong with `expression`: it cannot be read, or it asks for a metric or a label that a gateway does not have.
 * Grafana's `$__rate_interval` is a time; its other variables stand in texts.
 */
export function findProblems(expression: string): string[] {
  const text = expression.replaceAll('$__rate_interval', '5m');
  const selectors: Asked[] = [];
  const grouped: string[] = [];
  const problems: string[] = [];
  parser.parse(text).iterate({
    enter({ type, from, to, node }) {
      if (type.isError) problems.push(`cannot be read at ${JSON.stringify(text.slice(from, from + 20))}`);
      if (type.name === 'VectorSelector') selectors.push(readSelector(text.slice(from, to)));
      if (type.name === 'LabelName' && node.parent?.name === 'GroupingLabels') grouped.push(text.slice(from, to));
    },
  });
  if (selectors.length === 0) problems.push('asks for no metric');
  const known = selectors.flatMap(({ metric }) => labelsOf(metric) ?? []);
  const unknownMetrics = selectors.filter(({ metric }) => labelsOf(metric) === null);
  const unknownLabels = selectors.flatMap(({ metric, labels }) =>
    labels.filter((label) => labelsOf(metric)?.includes(label) === false).map((label) => `${metric} has no ${label}`),
  );
  return [
    ...problems,
    ...unknownMetrics.map(({ metric }) => `no metric ${metric}`),
    ...unknownLabels,
    ...grouped.filter((label) => !known.includes(label)).map((label) => `nothing has ${label}`),
  ];
}

/** `name{label="value", …}` of a text that the grammar has found to be one. */
function readSelector(text: string): Asked {
  const [, metric = ''] = /^([\w:]*)/.exec(text) ?? [];
  const labels = [...text.matchAll(/([a-z_]+)\s*(?:=~|!~|!=|=)\s*["']/g)].map(([, label = '']) => label);
  return { metric, labels };
}

const LABELS = new Map<string, readonly string[]>();
for (const metric of new Metrics().registry.getMetricsAsArray()) {
  const { name, labelNames = [], type } = metric as unknown as { name: string; labelNames?: string[]; type: string };
  if (type !== 'histogram') LABELS.set(name, labelNames);
  else {
    LABELS.set(`${name}_bucket`, [...labelNames, 'le']);
    for (const part of ['sum', 'count']) LABELS.set(`${name}_${part}`, labelNames);
  }
}
for (const name of OWN_METRICS) LABELS.set(name, []);

function labelsOf(metric: string): readonly string[] | null {
  const labels = LABELS.get(metric);
  return labels === undefined ? null : [...labels, ...TARGET_LABELS];
}
