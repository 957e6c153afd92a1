import { describe, expect, it } from 'vitest';
import { type Source, SourceLatch } from '../../../src/trunks/rtp/latch.ts';
import { packetOf } from './media.ts';

const ANNOUNCED: Source = { address: '10.0.0.5', port: 4000 };
const OUTSIDE: Source = { address: '203.0.113.9', port: 61_000 };
const STRANGER: Source = { address: '198.51.100.66', port: 9 };

function latchOn(source: Source): SourceLatch {
  const latch = new SourceLatch();
  latch.announce(source);
  return latch;
}

describe('the packets of a call', () => {
  it('are taken at once from where its description says', () => {
    const latch = latchOn(ANNOUNCED);
    expect(latch.takes(packetOf(0), { ...ANNOUNCED }, 0)).toBe(true);
    expect(latch.destination).toEqual(ANNOUNCED);
  });

  it('are taken from elsewhere after three in a row, and answered there', () => {
    const latch = latchOn(ANNOUNCED);
    expect([0, 1, 2, 3].map((i) => latch.takes(packetOf(i), OUTSIDE, i * 20))).toEqual([false, false, true, true]);
    expect(latch.destination).toEqual(OUTSIDE);
  });

  it.each([
    ['not in a row', [packetOf(0), packetOf(2), packetOf(4), packetOf(6)]],
    ['of several streams', [0, 1, 2, 3].map((i) => packetOf(i, { ssrc: i }))],
    ['repeated', [packetOf(0), packetOf(0), packetOf(0), packetOf(0)]],
  ])('are not taken from a stranger whose packets are %s', (_, packets) => {
    const latch = latchOn(ANNOUNCED);
    expect(packets.map((packet, i) => latch.takes(packet, OUTSIDE, i * 20))).toEqual(packets.map(() => false));
    expect(latch.destination).toEqual(ANNOUNCED);
  });

  it('are not taken from two strangers who take turns', () => {
    const latch = latchOn(ANNOUNCED);
    expect([0, 1, 2, 3, 4, 5].some((i) => latch.takes(packetOf(i), i % 2 === 0 ? OUTSIDE : STRANGER, i * 20))).toBe(false);
  });

  it('that a stranger sends into a live stream are refused, however many', () => {
    const latch = latchOn(ANNOUNCED);
    for (let i = 0; i < 200; i++) {
      expect(latch.takes(packetOf(i), ANNOUNCED, i * 20)).toBe(true);
      expect(latch.takes(packetOf(i + 1), STRANGER, i * 20)).toBe(false);
    }
    expect(latch.destination).toEqual(ANNOUNCED);
  });

  it('come from another address when the peer has moved and goes on with its stream', () => {
    const latch = latchOn(ANNOUNCED);
    latch.takes(packetOf(0), ANNOUNCED, 0);
    expect([1, 2, 3].map((i) => latch.takes(packetOf(i), OUTSIDE, 1000 + i * 20))).toEqual([false, false, false]);
    expect([101, 102, 103].map((i) => latch.takes(packetOf(i), OUTSIDE, i * 20))).toEqual([false, false, true]);
    expect(latch.destination).toEqual(OUTSIDE);
  });

  it.each([
    ['another stream', { ssrc: 5, sequence: 1100 }],
    ['an earlier part of it', { ssrc: 0xabcd, sequence: 900 }],
  ])('are refused from another address when they are %s, even after silence', (_, changes) => {
    const latch = latchOn(ANNOUNCED);
    latch.takes(packetOf(0), ANNOUNCED, 0);
    const all = [0, 1, 2, 3].map((i) =>
      latch.takes(packetOf(100, { ...changes, sequence: changes.sequence + i }), STRANGER, 5000 + i * 20),
    );
    expect(all).toEqual([false, false, false, false]);
  });

  it('are sought anew after a description with another address, not after one with the same', () => {
    const latch = latchOn(ANNOUNCED);
    for (const i of [0, 1, 2]) latch.takes(packetOf(i), OUTSIDE, i * 20);
    latch.announce({ ...ANNOUNCED });
    expect(latch.destination).toEqual(OUTSIDE);
    latch.announce({ ...ANNOUNCED, port: 4002 });
    expect(latch.destination).toEqual({ ...ANNOUNCED, port: 4002 });
    expect([3, 4, 5].map((i) => latch.takes(packetOf(i), OUTSIDE, i * 20))).toEqual([false, false, true]);
  });

  it('are nobody’s before a description', () => {
    const latch = new SourceLatch();
    expect([0, 1, 2, 3].some((i) => latch.takes(packetOf(i), OUTSIDE, i * 20))).toBe(false);
    expect(latch.destination).toBeNull();
  });
});
