import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { RtpPorts } from '../../../../src/carriers/sip/rtp/ports.ts';
import { RtpSession } from '../../../../src/carriers/sip/rtp/session.ts';
import { writeRtp } from '../../../../src/carriers/sip/wire/rtp/packet.ts';
import { writeReport } from '../../../../src/carriers/sip/wire/rtp/rtcp.ts';
import { writeEvent } from '../../../../src/carriers/sip/wire/rtp/telephone-event.ts';
import { RTP_FORMATS } from '../../../../src/carriers/sip/wire/rtp-codecs.ts';
import { MULAW_8K } from '../../../../src/foundation/units.ts';
import { FakeClock } from '../../../fakes/clock.ts';
import { packetOf, remoteMedia } from './media.ts';
import { closers, closeSessions, HERE, Peer, portRange, startCall, startSession } from './session-line.ts';

const ELSEWHERE = '127.0.0.2';
let range: Awaited<ReturnType<typeof portRange>>;

beforeAll(async () => {
  range = await portRange();
});

afterEach(closeSessions);

describe('the media of a call', () => {
  it('of a leg that follows another one keep the codec of the call, both ways', async () => {
    const { session, clock } = await startSession();
    const peer = await Peer.open();
    const heard: number[] = [];
    const listener = {
      receiveAudio: ({ bytes }: { readonly bytes: Uint8Array }) => void heard.push(bytes.length),
      receiveDigit: () => undefined,
      fail: () => undefined,
    };
    session.attach(listener, MULAW_8K);
    const g722 = { payloadType: 9, format: RTP_FORMATS.g722 };
    session.setRemote(remoteMedia({ address: HERE, port: peer.port, rtcpPort: null, ...g722 }), HERE);
    session.send(new Uint8Array(320).fill(0x40));
    clock.advance(60);
    const packets = [await peer.nextRtp(), await peer.nextRtp()];
    expect(packets.map(({ payloadType, payload }) => [payloadType, payload.length])).toEqual(Array(2).fill([9, 160]));
    for (let index = 0; index < 3; index++)
      await peer.send(writeRtp(packetOf(index, { payloadType: 9 })), session.port);
    await vi.waitFor(() => expect(heard).toHaveLength(3), { timeout: 20_000 });
    expect(heard.every((bytes) => bytes <= 160)).toBe(true);
  });

  it('go both ways on an even port', async () => {
    const { session, rtp, heard, clock } = await startCall();
    expect(session.port % 2).toBe(0);
    await rtp.send(writeRtp(packetOf(0)), session.port);
    await rtp.send(
      writeRtp(packetOf(1, { payloadType: 101, payload: writeEvent({ digit: '*', end: false, duration: 160 }) })),
      session.port,
    );
    await rtp.send(writeRtp(packetOf(2)), session.port);
    expect(await heard(3)).toEqual(['1: 0', 'key *', '2: 2']);
    clock.advance(0);
    const { payloadType, payload } = await rtp.nextRtp();
    expect([payloadType, ...payload]).toEqual([0, ...Array<number>(160).fill(0xff)]);
    expect(session.stats).toMatchObject({ received: 3, lost: 0, sent: 1, refused: 0 });
  });

  it('reach the peer where it sends from, however it describes itself', async () => {
    const { session, rtp, heard, clock } = await startCall({ address: '192.0.2.1', port: 9, rtcpPort: 10 });
    for (const i of [0, 1, 2, 3]) await rtp.send(writeRtp(packetOf(i)), session.port);
    expect(await heard(2)).toEqual(['1: 2', '2: 3']);
    clock.advance(0);
    expect(await rtp.nextRtp()).toMatchObject({ marker: true });
  });

  it('are not taken over by a stranger', async () => {
    const { session, rtp, heard } = await startCall();
    const stranger = await Peer.open();
    await rtp.send(writeRtp(packetOf(0)), session.port);
    await heard(1);
    for (let i = 0; i < 10; i++) await stranger.send(writeRtp(packetOf(i + 1)), session.port);
    await rtp.send(writeRtp(packetOf(1, { payload: new Uint8Array(160).fill(77) })), session.port);
    expect(await heard(2)).toEqual(['1: 0', '2: 77']);
    expect(session.stats.refused).toBe(10);
  });

  it('are not taken over by a stranger who was there before the phone', async () => {
    const { session, rtp, heard, clock } = await startCall();
    const stranger = await Peer.open(ELSEWHERE);
    for (let i = 0; i < 10; i++) await stranger.send(writeRtp(packetOf(i)), session.port);
    await stranger.send(
      writeReport({ ssrc: 5, cname: 'stranger', sender: null, reception: null, goodbye: false }),
      session.port + 1,
    );
    await rtp.send(writeRtp(packetOf(0, { payload: new Uint8Array(160).fill(77) })), session.port);
    expect(await heard(1)).toEqual(['1: 77']);
    await expect.poll(() => session.stats.refused).toBe(11);
    clock.advance(5000);
    expect(await rtp.nextRtp()).toMatchObject({ marker: true });
    expect(stranger.waiting).toBe(0);
  });

  it('come back to the announced phone from whoever was believed before it at its address', async () => {
    const { session, rtp, heard, clock } = await startCall();
    const neighbour = await Peer.open();
    for (const i of [0, 1, 2]) await neighbour.send(writeRtp(packetOf(i, { ssrc: 0xbad })), session.port);
    expect(await heard(1)).toHaveLength(1);
    for (const i of [50, 51, 52, 53]) await rtp.send(writeRtp(packetOf(i)), session.port);
    await heard(2);
    await neighbour.send(writeRtp(packetOf(3, { ssrc: 0xbad })), session.port);
    await rtp.send(writeRtp(packetOf(54)), session.port);
    expect((await heard(3)).map((line) => line.split(' ')[1])).toEqual(['2', '53', '54']);
    clock.advance(0);
    await rtp.nextRtp();
    expect(neighbour.waiting).toBe(0);
  });

  it('may come from a relay that RTP_ALLOW names', async () => {
    const { session, heard, clock } = await startCall({}, { isRelay: (address) => address === ELSEWHERE });
    const relay = await Peer.open(ELSEWHERE);
    for (const i of [0, 1, 2]) await relay.send(writeRtp(packetOf(i)), session.port);
    expect(await heard(1)).toEqual(['1: 2']);
    clock.advance(0);
    expect(await relay.nextRtp()).toMatchObject({ marker: true });
  });

  it('are of one stream while it goes on: another one from the same port is refused', async () => {
    const { session, rtp, heard } = await startCall();
    for (let i = 0; i < 4; i++) {
      await rtp.send(writeRtp(packetOf(i)), session.port);
      for (const j of [0, 1, 2]) await rtp.send(writeRtp(packetOf(3 * i + j, { ssrc: 0xbad })), session.port);
    }
    await rtp.send(writeRtp(packetOf(4, { payload: new Uint8Array(160).fill(77) })), session.port);
    expect(await heard(5)).toEqual(['1: 0', '2: 1', '3: 2', '4: 3', '5: 77']);
    expect(session.stats.refused).toBe(12);
  });

  it('survive whatever else comes', async () => {
    const { session, rtp, heard } = await startCall();
    for (const datagram of [Buffer.alloc(0), Buffer.from('nonsense'), Buffer.alloc(1500, 0xff)])
      await rtp.send(datagram, session.port);
    await rtp.send(Buffer.from('nonsense'), session.port + 1);
    await rtp.send(writeRtp(packetOf(0)), session.port);
    expect(await heard(1)).toEqual(['1: 0']);
  });

  it('are not heard while the peer is not to send', async () => {
    const { session, rtp, heard, remote } = await startCall({ sends: false });
    await rtp.send(writeRtp(packetOf(0)), session.port);
    await rtp.send(writeRtp(packetOf(1)), session.port);
    await rtp.send(Buffer.from('x'), session.port);
    await expect.poll(() => session.stats.refused).toBe(1);
    session.setRemote({ ...remote, sends: true }, HERE);
    await rtp.send(writeRtp(packetOf(2)), session.port);
    expect(await heard(1)).toEqual(['1: 2']);
  });
});

