import { describe, expect, it } from 'vitest';
import { decodeG711 } from '../../../../src/audio/g711.ts';
import { RtpSender } from '../../../../src/carriers/sip/rtp/sender.ts';
import { parseRtp, type RtpPacket } from '../../../../src/carriers/sip/wire/rtp/packet.ts';
import { parseEvent } from '../../../../src/carriers/sip/wire/rtp/telephone-event.ts';
import { RTP_FORMATS } from '../../../../src/carriers/sip/wire/rtp-codecs.ts';
import { MULAW_8K } from '../../../../src/foundation/units.ts';
import { FakeClock } from '../../../fakes/clock.ts';
import { remoteMedia } from './media.ts';

interface Sent extends RtpPacket {
  readonly atMs: number;
}

function startSender(random = 0.5, comfortNoise = false) {
  const clock = new FakeClock();
  const sent: Sent[] = [];
  const transmit = (datagram: Uint8Array): void => {
    const packet = parseRtp(datagram);
    if (packet !== null) sent.push({ ...packet, atMs: clock.nowMs() });
  };
  const sender = new RtpSender({ clock, codec: MULAW_8K, random: () => random, comfortNoise, transmit });
  return { clock, sent, sender };
}

/** Hands over a frame of `value` every 20 ms, as a call's playout does. */
function speak(clock: FakeClock, sender: RtpSender, values: readonly number[]): void {
  for (const value of values) {
    sender.send(new Uint8Array(160).fill(value));
    clock.advance(20);
  }
}

const valuesOf = (sent: readonly Sent[]): number[] => sent.map(({ payload }) => payload[0] ?? 0);
const SILENCE = 0xff;

