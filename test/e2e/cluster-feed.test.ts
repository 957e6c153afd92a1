/** The feed of several gateways, as its readers see it: from one gateway to the next, and without the database. */
import { afterEach, describe, expect, it } from 'vitest';
import type { FeedEvent } from '../../src/calls/feed/events.ts';
import { type FeedReader, readFeed } from '../helpers/feed.ts';
import { speakAt, startCluster, type TestCluster, whyNoCluster } from './cluster-harness.ts';
import { readEvents, type Told } from './cluster-readers.ts';

let cluster: TestCluster | undefined;

afterEach(async () => {
  await cluster?.remove();
  cluster = undefined;
});

/** Reads the feed at `url` after the event `last` until `count` events have come, and breaks off then. */
async function readSome(url: string, last: string | null, count: number): Promise<readonly Told[]> {
  const told: Told[] = [];
  for await (const each of readEvents(url, last)) {
    told.push(each);
    // Which ends the connection.
    if (told.length === count) return told;
  }
  return told;
}

const nameOf = (event: FeedEvent): string =>
  event.type === 'caption' ? `${event.callId} ${event.utterance} ${event.text} ${event.final}` : JSON.stringify(event);

const finalsOf = (feed: FeedReader, calls: readonly string[]): string[] =>
  calls.flatMap((callId) => feed.finals(callId).map(({ utterance, text }) => `${callId} ${utterance} ${text}`));

async function transcriptAt(url: string, callId: string): Promise<number> {
  const response = await fetch(`${url}/v1/calls/${callId}/transcript`);
  if (!response.ok) return 0;
  const { data } = (await response.json()) as { data: readonly { kind: string }[] };
  return data.filter(({ kind }) => kind === 'caption').length;
}

describe.skipIf(whyNoCluster !== '')(`the feed of three gateways${whyNoCluster}`, () => {
  it('is the same everywhere, and a reader that is cut 20 times goes on at whichever answers', async () => {
    cluster = await startCluster(3);
    const { gateways, url } = cluster;
    const witnesses = await Promise.all(gateways.map((gateway) => readFeed(gateway.url)));
    const callIds = Array.from({ length: 9 }, (_, n) => `CA${n}`);
    const calls = callIds.map((callId, n) => speakAt(gateways[n % 3]?.url ?? url, callId, 6));
    const got: Told[] = [...(await readSome(url, null, 1))];
    for (let cut = 0; cut < 20; cut++) got.push(...(await readSome(url, got.at(-1)?.id ?? null, 5)));
    for (const callId of callIds) {
      const live = await transcriptAt(url, callId);
      expect(live).toBeLessThanOrEqual(6);
    }
    await Promise.all(calls.map(({ report }) => report));
    for (const witness of witnesses)
      for (const callId of callIds)
        await witness.until((event) => event.type === 'call.ended' && event.callId === callId);
    const [first, ...others] = witnesses;
    const all = first?.events.map(nameOf) ?? [];
    for (const other of others) expect(other.events.map(nameOf)).toEqual(all);
    const from = all.indexOf(got[0] === undefined ? '' : nameOf(got[0].event));
    expect(from).toBeGreaterThanOrEqual(0);
    got.push(...(await readSome(url, got.at(-1)?.id ?? null, all.length - from - got.length)));
    expect(got.map(({ event }) => nameOf(event))).toEqual(all.slice(from));
    for (const { url: at } of gateways)
      for (const callId of callIds) await expect.poll(() => transcriptAt(at, callId)).toBe(6);
    for (const witness of witnesses) witness.close();
  });

  it('has own calls alone while the database is away, and nothing is lost or told twice when it is back', async () => {
    cluster = await startCluster(2);
    const { gateways, postgres } = cluster;
    const [first, second] = gateways;
    if (first === undefined || second === undefined) throw new Error('two gateways');
    const feeds = await Promise.all(gateways.map((gateway) => readFeed(gateway.url)));
    const [atFirst, atSecond] = feeds;
    if (atFirst === undefined || atSecond === undefined) throw new Error('two readers');
    const calls = [speakAt(first.url, 'CA1', 20), speakAt(second.url, 'CA2', 20)];
    for (const feed of feeds)
      await Promise.all(['CA1', 'CA2'].map((id) => feed.until((e) => e.type === 'caption' && e.callId === id)));
    await postgres.stop('crash');
    await Promise.all(feeds.map((feed) => feed.until((event) => (event.type as string) === 'feed.degraded')));
    const before = atFirst.finals('CA1').length;
    await expect.poll(() => atFirst.finals('CA1').length, { timeout: 20_000 }).toBeGreaterThan(before + 1);
    await postgres.start();
    await Promise.all(feeds.map((feed) => feed.until((event) => (event.type as string) === 'feed.restored')));
    await Promise.all(calls.map(({ report }) => report));
    for (const feed of feeds)
      await Promise.all(['CA1', 'CA2'].map((id) => feed.until((e) => e.type === 'call.ended' && e.callId === id)));
    for (const feed of feeds) {
      const finals = finalsOf(feed, ['CA1', 'CA2']);
      expect(finals).toHaveLength(40);
      expect(new Set(finals)).toHaveLength(40);
    }
    for (const { url } of gateways)
      for (const callId of ['CA1', 'CA2']) await expect.poll(() => transcriptAt(url, callId)).toBe(20);
    for (const feed of feeds) feed.close();
  });
});
