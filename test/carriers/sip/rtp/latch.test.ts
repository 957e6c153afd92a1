import { describe, expect, it } from 'vitest';
import { type Source, SourceLatch } from '../../../../src/carriers/sip/rtp/latch.ts';
import type { RtpPacket } from '../../../../src/carriers/sip/wire/rtp/packet.ts';
import { packetOf } from './media.ts';

const ANNOUNCED: Source = { address: '10.0.0.5', port: 4000 };
/** The outer side of the NAT that the phone is behind; its SIP comes from there, too. */
const OUTSIDE: Source = { address: '203.0.113.9', port: 61_000 };
/** Where a NAT that keeps ports would put it. */
const KEPT_PORT: Source = { ...OUTSIDE, port: ANNOUNCED.port };
const NEIGHBOUR: Source = { ...OUTSIDE, port: 62_000 };
const RELAY: Source = { address: '192.0.2.200', port: 30_000 };
const STRANGER: Source = { address: '198.51.100.66', port: 9 };
const PACKET_MS = 20;

/** A latch with a call's packets, one every 20 ms. */
class Line {
  readonly latch = new SourceLatch((address) => address === RELAY.address);
  nowMs = 0;

  constructor(source: Source | null = ANNOUNCED) {
    this.announce(source);
  }

  announce(source: Source | null): void {
    this.latch.announce({ source, peerAddress: OUTSIDE.address }, this.nowMs);
  }

  /** Sends packets `from` to `to`; whether each was taken. */
  send(source: Source, from: number, to: number, changes: Partial<RtpPacket> = {}): boolean[] {
    return Array.from({ length: to - from + 1 }, (_, i) => {
      this.nowMs += PACKET_MS;
      return this.takes(source, from + i, changes);
    });
  }

  takes(source: Source, index: number, changes: Partial<RtpPacket> = {}): boolean {
    return this.latch.takes(packetOf(index, changes), { ...source }, this.nowMs);
  }
}

const all = (taken: readonly boolean[]): boolean => taken.every((each) => each);
const none = (taken: readonly boolean[]): boolean => !taken.some((each) => each);
const FORGED = { ssrc: 0xbad };

describe('the packets of a call', () => {
  it('are taken at once from where its description says', () => {
    const line = new Line();
    expect(line.send(ANNOUNCED, 0, 0)).toEqual([true]);
    expect(line.latch.destination).toEqual(ANNOUNCED);
  });

  it.each([
    ['any port of the SIP peer', OUTSIDE],
    ['another port of the announced address', { ...ANNOUNCED, port: 4444 }],
    ['a media relay', RELAY],
  ])('are taken from %s after three in a row, and answered there', (_, source) => {
    const line = new Line();
    expect(line.send(source, 0, 3)).toEqual([false, false, true, true]);
    expect(line.latch.destination).toEqual(source);
  });

  it('are never taken from anybody else, though nobody has sent any before', () => {
    const line = new Line();
    expect(none(line.send(STRANGER, 0, 500))).toBe(true);
    expect(line.latch.destination).toEqual(ANNOUNCED);
  });

  it.each([
    ['not in a row', [packetOf(0), packetOf(2), packetOf(4), packetOf(6)]],
    ['of several streams', [0, 1, 2, 3].map((i) => packetOf(i, { ssrc: i }))],
    ['repeated', [packetOf(0), packetOf(0), packetOf(0), packetOf(0)]],
  ])('are not taken from another port while they are %s', (_, packets) => {
    const { latch } = new Line();
    expect(packets.map((packet, i) => latch.takes(packet, OUTSIDE, i * PACKET_MS))).toEqual(packets.map(() => false));
    expect(latch.destination).toEqual(ANNOUNCED);
  });

  it('are not taken from two neighbours who take turns', () => {
    const line = new Line();
    expect([0, 1, 2, 3, 4, 5].some((i) => line.takes(i % 2 === 0 ? OUTSIDE : NEIGHBOUR, i))).toBe(false);
  });

  it('that others send into a live stream are refused, however many', () => {
    const line = new Line();
    for (let i = 0; i < 200; i++) {
      expect(line.send(ANNOUNCED, i, i)).toEqual([true]);
      for (const other of [STRANGER, OUTSIDE, RELAY]) expect(line.takes(other, i + 1)).toBe(false);
    }
    expect(line.latch.destination).toEqual(ANNOUNCED);
  });

  it('are nobody’s before a description', () => {
    const line = new Line(null);
    expect(none(line.send(OUTSIDE, 0, 3))).toBe(true);
    expect(line.latch.destination).toBeNull();
  });
});