describe('reports', () => {
  it('are sent every five seconds or so, of what was sent and received, with a farewell at the end', async () => {
    const { session, rtp, rtcp, heard, clock } = await startCall();
    await rtp.send(writeRtp(packetOf(0)), session.port);
    await rtp.send(writeRtp(packetOf(2)), session.port);
    await heard(2);
    clock.advance(5000);
    expect(await rtcp.nextRtcp()).toMatchObject([
      { type: 'sender', ssrc: 2 ** 31, reports: [{ ssrc: 0xabcd, lost: 1, fractionLost: 85, highestSequence: 1002 }] },
    ]);
    await session.close();
    expect(await rtcp.nextRtcp()).toMatchObject([{ ssrc: 2 ** 31 }, { type: 'goodbye', ssrcs: [2 ** 31] }]);
  });

  it('go to the announced port, though a neighbour of the peer spoke first', async () => {
    const { session, rtcp, clock } = await startCall();
    const neighbour = await Peer.open();
    const report = writeReport({ ssrc: 5, cname: 'phone', sender: null, reception: null, goodbye: false });
    await neighbour.send(report, session.port + 1);
    await rtcp.send(report, session.port + 1);
    await neighbour.send(report, session.port + 1);
    await neighbour.send(Buffer.from('x'), session.port + 1);
    await expect.poll(() => session.stats.refused).toBe(1);
    clock.advance(5000);
    expect(await rtcp.nextRtcp()).toMatchObject([{ ssrc: 2 ** 31 }]);
    expect(neighbour.waiting).toBe(0);
  });

  it('share the port of the sound when that was agreed', async () => {
    const { session, rtp, clock } = await startCall({ rtcpPort: null, receives: false });
    clock.advance(5000);
    expect(await rtp.nextRtcp()).toMatchObject([{ type: 'receiver', reports: [] }]);
    const reception = {
      ssrc: 2 ** 31,
      fractionLost: 0,
      lost: 7,
      highestSequence: 0,
      jitter: 80,
      lastSenderReport: 0,
      delaySinceLast: 0,
    };
    await rtp.send(writeReport({ ssrc: 5, cname: 'phone', sender: null, reception, goodbye: false }), session.port);
    await expect.poll(() => session.stats.peerReport).toEqual({ lost: 7, jitterMs: 10 });
  });

  it('are the receiver’s while nothing is sent', async () => {
    const { rtcp, clock } = await startCall({ receives: false });
    clock.advance(5000);
    expect(await rtcp.nextRtcp()).toMatchObject([{ type: 'receiver', ssrc: 2 ** 31 }]);
  });
});

