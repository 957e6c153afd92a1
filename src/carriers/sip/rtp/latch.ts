/**
 * Which source's packets are accepted (symmetric RTP, RFC 4961). A peer behind a NAT sends from another address than
 * its description says, so another source is accepted after several packets in a row. It must be one that can be the
 * peer: an attacker who is accepted could listen to the call and speak as the caller.
 */
import type { RtpPacket } from '../wire/rtp/packet.ts';

/** After this many packets in a row a source is the peer. */
const PACKETS_IN_A_ROW = 3;
/** After this many packets in a row the peer has begun another stream (RFC 3550 §A.1, MIN_SEQUENTIAL). */
const STREAM_PACKETS_IN_A_ROW = 2;
/**
 * The peer may begin another stream (SSRC) when the one before has been silent for this long: a sender has one at a
 * time, a forger talks into it.
 */
const STREAM_OVER_MS = 100;
/**
 * A new description lets streams change at once for this long: phones begin anew after a hold, a transfer or another
 * codec.
 */
const DESCRIBED_MS = 5000;
/** A peer that has been silent for this long may come back from another address, if it goes on with its own stream. */
const MOVED_AFTER_MS = 2000;
/** How far on its sequence may be then: ten minutes of packets. */
const MOVED_PACKETS_MAX = 30_000;
/** A stream of so many packets is known to be the peer's: it comes back at once after another one. */
const LASTING_PACKETS = 250;
const SEQUENCE_MASK = 0xffff;

/** How well a source fits the description; one that fits better takes over from one that fits less. */
const ANNOUNCED = 2;
/** Most NATs keep the port where they can. */
const ANNOUNCED_PORT = 1;
const OTHER_PORT = 0;
type Fit = typeof ANNOUNCED | typeof ANNOUNCED_PORT | typeof OTHER_PORT;

/** An address and port that packets come from and go to. */
export interface Source {
  readonly address: string;
  readonly port: number;
}

/** The source in a description, and the sender of the description. */
export interface Announcement {
  /** Where the peer announces that it is; null = nowhere (it holds the call), the earlier one stays valid. */
  readonly source: Source | null;
  /** Where the peer's signalling comes from: behind a NAT its media come from there, too. */
  readonly peerAddress: string;
}

/** Packets of one SSRC and source. */
interface Stream {
  readonly source: Source;
  readonly fit: Fit;
  readonly ssrc: number;
  sequence: number;
  atMs: number;
  packets: number;
}

/** Consecutive packets that were not accepted, or not yet. */
interface Row {
  readonly source: Source;
  readonly ssrc: number;
  readonly sequence: number;
  readonly count: number;
}

export class SourceLatch {
  readonly #isRelay: (address: string) => boolean;
  #announced: Source | null = null;
  #peerAddress = '';
  #describedAgainMs = Number.NEGATIVE_INFINITY;
  /** The stream that is accepted; null = none yet. */
  #stream: Stream | null = null;
  /** The long-lasting stream before {@link #stream}. */
  #elder: Stream | null = null;
  /** One row for each fit, so that a source that fits less cannot disturb one that fits better. */
  readonly #rows = new Map<Fit, Row>();

  /** `isRelay` = whether media of any call may come from this address. */
  constructor(isRelay: (address: string) => boolean) {
    this.#isRelay = isRelay;
  }

  /** Where packets go: to the peer, or to the announced source until a packet has come. */
  get destination(): Source | null {
    return this.#stream?.source ?? this.#announced;
  }

