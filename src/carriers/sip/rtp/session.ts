/** The RTP session of one call: a pair of UDP sockets, the peer's packets, our packets, and the reports on both. */
import { randomBytes, randomInt } from 'node:crypto';
import { createSocket, type RemoteInfo, type Socket, type SocketOptions } from 'node:dgram';
import { canonicalAddress } from '../../../foundation/addresses.ts';
import type { Clock, Timer } from '../../../foundation/clock.ts';
import { TrunklineError } from '../../../foundation/errors.ts';
import { type Codec, FRAME_MS } from '../../../foundation/units.ts';
import type { RemoteMedia } from '../wire/offer-answer.ts';
import { parseRtp, type RtpPacket } from '../wire/rtp/packet.ts';
import { type PeerReport, RtcpControl } from './control.ts';
import { type Source, SourceLatch } from './latch.ts';
import type { RtpPorts } from './ports.ts';
import { type MediaListener, RtpReceiver } from './receiver.ts';
import { RtpSecurity } from './security.ts';
import { RtpSender } from './sender.ts';

/** How often the time-out is checked. */
const CHECK_MS = 1000;
/** How long a peer that is not to send (it holds the call, or only listens) may give no sign such as RTCP. */
const HELD_MAX_MS = 2 * 3_600_000;
/**
 * How long a peer that is to send may send RTCP alone: one that suppresses silence while somebody listens. A PBX sends
 * RTCP for a telephone that is gone, too.
 */
const SOUNDLESS_MAX_MS = 600_000;
/** Port pairs that are tried: other programs on this machine may use ports of the range. */
const BIND_TRIES = 20;
const RANDOM_STEPS = 2 ** 32;
/** Payload numbers 64–95 with the marker are RTCP's packet types when both share a port (RFC 5761 §4). */
const RTCP_TYPE_MIN = 192;
const RTCP_TYPE_MAX = 223;
const NOWHERE = /^(0\.0\.0\.0|::)$/;

/** The leg of the call. */
export interface SessionListener extends MediaListener {
  /** The peer sent nothing for the time-out although it is to send (`media_timeout`). Again when it has sent since. */
  fail(error: TrunklineError): void;
}

interface RtpOptions {
  /** The local address to listen on. */
  readonly address: string;
  readonly ports: RtpPorts;
  readonly clock: Clock;
  /** Longest time without any packet while the peer is to send. */
  readonly timeoutMs: number;
  /** The same once sound has come; left out = {@link timeoutMs}. */
  readonly pauseMaxMs?: number;
  /** Whether what we send between sentences is low noise (COMFORT_NOISE); left out = it is digital silence. */
  readonly comfortNoise?: boolean;
  /** Whether media of any call may come from this address (RTP_ALLOW). */
  isRelay(address: string): boolean;
  /** Numbers from 0 to 1, below 1; not predictable unless a test says otherwise. */
  readonly random?: () => number;
}

/** Counters of the session so far. */
export interface RtpStats {
  readonly received: number;
  readonly lost: number;
  readonly jitterMs: number;
  readonly sent: number;
  /** Datagrams that were no RTP or RTCP, or not from the peer. */
  readonly refused: number;
  readonly peerReport: PeerReport | null;
}

interface Sockets {
  readonly port: number;
  readonly rtp: Socket;
  readonly rtcp: Socket;
}

/** One call's media. Sends nothing before {@link setRemote}. */
export class RtpSession {
  /** The even port; RTCP is on the one above it. */
  readonly port: number;
  readonly #options: RtpOptions;
  readonly #sockets: Sockets;
  readonly #latch: SourceLatch;
  readonly #random: () => number;
  #listener: SessionListener | null = null;
  #codec: Codec | null = null;
  #remote: RemoteMedia | null = null;
  #receiver: RtpReceiver | null = null;
  #sender: RtpSender | null = null;
  #control: RtcpControl | null = null;
  #controlSource: Source | null = null;
  readonly #security = new RtpSecurity();
  /** Where our last packet went. */
  #sentTo: Source | null = null;
  /** Checks for the time-out. */
  #timer: Timer | null = null;
  /** Fills in announced silence. */
  #silence: Timer | null = null;
  #lastPacketMs = 0;
  /** The same of RTP, or of an agreement. */
  #lastSoundMs = 0;
  /** Whether any sound has come. */
  #isHeard = false;
  #refused = 0;
  #timedOut = false;
  #closed: Promise<void> | null = null;

