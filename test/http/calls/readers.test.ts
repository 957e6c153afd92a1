import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ArchivedEntries, FeedArchive } from '../../../src/calls/feed/archive.ts';
import type { FeedNotice } from '../../../src/calls/feed/exchange.ts';
import { Feed, type FeedEntry } from '../../../src/calls/feed/feed.ts';
import { createLog } from '../../../src/foundation/log/log.ts';
import { Metrics } from '../../../src/foundation/metrics.ts';
import { FeedReaders, type FeedSink } from '../../../src/http/calls/readers.ts';
import { FakeClock, settle } from '../../fakes/clock.ts';

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

  readonly notices: FeedNotice[] = [];

  tellNotice(notice: FeedNotice): void {
    this.notices.push(notice);
  }

  tellMissing(after: string): void {
    this.written.push(`missing after ${after}`);
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

/** Stores all events but those at the end that it does not have yet. */
class PretendArchive implements FeedArchive {
  async settled(): Promise<void> {
    this.behind = 0;
  }

  readonly entries: FeedEntry[] = [];
  readonly pages: number[] = [];
  behind = 0;
  trouble = false;
  onPage: () => void = () => undefined;

  async after(id: string | null, { callId }: { callId?: string }, limit: number): Promise<ArchivedEntries> {
    if (this.trouble) throw new Error('the disk is full');
    const stored = this.entries.slice(0, this.entries.length - this.behind);
    const from = stored.findIndex((entry) => entry.id === id) + 1;
    const rest = stored.slice(from).filter(({ event }) => callId === undefined || event.callId === callId);
    const entries = rest.slice(0, limit);
    this.pages.push(entries.length);
    this.onPage();
    return { entries, complete: entries.length < limit };
  }

  async knows(id: string): Promise<boolean> {
    return this.entries.some((entry) => entry.id.split('-')[0] === id.split('-')[0]);
  }

  async latestCallIds(): Promise<readonly string[]> {
    return [];
  }
}

function makeReaders(options: { readersMax?: number; history?: number; archive?: FeedArchive } = {}) {
  const clock = new FakeClock();
  const metrics = new Metrics();
  const feed = new Feed({ history: options.history ?? 1000, epoch: 'e' });
  const readers = new FeedReaders({
    feed,
    archive: options.archive ?? null,
    clock,
    log: createLog('silent'),
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

  it('tells all, also one that opens later, that events of other gateways are missing, and that they are back', () => {
    const { readers, feed, say } = makeReaders();
    const [early, late] = [new PretendSink(), new PretendSink()];
    const since = '2026-01-01T00:00:00.000Z';
    readers.open({ callId: 'CA2' }, early);
    feed.tell({ type: 'feed.degraded', since });
    const reader = readers.open({}, late);
    say();
    feed.tell({ type: 'feed.restored', since });
    const types = ({ notices }: PretendSink) => notices.map((notice) => `${notice.type} ${notice.since}`);
    expect(types(early)).toEqual([`feed.degraded ${since}`, `feed.restored ${since}`]);
    expect(types(late)).toEqual(types(early));
    expect(late.written).toEqual(['e-1']);
    reader.end();
    feed.tell({ type: 'feed.degraded', since });
    expect(late.notices).toHaveLength(2);
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
    expect(() => readers.open({}, new PretendSink())).toThrow(/1 caption feeds are open.*CONNECTIONS_MAX/);
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

describe('a reader that asks for older events than memory has', () => {
  /** An archive with `count` events of an earlier life, and a feed of which it stores all. */
  function storedReaders(count: number, history = 10) {
    const archive = new PretendArchive();
    for (let n = 1; n <= count; n++) {
      const event = { type: 'dtmf', callId: 'CA1', digit: '1', atMs: n } as const;
      archive.entries.push({ id: `old-${n}`, event, json: JSON.stringify(event) });
    }
    const made = makeReaders({ archive, history });
    made.feed.subscribe({}, (entry) => archive.entries.push(entry));
    return { ...made, archive };
  }

  /** Lets the network take everything, and time pass, until nothing more comes. */
  async function readAll(sink: PretendSink, clock: FakeClock): Promise<void> {
    for (let n = 0; n < 40; n++) {
      while (sink.unsentBytes > 0) sink.drain();
      await settle();
      clock.advance(50);
    }
  }

  const idsOf = (name: string, from: number, to: number) =>
    Array.from({ length: to - from + 1 }, (_, index) => `${name}-${from + index}`);

  it('gets them from the store, then what memory has, then what comes', async () => {
    const { readers, say, clock, archive } = storedReaders(1200);
    for (let n = 0; n < 30; n++) say();
    const sink = new PretendSink();
    readers.open({ after: 'old-100' }, sink);
    await readAll(sink, clock);
    say();
    expect(sink.written).toEqual([...idsOf('old', 101, 1200), ...idsOf('e', 1, 31)]);
    expect(Math.max(...archive.pages)).toBeLessThanOrEqual(500);
  });

  it('reads the next page only when it has taken the one before', async () => {
    const { readers, archive } = storedReaders(2000);
    const sink = new PretendSink();
    readers.open({ after: 'old-1' }, sink);
    for (let n = 0; n < 20; n++) await settle();
    expect([archive.pages.length, sink.isCut]).toEqual([1, false]);
    expect(sink.unsentBytes).toBeLessThan(BUFFER_BYTES);
  });

  it('is cut when it takes nothing for a minute', async () => {
    const { readers, clock, metric } = storedReaders(2000);
    const sink = new PretendSink();
    readers.open({ after: 'old-1' }, sink);
    for (let n = 0; n < 20; n++) await settle();
    clock.advance(60_000);
    await settle();
    expect(sink.isCut).toBe(true);
    expect(await metric('trunkline_feed_readers')).toContain('kind="sse"} 0');
  });

  it('loses and doubles nothing of what happens meanwhile, also when the store is behind', async () => {
    const { readers, say, clock, archive } = storedReaders(600);
    const sink = new PretendSink();
    archive.behind = 5;
    readers.open({ after: 'old-599' }, sink);
    for (let n = 1; n <= 40; n++) {
      say();
      archive.behind = n % 7;
      if (n % 3 === 0) sink.drain();
      await settle();
      clock.advance(100);
    }
    archive.behind = 0;
    await readAll(sink, clock);
    expect(sink.written).toEqual(['old-600', ...idsOf('e', 1, 40)]);
  });

  it('gets what one call told and memory has no more when that is stored', async () => {
    const { readers, say, clock, archive } = storedReaders(3);
    say('CA1');
    for (let n = 0; n < 30; n++) say('CA2');
    archive.behind = 31;
    const sink = new PretendSink();
    readers.open({ callId: 'CA1', after: 'old-3' }, sink);
    await readAll(sink, clock);
    expect(sink.written).toEqual(['e-1']);
  });

  it('gets one call from its beginning by any id, and goes on with it', async () => {
    const { readers, say, clock } = storedReaders(3);
    for (let n = 0; n < 30; n++) say('CA2');
    const sink = new PretendSink();
    readers.open({ callId: 'CA1', after: 'start' }, sink);
    await readAll(sink, clock);
    say('CA1');
    expect(sink.written).toEqual(['old-1', 'old-2', 'old-3', 'e-31']);
  });

  it('gets what memory has after an id that says nothing', async () => {
    const { readers, say, clock, archive } = storedReaders(3);
    for (let n = 0; n < 30; n++) say();
    const sink = new PretendSink();
    readers.open({ after: 'nonsense' }, sink);
    await readAll(sink, clock);
    expect(sink.written).toEqual(idsOf('e', 21, 30));
    expect(archive.pages).toEqual([]);
  });

  it('gets none that it may not see', async () => {
    const { readers, clock } = storedReaders(3);
    const sink = new PretendSink();
    readers.open({ after: 'old-1', allows: ({ id }) => id !== 'old-2' }, sink);
    await readAll(sink, clock);
    expect(sink.written).toEqual(['old-3']);
  });

  it('is told what is missing when the store cannot be read, and goes on with what memory has', async () => {
    const { readers, say, clock, archive, metric } = storedReaders(3);
    archive.trouble = true;
    const sink = new PretendSink();
    readers.open({ after: 'old-1' }, sink);
    say();
    await readAll(sink, clock);
    expect(sink.written).toEqual(['missing after old-1', 'e-1']);
    expect(await metric('trunkline_feed_readers_incomplete_total')).toMatch(/ 1$/);
  });

  it('is told what is missing when the store fails in the middle', async () => {
    const { readers, clock, archive } = storedReaders(1200);
    const sink = new PretendSink();
    archive.onPage = () => {
      archive.trouble = archive.pages.length === 2;
    };
    readers.open({ after: 'old-1' }, sink);
    await readAll(sink, clock);
    expect(sink.written).toEqual([...idsOf('old', 2, 1001), 'missing after old-1001']);
  });

  it('leaves nothing behind when it goes meanwhile', async () => {
    const { readers, clock, archive } = storedReaders(2000);
    const sink = new PretendSink();
    const reader = readers.open({ after: 'old-1' }, sink);
    await settle();
    reader.end();
    await readAll(sink, clock);
    expect(archive.pages.length).toBeLessThanOrEqual(1);
    expect(clock.pending).toBe(0);
  });
});