describe('silence', () => {
  it('of the time-out is told, once', async () => {
    const { clock, told } = await startCall();
    clock.advance(29_000);
    expect(told).toEqual([]);
    clock.advance(40_000);
    expect(told).toEqual(['media_timeout']);
  });

  it('is no time-out while the peer is not to send, and counts from when it is', async () => {
    const { clock, told, session, remote } = await startCall({ sends: false });
    clock.advance(100_000);
    session.setRemote({ ...remote, sends: true }, HERE);
    clock.advance(29_000);
    expect(told).toEqual([]);
    clock.advance(2000);
    expect(told).toEqual(['media_timeout']);
  });

  it('of a peer that is not to send ends after two hours: one that has gone keeps no place for ever', async () => {
    const { clock, told, session, remote } = await startCall({ sends: false, receives: false });
    clock.advance(7_100_000);
    session.setRemote(remote, HERE);
    clock.advance(7_100_000);
    expect(told).toEqual([]);
    clock.advance(200_000);
    expect(told).toEqual(['media_timeout']);
  });

  it('may last longer once sound has come, where a session says so, and is told again when it comes again', async () => {
    const { clock, told, session, rtp, heard } = await startCall({ receives: false }, { pauseMaxMs: 100_000 });
    clock.advance(31_000);
    expect(told).toEqual(['media_timeout']);
    await rtp.send(writeRtp(packetOf(0)), session.port);
    await heard(2);
    clock.advance(99_000);
    expect(told).toHaveLength(2);
    clock.advance(2000);
    expect(told).toEqual(['media_timeout', '1: 0', 'media_timeout']);
  });

  it('that the peer announces is heard while it lasts, by a timer of its own', async () => {
    const { clock, session, rtp, told, heard } = await startCall({ receives: false });
    const timers = clock.pending;
    await rtp.send(writeRtp(packetOf(0)), session.port);
    await rtp.send(writeRtp(packetOf(1, { payloadType: 13, payload: Uint8Array.of(60) })), session.port);
    await rtp.send(Buffer.from('x'), session.port);
    await expect.poll(() => session.stats.refused).toBe(1);
    clock.advance(160);
    expect(await heard(6)).toEqual(['1: 0', '2: 255', '3: 255', '4: 255', '5: 255', '6: 255']);
    expect(clock.pending).toBe(timers + 1);
    clock.advance(2000);
    expect(told).toHaveLength(51);
    expect(clock.pending).toBe(timers);
  });

  it('is one after ten minutes of reports alone, as a PBX sends them for a telephone that is gone', async () => {
    const { clock, told, session, rtcp } = await startCall();
    const report = writeReport({ ssrc: 5, cname: 'phone', sender: null, reception: null, goodbye: false });
    for (let minutes = 0; minutes < 10; minutes += 0.25) {
      expect(told).toEqual([]);
      const before = session.stats.refused;
      await rtcp.send(report, session.port + 1);
      await rtcp.send(Buffer.from('x'), session.port + 1);
      await expect.poll(() => session.stats.refused, { interval: 5 }).toBe(before + 1);
      clock.advance(15_000);
    }
    expect(told).toEqual(['media_timeout']);
  });

  it('is none as long as reports come', async () => {
    const { clock, told, session, rtcp } = await startCall();
    const report = writeReport({ ssrc: 5, cname: 'phone', sender: null, reception: null, goodbye: false });
    clock.advance(20_000);
    const before = session.stats.refused;
    await rtcp.send(report, session.port + 1);
    await rtcp.send(Buffer.from('x'), session.port + 1);
    await expect.poll(() => session.stats.refused).toBe(before + 1);
    clock.advance(20_000);
    expect(told).toEqual([]);
  });
});

