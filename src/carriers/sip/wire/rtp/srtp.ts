/**
 * SRTP and SRTCP (RFC 3711): packets encrypted and authenticated with the keys that session descriptions agreed on. A
 * packet that was forged, changed or heard before is told as null; nothing here throws because of what came.
 */
import { timingSafeEqual } from 'node:crypto';
import { headerBytesOf } from './packet.ts';
import { ReplayWindow } from './replay-window.ts';
import { SessionKeys, type SrtpKey } from './srtp-keys.ts';

const SEQUENCE_MODULUS = 0x1_0000;
const SEQUENCE_HALF = 0x8000;
const CONTROL_HEADER_BYTES = 8;
/** The last word of an RTCP packet before the tag: a bit for "encrypted", and 31 bits of index. */
const INDEX_BYTES = 4;
const ENCRYPTED = 0x8000_0000;
/** Senders whose packets are told apart at once. */
const STREAMS_MAX = 16;

/** Secures what we send. Both kinds of packets of one RTP session go through the same object. */
export class SrtpSender {
  readonly #rtp: SessionKeys;
  readonly #rtcp: SessionKeys;
  readonly #identifier: Uint8Array;
  /** Of the last packet. */
  #ssrc: number | null = null;
  /** The index of the last packet of this stream: its sequence number, and how often that had wrapped (ROC). */
  #index = -1;
  #controlIndex = 0;

  constructor(master: SrtpKey) {
    this.#rtp = new SessionKeys(master, false);
    this.#rtcp = new SessionKeys(master, true);
    this.#identifier = master.identifier;
  }

  /** Whether the sequence numbers of the stream (SSRC) have wrapped: only who heard that can open its packets. */
  get hasWrapped(): boolean {
    return this.#index >= SEQUENCE_MODULUS;
  }

