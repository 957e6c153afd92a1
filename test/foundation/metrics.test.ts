import { describe, expect, it } from 'vitest';
import { Metrics } from '../../src/foundation/metrics.ts';

describe('the metrics of the queues', () => {
  it('say of each lane how many jobs wait, how old the oldest is, and how long jobs have waited', async () => {
    const metrics = new Metrics();
    metrics.lanes.watch(() => ({ live: { depth: 0, ageMs: 0 }, batch: { depth: 7, ageMs: 2500 } }));
    metrics.laneWait.observe({ lane: 'batch' }, 0.4);
    const page = await metrics.registry.metrics();
    for (const line of [
      'trunkline_lane_depth{lane="live"} 0',
      'trunkline_lane_depth{lane="batch"} 7',
      'trunkline_lane_age_seconds{lane="batch"} 2.5',
      'trunkline_lane_wait_seconds_count{lane="batch"} 1',
    ])
      expect(page).toContain(`${line}\n`);
  });
});

it('the metrics of the log say what was logged and what could not be written, each time they are asked', async () => {
  const metrics = new Metrics();
  const lines = new Map([['error', 2]]);
  metrics.watchLog(() => ({ linesLost: 3, errors: new Map([['ENOSPC', 1]]), lines }));
  await metrics.registry.metrics();
  lines.set('error', 5);
  const page = await metrics.registry.metrics();
  expect(page).toContain('trunkline_log_lines_total{level="error"} 5\n');
  expect(page).toContain('trunkline_log_lines_lost_total 3\n');
  expect(page).toContain('trunkline_log_errors_total{code="ENOSPC"} 1\n');
});
