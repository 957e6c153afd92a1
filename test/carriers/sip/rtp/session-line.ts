/** The RTP session of a call on real sockets, with phones of the test at the other end. */
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { RtpPorts } from '../../../../src/carriers/sip/rtp/ports.ts';
import { RtpSession } from '../../../../src/carriers/sip/rtp/session.ts';
import type { RemoteMedia } from '../../../../src/carriers/sip/wire/offer-answer.ts';
import { parseRtp, type RtpPacket } from '../../../../src/carriers/sip/wire/rtp/packet.ts';
import { parseRtcp, type RtcpPacket } from '../../../../src/carriers/sip/wire/rtp/rtcp.ts';
import { FakeClock } from '../../../fakes/clock.ts';
import { freeUdpPorts } from '../../../helpers/ports.ts';
import { remoteMedia } from './media.ts';

export const HERE = '127.0.0.1';
/** What is to be closed after a test. */
export const closers: (() => unknown)[] = [];
let range: ReturnType<typeof freeUdpPorts> | undefined;

/** Ports of this file's sessions. */
export function portRange(): ReturnType<typeof freeUdpPorts> {
  range ??= freeUdpPorts(10);
  return range;
}

/** To be called after each test. */
export async function closeSessions(): Promise<void> {
  for (const close of closers.splice(0)) await close();
}

/** A socket of a phone's. */
export class Peer {
  readonly socket: Socket;
  readonly #received: Buffer[] = [];

  private constructor(socket: Socket) {
    this.socket = socket;
    socket.on('message', (datagram) => this.#received.push(datagram));
    closers.push(() => socket.close());
  }

  static async open(address = HERE): Promise<Peer> {
    const socket = createSocket('udp4');
    socket.bind(0, address);
    await once(socket, 'listening');
    return new Peer(socket);
  }

  get port(): number {
    return this.socket.address().port;
  }

  /** Datagrams that have not been asked for. */
  get waiting(): number {
    return this.#received.length;
  }

  send(datagram: Uint8Array, port: number): Promise<void> {
    return new Promise((resolve) => this.socket.send(datagram, port, HERE, () => resolve()));
  }

  /** The next datagram that has not been asked for. */
  async next(): Promise<Buffer> {
    while (this.#received.length === 0) await once(this.socket, 'message');
    return this.#received.shift() as Buffer;
  }

  async nextRtp(): Promise<RtpPacket> {
    return parseRtp(await this.next()) as RtpPacket;
  }

  async nextRtcp(): Promise<RtcpPacket[]> {
    return parseRtcp(await this.next()) as RtcpPacket[];
  }
}

type SessionOptions = Partial<Parameters<typeof RtpSession.open>[0]>;

/** A session that nobody has agreed on yet. `told` = what its leg hears. */
export async function startSession(options: SessionOptions = {}) {
  const clock = new FakeClock();
  const told: string[] = [];
  const waiters: (() => void)[] = [];
  const tell = (what: string): void => {
    told.push(what);
    for (const wake of waiters.splice(0)) wake();
  };
  const ports = options.ports ?? new RtpPorts(await portRange());
  const session = await RtpSession.open({
    address: HERE,
    clock,
    timeoutMs: 30_000,
    isRelay: () => false,
    random: () => 0.5,
    ...options,
    ports,
  });
  session.attach({
    receiveAudio: ({ bytes, sequence }) => tell(`${sequence}: ${bytes[0]}`),
    receiveDigit: (digit) => tell(`key ${digit}`),
    fail: ({ code }) => tell(code),
  });
  closers.push(() => session.close());
  /** Resolves when so much was told. */
  const heard = async (count: number): Promise<string[]> => {
    while (told.length < count) await new Promise<void>((resolve) => waiters.push(resolve));
    return told;
  };
  return { clock, session, told, heard, ports };
}

/** A session with a phone that has agreed on `changes`, at the ports of `rtp` and `rtcp`. */
export async function startCall(changes: Partial<RemoteMedia> = {}, options: SessionOptions = {}) {
  const [call, rtp, rtcp] = [await startSession(options), await Peer.open(), await Peer.open()];
  const remote = remoteMedia({ address: HERE, port: rtp.port, rtcpPort: rtcp.port, ...changes });
  call.session.setRemote(remote, HERE);
  return { ...call, rtp, rtcp, remote };
}