  /** An RTP packet of ours, whose sequence numbers follow each other. No SSRC may come back after another one. */
  protect(packet: Uint8Array): Uint8Array {
    const view = viewOf(packet);
    const ssrc = view.getUint32(8);
    if (ssrc !== this.#ssrc) this.#index = -1;
    this.#ssrc = ssrc;
    const index = nearestIndex(view.getUint16(2), this.#index);
    this.#index = Math.max(this.#index, index);
    const bytes = new Uint8Array(packet);
    this.#rtp.crypt(bytes.subarray(headerBytesOf(packet) ?? bytes.length), ssrc, index);
    return joined(bytes, this.#identifier, this.#rtp.tag(bytes, wrapsOf(index)));
  }

  /** A compound RTCP packet of ours. */
  protectControl(packet: Uint8Array): Uint8Array {
    const index = this.#controlIndex;
    this.#controlIndex++;
    const bytes = new Uint8Array(packet.length + INDEX_BYTES);
    bytes.set(packet);
    const view = viewOf(bytes);
    this.#rtcp.crypt(bytes.subarray(CONTROL_HEADER_BYTES, packet.length), view.getUint32(4), index);
    view.setUint32(packet.length, ENCRYPTED + index);
    return joined(bytes, this.#identifier, this.#rtcp.tag(bytes));
  }
}

/** What came of each sender (SSRC). The one that has been silent for longest is forgotten first. */
class Streams {
  readonly #windows = new Map<number, ReplayWindow>();
  #latest: number | null = null;

  /** Undefined = nothing, or it is forgotten. */
  of(ssrc: number): ReplayWindow | undefined {
    return this.#windows.get(ssrc);
  }

  /** A packet with this index came. */
  note(ssrc: number, window: ReplayWindow, index: number): void {
    window.add(index);
    if (ssrc === this.#latest) return;
    this.#latest = ssrc;
    this.#windows.delete(ssrc);
    this.#windows.set(ssrc, window);
    const [silent] = this.#windows.size > STREAMS_MAX ? this.#windows.keys() : [];
    if (silent !== undefined) this.#windows.delete(silent);
  }
}

/** Opens what the peer sends. */
export class SrtpReceiver {
  readonly #rtp: SessionKeys;
  readonly #rtcp: SessionKeys;
  readonly #identifier: Uint8Array;
  readonly #streams = new Streams();
  readonly #controlStreams = new Streams();
  /** Opens packets under the key before; null = one under this key has come. */
  #before: SrtpReceiver | null;

  /** `before` = what opened the peer's packets until now, under another key: some may be on their way. */
  constructor(master: SrtpKey, before: SrtpReceiver | null = null) {
    this.#rtp = new SessionKeys(master, false);
    this.#rtcp = new SessionKeys(master, true);
    this.#identifier = master.identifier;
    // One that has opened nothing itself knows no streams.
    this.#before = before === null ? null : (before.#before ?? before);
  }

  /** The RTP packet in a datagram; null when it is none of the peer's, or came before. */
  open(datagram: Uint8Array): Uint8Array | null {
    const before = this.#before;
    if (before === null) return this.#open(datagram);
    // A new key does not set the count of wraps back (RFC 3711 §3.3.1); some senders do it all the same.
    const opened = this.#open(datagram, before) ?? this.#open(datagram);
    if (opened !== null) this.#before = null;
    return opened ?? before.open(datagram);
  }

  /** `before` = what knows the streams that go on under this key. */
  #open(datagram: Uint8Array, before: SrtpReceiver | null = null): Uint8Array | null {
    const headerBytes = headerBytesOf(datagram);
    const end = datagram.length - this.#rtp.tagBytes - this.#identifier.length;
    if (headerBytes === null || headerBytes > end) return null;
    const view = viewOf(datagram);
    const ssrc = view.getUint32(8);
    const window = this.#streams.of(ssrc) ?? new ReplayWindow();
    const { highest } = before === null ? window : (before.#streams.of(ssrc) ?? window);
    const index = nearestIndex(view.getUint16(2), highest);
    if (index < 0 || !window.admits(index)) return null;
    const bytes = new Uint8Array(datagram.subarray(0, end));
    if (!this.#isSigned(this.#rtp, datagram, end, bytes, wrapsOf(index))) return null;
    this.#rtp.crypt(bytes.subarray(headerBytes), ssrc, index);
    this.#streams.note(ssrc, window, index);
    return bytes;
  }

  /** The RTCP packet in a datagram; null when it is none of the peer's, or came before. */
  openControl(datagram: Uint8Array): Uint8Array | null {
    return this.#openControl(datagram) ?? this.#before?.openControl(datagram) ?? null;
  }

  #openControl(datagram: Uint8Array): Uint8Array | null {
    const end = datagram.length - this.#rtcp.tagBytes - this.#identifier.length;
    const bodyEnd = end - INDEX_BYTES;
    if (bodyEnd < CONTROL_HEADER_BYTES) return null;
    const view = viewOf(datagram);
    const ssrc = view.getUint32(4);
    const word = view.getUint32(bodyEnd);
    const index = word % ENCRYPTED;
    const window = this.#controlStreams.of(ssrc) ?? new ReplayWindow();
    if (!window.admits(index)) return null;
    const signed = new Uint8Array(datagram.subarray(0, end));
    if (!this.#isSigned(this.#rtcp, datagram, end, signed)) return null;
    const bytes = signed.subarray(0, bodyEnd);
    if (word >= ENCRYPTED) this.#rtcp.crypt(bytes.subarray(CONTROL_HEADER_BYTES), ssrc, index);
    this.#controlStreams.note(ssrc, window, index);
    return bytes;
  }

  /** Whether a datagram ends, from `end` on, with the name of our key and with the tag of `parts`. */
  #isSigned(keys: SessionKeys, datagram: Uint8Array, end: number, ...parts: readonly Uint8Array[]): boolean {
    const tagFrom = end + this.#identifier.length;
    const isNamed = Buffer.compare(datagram.subarray(end, tagFrom), this.#identifier) === 0;
    return isNamed && timingSafeEqual(datagram.subarray(tagFrom), keys.tag(...parts));
  }
}

/** The index with this sequence number that is nearest to the highest so far (§3.3.1); it may be negative. */
function nearestIndex(sequence: number, highest: number): number {
  if (highest < 0) return sequence;
  const wraps = Math.floor(highest / SEQUENCE_MODULUS);
  const ahead = sequence - (highest % SEQUENCE_MODULUS);
  const shift = ahead > SEQUENCE_HALF ? -1 : ahead < -SEQUENCE_HALF ? 1 : 0;
  return (wraps + shift) * SEQUENCE_MODULUS + sequence;
}

/** The number of wraps, which is signed with the packet although it is not sent. */
function wrapsOf(index: number): Uint8Array {
  const bytes = new Uint8Array(4);
  viewOf(bytes).setUint32(0, Math.floor(index / SEQUENCE_MODULUS));
  return bytes;
}

function joined(...parts: readonly Uint8Array[]): Uint8Array {
  return Buffer.concat(parts);
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