describe('ports', () => {
  it('are given back at the end, and no timer is left', async () => {
    const { session, clock, ports } = await startCall();
    expect(ports.free).toBe(4);
    await Promise.all([session.close(), session.close()]);
    expect(ports.free).toBe(5);
    expect(clock.pending).toBe(0);
    session.send(new Uint8Array(160));
    session.setRemote(remoteMedia(), HERE);
    expect(clock.pending).toBe(0);
  });

  it('that somebody else has are passed over', async () => {
    const other = createSocket('udp4');
    closers.push(() => other.close());
    other.bind({ port: range.first + 3, address: HERE, exclusive: true });
    await once(other, 'listening');
    const ports = new RtpPorts(range, () => 0);
    const { session } = await startSession({ ports });
    expect(session.port).toBe(range.first);
    const { session: second } = await startSession({ ports });
    expect(second.port).toBe(range.first + 4);
    expect(ports.free).toBe(3);
  });

  it('that cannot be had fail the session, and none is lost', async () => {
    const ports = new RtpPorts({ first: range.first, last: range.first + 3 });
    const options = {
      address: '192.0.2.1',
      ports,
      clock: new FakeClock(),
      timeoutMs: 1,
      isRelay: () => false,
    };
    await expect(RtpSession.open(options)).rejects.toThrow(/EADDRNOTAVAIL/);
    expect(ports.free).toBe(2);
  });

  it('of all calls are lent: one more is refused', async () => {
    const ports = new RtpPorts({ first: range.first, last: range.first + 1 });
    await startSession({ ports });
    await expect(startSession({ ports })).rejects.toMatchObject({ code: 'too_many_calls' });
  });
});
