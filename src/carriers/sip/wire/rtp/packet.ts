/** RTP packets (RFC 3550 §5.1). */

const VERSION = 2;
const HEADER_BYTES = 12;
const WORD_BYTES = 4;

/** One packet. */
export interface RtpPacket {
  /** Begins a stretch of sound after silence; with keys, a new key. */
  readonly marker: boolean;
  /** 0–127. */
  readonly payloadType: number;
  /** 16 bits. */
  readonly sequence: number;
  /** 32 bits, in samples of the payload's clock. */
  readonly timestamp: number;
  /** 32 bits: who sends. */
  readonly ssrc: number;
  readonly payload: Uint8Array;
}

/** Reads a datagram. Null for what is no RTP packet; `payload` lies in the datagram's memory. */
export function parseRtp(datagram: Uint8Array): RtpPacket | null {
  if (datagram.length < HEADER_BYTES) return null;
  const view = new DataView(datagram.buffer, datagram.byteOffset, datagram.byteLength);
  const [first, second] = [view.getUint8(0), view.getUint8(1)];
  if (first >> 6 !== VERSION) return null;
  const from = payloadStart(view, first);
  const padding = (first & 0x20) === 0 ? 0 : view.getUint8(datagram.length - 1);
  const to = datagram.length - padding;
  // Padding counts its own last byte, so it is never 0 (§5.1).
  if (from === null || from > to || ((first & 0x20) !== 0 && padding === 0)) return null;
  return {
    marker: (second & 0x80) !== 0,
    payloadType: second & 0x7f,
    sequence: view.getUint16(2),
    timestamp: view.getUint32(4),
    ssrc: view.getUint32(8),
    payload: datagram.subarray(from, to),
  };
}

/** Bytes before the payload of a packet, padding counting as payload; null for what is no RTP packet. */
export function headerBytesOf(datagram: Uint8Array): number | null {
  if (datagram.length < HEADER_BYTES || (datagram[0] ?? 0) >> 6 !== VERSION) return null;
  const view = new DataView(datagram.buffer, datagram.byteOffset, datagram.byteLength);
  const bytes = payloadStart(view, view.getUint8(0));
  return bytes === null || bytes > datagram.length ? null : bytes;
}

/** Behind the contributing sources and the extension header. Null when they do not fit. */
function payloadStart(view: DataView, first: number): number | null {
  const at = HEADER_BYTES + (first & 0x0f) * WORD_BYTES;
  if ((first & 0x10) === 0) return at;
  if (at + WORD_BYTES > view.byteLength) return null;
  return at + WORD_BYTES + view.getUint16(at + 2) * WORD_BYTES;
}

/** Writes a packet; numbers are cut to their widths. */
export function writeRtp({ marker, payloadType, sequence, timestamp, ssrc, payload }: RtpPacket): Uint8Array {
  const datagram = new Uint8Array(HEADER_BYTES + payload.length);
  const view = new DataView(datagram.buffer);
  view.setUint8(0, VERSION << 6);
  view.setUint8(1, (marker ? 0x80 : 0) | (payloadType & 0x7f));
  view.setUint16(2, sequence);
  view.setUint32(4, timestamp);
  view.setUint32(8, ssrc);
  datagram.set(payload, HEADER_BYTES);
  return datagram;
}
