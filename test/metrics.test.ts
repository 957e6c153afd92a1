import { describe, expect, it } from 'vitest';
import { Metrics } from '../src/metrics.ts';

describe('the metrics of the queues', () => {
  it('say of each lane how many jobs wait, how old the oldest is, and how long jobs have waited', async () => {
    const metrics = new Metrics();
    metrics.watchLanes(() => ({ live: { depth: 0, ageMs: 0 }, batch: { depth: 7, ageMs: 2500 } }));
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
