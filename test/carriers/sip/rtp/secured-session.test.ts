/** SRTP on real sockets: packets that come again, late, around the wrap, forged, and under another key. */
import { randomBytes } from 'node:crypto';
import { afterEach, describe, expect, it } from 'vitest';
import { makeSrtpKeys } from '../../../../src/carriers/sip/wire/crypto-lines.ts';
import type { RemoteMedia } from '../../../../src/carriers/sip/wire/offer-answer.ts';
import { parseRtp, type RtpPacket, writeRtp } from '../../../../src/carriers/sip/wire/rtp/packet.ts';
import { parseRtcp, writeReport } from '../../../../src/carriers/sip/wire/rtp/rtcp.ts';
import { SrtpReceiver, SrtpSender } from '../../../../src/carriers/sip/wire/rtp/srtp.ts';
import type { SrtpKey } from '../../../../src/carriers/sip/wire/rtp/srtp-keys.ts';
import { packetOf } from './media.ts';
import { closeSessions, HERE, Peer, startCall } from './session-line.ts';

afterEach(closeSessions);

/** The first sequence number: the tenth packet is behind the wrap. */
const FIRST = 65_527;
const LAST_BEFORE_WRAP = 8;

/** Of our stream, by the numbers that are drawn here. */
const FIRST_SSRC = Math.floor(0.99999 * 2 ** 32);
/** After so long our sequence numbers have wrapped, wherever they began. */
const LONG_MS = 2 ** 16 * 20;

const numbered = (index: number): Partial<RtpPacket> => ({ sequence: (FIRST + index) & 0xffff });
const plain = (index: number): Uint8Array => writeRtp(packetOf(index, numbered(index)));
/** So many packets as their sender secures them, each `8` as packet 8. */
const sealedBy = (sender: SrtpSender, count: number): Uint8Array[] =>
  Array.from({ length: count }, (_, index) => sender.protect(plain(index)));
const at = (packets: readonly Uint8Array[], index: number): Uint8Array => packets[index] ?? new Uint8Array(0);

function forged(datagram: Uint8Array): Uint8Array {
  const other = Uint8Array.from(datagram);
  other[other.length - 1] = (other.at(-1) ?? 0) ^ 1;
  return other;
}

function newKey(suite = 0): SrtpKey {
  const key = makeSrtpKeys(randomBytes)[suite];
  if (key === undefined) throw new Error('no such suite');
  return key;
}

async function startSecured(suite = 0) {
  const [ours, theirs] = [newKey(suite), newKey(suite)];
  const call = await startCall({ srtp: { ours, theirs } });
  const { session, rtp, told } = call;
  /** Sends packets, and resolves when each was heard or refused. */
  const send = async (...packets: readonly Uint8Array[]): Promise<void> => {
    const done = told.length + session.stats.refused + packets.length;
    for (const packet of packets) await rtp.send(packet, session.port);
    await expect.poll(() => told.length + session.stats.refused, { timeout: 20_000 }).toBe(done);
  };
  /** Packets by their numbers, as they were heard. */
  const heardNumbers = (): number[] => told.map((line) => Number(line.split(': ')[1]));
  const rekey = (key: SrtpKey): void => session.setRemote({ ...call.remote, srtp: { ours, theirs: key } }, HERE);
  return { ...call, ours, theirs, send, heardNumbers, rekey };
}

