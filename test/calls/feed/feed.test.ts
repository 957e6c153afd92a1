import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { DtmfEvent } from '../../../src/calls/feed/events.ts';
import { Feed, type FeedEntry } from '../../../src/calls/feed/feed.ts';

const event = (callId: string, atMs: number): DtmfEvent => ({ type: 'dtmf', callId, digit: '1', atMs });

function feedWith(count: number, history = 10): Feed {
  const feed = new Feed({ history, epoch: 'e' });
  for (let n = 1; n <= count; n++) feed.publish(event('CA1', n));
  return feed;
}

function read(feed: Feed, filter: { callId?: string; after?: string }): FeedEntry[] {
  const entries: FeedEntry[] = [];
  feed.subscribe(filter, (entry) => entries.push(entry));
  return entries;
}

const numbers = (entries: readonly FeedEntry[]) => entries.map((entry) => Number(entry.id.split('-')[1]));

describe('Feed', () => {
  it('tells a new reader what happens from now on', () => {
    const feed = feedWith(2);
    const entries = read(feed, {});
    feed.publish(event('CA1', 3));
    expect(entries).toEqual([
      { id: 'e-3', event: event('CA1', 3), json: '{"type":"dtmf","callId":"CA1","digit":"1","atMs":3}' },
    ]);
  });

  it('passes the very same entry to every reader', () => {
    const feed = feedWith(0);
    const [a, b] = [read(feed, {}), read(feed, { callId: 'CA1' })];
    feed.publish(event('CA1', 1));
    expect(a[0]).toBe(b[0]);
  });

  it('tells a reader of one call nothing of the others', () => {
    const feed = feedWith(0);
    const entries = read(feed, { callId: 'CA2' });
    feed.publish(event('CA1', 1));
    feed.publish(event('CA2', 2));
    expect(entries.map((entry) => entry.event.callId)).toEqual(['CA2']);
  });

  it('replays what came after a known id', () => {
    expect(numbers(read(feedWith(5), { after: 'e-3' }))).toEqual([4, 5]);
  });

  it.each(['other-3', 'e-99', 'e-0', 'e-03', 'e--1', 'e-1e3', '3', '', 'e-'])(
    'replays everything kept after the unknown id "%s"',
    (after) => {
      expect(numbers(read(feedWith(3), { after }))).toEqual([1, 2, 3]);
    },
  );

  it('replays everything kept after an id that is older than that', () => {
    expect(numbers(read(feedWith(25, 10), { after: 'e-2' }))).toEqual([16, 17, 18, 19, 20, 21, 22, 23, 24, 25]);
  });

  it('tells a reader that left nothing more', () => {
    const feed = feedWith(0);
    const entries: FeedEntry[] = [];
    const leave = feed.subscribe({}, (entry) => entries.push(entry));
    feed.publish(event('CA1', 1));
    leave();
    feed.publish(event('CA1', 2));
    expect(numbers(entries)).toEqual([1]);
  });

  it('drops a reader that throws and goes on with the others', () => {
    const feed = feedWith(0);
    let calls = 0;
    feed.subscribe({}, () => {
      calls += 1;
      throw new Error('broken reader');
    });
    const entries = read(feed, {});
    feed.publish(event('CA1', 1));
    feed.publish(event('CA1', 2));
    expect(calls).toBe(1);
    expect(numbers(entries)).toEqual([1, 2]);
  });

  it('keeps the order for everyone when a reader publishes', () => {
    const feed = feedWith(0);
    feed.subscribe({}, (entry) => {
      if (entry.id === 'e-1') feed.publish(event('CA1', 2));
    });
    const entries = read(feed, {});
    feed.publish(event('CA1', 1));
    expect(numbers(entries)).toEqual([1, 2]);
  });

  it('passes an entry once to a reader that comes while it is being passed round', () => {
    const feed = feedWith(0);
    const late: FeedEntry[] = [];
    const leave = feed.subscribe({}, () => {
      leave();
      feed.subscribe({ after: 'e-0' }, (entry) => late.push(entry));
    });
    feed.publish(event('CA1', 1));
    expect(numbers(late)).toEqual([1]);
  });

  it('loses and doubles nothing, wherever a reader is cut off and resumes', () => {
    const calls = fc.array(fc.constantFrom('CA1', 'CA2'), { maxLength: 60 });
    fc.assert(
      fc.property(
        calls,
        fc.nat(60),
        fc.nat(60),
        fc.option(fc.constantFrom('CA1', 'CA2')),
        (callIds, cutAt, backAt, only) => {
          const feed = new Feed({ history: 100, epoch: 'e' });
          const filter = only === null ? {} : { callId: only };
          const seen: FeedEntry[] = [];
          let leave = feed.subscribe(filter, (entry) => seen.push(entry));
          callIds.forEach((callId, index) => {
            if (index === cutAt) leave();
            if (index === Math.max(cutAt, backAt)) {
              leave();
              leave = feed.subscribe({ ...filter, after: seen.at(-1)?.id ?? 'e-0' }, (entry) => seen.push(entry));
            }
            feed.publish(event(callId, index));
          });
          if (callIds.length <= Math.max(cutAt, backAt)) {
            leave();
            feed.subscribe({ ...filter, after: seen.at(-1)?.id ?? 'e-0' }, (entry) => seen.push(entry));
          }
          const expected = callIds.flatMap((callId, index) => (only === null || callId === only ? [index] : []));
          expect(seen.map((entry) => (entry.event as DtmfEvent).atMs)).toEqual(expected);
        },
      ),
    );
  });

  it('keeps no more than its history', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 20 }), fc.nat(100), fc.nat(100), (history, count, after) => {
        const entries = numbers(read(feedWith(count, history), { after: `e-${after}` }));
        const known = after >= 1 && after <= count ? after : 0;
        const first = Math.max(known, count - history) + 1;
        expect(entries).toEqual(Array.from({ length: count - first + 1 }, (_, index) => first + index));
      }),
    );
  });
});
