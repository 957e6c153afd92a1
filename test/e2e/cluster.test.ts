/** Several gateways that are one service: killed, drained, cut off from their database. */
import { afterEach, describe, expect, it } from 'vitest';
import { sleep, systemClock } from '../../src/foundation/clock.ts';
import { readFeed } from '../helpers/feed.ts';
import { freeSipPort, freeUdpPorts } from '../helpers/ports.ts';
import {
  type ClusterGateway,
  callsAt,
  finalsAt,
  speakAt,
  startCluster,
  type TestCluster,
  whyNoCluster,
} from './cluster-harness.ts';
import { startRegistrar, type TestRegistrar } from './cluster-registrar.ts';

const OUTAGE_MS = 5000;

let cluster: TestCluster | undefined;
let registrar: TestRegistrar | undefined;

afterEach(async () => {
  await cluster?.remove();
  registrar?.close();
  cluster = undefined;
  registrar = undefined;
});

/** Starts three gateways. */
async function startThree(environment: Readonly<Record<string, string>> = {}) {
  cluster = await startCluster(3, environment);
  const [first, second, third] = cluster.gateways;
  if (first === undefined || second === undefined || third === undefined) throw new Error('there are not three');
  return { cluster, first, second, third, all: [first, second, third] };
}

const liveAt = async (url: string): Promise<readonly string[]> =>
  (await callsAt(url, '?state=live')).map(({ id }) => id).toSorted();

const statesIn = async ({ url }: ClusterGateway): Promise<string> => {
  const page = await (await fetch(`${url}/metrics`)).text();
  return (['serving', 'draining'] as const)
    .map((state) => new RegExp(`^trunkline_cluster_gateways\\{state="${state}"\\} (\\d+)`, 'm').exec(page)?.[1])
    .join(' ');
};

describe.skipIf(whyNoCluster !== '')(`several gateways${whyNoCluster}`, () => {
  it('list the calls of all of them, and end those of one that is killed, once', async () => {
    const { first, second, third, all, cluster: running } = await startThree();
    const feeds = await Promise.all([readFeed(first.url), readFeed(second.url)]);
    const calls = [
      speakAt(first.url, 'CA1'),
      speakAt(second.url, 'CA2'),
      speakAt(third.url, 'CA3'),
      speakAt(third.url, 'CA4'),
    ];
    for (const { url } of [...all, running]) await expect.poll(() => liveAt(url)).toEqual(['CA1', 'CA2', 'CA3', 'CA4']);
    // What no event tells is told about each second.
    const seenAtSecond = async () => (await callsAt(second.url, '?state=live')).find(({ id }) => id === 'CA1');
    await expect.poll(seenAtSecond).toMatchObject({ phase: expect.any(String), lagMs: expect.any(Number) });
    await third.stop('SIGKILL');
    for (const url of [first.url, second.url]) await expect.poll(() => liveAt(url)).toEqual(['CA1', 'CA2']);
    const ended = (await callsAt(running.url, '?state=ended')).map(({ id, endReason }) => `${id} ${endReason}`);
    expect(ended.toSorted()).toEqual(['CA3 server_lost', 'CA4 server_lost']);
    for (const feed of feeds) {
      await feed.until(({ type, callId }) => type === 'call.ended' && callId === 'CA3');
      await feed.until(({ type, callId }) => type === 'call.ended' && callId === 'CA4');
      expect(feed.events.filter(({ type }) => type === 'call.ended')).toHaveLength(2);
      feed.close();
    }
    await Promise.all([first.stop('SIGKILL'), second.stop('SIGKILL')]);
    await Promise.all(calls.map(({ report }) => report));
  });

  it('go on while their database is away, and have every final then, none twice', async () => {
    const { all, cluster: running } = await startThree();
    const calls = all.map(({ url }, at) => speakAt(url, `CA${at}`, 12));
    for (const { url } of all) await expect.poll(() => liveAt(url)).toEqual(['CA0', 'CA1', 'CA2']);
    await running.postgres.stop('crash');
    await sleep(systemClock, OUTAGE_MS);
    await running.postgres.start();
    const reports = await Promise.all(calls.map(({ report }) => report));
    expect(reports.map((report) => report?.closeCode)).toEqual([1000, 1000, 1000]);
    for (const { callSid } of calls)
      for (const { url } of all) {
        await expect.poll(async () => (await finalsAt(url, callSid)).length).toBeGreaterThanOrEqual(12);
        const utterances = (await finalsAt(url, callSid)).map(({ utterance }) => utterance);
        expect(utterances).toEqual([...new Set(utterances)]);
      }
    await expect.poll(async () => (await callsAt(running.url, '?state=ended')).length).toBe(3);
    for (const { endReason } of await callsAt(running.url, '?state=ended')) expect(endReason).not.toBe('server_lost');
    await expect.poll(() => Promise.all(all.map(statesIn))).toEqual(['3 0', '3 0', '3 0']);
  });

  it('register one at a time: the next does when that one is drained, or is killed', async () => {
    registrar = await startRegistrar();
    const { uri, contacts } = registrar;
    cluster = await startCluster(0);
    const ports: number[] = [];
    for (let number = 0; number < 3; number++) {
      const port = await freeSipPort();
      const { first, last } = await freeUdpPorts(8);
      const sip = { SIP_PORT: String(port), RTP_PORTS: `${first}-${last}`, SIP_REGISTRAR: uri, SIP_USER: 'bridge' };
      ports.push(port);
      await cluster.add({ ...sip, DRAIN_TIMEOUT_MS: '43200000' });
    }
    const gatewayAt = (port: number | undefined): ClusterGateway => {
      const found = cluster?.gateways[ports.indexOf(port ?? 0)];
      if (found === undefined) throw new Error(`no gateway has the SIP port ${port}`);
      return found;
    };
    await expect.poll(contacts).toHaveLength(1);
    const draining = gatewayAt(contacts()[0]);
    const others = cluster.gateways.filter((gateway) => gateway !== draining);
    const call = speakAt(draining.url, 'CA1', 8);
    await expect.poll(() => liveAt(draining.url)).toEqual(['CA1']);
    const exited = draining.stop('SIGTERM');
    await expect.poll(async () => (await fetch(`${draining.url}/ready`)).status).toBe(503);
    for (const other of others) await expect.poll(() => statesIn(other)).toBe('2 1');
    const dialled = await fetch(`${draining.url}/v1/calls`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ to: '100' }),
    });
    expect([dialled.status, await dialled.json()]).toMatchObject([503, { error: { code: 'draining' } }]);
    expect(await speakAt(draining.url, 'CA2').report).toBeNull();
    expect((await call.report)?.closeCode).toBe(1000);
    expect(await exited).toBe(0);
    await expect.poll(contacts).toEqual([expect.any(Number)]);
    const [second] = contacts();
    expect(gatewayAt(second)).not.toBe(draining);
    await gatewayAt(second).stop('SIGKILL');
    await expect.poll(contacts).toHaveLength(2);
    const last = others.find((gateway) => gateway !== gatewayAt(second));
    expect(gatewayAt(contacts()[1])).toBe(last);
    await expect.poll(async () => last && statesIn(last)).toBe('1 0');
  });
});
