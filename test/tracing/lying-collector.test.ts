/** A collector of traces that lies: its requests end in time, and what it answers changes nothing. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { systemClock } from '../../src/foundation/clock.ts';
import { createLog } from '../../src/foundation/log/log.ts';
import { Metrics } from '../../src/foundation/metrics.ts';
import { OtlpTracing } from '../../src/tracing/otlp-tracing.ts';
import { readSettings } from '../helpers/settings.ts';
import { Collector, type Manner } from './collector.ts';

const FAILED = { carrier: 'twilio', callId: null, sinceMs: 0, error: null, reason: 'error' } as const;

let collector: Collector;
let tracing: OtlpTracing;
let metrics: Metrics;
beforeEach(async () => {
  collector = new Collector();
  const url = await collector.open();
  metrics = new Metrics();
  const log = createLog('silent', { write: () => undefined });
  const settings = readSettings({ OTEL_EXPORTER_OTLP_ENDPOINT: url, OTEL_EXPORTER_OTLP_TIMEOUT: '500' });
  tracing = new OtlpTracing(`${url}/v1/traces`, settings, { clock: systemClock, log, metrics });
});
afterEach(async () => {
  await tracing.close();
  await collector.close();
});

/** As many spans as are sent at once. */
function end(spans: number): void {
  for (let n = 0; n < spans; n++) tracing.tracer.onFailed(FAILED);
}

const counted = async (what: string) =>
  Number((await metrics.registry.metrics()).match(new RegExp(`^trunkline_spans_${what} (\\d+)$`, 'm'))?.[1] ?? 0);

it.each<[Manner, number]>([
  ['redirect', 1],
  ['flood', 1],
  ['later', 1],
  ['now', 6],
  ['cut', 1],
])('that does not take spans (%s) is asked %i times', async (manner, times) => {
  collector.manner = manner;
  end(128);
  await expect.poll(() => counted('dropped_total{reason="failed"}')).toBe(128);
  expect(collector.requests.map(({ path }) => path)).toEqual(Array(times).fill('/v1/traces'));
});

it('that answers without end loses its connections, and is of use again when it has come to its senses', async () => {
  collector.manner = 'drip';
  end(128);
  await expect.poll(() => collector.requests.length).toBe(1);
  await expect.poll(() => collector.connections(), { timeout: 10_000 }).toBe(0);
  collector.manner = 'take';
  end(128);
  await expect.poll(() => collector.requests.length, { timeout: 10_000 }).toBe(2);
});