  /** Use {@link RtpSession.open}. */
  private constructor(options: RtpOptions, sockets: Sockets) {
    this.#options = options;
    this.#sockets = sockets;
    this.#latch = new SourceLatch(options.isRelay);
    this.port = sockets.port;
    this.#random = options.random ?? (() => randomInt(RANDOM_STEPS) / RANDOM_STEPS);
    sockets.rtp.on('message', (datagram, from) => this.#onDatagram(datagram, from));
    sockets.rtcp.on('message', (datagram, from) => this.#onControl(datagram, from));
    // A packet that cannot be sent counts as lost: the peer's network is down, or there is no route to it.
    for (const socket of [sockets.rtp, sockets.rtcp]) socket.on('error', () => undefined);
  }

  /**
   * Binds a pair of ports.
   * @throws TrunklineError `too_many_calls` when none is free; Error when the address is not one of this machine's
   */
  static async open(options: RtpOptions): Promise<RtpSession> {
    return new RtpSession(options, await bindPair(options.address, options.ports));
  }

  get stats(): RtpStats {
    const { received, lost, jitterMs } = this.#control?.received ?? { received: 0, lost: 0, jitterMs: 0 };
    const sent = this.#sender?.sentPackets ?? 0;
    return { received, lost, jitterMs, sent, refused: this.#refused, peerReport: this.#control?.peerReport ?? null };
  }

  /**
   * From now on `listener` is handed what the peer sends. Must come before the first {@link setRemote}. `codec` = the
   * call's, where another stream or leg of it has chosen that already.
   */
  attach(listener: SessionListener, codec: Codec | null = null): void {
    this.#listener = listener;
    this.#codec = codec;
  }

  /**
   * What was agreed with the peer, whose signalling comes from `peerAddress`: at the beginning, and again after every
   * new agreement. From then on packets are sent to the peer. The call keeps the codec of the first agreement.
   */
  setRemote(remote: RemoteMedia, peerAddress: string): void {
    if (this.#closed !== null) return;
    if (this.#listener === null) throw new Error('an RTP session without a listener');
    const nowMs = this.#options.clock.nowMs();
    const source = NOWHERE.test(remote.address) ? null : { address: plainAddress(remote.address), port: remote.port };
    this.#remote = remote;
    this.#security.agree(remote.srtp);
    this.#latch.announce({ source, peerAddress: plainAddress(peerAddress) }, nowMs);
    this.#noteSign(nowMs);
    this.#lastSoundMs = nowMs;
    if (this.#receiver === null) this.#begin(remote, this.#listener);
    if (this.#receiver !== null) this.#receiver.remote = remote;
    if (this.#sender !== null) this.#sender.remote = remote;
    this.#control?.start();
    this.#timer ??= this.#options.clock.every(CHECK_MS, () => this.#checkTimeout(), true);
  }

  /** Audio in the call's codec, one frame of 20 ms when it is due. */
  send(bytes: Uint8Array): void {
    this.#sender?.send(bytes);
  }

  /** Presses a key by events, for 100 ms. False when no events were agreed: send the tone as audio then. */
  press(digit: string): boolean {
    const isEvent = this.#sender?.press(digit) ?? false;
    if (!isEvent) this.#receiver?.passOverTones();
    return isEvent;
  }

  /** Says goodbye and gives the ports back. Idempotent. */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    this.#timer?.cancel();
    this.#silence?.cancel();
    this.#sender?.close();
    this.#receiver?.close();
    this.#control?.close();
    const { rtp, rtcp, port } = this.#sockets;
    await Promise.all([closeSocket(rtp), closeSocket(rtcp)]);
    this.#options.ports.giveBack(port);
  }

  #begin(remote: RemoteMedia, listener: SessionListener): void {
    const { clock, comfortNoise = false } = this.#options;
    const random = this.#random;
    const sender = new RtpSender({
      clock,
      comfortNoise,
      random,
      codec: this.#codec ?? remote.format.codec,
      isNewStream: () => this.#isUnreadable(),
      transmit: (datagram) => this.#transmit(datagram),
    });
    const cname = randomBytes(12).toString('base64url');
    const control = new RtcpControl({
      clock,
      random,
      cname,
      sender,
      transmit: (datagram) => this.#transmitControl(datagram),
    });
    this.#sender = sender;
    this.#control = control;
    this.#receiver = new RtpReceiver({
      codec: this.#codec ?? remote.format.codec,
      remote,
      listener,
      counter: control,
    });
  }

  #onDatagram(datagram: Buffer, from: RemoteInfo): void {
    if (this.#closed !== null || this.#remote === null) return;
    const type = datagram[1] ?? 0;
    if (this.#remote.rtcpPort === null && type >= RTCP_TYPE_MIN && type <= RTCP_TYPE_MAX) {
      this.#onControl(datagram, from);
      return;
    }
    const source = sourceOf(from);
    const packet = this.#open(datagram, source);
    const nowMs = this.#options.clock.nowMs();
    if (packet === null || !this.#latch.takes(packet, source, nowMs)) {
      this.#refused++;
      return;
    }
    this.#noteSign(nowMs);
    this.#lastSoundMs = nowMs;
    this.#isHeard ||= this.#remote.sends;
    if (this.#remote.sends) this.#receiver?.receive(packet, nowMs);
    if (this.#receiver?.isSilent === true)
      this.#silence ??= this.#options.clock.every(FRAME_MS, () => this.#fillSilence(), true);
  }

  /** Strangers' packets are not even decrypted. */
  #open(datagram: Buffer, source: Source): RtpPacket | null {
    const plain = this.#latch.fits(source) ? this.#security.open(datagram) : null;
    return plain === null ? null : parseRtp(plain);
  }

  #onControl(datagram: Buffer, from: RemoteInfo): void {
    if (this.#closed !== null) return;
    const source = sourceOf(from);
    if (!this.#latch.takesControl(source) || !this.#receiveControl(datagram)) {
      this.#refused++;
      return;
    }
    // Others may share the peer's address behind a NAT: the first one is answered, until the announced port sends.
    if (this.#controlSource?.address !== source.address || source.port === this.#remote?.rtcpPort)
      this.#controlSource = source;
    this.#noteSign(this.#options.clock.nowMs());
  }

  /** The peer is there. */
  #noteSign(nowMs: number): void {
    this.#lastPacketMs = nowMs;
    this.#timedOut = false;
  }

  #receiveControl(datagram: Buffer): boolean {
    const plain = this.#security.openControl(datagram);
    return plain !== null && this.#control?.receive(plain) === true;
  }

  #transmit(packet: Uint8Array): void {
    const to = this.#latch.destination;
    if (to === null) return;
    this.#sentTo = to;
    this.#sendTo(this.#sockets.rtp, this.#security.protect(packet), to);
  }

  /**
   * Whether packets go elsewhere than before, and nobody there can know how often our sequence numbers have wrapped:
   * SRTP needs that (RFC 3711 §3.3.1), and of a new stream it is known.
   */
  #isUnreadable(): boolean {
    const to = this.#latch.destination;
    if (to === null || this.#sentTo === null || !this.#security.hasWrapped) return false;
    return to.address !== this.#sentTo.address || to.port !== this.#sentTo.port;
  }

  #transmitControl(packet: Uint8Array): void {
    const to = this.#latch.destination;
    if (to === null || this.#remote === null) return;
    const datagram = this.#security.protectControl(packet);
    const { rtcpPort, port } = this.#remote;
    if (rtcpPort === null) this.#sendTo(this.#sockets.rtp, datagram, to);
    else if (this.#controlSource?.address === to.address)
      this.#sendTo(this.#sockets.rtcp, datagram, this.#controlSource);
    // Behind a NAT the announced port means nothing: the port next to that of RTP is the best guess.
    else
      this.#sendTo(this.#sockets.rtcp, datagram, {
        address: to.address,
        port: to.port === port ? rtcpPort : to.port + 1,
      });
  }

  #sendTo(socket: Socket, datagram: Uint8Array, { address, port }: Source): void {
    if (port < 1 || port > 65_535) return;
    const mapped = this.#options.address.includes(':') && !address.includes(':') ? `::ffff:${address}` : address;
    socket.send(datagram, port, mapped, () => undefined);
  }

  #fillSilence(): void {
    this.#receiver?.fillSilence(this.#options.clock.nowMs());
    if (this.#receiver?.isSilent === true) return;
    this.#silence?.cancel();
    this.#silence = null;
  }

  #checkTimeout(): void {
    const { clock, timeoutMs, pauseMaxMs = timeoutMs } = this.#options;
    const silentMaxMs = this.#isHeard ? pauseMaxMs : timeoutMs;
    const isToSend = this.#remote?.sends === true;
    const maxMs = isToSend ? silentMaxMs : Math.max(silentMaxMs, HELD_MAX_MS);
    const soundlessMaxMs = isToSend ? Math.max(silentMaxMs, SOUNDLESS_MAX_MS) : Number.POSITIVE_INFINITY;
    const nowMs = clock.nowMs();
    const isSoundless = nowMs - this.#lastSoundMs >= soundlessMaxMs;
    if (this.#timedOut || (nowMs - this.#lastPacketMs < maxMs && !isSoundless)) return;
    this.#timedOut = true;
    const what = isSoundless ? `RTP, but RTCP, within ${soundlessMaxMs} ms` : `RTP within ${maxMs} ms`;
    this.#listener?.fail(new TrunklineError('media_timeout', `no ${what}`));
  }
}

function sourceOf({ address, port }: RemoteInfo): Source {
  return { address: plainAddress(address), port };
}

/** One spelling for each address, so that they can be compared. */
function plainAddress(address: string): string {
  return canonicalAddress(address) ?? address;
}

/** Ports that another program uses stay lent until the end of the search, so that none is tried twice. */
async function bindPair(address: string, ports: RtpPorts): Promise<Sockets> {
  const taken: number[] = [];
  try {
    for (;;) {
      const port = ports.take();
      const sockets = await tryBindPair(address, port).catch((error: unknown) => {
        taken.push(port);
        if (taken.length >= BIND_TRIES || (error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
        return null;
      });
      if (sockets !== null) return sockets;
    }
  } finally {
    for (const port of taken) ports.giveBack(port);
  }
}

async function tryBindPair(address: string, port: number): Promise<Sockets> {
  const rtp = await bind(address, port);
  try {
    return { port, rtp, rtcp: await bind(address, port + 1) };
  } catch (error) {
    await closeSocket(rtp);
    throw error;
  }
}

function bind(address: string, port: number): Promise<Socket> {
  const socket = createSocket({ type: address.includes(':') ? 'udp6' : 'udp4', lookup: takeAsIs });
  return new Promise((resolve, reject) => {
    socket.once('error', (error) => {
      socket.close();
      reject(error);
    });
    socket.bind({ address, port, exclusive: true }, () => {
      socket.removeAllListeners('error');
      resolve(socket);
    });
  });
}

/** Packets go to addresses, never to names. Without a lookup they leave at once, even just before the close. */
const takeAsIs: NonNullable<SocketOptions['lookup']> = (address, _options, done) =>
  done(null, address, address.includes(':') ? 6 : 4);

function closeSocket(socket: Socket): Promise<void> {
  return new Promise((resolve) => socket.close(() => resolve()));
}
