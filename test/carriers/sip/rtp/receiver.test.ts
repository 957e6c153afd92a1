import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeG711 } from '../../../../src/audio/g711.ts';
import { Timeline } from '../../../../src/audio/timeline.ts';
import { type AudioChunk, type MediaListener, RtpReceiver } from '../../../../src/carriers/sip/rtp/receiver.ts';
import type { RtpPacket } from '../../../../src/carriers/sip/wire/rtp/packet.ts';
import { writeEvent } from '../../../../src/carriers/sip/wire/rtp/telephone-event.ts';
import { RTP_FORMATS } from '../../../../src/carriers/sip/wire/rtp-codecs.ts';
import { MULAW_8K } from '../../../../src/foundation/units.ts';
import { packetOf, remoteMedia } from './media.ts';

/** A receiver with what it told, and the timeline that a call would put its chunks on. */
function startReceiver() {
  const chunks: AudioChunk[] = [];
  const digits: string[] = [];
  const timeline = new Timeline({ rateHz: 8000, reorderMs: 60, gapMaxMs: 10_000 });
  let samples = 0;
  const listener: MediaListener = {
    receiveAudio: (chunk) => {
      chunks.push(chunk);
      for (const stretch of timeline.push({ ...chunk, samples: decodeG711(chunk.bytes, MULAW_8K) }))
        samples += stretch.length;
    },
    receiveDigit: (digit) => void digits.push(digit),
  };
  const counter = { count: () => undefined };
  const receiver = new RtpReceiver({ codec: MULAW_8K, remote: remoteMedia(), listener, counter });
  return {
    receiver,
    chunks,
    digits,
    timeline,
    heardMs: () => (samples + timeline.flush().reduce((n, { length }) => n + length, 0)) / 8,
  };
}

/** Packets that come at the pace at which they were sent. */
function onTime(receiver: RtpReceiver, packets: readonly RtpPacket[], fromMs = 0): void {
  packets.forEach((packet, i) => {
    receiver.receive(packet, fromMs + i * 20);
  });
}

const range = (from: number, to: number): number[] => Array.from({ length: to - from }, (_, i) => from + i);

describe('a stream', () => {
  it('counts from 1 and from 0 ms, whatever it counts from itself', () => {
    const { receiver, chunks } = startReceiver();
    onTime(receiver, [packetOf(0), packetOf(1), packetOf(3)]);
    expect(chunks.map(({ sequence, atMs }) => [sequence, atMs])).toEqual([
      [1, 0],
      [2, 20],
      [4, 60],
    ]);
    expect(chunks[1]?.bytes).toEqual(new Uint8Array(160).fill(1));
  });

  it('goes on over the wraps of its counters', () => {
    const { receiver, chunks } = startReceiver();
    const wrapping = (i: number) =>
      packetOf(i, { sequence: (65_534 + i) & 0xffff, timestamp: (2 ** 32 - 320 + i * 160) % 2 ** 32 });
    onTime(receiver, range(0, 6).map(wrapping));
    expect(chunks.map(({ sequence }) => sequence)).toEqual([1, 2, 3, 4, 5, 6]);
    expect(chunks.map(({ atMs }) => atMs)).toEqual([0, 20, 40, 60, 80, 100]);
  });

  it('of any order, with losses and repetitions, becomes as much sound as was sent, in order', () => {
    const order = fc.array(fc.record({ lost: fc.boolean(), twice: fc.boolean(), late: fc.nat({ max: 2 }) }), {
      minLength: 5,
      maxLength: 60,
    });
    fc.assert(
      fc.property(order, (fates) => {
        const { receiver, chunks, heardMs, timeline } = startReceiver();
        const kept = fates.map((fate, i) => ({ ...fate, lost: fate.lost && i > 0 && i < fates.length - 1 }));
        const arrivals = kept
          .flatMap(({ lost, twice, late }, i) =>
            lost ? [] : Array.from({ length: twice ? 2 : 1 }, () => ({ i, at: i + (i === 0 ? 0 : late) })),
          )
          .sort((a, b) => a.at - b.at);
        for (const { i, at } of arrivals) receiver.receive(packetOf(i), at * 20);
        expect(heardMs()).toBe(fates.length * 20);
        expect(timeline.stats.late).toBe(0);
        for (const { bytes, atMs, sequence } of chunks)
          expect([atMs, sequence]).toEqual([(bytes[0] ?? 0) * 20, (bytes[0] ?? 0) + 1]);
      }),
    );
  });

  it('costs nothing by jitter: what comes late but in order is whole', () => {
    const { receiver, heardMs, timeline } = startReceiver();
    for (const i of range(0, 50)) receiver.receive(packetOf(i), Math.ceil(i / 10) * 200);
    expect(heardMs()).toBe(1000);
    expect(timeline.stats).toMatchObject({ concealedMs: 0, silenceMs: 0, late: 0 });
  });

  it('that pauses leaves the time of its pause', () => {
    const { receiver, chunks, heardMs } = startReceiver();
    onTime(
      receiver,
      range(0, 5).map((i) => packetOf(i)),
    );
    const talk = range(5, 10).map((i) => packetOf(i, { timestamp: 50_000 + (i + 100) * 160, marker: i === 5 }));
    onTime(receiver, talk, 105 * 20);
    expect(chunks.at(-1)).toMatchObject({ sequence: 10, atMs: 109 * 20 });
    expect(heardMs()).toBe(110 * 20);
  });

  it.each([
    ['far ahead', 900_000],
    ['back', -30_000],
  ])('whose clock jumps %s goes on without a gap', (_, jump) => {
    const { receiver, heardMs } = startReceiver();
    onTime(
      receiver,
      range(0, 20).map((i) => packetOf(i)),
    );
    onTime(
      receiver,
      range(20, 40).map((i) => packetOf(i, { timestamp: 50_000 + i * 160 + jump })),
      400,
    );
    expect(heardMs()).toBe(800);
  });

  it('that another one follows goes on at once', () => {
    const { receiver, chunks, heardMs } = startReceiver();
    onTime(
      receiver,
      range(0, 10).map((i) => packetOf(i)),
    );
    onTime(
      receiver,
      range(0, 11).map((i) => packetOf(i, { ssrc: 7, sequence: 60_000 + i, timestamp: 5 + i * 160 })),
      200,
    );
    expect(chunks).toHaveLength(20);
    expect(chunks.map(({ sequence }) => sequence)).toEqual(range(1, 21));
    expect(heardMs()).toBe(400);
  });

  it('that another one follows after a pause leaves its time', () => {
    const { receiver, heardMs } = startReceiver();
    onTime(
      receiver,
      range(0, 10).map((i) => packetOf(i)),
    );
    onTime(
      receiver,
      range(0, 11).map((i) => packetOf(i, { ssrc: 7 })),
      1180,
    );
    // The new one's first packet only announces it.
    expect(heardMs()).toBe(1400);
  });

  it('is not disturbed by single packets of others', () => {
    const { receiver, chunks } = startReceiver();
    for (const i of range(0, 20)) {
      receiver.receive(packetOf(i), i * 20);
      receiver.receive(packetOf(50, { ssrc: i + 1 }), i * 20 + 1);
    }
    expect(chunks.map(({ sequence }) => sequence)).toEqual(range(1, 21));
  });

  it('that counts anew is believed at the second packet', () => {
    const { receiver, chunks } = startReceiver();
    onTime(
      receiver,
      range(0, 5).map((i) => packetOf(i)),
    );
    onTime(
      receiver,
      range(0, 5).map((i) => packetOf(i, { sequence: 40_000 + i, timestamp: 50_000 + (i + 5) * 160 })),
      100,
    );
    expect(chunks.map(({ sequence }) => sequence)).toEqual(range(1, 10));
  });
});

