import { BasicTracerProvider, type SpanExporter } from '@opentelemetry/sdk-trace-base';
import { describe, expect, it } from 'vitest';
import { createLog } from '../../src/foundation/log/log.ts';
import { Metrics } from '../../src/foundation/metrics.ts';
import { SpanQueue } from '../../src/tracing/span-queue.ts';

type Done = Parameters<SpanExporter['export']>[1];

/** A queue whose exporter answers when the test says so. */
function open() {
  const waiting: { readonly spans: number; readonly done: Done }[] = [];
  const exporter: SpanExporter = {
    export: (spans, done) => void waiting.push({ spans: spans.length, done }),
    shutdown: () => Promise.resolve(),
  };
  const lines: string[] = [];
  const log = createLog('info', { write: (line) => void lines.push(line) });
  const metrics = new Metrics();
  const queue = new SpanQueue({ exporter, timeoutMs: 60_000, metrics: metrics.tracing, log });
  const tracer = new BasicTracerProvider({ spanProcessors: [queue] }).getTracer('test');
  const end = (count: number) => {
    for (let n = 0; n < count; n++) tracer.startSpan('call').end();
  };
  const answer = (code: 0 | 1, error?: Error) => {
    for (const { done } of waiting.splice(0)) done(error === undefined ? { code } : { code, error });
  };
  const told = () => lines.map((line) => JSON.parse(line) as { msg: string; reason?: string });
  const count = async (name: string) =>
    (await metrics.registry.metrics()).match(new RegExp(`^${name} (\\d+)$`, 'm'))?.[1];
  return { queue, waiting, end, answer, told, count };
}

describe('the queue of spans', () => {
  it('keeps some thousands for a collector that does not answer, and counts the rest as dropped', async () => {
    const { end, waiting, count } = open();
    end(5000);
    expect(waiting.map(({ spans }) => spans)).toEqual([128]);
    expect(await count('trunkline_spans_dropped_total{reason="queue"}')).toBe('904');
  });

  it('has room again for what was delivered', async () => {
    const { queue, end, answer, waiting, count } = open();
    end(4096);
    void queue.forceFlush();
    answer(0);
    end(100);
    expect(await count('trunkline_spans_sent_total')).toBe('4096');
    expect(await count('trunkline_spans_dropped_total{reason="queue"}')).toBeUndefined();
    expect(waiting).toEqual([]);
  });

  it('says once that nothing is delivered, with the reason, and once that it is again', async () => {
    const { queue, end, answer, told, count } = open();
    const refused = Object.assign(new Error('secret of the collector'), { code: 503 });
    for (let n = 0; n < 3; n++) {
      end(10);
      void queue.forceFlush().catch(() => undefined);
      answer(1, refused);
    }
    end(1);
    void queue.forceFlush();
    answer(0);
    expect(told()).toMatchObject([
      { msg: 'spans of calls cannot be delivered and are dropped', reason: '503' },
      { msg: 'spans of calls are delivered again' },
    ]);
    expect(await count('trunkline_spans_dropped_total{reason="failed"}')).toBe('30');
  });

  it('takes none after its end', async () => {
    const { queue, end, waiting } = open();
    await queue.shutdown();
    end(1);
    expect(waiting).toEqual([]);
  });
});
