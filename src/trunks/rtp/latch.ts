/**
 * Whose packets are taken (symmetric RTP, RFC 4961). A peer behind a NAT sends from another address than its description says, so a stranger can be
 * the peer: who sends several packets in a row is believed, once. From then on others are refused, however many they send.
 */
import type { RtpPacket } from '../../carriers/rtp.ts';

/** Packets in a row that make a stranger the peer. */
const PACKETS_IN_A_ROW = 3;
/** A peer that has been silent for this long may come back from another address, if it goes on with its own stream. */
const MOVED_AFTER_MS = 2000;
/** How far on its sequence may be then: ten minutes of packets. */
const MOVED_PACKETS_MAX = 30_000;
const SEQUENCE_MASK = 0xffff;

/** An address and port that packets come from and go to. */
export interface Source {
  readonly address: string;
  readonly port: number;
}

interface Candidate {
  readonly source: Source;
  readonly ssrc: number;
  readonly sequence: number;
  readonly count: number;
}

export class SourceLatch {
  #announced: Source | null = null;
  /** Who has been believed; null = nobody yet. */
  #peer: Source | null = null;
  #last: { readonly ssrc: number; readonly sequence: number; readonly atMs: number } | null = null;
  #candidate: Candidate | null = null;

  /** Whom packets go to: the peer, or who is announced as long as nobody has sent any. */
  get destination(): Source | null {
    return this.#peer ?? this.#announced;
  }

  /** A description names `source`. With another one than before the peer is sought anew. */
  announce(source: Source): void {
    if (this.#announced !== null && isSame(this.#announced, source)) return;
    this.#announced = source;
    this.#candidate = null;
    this.#last = null;
    this.#peer = null;
  }

  /** Whether `packet` from `source` is the peer's. */
  takes(packet: RtpPacket, source: Source, nowMs: number): boolean {
    const isKnown = this.#peer === null ? this.#announced !== null && isSame(this.#announced, source) : isSame(this.#peer, source);
    if (!isKnown && !this.#isPeer(packet, source, nowMs)) return false;
    this.#peer = source;
    this.#last = { ssrc: packet.ssrc, sequence: packet.sequence, atMs: nowMs };
    this.#candidate = null;
    return true;
  }

  /** Whether a control packet from `source` is the peer's: NATs give it another port. */
  takesControl(source: Source): boolean {
    return this.destination?.address === source.address;
  }

  #isPeer(packet: RtpPacket, source: Source, nowMs: number): boolean {
    if (this.#announced === null || (this.#peer !== null && !this.#hasMoved(packet, nowMs))) return false;
    this.#count(packet, source);
    return this.#candidate !== null && this.#candidate.count >= PACKETS_IN_A_ROW;
  }

  #count({ ssrc, sequence }: RtpPacket, source: Source): void {
    const before = this.#candidate;
    const inARow =
      before !== null && isSame(before.source, source) && before.ssrc === ssrc && ((before.sequence + 1) & SEQUENCE_MASK) === sequence;
    this.#candidate = { source, ssrc, sequence, count: inARow ? before.count + 1 : 1 };
  }

  /** Nobody who cannot read the stream knows its SSRC and where it is. */
  #hasMoved({ ssrc, sequence }: RtpPacket, nowMs: number): boolean {
    if (this.#last === null || nowMs - this.#last.atMs < MOVED_AFTER_MS) return false;
    return ssrc === this.#last.ssrc && ((sequence - this.#last.sequence) & SEQUENCE_MASK) <= MOVED_PACKETS_MAX;
  }
}

function isSame(a: Source, b: Source): boolean {
  return a.address === b.address && a.port === b.port;
}