describe('payloads', () => {
  it('of unknown numbers are passed over', () => {
    const { receiver, chunks } = startReceiver();
    onTime(receiver, [packetOf(0), packetOf(1, { payloadType: 18 }), packetOf(2)]);
    expect(chunks).toHaveLength(2);
  });

  it('of another codec agreed later come in the codec of the call', () => {
    const { receiver, chunks } = startReceiver();
    receiver.receive(packetOf(0), 0);
    receiver.remote = remoteMedia({ payloadType: 8, format: RTP_FORMATS.alaw });
    receiver.receive(packetOf(1, { payloadType: 8, payload: new Uint8Array(160).fill(0xd5) }), 20);
    expect(chunks[1]?.bytes).toEqual(new Uint8Array(160).fill(0xfe));
  });

  it('that are keys are told once and leave no hole in the sound', () => {
    const { receiver, digits, timeline } = startReceiver();
    const key = (i: number, duration: number, end: boolean) =>
      packetOf(i, {
        payloadType: 101,
        timestamp: 50_000 + 800,
        marker: i === 5,
        payload: writeEvent({ digit: '4', end, duration }),
      });
    onTime(receiver, [
      ...range(0, 5).map((i) => packetOf(i)),
      ...[160, 320, 480, 640].map((duration, i) => key(5 + i, duration, false)),
      ...[800, 800, 800].map((duration, i) => key(9 + i, duration, true)),
      ...range(12, 20).map((i) => packetOf(i)),
    ]);
    expect(digits).toEqual(['4']);
    expect(timeline.stats).toMatchObject({ concealedMs: 0, silenceMs: 140 });
  });

  it('of comfort noise begin a silence that is heard as time goes by, for a second', () => {
    const { receiver, chunks, heardMs } = startReceiver();
    onTime(receiver, [
      ...range(0, 5).map((i) => packetOf(i)),
      packetOf(5, { payloadType: 13, payload: Uint8Array.of(60) }),
    ]);
    expect(receiver.isSilent).toBe(true);
    receiver.fillSilence(100 + 60 + 200);
    expect(chunks).toHaveLength(15);
    expect(chunks.at(-1)).toMatchObject({ sequence: 15, atMs: 280, bytes: new Uint8Array(160).fill(0xff) });
    receiver.fillSilence(10_000);
    expect(heardMs()).toBe(1100);
    expect(receiver.isSilent).toBe(false);
  });

  it('that end an announced silence follow it, in their place', () => {
    const { receiver, chunks, heardMs } = startReceiver();
    onTime(receiver, [packetOf(0), packetOf(1, { payloadType: 13, payload: Uint8Array.of(60) })]);
    receiver.fillSilence(400);
    onTime(
      receiver,
      range(2, 7).map((i) => packetOf(i, { timestamp: 50_000 + (i + 28) * 160, marker: i === 2 })),
      600,
    );
    expect(receiver.isSilent).toBe(false);
    expect(chunks.at(-1)?.atMs).toBe(34 * 20);
    expect(heardMs()).toBe(35 * 20);
  });
});
