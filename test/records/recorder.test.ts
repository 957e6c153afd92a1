import { beforeEach, describe, expect, it } from 'vitest';
import type { FeedEvent } from '../../src/calls/feed/events.ts';
import { Feed } from '../../src/calls/feed/feed.ts';
import { DatabaseAway } from '../../src/foundation/database/trouble.ts';
import { DiskError } from '../../src/foundation/folders/disk.ts';
import { createLog } from '../../src/foundation/log/log.ts';
import { Metrics } from '../../src/foundation/metrics.ts';
import type { RecordRedaction } from '../../src/records/record-redaction.ts';
import type { RecordedEvent, SignOfLife } from '../../src/records/record-writer.ts';
import { Recorder } from '../../src/records/recorder.ts';
import type { Rewrite } from '../../src/records/redaction/stored-call.ts';
import { FakeClock, settle } from '../fakes/clock.ts';
import { ended, said, started } from './told-calls.ts';

interface Write {
  readonly atMs: number;
  readonly contents: readonly string[];
  readonly alive: SignOfLife | null;
}

let clock: FakeClock;
let feed: Feed;
let recorder: Recorder;
let take: RecordRedaction['take'];
let metrics: Metrics;
let writes: Write[];
let rewritten: Rewrite[];
let logged: { level: number; msg: string }[];
/** What a write does; by default it stores. */
let write: (events: readonly RecordedEvent[]) => Promise<void>;
/** Whether the database can be used, and takes a row; by default both. */
let check: () => void;
let probe: () => void;
/** Numbers of events that were refused and kept, and how many are. */
let kept: number[];
let keptMax: number;

beforeEach(() => {
  clock = new FakeClock();
  feed = new Feed({ history: 5, epoch: 'e' });
  metrics = new Metrics();
  writes = [];
  rewritten = [];
  logged = [];
  write = async () => undefined;
  check = () => undefined;
  probe = () => undefined;
  kept = [];
  keptMax = 1000;
  const log = createLog('info', { write: (line: string) => void logged.push(JSON.parse(line)) });
  const writer = {
    write: async (events: readonly RecordedEvent[], alive: SignOfLife | null) => {
      await write(events);
      writes.push({ atMs: clock.nowMs(), contents: events.map(({ type, number }) => `${number} ${type}`), alive });
    },
    check: async () => check(),
    probe: async () => probe(),
    rewrite: async (changed: readonly Rewrite[]) => void rewritten.push(...changed),
  };
  const refused = {
    keep: async ({ number }: RecordedEvent) => {
      if (kept.length >= keptMax) return false;
      kept.push(number);
      return true;
    },
  };
  take = (_id, event) => ({ event, rewrites: [] });
  recorder = new Recorder({
    writer,
    refused,
    clock,
    log,
    metrics: metrics.records,
    redaction: () => ({ take: (id, event) => take(id, event), maskText: (text) => text, close: () => undefined }),
    targetOf: () => null,
  });
  recorder.follow(feed, { get: () => undefined, parameters: () => undefined });
});

const tell = (...events: readonly FeedEvent[]): void => {
  for (const event of events) feed.publish(event);
};
const finals = (count: number, from = 1): FeedEvent[] =>
  Array.from({ length: count }, (_, i) => said('CA1', from + i, `word ${from + i}`));

async function lost(reason: string): Promise<number> {
  const { values } = await metrics.records.lost.get();
  return values.find(({ labels }) => labels['reason'] === reason)?.value ?? 0;
}

