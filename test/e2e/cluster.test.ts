/** Several gateways that are one service: killed, drained, cut off from their database. */
import { afterEach, describe, expect, it } from 'vitest';
import { readFeed } from '../helpers/feed.ts';
import { callsAt, speakAt, startCluster, type TestCluster, whyNoCluster } from './cluster-harness.ts';

let cluster: TestCluster | undefined;

afterEach(async () => {
  await cluster?.remove();
  cluster = undefined;
});

const liveAt = async (url: string): Promise<readonly string[]> =>
  (await callsAt(url, '?state=live')).map(({ id }) => id).toSorted();

describe.skipIf(whyNoCluster !== '')(`several gateways${whyNoCluster}`, () => {
  it('list the calls of all of them, and end those of one that is killed, once', async () => {
    cluster = await startCluster(3);
    const [first, second, third] = cluster.gateways;
    if (first === undefined || second === undefined || third === undefined) throw new Error('three gateways');
    const feeds = await Promise.all([readFeed(first.url), readFeed(second.url)]);
    const calls = [
      speakAt(first.url, 'CA1'),
      speakAt(second.url, 'CA2'),
      speakAt(third.url, 'CA3'),
      speakAt(third.url, 'CA4'),
    ];
    for (const { url } of [...cluster.gateways, cluster])
      await expect.poll(() => liveAt(url)).toEqual(['CA1', 'CA2', 'CA3', 'CA4']);
    await third.stop('SIGKILL');
    for (const url of [first.url, second.url]) await expect.poll(() => liveAt(url)).toEqual(['CA1', 'CA2']);
    const ended = (await callsAt(cluster.url, '?state=ended')).map(({ id, endReason }) => `${id} ${endReason}`);
    expect(ended.toSorted()).toEqual(['CA3 server_lost', 'CA4 server_lost']);
    const told = feeds.flatMap(({ events }) => events.filter(({ type }) => type === 'call.ended'));
    expect(new Set(told.map(({ callId }) => callId))).toEqual(new Set(['CA3', 'CA4']));
    for (const feed of feeds) feed.close();
    await first.stop('SIGKILL');
    await second.stop('SIGKILL');
    await Promise.all(calls.map(({ report }) => report));
  });
});