describe('outbound packets', () => {
  it('hold silence while nothing is said, every 20 ms', () => {
    const { clock, sent, sender } = startSender();
    sender.remote = remoteMedia();
    clock.advance(100);
    expect(sent.map(({ atMs }) => atMs)).toEqual([0, 20, 40, 60, 80, 100]);
    expect(sent.map(({ marker }) => marker)).toEqual([true, false, false, false, false, false]);
    for (const [i, { sequence, timestamp, payload }] of sent.entries()) {
      expect([sequence, timestamp]).toEqual([2 ** 14 + i, 2 ** 31 + i * 160]);
      expect(payload).toEqual(new Uint8Array(160).fill(SILENCE));
    }
  });

  it('hold low noise where that is wanted, and speech alone while there is some', () => {
    const { clock, sent, sender } = startSender(0.5, true);
    sender.remote = remoteMedia();
    clock.advance(100);
    expect(sent).toHaveLength(6);
    for (const { payload } of sent)
      expect(Math.max(...decodeG711(payload, MULAW_8K).map((sample) => Math.abs(sample)))).toBeLessThan(40);
    expect(new Set(sent.map(({ payload }) => payload.join())).size).toBe(6);
    speak(clock, sender, [1, 2, 3]);
    expect(sent.slice(-2).map(({ payload }) => [...new Set(payload)])).toEqual([[2], [3]]);
  });

  it('are a few of comfort noise where the other side takes that, and begin at once when there is sound', () => {
    const { clock, sent, sender } = startSender(0.5, true);
    sender.remote = remoteMedia({ comfortNoise: true });
    clock.advance(1000);
    expect(sent.map(({ atMs, payloadType, payload }) => [atMs, payloadType, ...payload])).toEqual(
      [0, 200, 400, 600, 800, 1000].map((atMs) => [atMs, 13, 65]),
    );
    speak(clock, sender, [1, 2]);
    clock.advance(60);
    expect(sent.slice(6).map(({ payloadType, marker }) => [payloadType, marker])).toEqual([
      [0, true],
      [0, false],
      [13, false],
    ]);
    expect(sent.map(({ sequence }) => sequence - 2 ** 14)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8]);
    const [speech, end] = [sent[6], sent[8]];
    expect((end?.timestamp ?? 0) - (speech?.timestamp ?? 0)).toBe(320);
  });

  it('are digital silence where noise is not wanted, whatever the other side takes', () => {
    const { clock, sent, sender } = startSender();
    sender.remote = remoteMedia({ comfortNoise: true });
    clock.advance(40);
    expect(valuesOf(sent)).toEqual([SILENCE, SILENCE, SILENCE]);
  });

  it('begin another stream where that is asked for, and the time goes on', () => {
    const clock = new FakeClock();
    const sent: RtpPacket[] = [];
    const transmit = (datagram: Uint8Array): void => void sent.push(...[parseRtp(datagram) ?? []].flat());
    const isNewStream = (): boolean => sent.length === 3;
    const sender = new RtpSender({ clock, codec: MULAW_8K, random: () => 0.5, isNewStream, transmit });
    sender.remote = remoteMedia();
    clock.advance(80);
    const [first, second] = [2 ** 31, sender.ssrc];
    expect(second).not.toBe(first);
    expect(sent.map(({ ssrc }) => ssrc)).toEqual([first, first, first, second, second]);
    expect(sent.map(({ sequence }) => sequence - 2 ** 14)).toEqual([0, 1, 2, 0, 1]);
    expect(sent.map(({ timestamp }) => timestamp - 2 ** 31)).toEqual([0, 160, 320, 480, 640]);
    expect([sender.sent.packets, sender.sentPackets]).toEqual([2, 5]);
  });

  it('hold the frames one after the other, whatever the moment they come at, with a marker on the first', () => {
    for (const phaseMs of [0, 3, 9, 12, 19]) {
      const { clock, sent, sender } = startSender();
      sender.remote = remoteMedia();
      clock.advance(100 + phaseMs);
      speak(clock, sender, [1, 2, 3, 4, 5]);
      clock.advance(100);
      const first = sent.findIndex(({ payload }) => payload[0] === 1);
      expect(valuesOf(sent.slice(first, first + 6))).toEqual([1, 2, 3, 4, 5, SILENCE]);
      expect(sent.slice(first - 1, first + 3).map(({ marker }) => marker)).toEqual([false, true, false, false]);
      expect((sent[first]?.atMs ?? 0) - 100 - phaseMs).toBeLessThanOrEqual(28);
    }
  });

  it('bear frames that come up to 8 ms late without a hole', () => {
    const { clock, sent, sender } = startSender();
    sender.remote = remoteMedia();
    clock.advance(101);
    for (let i = 1; i <= 40; i++) {
      const lateMs = i % 3 === 0 ? 7 : 0;
      clock.advance(lateMs);
      sender.send(new Uint8Array(160).fill(i));
      clock.advance(20 - lateMs);
    }
    const values = valuesOf(sent);
    const first = values.indexOf(1);
    expect(values.slice(first, first + 39)).toEqual(Array.from({ length: 39 }, (_, i) => i + 1));
  });

  it.each([10, 30, 40, 50, 60])('of %d ms hold all of the sound in order', (ptimeMs) => {
    for (const phaseMs of [0, 7, 13]) {
      const { clock, sent, sender } = startSender();
      sender.remote = remoteMedia({ ptimeMs });
      clock.advance(120 + phaseMs);
      const values = Array.from({ length: 30 }, (_, i) => i + 1);
      speak(clock, sender, values);
      clock.advance(200);
      expect(sent.every(({ payload }) => payload.length === ptimeMs * 8)).toBe(true);
      const sound = Buffer.concat(sent.map(({ payload }) => payload)).filter((byte) => byte !== SILENCE);
      const whole = Buffer.concat(sent.map(({ payload }) => payload));
      expect([...sound]).toEqual(values.flatMap((value) => Array<number>(160).fill(value)));
      expect(whole.subarray(whole.indexOf(1), whole.indexOf(1) + 30 * 160)).toEqual(Buffer.from(sound));
      expect(new Set(sent.slice(1).map(({ timestamp }, i) => timestamp - (sent[i]?.timestamp ?? 0)))).toEqual(
        new Set([ptimeMs * 8]),
      );
    }
  });

  it('stay on their grid though every timer is late', () => {
    const { clock, sent, sender } = startSender();
    sender.remote = remoteMedia();
    for (let i = 0; i < 500; i++) clock.stall(i % 2 === 0 ? 13 : 27);
    expect(sent).toHaveLength(501);
    expect(sent.at(-1)?.timestamp).toBe(2 ** 31 + 500 * 160);
  });

  it('catch up after a short hold-up, and leave out slots after a long one', () => {
    const { clock, sent, sender } = startSender();
    sender.remote = remoteMedia();
    clock.stall(60);
    expect(sent.map(({ timestamp }) => timestamp - 2 ** 31)).toEqual([0, 160, 320, 480]);
    clock.stall(1000);
    expect(sent).toHaveLength(5);
    expect(sent[4]).toMatchObject({ timestamp: 2 ** 31 + 53 * 160, sequence: 2 ** 14 + 4 });
    clock.advance(20);
    expect(sent[5]?.atMs).toBe(1080);
  });

  it('never hold more than a fifth of a second of what came at once', () => {
    const { clock, sent, sender } = startSender();
    sender.remote = remoteMedia();
    clock.advance(15);
    for (let i = 1; i <= 100; i++) sender.send(new Uint8Array(160).fill(i));
    clock.advance(1000);
    expect(valuesOf(sent).filter((value) => value !== SILENCE)).toEqual([91, 92, 93, 94, 95, 96, 97, 98, 99, 100]);
  });

  it('stop while the peer does not listen, and go on by the clock with a marker', () => {
    const { clock, sent, sender } = startSender();
    sender.remote = remoteMedia();
    clock.advance(20);
    sender.remote = remoteMedia({ receives: false });
    sender.send(new Uint8Array(160).fill(1));
    clock.advance(1000);
    expect(sent).toHaveLength(2);
    expect(clock.pending).toBe(0);
    sender.remote = remoteMedia();
    speak(clock, sender, [2, 3]);
    clock.advance(40);
    expect(valuesOf(sent.slice(2))).toEqual([SILENCE, 2, 3, SILENCE, SILENCE]);
    expect(sent[2]?.timestamp).toBe(2 ** 31 + 51 * 160);
    expect(sent[3]?.marker).toBe(true);
  });

  it('go on unmoved when the same is agreed again', () => {
    const { clock, sent, sender } = startSender();
    sender.remote = remoteMedia();
    clock.advance(27);
    sender.remote = remoteMedia({ port: 4010 });
    clock.advance(33);
    expect(sent.map(({ atMs }) => atMs)).toEqual([0, 20, 40, 60]);
  });

  it('come in the codec that was agreed later', () => {
    const { clock, sent, sender } = startSender();
    sender.remote = remoteMedia();
    sender.remote = remoteMedia({ payloadType: 8, format: RTP_FORMATS.alaw });
    clock.advance(0);
    expect(sent[0]).toMatchObject({ payloadType: 8, payload: new Uint8Array(160).fill(0xd5) });
  });

  it('leave no timer behind', () => {
    const { clock, sender } = startSender();
    sender.remote = remoteMedia();
    sender.close();
    expect(clock.pending).toBe(0);
  });
});