  /** A description has come. With another source than before, the peer must be found again. */
  announce({ source, peerAddress }: Announcement, nowMs: number): void {
    this.#peerAddress = peerAddress;
    if (source === null || (this.#announced !== null && isSame(this.#announced, source))) {
      this.#describedAgainMs = nowMs;
      return;
    }
    this.#announced = source;
    this.#stream = null;
    this.#elder = null;
    this.#rows.clear();
  }

  /** Whether packets from `source` are worth a look: it can be the peer. */
  fits(source: Source): boolean {
    return this.#fitOf(source) !== null;
  }

  /** Whether `packet` from `source` is the peer's. */
  takes(packet: RtpPacket, source: Source, nowMs: number): boolean {
    const fit = this.#fitOf(source);
    if (fit === null) return false;
    const goesOn = this.#stream !== null && isOf(this.#stream, packet, source);
    if (!goesOn && !this.#mayFollow(packet, source, fit, nowMs)) return false;
    const stream = goesOn && this.#stream !== null ? this.#stream : this.#follow(packet, source, fit);
    stream.sequence = packet.sequence;
    stream.atMs = nowMs;
    stream.packets++;
    return true;
  }

  /** Whether a control packet from `source` is the peer's: NATs give it another port. */
  takesControl(source: Source): boolean {
    return this.destination?.address === source.address;
  }

  /** How well a source fits; null = it cannot be the peer. */
  #fitOf(source: Source): Fit | null {
    const announced = this.#announced;
    if (announced === null) return null;
    if (isSame(announced, source)) return ANNOUNCED;
    const { address, port } = source;
    if (address !== announced.address && address !== this.#peerAddress && !this.#isRelay(address)) return null;
    return port === announced.port ? ANNOUNCED_PORT : OTHER_PORT;
  }

  /** Whether a packet that does not go on with the stream begins another one of the peer's. */
  #mayFollow(packet: RtpPacket, source: Source, fit: Fit, nowMs: number): boolean {
    const inARow = this.#count(packet, source, fit);
    const before = this.#stream;
    if (before === null) return fit === ANNOUNCED || inARow >= PACKETS_IN_A_ROW;
    if (this.#elder !== null && this.#elder.fit >= before.fit && isOf(this.#elder, packet, source)) return true;
    const silentMs = nowMs - before.atMs;
    const isDescribedAgain = nowMs - this.#describedAgainMs < DESCRIBED_MS;
    if (isSame(before.source, source)) {
      return inARow >= STREAM_PACKETS_IN_A_ROW && (silentMs >= STREAM_OVER_MS || isDescribedAgain);
    }
    if (inARow < PACKETS_IN_A_ROW) return false;
    return fit > before.fit || (silentMs >= MOVED_AFTER_MS && (isDescribedAgain || continues(before, packet)));
  }

  #count({ ssrc, sequence }: RtpPacket, source: Source, fit: Fit): number {
    const before = this.#rows.get(fit);
    const isNext =
      before !== undefined && isOf(before, { ssrc }, source) && ((before.sequence + 1) & SEQUENCE_MASK) === sequence;
    const count = isNext ? before.count + 1 : 1;
    this.#rows.set(fit, { source, ssrc, sequence, count });
    return count;
  }

  #follow({ ssrc, sequence }: RtpPacket, source: Source, fit: Fit): Stream {
    const before = this.#stream;
    const isElder = this.#elder !== null && isOf(this.#elder, { ssrc }, source);
    if (isElder) this.#elder = null;
    else if (before !== null && before.packets >= LASTING_PACKETS) this.#elder = before;
    this.#rows.clear();
    this.#stream = { source, fit, ssrc, sequence, atMs: 0, packets: 0 };
    return this.#stream;
  }
}

/** Only who can read the stream knows its SSRC and its sequence numbers. */
function continues(before: Stream, { ssrc, sequence }: RtpPacket): boolean {
  return ssrc === before.ssrc && ((sequence - before.sequence) & SEQUENCE_MASK) <= MOVED_PACKETS_MAX;
}

function isOf(stream: Pick<Stream, 'ssrc' | 'source'>, { ssrc }: { readonly ssrc: number }, source: Source): boolean {
  return stream.ssrc === ssrc && isSame(stream.source, source);
}

function isSame(a: Source, b: Source): boolean {
  return a.address === b.address && a.port === b.port;
}
