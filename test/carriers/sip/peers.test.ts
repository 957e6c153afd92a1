import { afterEach, describe, expect, it } from 'vitest';
import { Peers } from '../../../src/carriers/sip/peers.ts';
import { FakeClock } from '../../fakes/clock.ts';
import { eventually } from '../../helpers/eventually.ts';

let peers: Peers;
afterEach(() => peers.close());

async function open(
  allowed: readonly string[],
  hosts: readonly string[],
): Promise<{ clock: FakeClock; unknown: string[] }> {
  const clock = new FakeClock();
  const unknown: string[] = [];
  peers = new Peers({ allowed, hosts, clock, onUnknown: (host) => unknown.push(host) });
  await peers.open();
  return { clock, unknown };
}

describe('Peers', () => {
  it('are those of the list', async () => {
    const { clock } = await open(['192.0.2.0/24', '2001:db8::1'], []);
    expect(
      ['192.0.2.77', '2001:db8::1', '192.0.3.1', '127.0.0.1', 'x'].map((address) => peers.admits(address)),
    ).toEqual([true, true, false, false, false]);
    expect(clock.pending).toBe(0);
  });

  it('are the hosts that we are a customer of, too', async () => {
    await open([], ['192.0.2.9', 'localhost']);
    expect(peers.admits('192.0.2.9')).toBe(true);
    expect(peers.admits('127.0.0.1') || peers.admits('::1')).toBe(true);
    expect(peers.admits('192.0.2.8')).toBe(false);
  });

  it('are asked for again when a name is not known, without forgetting the others', async () => {
    const { clock, unknown } = await open([], ['192.0.2.9', 'nowhere.invalid']);
    expect(unknown).toEqual(['nowhere.invalid']);
    expect(peers.admits('192.0.2.9')).toBe(true);
    // Those who ask at the same time wait for the same answers.
    const asked = [peers.open(), peers.open(), peers.open()];
    expect(new Set(asked).size).toBe(1);
    await Promise.all(asked);
    expect(clock.pending).toBe(1);
    clock.advance(30_000);
    await eventually(() => expect(clock.pending).toBe(1));
    // It is told once, not every half a minute.
    expect(unknown).toEqual(['nowhere.invalid']);
    peers.close();
    expect(clock.pending).toBe(0);
  });
});