describe('a key', () => {
  it('is pressed in packets of one timestamp, ended three times, with the sound left out meanwhile', () => {
    const { clock, sent, sender } = startSender();
    sender.remote = remoteMedia();
    clock.advance(110);
    expect(sender.press('5')).toBe(true);
    speak(clock, sender, Array<number>(10).fill(9));
    clock.advance(40);
    const events = sent.filter(({ payloadType }) => payloadType === 101);
    expect(events.map(({ payload }) => parseEvent(payload))).toEqual([
      ...[160, 320, 480, 640].map((duration) => ({ digit: '5', end: false, duration })),
      ...[800, 800, 800].map((duration) => ({ digit: '5', end: true, duration })),
    ]);
    expect(new Set(events.map(({ timestamp }) => timestamp))).toEqual(new Set([2 ** 31 + 6 * 160]));
    expect(events.map(({ marker }) => marker)).toEqual([true, false, false, false, false, false, false]);
    expect(sent.map(({ sequence }) => sequence)).toEqual(sent.map((_, i) => 2 ** 14 + i));
    const after = sent[sent.indexOf(events.at(-1) as Sent) + 1];
    expect(after).toMatchObject({ payloadType: 0, timestamp: 2 ** 31 + 13 * 160 });
  });

  it('follows the one before it', () => {
    const { clock, sent, sender } = startSender();
    sender.remote = remoteMedia();
    for (const digit of '12#') sender.press(digit);
    clock.advance(500);
    const ends = sent
      .flatMap(({ payloadType, payload }) => (payloadType === 101 ? (parseEvent(payload) ?? []) : []))
      .filter(({ end }) => end);
    expect(ends.map(({ digit }) => digit).join('')).toBe('111222###');
  });

  it.each([10, 30, 60])('lasts its time in packets of %d ms', (ptimeMs) => {
    const { clock, sent, sender } = startSender();
    sender.remote = remoteMedia({ ptimeMs });
    sender.press('8');
    clock.advance(600);
    const events = sent.flatMap(({ payloadType, payload }) => (payloadType === 101 ? (parseEvent(payload) ?? []) : []));
    expect(events.slice(-3)).toEqual(Array(3).fill({ digit: '8', end: true, duration: 800 }));
    expect(events[0]).toEqual({ digit: '8', end: false, duration: ptimeMs * 8 });
  });

  it('cannot be pressed where events were not agreed', () => {
    const { sender } = startSender();
    expect(sender.press('1')).toBe(false);
    sender.remote = remoteMedia({ events: null });
    expect(sender.press('1')).toBe(false);
  });
});