describe('the recorder', () => {
  it('stores at once what has waited for a tenth of a second during a slow write', async () => {
    let finishWrite: () => void = () => undefined;
    tell(started('CA1'));
    write = () =>
      new Promise((resolve) => {
        finishWrite = resolve;
      });
    await clock.run(100);
    tell(said('CA1', 1, 'a'));
    await clock.run(70);
    finishWrite();
    write = async () => undefined;
    await clock.run(29, 1);
    expect(writes).toHaveLength(1);
    await clock.run(2, 1);
    expect(writes[1]).toMatchObject({ contents: ['2 caption'] });
    expect(writes[1]?.atMs).toBeLessThanOrEqual(201);
  });

  it('stores what comes within a tenth of a second at once, and a hundred events sooner', async () => {
    tell(started('CA1'), said('CA1', 1, 'a'));
    await clock.run(60);
    tell(said('CA1', 2, 'b'));
    expect(writes).toEqual([]);
    await clock.run(60);
    expect(writes).toMatchObject([{ atMs: 100, contents: ['1 call.started', '2 caption', '3 caption'] }]);
    tell(...finals(250, 3));
    await clock.run(1, 1);
    await clock.run(1, 1);
    expect(writes.map(({ contents }) => contents.length)).toEqual([3, 100, 100]);
    await clock.run(110);
    expect(writes.map(({ contents }) => contents.length)).toEqual([3, 100, 100, 50]);
  });

  it('keeps neither partial captions nor what the detector says', async () => {
    tell(started('CA1'), said('CA1', 1, 'a', { final: false }));
    tell({ type: 'speech.stopped', callId: 'CA1', track: 'inbound', atMs: 1 }, { type: 'call.deleted', callId: 'CA1' });
    await clock.run(110);
    expect(writes.map(({ contents }) => contents)).toEqual([['1 call.started']]);
  });

  it('keeps what cannot be written, tells of it once, and writes all of it in order when that is possible', async () => {
    let isFull = true;
    write = async () => {
      if (isFull) throw new DiskError('database or disk is full');
    };
    tell(started('CA1'), ...finals(150));
    await clock.run(3000);
    tell(...finals(10, 151));
    await clock.run(3000);
    expect(recorder.backlog).toBe(161);
    expect(recorder.isTroubled).toBe(true);
    expect(logged.map(({ msg }) => msg)).toEqual([expect.stringMatching(/cannot be written; calls go on/)]);
    isFull = false;
    const settled = recorder.settled();
    await clock.run(31_000, 100);
    await settled;
    expect(recorder.backlog).toBe(0);
    expect(writes.flatMap(({ contents }) => contents.map((text) => Number.parseInt(text, 10)))).toEqual(
      Array.from({ length: 161 }, (_, i) => i + 1),
    );
    expect(logged.at(-2)?.msg).toMatch(/can be written again/);
    expect((await metrics.records.failures.get()).values[0]?.value).toBeGreaterThan(2);
  });

  it('loses the newest events, counted and told once, when too many wait; calls keep their beginning and end', async () => {
    let isStuck = true;
    let unstick: () => void = () => undefined;
    write = () =>
      isStuck
        ? new Promise((resolve) => {
            unstick = resolve;
          })
        : Promise.resolve();
    tell(started('CA1'));
    await clock.run(110);
    tell(...finals(50_100));
    tell(started('CA2'), ended('CA1'));
    await clock.run(20_000, 5000);
    expect(logged.map(({ msg }) => msg)).toEqual([
      expect.stringMatching(/too many events wait/),
      expect.stringMatching(/not been written for 10 s/),
    ]);
    expect(await lost('backlog')).toBe(100);
    expect(recorder.backlog).toBe(50_003);
    isStuck = false;
    unstick();
    await clock.run(10_000, 10);
    expect(recorder.backlog).toBe(0);
    expect(writes.flatMap(({ contents }) => contents).slice(-2)).toEqual([
      expect.stringMatching(/call.started/),
      expect.stringMatching(/call.ended/),
    ]);
  });

  it('puts aside an event that the database refuses while it takes a probe, and stores all others', async () => {
    write = async (events) => {
      if (events.some(({ number }) => number === 7)) throw new Error('NOT NULL constraint failed');
    };
    tell(started('CA1'), ...finals(12));
    await clock.run(110);
    const stored = writes.flatMap(({ contents }) => contents.map((text) => Number.parseInt(text, 10)));
    expect(stored).toEqual([1, 2, 3, 4, 5, 6, 8, 9, 10, 11, 12, 13]);
    expect(kept).toEqual([7]);
    expect(recorder.lost).toBe(0);
    expect((await metrics.records.refused.get()).values[0]?.value).toBe(1);
    expect((await metrics.records.written.get()).values[0]?.value).toBe(12);
    expect(logged).toMatchObject([
      { level: 50, callId: 'CA1', type: 'caption', msg: expect.stringMatching(/refused/) },
    ]);
    await recorder.settled();
  });

  it.each(['54000', 'XX000', 'P0001'])('puts an event aside whatever the class of the refusal: %s', async (code) => {
    write = async (events) => {
      if (events.some(({ number }) => number === 3)) throw Object.assign(new Error('no'), { code });
    };
    tell(started('CA1'), ...finals(4));
    await clock.run(110);
    expect(kept).toEqual([3]);
    expect(recorder.backlog).toBe(0);
  });

  it('counts a refused event as lost where it cannot be kept', async () => {
    keptMax = 0;
    write = async () => {
      throw Object.assign(new Error('too long'), { code: '54000' });
    };
    tell(started('CA1'));
    await clock.run(110);
    expect(await lost('refused')).toBe(1);
    expect(recorder.lost).toBe(1);
  });

  it.each([
    ['28000', 'login'],
    ['3D000', 'other_database'],
    ['42501', 'right'],
    ['42P01', 'tables'],
    ['42883', 'tables'],
    ['53300', 'connections'],
    ['55P03', 'unreachable'],
    ['57P03', 'unreachable'],
    ['XX001', 'unreachable'],
    ['22021', 'unreachable'],
  ])('loses nothing while a database takes no row at all (%s), and says why', async (code, reason) => {
    const refuse = (): never => {
      throw Object.assign(new Error('no'), { code });
    };
    write = async () => refuse();
    probe = refuse;
    tell(started('CA1'), ...finals(150));
    await clock.run(100_000, 500);
    expect([recorder.backlog, recorder.lost, kept]).toEqual([151, 0, []]);
    expect(recorder.trouble?.reason).toBe(reason);
    write = async () => undefined;
    await clock.run(40_000, 100);
    expect([recorder.backlog, recorder.trouble]).toEqual([0, null]);
    expect(writes.flatMap(({ contents }) => contents)).toHaveLength(151);
  });

  it('tells of an outage at once, each minute, when its reason changes, and of what was caught up', async () => {
    let code = '28000';
    write = async () => {
      throw Object.assign(new Error('no'), { code });
    };
    tell(started('CA1'), said('CA1', 1, 'a'));
    await clock.run(150_000, 500);
    code = '57P03';
    await clock.run(40_000, 500);
    write = async () => undefined;
    await clock.run(40_000, 500);
    expect(logged.map(({ msg }) => msg.slice(0, 29))).toEqual([
      'the records cannot be written',
      'the records cannot be written',
      'the records cannot be written',
      'the records cannot be written',
      'the records can be written ag',
      'what waited for the records i',
    ]);
    expect(logged.map((line) => ('reason' in line ? line.reason : null)).slice(2, 5)).toEqual([
      'it refuses the login: 28000',
      '57P03',
      null,
    ]);
    expect(logged.at(-1)).toMatchObject({ events: 2, lost: 0 });
  });

  it('notices within ten seconds that the database is away while nobody calls', async () => {
    check = () => {
      throw new DatabaseAway("another installation's", 'other_database');
    };
    await clock.run(11_000, 500);
    expect(recorder.trouble).toEqual({ reason: 'other_database', message: "another installation's" });
    check = () => undefined;
    await clock.run(40_000, 500);
    expect(recorder.trouble).toBe(null);
    expect(writes).toEqual([]);
  });

  it('keeps no more than 64 million characters, whatever the number of events', async () => {
    write = () => new Promise(() => undefined);
    tell(started('CA1'));
    await clock.run(110);
    const long = 'x'.repeat(8_000_000);
    for (let utterance = 1; utterance <= 10; utterance++)
      tell(said('CA1', utterance, long, { stable: '', text: '', tail: long }));
    tell(ended('CA1'));
    expect(recorder.backlog).toBe(1 + 8 + 1);
    expect(recorder.trouble?.reason).toBe('full');
    expect(await lost('backlog')).toBe(2);
  });

  it('says every ten seconds that it lives while there are calls, also silent ones', async () => {
    tell(started('CA1'));
    await clock.run(110);
    await clock.run(30_000, 1000);
    expect(writes.map(({ alive }) => alive?.atMs)).toEqual(
      [100, 10_000, 20_000, 30_000].map((ms) => Date.UTC(2026, 0, 1) + ms),
    );
    tell(ended('CA1'));
    await clock.run(60_000, 1000);
    expect(writes).toHaveLength(5);
  });

  it('stores what redaction leaves, and changes what is stored when it says so', async () => {
    const contents: string[] = [];
    write = async (events) => void contents.push(...events.map(({ content }) => content));
    const masked = (event: FeedEvent): FeedEvent =>
      event.type === 'caption' ? { ...event, text: '[number]', stable: '[number]' } : event;
    take = (id, event) => ({
      event: masked(event),
      rewrites: id === 'e-4' ? [{ id: 'e-2', event: said('CA1', 1, '[card]') }] : [],
    });
    tell(started('CA1'), said('CA1', 1, '4111'));
    await clock.run(110);
    tell(said('CA1', 2, '4111'));
    recorder.rewrite([{ id: 'e-3', event: said('CA1', 2, '[phone]') }]);
    tell(said('CA1', 3, '4111'));
    await clock.run(110);
    expect(contents.join()).not.toContain('4111');
    expect(contents[2]).toContain('[phone]');
    expect(rewritten.map(({ id }) => id)).toEqual(['e-2']);
    await recorder.settled();
  });

  it('settles when everything before is stored, at once when nothing waits, and not before', async () => {
    await recorder.settled();
    tell(started('CA1'));
    let isSettled = false;
    void recorder.settled().then(() => {
      isSettled = true;
    });
    await clock.run(90);
    expect(isSettled).toBe(false);
    await clock.run(20);
    expect(isSettled).toBe(true);
  });

  it('writes what waits when it is closed, and gives up after ten seconds', async () => {
    tell(started('CA1'));
    const closing = recorder.close();
    await clock.run(10);
    await closing;
    expect(writes).toHaveLength(1);
    expect(clock.pending).toBe(0);
  });

  it('does not wait for ever for a disk when it is closed', async () => {
    write = () => new Promise(() => undefined);
    tell(started('CA1'));
    const closing = recorder.close();
    await clock.run(11_000, 1000);
    await closing;
    await settle();
    expect(logged.at(-1)?.msg).toMatch(/do not have the last events/);
  });
});
