/**
 * One gateway without carriers, in a process of its own, for `npm run bench -- cluster`: publishes events of calls and
 * reads the feed. It is told what to do by messages, and answers with figures.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FeedEvent } from '../../src/calls/feed/events.ts';
import { Feed } from '../../src/calls/feed/feed.ts';
import { sleep, systemClock } from '../../src/foundation/clock.ts';
import { createLog } from '../../src/foundation/log/log.ts';
import { Metrics } from '../../src/foundation/metrics.ts';
import { migrate } from '../../src/records/migrations/migrations.ts';
import { openInFolder } from '../../src/records/open-records.ts';
import { openPostgresRecords } from '../../src/records/postgres-records.ts';
import { Records } from '../../src/records/records.ts';
import type { RecordsDatabase } from '../../src/records/records-database.ts';
import { openFeedGateway } from '../cluster/feed/feed-gateways.ts';
import { KEPT_AS_IT_IS } from '../helpers/kept-as-it-is.ts';
import { ended, said, started } from '../records/told-calls.ts';
import { quantile } from './report.ts';

/** How a gateway keeps what it is told. */
export type GatewayKind = 'nothing kept' | 'SQLite' | 'PostgreSQL' | 'cluster';

/** What the parent asks for. */
export type Order =
  | { readonly do: 'open'; readonly kind: GatewayKind; readonly url: string; readonly name: string }
  | { readonly do: 'publish'; readonly perSecond: number; readonly seconds: number }
  | { readonly do: 'calls'; readonly calls: number }
  | { readonly do: 'close' };

/** Delays in ms, from the publication until a reader has it. */
export interface Figures {
  readonly published: number;
  readonly read: number;
  /** p50 and p99. */
  readonly own: readonly [number, number];
  readonly foreign: readonly [number, number];
  /** Of this process, user and system, while it was measured. */
  readonly cpuMs: number;
}

interface Opened {
  readonly feed: Feed;
  readonly records: Records | null;
  close(): Promise<void>;
}

/** Of each utterance: its beginning, partial captions, its end, the final caption. */
const PARTIALS = 5;
const UTTERANCES = 57;
const TICK_MS = 5;
/** Until the last events have come. */
const SETTLE_MS = 2000;

async function open(kind: GatewayKind, url: string): Promise<Opened> {
  if (kind === 'cluster') return openFeedGateway(url, { history: 2000 });
  const feed = new Feed({ history: 2000, epoch: 'bench' });
  if (kind === 'nothing kept') return { feed, records: null, close: async () => undefined };
  const folder = mkdtempSync(join(tmpdir(), 'trunkline-bench-'));
  const database = await openDatabase(kind, url, folder);
  const log = createLog('silent');
  const parts = { clock: systemClock, log, metrics: new Metrics() };
  const records = new Records({ database, folder: null, ...KEPT_AS_IT_IS, ...parts });
  records.follow(feed, { get: () => undefined, parameters: () => undefined });
  const close = async (): Promise<void> => {
    await records.close();
    rmSync(folder, { recursive: true, force: true });
  };
  return { feed, records, close };
}

async function openDatabase(kind: GatewayKind, url: string, folder: string): Promise<RecordsDatabase> {
  if (kind === 'PostgreSQL') return openPostgresRecords(url, { clock: systemClock, log: createLog('silent') });
  const database = await openInFolder(folder);
  await migrate(database.db, 'sqlite');
  return database;
}

/** Monotonic, and the same in all processes of a machine. */
const nowMs = (): number => Number(process.hrtime.bigint()) / 1e6;

/** What an utterance tells; its texts end with when they were published. */
function* utterance(callId: string, number: number): Generator<FeedEvent> {
  const words = 'the parcel has not come yet and I would like to know where it is';
  yield { type: 'speech.started', callId, track: 'inbound', atMs: nowMs() };
  for (let n = 0; n < PARTIALS; n++) yield said(callId, number, `${words} ${nowMs()}`, { final: false });
  yield { type: 'speech.stopped', callId, track: 'inbound', atMs: nowMs() };
  yield said(callId, number, `${words} ${nowMs()}`);
}

class Gateway {
  readonly #opened: Opened;
  readonly #name: string;

  constructor(opened: Opened, name: string) {
    this.#opened = opened;
    this.#name = name;
  }

  async publish(perSecond: number, seconds: number): Promise<Figures> {
    const { feed } = this.#opened;
    const own: number[] = [];
    const foreign: number[] = [];
    const prefix = `${this.#name}:`;
    const stop = feed.subscribe({}, ({ event }) => {
      if (event.type !== 'caption') return;
      const delayMs = nowMs() - Number(event.text.slice(event.text.lastIndexOf(' ') + 1));
      (event.callId.startsWith(prefix) ? own : foreign).push(delayMs);
    });
    feed.publish(started(`${prefix}0`));
    const cpu = process.cpuUsage();
    const beganMs = nowMs();
    let published = 0;
    let count = 0;
    let events = utterance(`${prefix}0`, 0);
    for (let elapsedMs = 0; elapsedMs < seconds * 1000; elapsedMs = nowMs() - beganMs) {
      for (; published < (elapsedMs / 1000) * perSecond; published++) {
        let next = events.next();
        if (next.done === true) {
          events = utterance(`${prefix}0`, ++count);
          next = events.next();
        }
        if (next.done !== true) feed.publish(next.value);
      }
      await sleep(systemClock, TICK_MS);
    }
    const { user, system } = process.cpuUsage(cpu);
    await sleep(systemClock, SETTLE_MS);
    stop();
    const both = (values: number[]): [number, number] => [quantile(values, 0.5), quantile(values, 0.99)];
    const read = own.length + foreign.length;
    return { published, read, own: both(own), foreign: both(foreign), cpuMs: (user + system) / 1000 };
  }

  /** Tells whole calls, and waits until they are kept. Resolves with the CPU time of one in ms. */
  async tellCalls(calls: number): Promise<Figures> {
    const { feed, records } = this.#opened;
    const cpu = process.cpuUsage();
    for (let call = 0; call < calls; call++) {
      const id = `${this.#name}:c${call}`;
      feed.publish(started(id));
      for (let n = 1; n <= UTTERANCES; n++) for (const event of utterance(id, n)) feed.publish(event);
      feed.publish(ended(id));
      await records?.recorder.settled();
    }
    const { user, system } = process.cpuUsage(cpu);
    const none = [0, 0] as const;
    return { published: calls, read: 0, own: none, foreign: none, cpuMs: (user + system) / 1000 / calls };
  }

  close(): Promise<void> {
    return this.#opened.close();
  }
}

let gateway: Gateway | null = null;

process.on('message', (order: Order) => {
  void obey(order).then((figures) => {
    if (order.do === 'close') process.disconnect();
    else process.send?.(figures ?? {});
  });
});

async function obey(order: Order): Promise<Figures | undefined> {
  switch (order.do) {
    case 'open':
      gateway = new Gateway(await open(order.kind, order.url), order.name);
      return undefined;
    case 'publish':
      return gateway?.publish(order.perSecond, order.seconds);
    case 'calls':
      return gateway?.tellCalls(order.calls);
    case 'close':
      await gateway?.close();
      return undefined;
  }
}
