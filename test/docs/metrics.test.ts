import { describe, expect, it } from 'vitest';
import { Metrics } from '../../src/foundation/metrics.ts';
import { plainRows, readText } from './markdown.ts';

const ROWS = plainRows(readText('docs/reference/metrics.md'));

describe('docs/reference/metrics.md', () => {
  it('has every metric of ours, and no other, with its type and labels', async () => {
    const text = await new Metrics().registry.metrics();
    const types = [...text.matchAll(/^# TYPE (trunkline_\w+) (\w+)$/gm)].map(([, name, type]) => [name, type]);
    expect(ROWS.map(([name, type]) => [name, type])).toEqual(types);
  });

  it('names the labels that each metric has', () => {
    const metrics = new Metrics();
    for (const [name = '', , labels = ''] of ROWS) {
      const metric = metrics.registry.getSingleMetric(name) as unknown as { labelNames: string[] } | undefined;
      expect(metric?.labelNames, name).toEqual(labels === '' ? [] : labels.split(', '));
    }
  });

  it('is right that the delay of the event loop is among them', async () => {
    expect(await new Metrics().registry.metrics()).toMatch(/^# TYPE nodejs_eventloop_lag_p99_seconds gauge$/m);
  });
});