describe.each([
  ['a tag of 80 bits', 0],
  ['a tag of 32 bits', 1],
])('a secured packet with %s', (_, suite) => {
  it('is heard once, in whatever order it comes around the wrap', async () => {
    const { session, theirs, send, told } = await startSecured(suite);
    const packets = sealedBy(new SrtpSender(theirs), 20);
    const order = [0, 1, 2, 3, 4, 5, 10, 9, 6, 11, 8, 12, 13, 7, 15, 14];
    await send(...order.map((index) => at(packets, index)));
    expect(told).toEqual(order.map((index) => `${index + 1}: ${index}`));
    expect(session.stats.refused).toBe(0);
    await send(...order.map((index) => at(packets, index)));
    expect([told.length, session.stats.refused]).toEqual([order.length, order.length]);
    await send(at(packets, 16));
    expect(told.at(-1)).toBe('17: 16');
  });

  it('is refused with a wrong tag, under another key and in the clear, and moves nothing', async () => {
    const { session, theirs, send, heardNumbers } = await startSecured(suite);
    const packets = sealedBy(new SrtpSender(theirs), 20);
    const strange = sealedBy(new SrtpSender(newKey(suite)), 20);
    for (let index = 0; index < 12; index++)
      await send(forged(at(packets, index)), at(strange, index), plain(index), at(packets, index));
    expect(heardNumbers()).toEqual(Array.from({ length: 12 }, (_each, index) => index));
    expect(session.stats.refused).toBe(36);
    // A forged packet from far ahead of the wrap must not count as one.
    const ahead = writeRtp(packetOf(50, { sequence: 40_000 }));
    await send(forged(new SrtpSender(theirs).protect(ahead)), at(packets, 12));
    expect(heardNumbers().at(-1)).toBe(12);
  });
});

describe('a secured session', () => {
  it('takes forged packets for no sign of its peer', async () => {
    const { clock, theirs, send, told } = await startSecured();
    const packets = sealedBy(new SrtpSender(theirs), 2);
    await send(at(packets, 0));
    clock.advance(20_000);
    await send(forged(at(packets, 1)), at(packets, 0), plain(1));
    clock.advance(11_000);
    expect(told).toEqual(['1: 0', 'media_timeout']);
  });

  it('sends what its key opens, and takes each report once', async () => {
    const { clock, session, rtp, rtcp, ours, theirs, remote } = await startSecured();
    clock.advance(0);
    const sent = await rtp.next();
    expect(parseRtp(sent)?.payload.length).toBe(170);
    const opened = new SrtpReceiver(ours).open(sent);
    expect(opened === null ? null : parseRtp(opened)).toMatchObject({ payload: new Uint8Array(160).fill(0xff) });
    const sender = new SrtpSender(theirs);
    const report = (lost: number): Uint8Array => {
      const { ssrc } = parseRtp(sent) ?? { ssrc: 0 };
      const numbers = { fractionLost: 0, highestSequence: 0, jitter: 0, lastSenderReport: 0, delaySinceLast: 0 };
      const reception = { ssrc, lost, ...numbers };
      return sender.protectControl(writeReport({ ssrc: 5, cname: 'p', sender: null, reception, goodbye: false }));
    };
    const [first, second] = [report(1), report(2)];
    for (const datagram of [first, second, first, forged(report(3))]) await rtcp.send(datagram, session.port + 1);
    await expect.poll(() => session.stats.refused, { timeout: 20_000 }).toBe(2);
    expect(session.stats.peerReport?.lost).toBe(2);
    expect(remote.rtcpPort).toBe(rtcp.port);
  });
});