describe('whoever was believed by mistake', () => {
  it('loses the call to the announced source, even while both send', () => {
    const line = new Line();
    expect(line.send(NEIGHBOUR, 0, 400, FORGED).at(-1)).toBe(true);
    const phone = Array.from({ length: 3 }, (_, i) => {
      line.send(NEIGHBOUR, 401 + i, 401 + i, FORGED);
      return line.takes(ANNOUNCED, i);
    });
    expect(phone).toEqual([false, false, true]);
    expect(none(line.send(NEIGHBOUR, 404, 600, FORGED))).toBe(true);
    expect(line.latch.destination).toEqual(ANNOUNCED);
  });

  it('loses it to the announced port behind the NAT, which is not lost again', () => {
    const line = new Line();
    line.send(NEIGHBOUR, 0, 10, FORGED);
    expect(line.send(KEPT_PORT, 0, 2)).toEqual([false, false, true]);
    expect(none(line.send(NEIGHBOUR, 11, 20, FORGED))).toBe(true);
    expect(line.latch.destination).toEqual(KEPT_PORT);
  });
});

describe('another stream (SSRC) of the peer', () => {
  it('is refused while the first one goes on, and taken when it is over', () => {
    const line = new Line();
    line.send(ANNOUNCED, 0, 10);
    for (let i = 11; i < 300; i++) {
      expect(all(line.send(ANNOUNCED, i, i))).toBe(true);
      expect(line.takes(ANNOUNCED, i, FORGED)).toBe(false);
    }
    expect(line.send(ANNOUNCED, 0, 7, { ssrc: 2 })).toEqual([false, false, false, false, true, true, true, true]);
  });

  it('that began in a pause ends when the first one comes back', () => {
    const line = new Line();
    line.send(ANNOUNCED, 0, 300);
    line.nowMs += 1000;
    expect(line.send(ANNOUNCED, 0, 2, FORGED)).toEqual([false, true, true]);
    expect(line.send(ANNOUNCED, 301, 301)).toEqual([true]);
    expect(none(line.send(ANNOUNCED, 3, 3, FORGED))).toBe(true);
    expect(all(line.send(ANNOUNCED, 302, 310))).toBe(true);
  });

  it.each([
    ['the same source', ANNOUNCED],
    ['nowhere', null],
  ])('is taken at once after a new description that names %s', (_, source) => {
    const line = new Line();
    line.send(ANNOUNCED, 0, 100);
    line.announce(source);
    expect(line.send(ANNOUNCED, 0, 3, { ssrc: 2 })).toEqual([false, true, true, true]);
    line.nowMs += 5000;
    line.send(ANNOUNCED, 4, 4, { ssrc: 2 });
    expect(none(line.send(ANNOUNCED, 0, 3, { ssrc: 3 }))).toBe(true);
  });
});

describe('a peer that moves', () => {
  it('is followed to another port if it goes on with its stream after a silence', () => {
    const line = new Line();
    line.takes(ANNOUNCED, 0);
    line.nowMs = 1000;
    expect(none(line.send(OUTSIDE, 1, 3))).toBe(true);
    line.nowMs = 2000;
    expect(line.send(OUTSIDE, 101, 103)).toEqual([false, false, true]);
    expect(line.latch.destination).toEqual(OUTSIDE);
  });

  it.each([
    ['another stream', { ssrc: 5, sequence: 1100 }],
    ['an earlier part of it', { ssrc: 0xabcd, sequence: 900 }],
  ])('is not taken for somebody with %s, even after a silence', (_, { ssrc, sequence }) => {
    const line = new Line();
    line.takes(ANNOUNCED, 0);
    line.nowMs = 5000;
    expect([0, 1, 2, 3].some((i) => line.takes(OUTSIDE, 100, { ssrc, sequence: sequence + i }))).toBe(false);
  });

  it('is not followed to a stranger’s address, though it knows the stream', () => {
    const line = new Line();
    line.takes(ANNOUNCED, 0);
    line.nowMs = 5000;
    expect(none(line.send(STRANGER, 1, 10))).toBe(true);
  });

  it('may come from another port with another stream after a hold', () => {
    const line = new Line();
    line.send(OUTSIDE, 0, 10);
    line.nowMs += 60_000;
    line.announce(ANNOUNCED);
    expect(line.send(NEIGHBOUR, 0, 3, { ssrc: 2 })).toEqual([false, false, true, true]);
  });

  it('is sought anew after a description with another source, not after one with the same', () => {
    const line = new Line();
    line.send(OUTSIDE, 0, 2);
    line.announce({ ...ANNOUNCED });
    expect(line.latch.destination).toEqual(OUTSIDE);
    line.announce({ ...ANNOUNCED, port: 4002 });
    expect(line.latch.destination).toEqual({ ...ANNOUNCED, port: 4002 });
    expect(line.send(OUTSIDE, 3, 5)).toEqual([false, false, true]);
  });
});

describe('control packets', () => {
  it('are the peer’s from its address alone', () => {
    const line = new Line();
    expect(
      [ANNOUNCED, { ...ANNOUNCED, port: 9 }, OUTSIDE, STRANGER].map((source) => line.latch.takesControl(source)),
    ).toEqual([true, true, false, false]);
    line.send(OUTSIDE, 0, 2);
    expect([ANNOUNCED, NEIGHBOUR, STRANGER].map((source) => line.latch.takesControl(source))).toEqual([
      false,
      true,
      false,
    ]);
  });
});
