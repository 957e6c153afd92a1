import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Feed, type FeedEntry } from '../../../src/calls/feed/feed.ts';
import { Metrics } from '../../../src/foundation/metrics.ts';
import { FeedReaders, type FeedSink } from '../../../src/http/calls/readers.ts';
import { FakeClock } from '../../fakes/clock.ts';

/** A connection that takes in what the test lets it. */
class PretendSink implements FeedSink {
  readonly kind = 'sse';
  readonly written: string[] = [];
  readonly #inFlight: { bytes: number; sent: () => void }[] = [];
  beats = 0;
  isCut = false;
  isClosed = false;

  get unsentBytes(): number {
    return this.#inFlight.reduce((sum, { bytes }) => sum + bytes, 0);
  }

  write(entry: FeedEntry, sent: () => void): void {
    this.written.push(entry.id);
    this.#inFlight.push({ bytes: entry.json.length, sent });
  }

  /** The network takes the oldest write. */
  drain(): void {
    this.#inFlight.shift()?.sent();
  }

  beat(): void {
    this.beats += 1;
  }

  cut(): void {
    this.isCut = true;
  }

  close(): void {
    this.isClosed = true;
  }
}

const BUFFER_BYTES = 4096;

function makeReaders(options: { readersMax?: number; history?: number } = {}) {
  const clock = new FakeClock();
  const metrics = new Metrics();
  const feed = new Feed({ history: options.history ?? 1000, epoch: 'e' });
  const readers = new FeedReaders({
    feed,
    clock,
    metrics,
    readersMax: options.readersMax ?? 2,
    bufferMaxBytes: BUFFER_BYTES,
  });
  const say = (callId = 'CA1') => feed.publish({ type: 'dtmf', callId, digit: '5', atMs: 4100 });
  const metric = (name: string) => metrics.registry.getSingleMetricAsString(name);
  return { clock, feed, readers, say, metric };
}

describe('FeedReaders', () => {
  it('gives every reader what passes its filter', () => {
    const { readers, say } = makeReaders();
    const [all, one] = [new PretendSink(), new PretendSink()];
    readers.open({}, all);
    readers.open({ callId: 'CA2' }, one);
    say('CA1');
    say('CA2');
    expect([all.written, one.written]).toEqual([['e-1', 'e-2'], ['e-2']]);
  });

  it('beats every 15 s until the reader ends, and leaves no timer behind', () => {
    const { readers, clock } = makeReaders();
    const sink = new PretendSink();
    const reader = readers.open({}, sink);
    clock.advance(45_000);
    expect(sink.beats).toBe(3);
    reader.end();
    clock.advance(45_000);
    expect([sink.beats, clock.pending]).toEqual([3, 0]);
  });

  it('lets no more readers in than allowed, and one more when one has gone', async () => {
    const { readers, metric } = makeReaders({ readersMax: 1 });
    const reader = readers.open({}, new PretendSink());
    expect(() => readers.open({}, new PretendSink())).toThrow(/1 caption feeds are open.*FEED_READERS_MAX/);
    expect(await metric('trunkline_feed_readers')).toContain('{kind="sse"} 1');
    reader.end();
    reader.end();
    expect(await metric('trunkline_feed_readers')).toContain('{kind="sse"} 0');
    readers.open({}, new PretendSink());
  });

  it('cuts off a reader that falls behind by more than the limit, counts it, and goes on for the others', async () => {
    const { readers, say, metric } = makeReaders();
    const [slow, quick] = [new PretendSink(), new PretendSink()];
    readers.open({}, slow);
    readers.open({}, quick);
    for (let i = 0; i < 100; i++) {
      say();
      quick.drain();
    }
    expect([slow.isCut, quick.isCut]).toEqual([true, false]);
    expect(slow.unsentBytes).toBeLessThanOrEqual(BUFFER_BYTES);
    expect(quick.written.length).toBe(100);
    expect(await metric('trunkline_feed_readers_cut_total')).toMatch(/ 1$/);
    expect(await metric('trunkline_feed_readers')).toContain('{kind="sse"} 1');
  });

  it('replays more than the limit to a reader that takes its time', () => {
    const { readers, say } = makeReaders({ history: 5000 });
    for (let i = 0; i < 5000; i++) say();
    const sink = new PretendSink();
    readers.open({ after: 'gone-1' }, sink);
    say();
    expect(sink.isCut).toBe(false);
    expect(sink.unsentBytes).toBeLessThanOrEqual(BUFFER_BYTES);
    while (sink.unsentBytes > 0) sink.drain();
    expect(sink.written).toEqual(Array.from({ length: 5001 }, (_, i) => `e-${i + 1}`));
  });

  it('closes all readers with the server and lets no more in', () => {
    const { readers, say, clock } = makeReaders();
    const sink = new PretendSink();
    readers.open({}, sink);
    readers.close();
    say();
    expect([sink.isClosed, sink.written, clock.pending]).toEqual([true, [], 0]);
    expect(() => readers.assertRoom()).toThrow(/shutting down/);
  });

  it('passes everything on in order, however unevenly it is read, or cuts the reader off', () => {
    fc.assert(
      fc.property(fc.array(fc.nat({ max: 30 }), { maxLength: 60 }), fc.nat({ max: 40 }), (steps, past) => {
        const { readers, say } = makeReaders();
        for (let i = 0; i < past; i++) say();
        const sink = new PretendSink();
        readers.open({ after: 'gone-1' }, sink);
        let said = past;
        for (const step of steps) {
          if (step % 2 === 0) for (let i = 0; i < step && !sink.isCut; i++, said++) say();
          else for (let i = 0; i < step; i++) sink.drain();
        }
        if (!sink.isCut) while (sink.unsentBytes > 0) sink.drain();
        expect(sink.written).toEqual(Array.from({ length: sink.written.length }, (_, i) => `e-${i + 1}`));
        if (!sink.isCut) expect(sink.written.length).toBe(said);
      }),
    );
  });
});