describe('another key of the peer', () => {
  /** What the peer sends under a new key, behind the wrap of its sequence numbers. */
  function sealedAnew(key: SrtpKey, isCountKept: boolean): Uint8Array[] {
    const sender = new SrtpSender(key);
    if (isCountKept) sender.protect(plain(LAST_BEFORE_WRAP));
    return Array.from({ length: 20 }, (_, index) => (index < 9 ? plain(index) : sender.protect(plain(index))));
  }

  it.each([
    ['keeps', true],
    ['sets back', false],
  ])('is heard where its sender %s the count of wraps, and so is what was on its way', async (_, isCountKept) => {
    const { session, theirs, send, heardNumbers, rekey } = await startSecured();
    const before = sealedBy(new SrtpSender(theirs), 20);
    await send(...before.slice(0, 12));
    const key = newKey();
    rekey(key);
    const after = sealedAnew(key, isCountKept);
    await send(at(before, 12), at(after, 13), at(before, 14), at(after, 14), at(after, 13));
    expect(heardNumbers()).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14]);
    expect(session.stats.refused).toBe(2);
  });

  it('that nothing came under does not make the count forgotten', async () => {
    const { theirs, send, heardNumbers, rekey } = await startSecured();
    await send(...sealedBy(new SrtpSender(theirs), 12));
    const key = newKey();
    rekey(newKey());
    rekey(key);
    await send(at(sealedAnew(key, true), 13));
    expect(heardNumbers().at(-1)).toBe(13);
  });

  it('does not open again what came before, when the first key comes back', async () => {
    const { session, theirs, send, heardNumbers, rekey } = await startSecured();
    const packets = sealedBy(new SrtpSender(theirs), 20);
    await send(...packets.slice(0, 12));
    const music = newKey();
    rekey(music);
    await send(at(sealedAnew(music, true), 12));
    // As a description says it: the same key in other memory.
    rekey({ ...theirs, key: Uint8Array.from(theirs.key) });
    await send(at(packets, 11), at(packets, 5), at(packets, 13));
    expect(session.stats.refused).toBe(2);
    expect(heardNumbers().at(-1)).toBe(13);
  });
});

describe('a peer whose media move', () => {
  /** A call that sends until its sequence numbers wrap, with what then comes at other places of the peer. */
  async function startLong(isSecured: boolean) {
    const [ours, theirs] = [newKey(), newKey()];
    const srtp = isSecured ? { ours, theirs } : null;
    const { clock, session, rtcp, remote } = await startCall({ srtp }, { random: () => 0.99999 });
    clock.advance(LONG_MS);
    const elsewhere = await Peer.open();
    const moveTo = (port: number, changes: Partial<RemoteMedia> = {}): void => {
      session.setRemote({ ...remote, port, ...changes }, HERE);
      clock.advance(100);
    };
    return { session, rtcp, remote, ours, elsewhere, moveTo };
  }

  it('is heard at its new place, which has not heard our sequence numbers wrap, by a new stream', async () => {
    const { session, ours, elsewhere, moveTo } = await startLong(true);
    const { sent } = session.stats;
    moveTo(elsewhere.port);
    const receiver = new SrtpReceiver(ours);
    const opened = [await elsewhere.next(), await elsewhere.next()].map((each) => receiver.open(each));
    const [first, second] = opened.map((each) => (each === null ? null : parseRtp(each)));
    expect(first?.sequence).toBeLessThan(2 ** 15);
    expect([second?.ssrc, second?.sequence]).toEqual([first?.ssrc, (first?.sequence ?? 0) + 1]);
    expect(first?.ssrc).not.toBe(FIRST_SSRC);
    expect(session.stats.sent).toBeGreaterThan(sent);
  });

  it('has the same stream as before at a place that it has only left for a hold', async () => {
    const { session, rtcp, remote, ours, elsewhere, moveTo } = await startLong(true);
    await rtcp.next();
    moveTo(elsewhere.port, { receives: false });
    moveTo(remote.port);
    await session.close();
    const receiver = new SrtpReceiver(ours);
    for (;;) {
      const packets = parseRtcp(receiver.openControl(await rtcp.next()) ?? new Uint8Array(0));
      const goodbye = packets?.find(({ type }) => type === 'goodbye');
      if (goodbye === undefined) continue;
      expect(goodbye).toMatchObject({ ssrcs: [FIRST_SSRC] });
      break;
    }
  });

  it('has the same stream everywhere without SRTP', async () => {
    const { elsewhere, moveTo } = await startLong(false);
    moveTo(elsewhere.port);
    expect(await elsewhere.nextRtp()).toMatchObject({ ssrc: FIRST_SSRC });
  });
});
