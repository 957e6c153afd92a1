import { describe, expect, it } from 'vitest';
import { type OrderedPacket, PacketOrder } from '../../../../src/carriers/sip/rtp/packet-order.ts';

/** Packets of 20 ms by their sequences, each pushed after the one decoded last; what is decoded, in order. */
function decoded(sequences: readonly number[]): number[] {
  const order = new PacketOrder();
  const out: OrderedPacket[] = [];
  for (const sequence of sequences)
    out.push(...order.push({ sequence, atMs: sequence * 20, payload: new Uint8Array(1) }, out.at(-1)?.sequence ?? 0));
  return [...out, ...order.flush()].map(({ sequence }) => sequence);
}

describe('packets before their decoder', () => {
  it.each<[string, number[], number[]]>([
    ['in order go through at once', [1, 2, 3], [1, 2, 3]],
    ['that are overtaken are put back', [1, 3, 2, 4], [1, 2, 3, 4]],
    ['that come twice are decoded once', [1, 3, 3, 2, 2, 4], [1, 2, 3, 4]],
    ['that are missing are given up', [1, 3, 4, 5, 6], [1, 3, 4, 5, 6]],
    ['that come when they were given up are dropped', [1, 3, 4, 5, 2, 6], [1, 3, 4, 5, 6]],
  ])('%s', (_, sequences, expected) => {
    expect(decoded(sequences)).toEqual(expected);
  });

  it('wait for a missing one until 40 ms have come after the one behind it', () => {
    const order = new PacketOrder();
    const push = (sequence: number) => order.push({ sequence, atMs: sequence * 20, payload: new Uint8Array(1) }, 1);
    expect([push(3), push(4)]).toEqual([[], []]);
    expect(push(5).map(({ sequence }) => sequence)).toEqual([3, 4, 5]);
  });

  it('are not held without end, whatever times they claim', () => {
    const order = new PacketOrder();
    let released = 0;
    for (let sequence = 3; sequence < 1000; sequence++)
      released += order.push({ sequence, atMs: 0, payload: new Uint8Array(1) }, 1).length;
    expect(released).toBeGreaterThan(900);
  });
});
