/** Several gateways with one application in one Asterisk: it belongs to one of them at a time. */
import { afterEach, describe, expect, it } from 'vitest';
import { PretendAsterisk } from '../fakes/asterisk.ts';
import { type ClusterGateway, callsAt, startCluster, type TestCluster, whyNoCluster } from './cluster-harness.ts';

let cluster: TestCluster | undefined;
let asterisk: PretendAsterisk | undefined;

afterEach(async () => {
  await cluster?.remove();
  await asterisk?.close();
  cluster = undefined;
  asterisk = undefined;
});

describe.skipIf(whyNoCluster !== '')(`several gateways and one Asterisk${whyNoCluster}`, () => {
  it('have its application one at a time: the next does when that one has drained, or is killed', async () => {
    const pretend = await new PretendAsterisk().listen();
    asterisk = pretend;
    const running = await startCluster(3, { ...pretend.environment, DRAIN_TIMEOUT_MS: '43200000' });
    cluster = running;
    const leads = async ({ metrics }: ClusterGateway) => /^trunkline_ari_connected 1$/m.test(await metrics());
    /** The one of `gateways` that has the application, when exactly one says so. */
    const leaderOf = async (gateways: readonly ClusterGateway[]): Promise<ClusterGateway> => {
      const leading = () => Promise.all(gateways.map(leads));
      await expect.poll(async () => (await leading()).filter(Boolean).length).toBe(1);
      return gateways[(await leading()).indexOf(true)] as ClusterGateway;
    };
    const live = async ({ url }: ClusterGateway) => (await callsAt(url, '?state=live')).map(({ id }) => id);

    const first = await leaderOf(running.gateways);
    pretend.enter('100.1', 'assist');
    await expect.poll(() => live(first)).toEqual(['100.1']);

    // While its call lasts a draining gateway keeps the application, and takes no other call.
    const exited = first.stop('SIGTERM');
    await expect.poll(async () => (await fetch(`${first.url}/ready`)).status).toBe(503);
    pretend.enter('100.2', 'assist');
    await expect.poll(() => pretend.channels.get('100.2')?.inApp).toBe(false);
    expect([pretend.connections, pretend.listeners.size, await live(first)]).toEqual([1, 1, ['100.1']]);
    pretend.hangUp('100.1');
    expect(await exited).toBe(0);

    const others = running.gateways.filter((gateway) => gateway !== first);
    const second = await leaderOf(others);
    pretend.enter('100.3', 'assist');
    await expect.poll(() => live(second)).toEqual(['100.3']);

    await second.stop('SIGKILL');
    const third = await leaderOf(others.filter((gateway) => gateway !== second));
    pretend.enter('100.4', 'assist');
    await expect.poll(() => live(third)).toEqual(['100.4']);
    expect([pretend.connections, pretend.listenersMax]).toEqual([3, 1]);
    const ended = await callsAt(third.url, '?state=ended');
    expect(ended.filter(({ endReason }) => endReason === 'server_lost').map(({ id }) => id)).toEqual(['100.3']);
  });
});
