/**
 * RTCP (RFC 3550 §6): reports of sent and received packets, the sender's name, and goodbye. Also computes the figures
 * of the reports (appendix A).
 */

const VERSION = 2;
const WORD_BYTES = 4;
const SENDER_REPORT = 200;
const RECEIVER_REPORT = 201;
const SOURCE_DESCRIPTION = 202;
const GOODBYE = 203;
const CNAME = 1;
const BLOCK_BYTES = 24;
const SENDER_INFO_BYTES = 20;
/** The number of lost packets in a report has 24 bits with its sign (appendix A.3). */
const LOST_MAX = 0x7f_ffff;
/** Between 1900, where NTP counts from, and 1970. */
const NTP_OFFSET_S = 2_208_988_800;

/** What a receiver reports about one sender (§6.4.1). */
export interface ReceptionReport {
  /** The sender that the report is about. */
  readonly ssrc: number;
  /** Share of packets lost since the last report, in 256ths. */
  readonly fractionLost: number;
  /** Packets lost since the beginning; below 0 when more were duplicated than lost. */
  readonly lost: number;
  /** The highest sequence number received, with the number of wraps in the upper bits. */
  readonly highestSequence: number;
  /** Mean deviation of the packets' spacing, in timestamp units. */
  readonly jitter: number;
  /**
   * Middle 32 bits of the NTP time in the last sender report, and the delay since then in 65536ths of a second; 0
   * without one.
   */
  readonly lastSenderReport: number;
  readonly delaySinceLast: number;
}

/** What a sender reports about itself. */
export interface SenderInfo {
  /** Wall time in ms since 1970, and the same moment in the timestamps of its packets. */
  readonly wallMs: number;
  readonly timestamp: number;
  readonly packets: number;
  readonly bytes: number;
}

/** One packet of a compound datagram: the parts that we use. */
export type RtcpPacket =
  /** `ntpMiddle` is what a reception report calls `lastSenderReport`. */
  | {
      readonly type: 'sender';
      readonly ssrc: number;
      readonly ntpMiddle: number;
      readonly reports: readonly ReceptionReport[];
    }
  | { readonly type: 'receiver'; readonly ssrc: number; readonly reports: readonly ReceptionReport[] }
  | { readonly type: 'goodbye'; readonly ssrcs: readonly number[] };

/** Reads a compound datagram and skips other packets in it. Null if it is not RTCP. */
export function parseRtcp(datagram: Uint8Array): RtcpPacket[] | null {
  const view = new DataView(datagram.buffer, datagram.byteOffset, datagram.byteLength);
  const packets: RtcpPacket[] = [];
  let at = 0;
  while (at < view.byteLength) {
    if (at + WORD_BYTES > view.byteLength || view.getUint8(at) >> 6 !== VERSION) return null;
    const bytes = (view.getUint16(at + 2) + 1) * WORD_BYTES;
    if (at + bytes > view.byteLength) return null;
    const packet = readPacket(new DataView(view.buffer, view.byteOffset + at, bytes));
    if (packet !== null) packets.push(packet);
    at += bytes;
  }
  return at === 0 ? null : packets;
}

function readPacket(view: DataView): RtcpPacket | null {
  const count = view.getUint8(0) & 0x1f;
  const type = view.getUint8(1);
  if (type === GOODBYE) {
    const room = Math.min(count, view.byteLength / WORD_BYTES - 1);
    return { type: 'goodbye', ssrcs: Array.from({ length: room }, (_, i) => view.getUint32((i + 1) * WORD_BYTES)) };
  }
  if (view.byteLength < 2 * WORD_BYTES) return null;
  const ssrc = view.getUint32(WORD_BYTES);
  if (type === RECEIVER_REPORT) return { type: 'receiver', ssrc, reports: readBlocks(view, 2 * WORD_BYTES, count) };
  if (type !== SENDER_REPORT || view.byteLength < 2 * WORD_BYTES + SENDER_INFO_BYTES) return null;
  const ntpMiddle = ((view.getUint32(8) << 16) | (view.getUint32(12) >>> 16)) >>> 0;
  return { type: 'sender', ssrc, ntpMiddle, reports: readBlocks(view, 2 * WORD_BYTES + SENDER_INFO_BYTES, count) };
}

function readBlocks(view: DataView, from: number, count: number): ReceptionReport[] {
  const room = Math.min(count, Math.floor((view.byteLength - from) / BLOCK_BYTES));
  return Array.from({ length: Math.max(room, 0) }, (_, i) => {
    const at = from + i * BLOCK_BYTES;
    return {
      ssrc: view.getUint32(at),
      fractionLost: view.getUint8(at + 4),
      lost: (view.getInt32(at + 4) << 8) >> 8,
      highestSequence: view.getUint32(at + 8),
      jitter: view.getUint32(at + 12),
      lastSenderReport: view.getUint32(at + 16),
      delaySinceLast: view.getUint32(at + 20),
    };
  });
}

/** What {@link writeReport} says. */
export interface OwnReport {
  readonly ssrc: number;
  /** Our name in all our streams, which is random (RFC 7022). */
  readonly cname: string;
  /** Null = nothing was sent since the last report, so this is a receiver report. */
  readonly sender: SenderInfo | null;
  /** Null = nothing was received yet. */
  readonly reception: ReceptionReport | null;
  /** Nothing will be sent any more. */
  readonly goodbye: boolean;
}

/** Writes a compound datagram: the report, the name, and the goodbye (§6.1). */
export function writeReport({ ssrc, cname, sender, reception, goodbye }: OwnReport): Uint8Array {
  const parts = [writeReportPacket(ssrc, sender, reception), writeName(ssrc, cname)];
  if (goodbye) parts.push(writePacket(GOODBYE, 1, WORD_BYTES, (view) => view.setUint32(WORD_BYTES, ssrc)));
  const datagram = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    datagram.set(part, at);
    at += part.length;
  }
  return datagram;
}

function writePacket(type: number, count: number, bodyBytes: number, fill: (view: DataView) => void): Uint8Array {
  const packet = new Uint8Array(WORD_BYTES + bodyBytes);
  const view = new DataView(packet.buffer);
  view.setUint8(0, (VERSION << 6) | count);
  view.setUint8(1, type);
  view.setUint16(2, bodyBytes / WORD_BYTES);
  fill(view);
  return packet;
}

function writeReportPacket(ssrc: number, sender: SenderInfo | null, reception: ReceptionReport | null): Uint8Array {
  const infoBytes = sender === null ? 0 : SENDER_INFO_BYTES;
  const bodyBytes = WORD_BYTES + infoBytes + (reception === null ? 0 : BLOCK_BYTES);
  return writePacket(
    sender === null ? RECEIVER_REPORT : SENDER_REPORT,
    reception === null ? 0 : 1,
    bodyBytes,
    (view) => {
      view.setUint32(4, ssrc);
      if (sender !== null) writeSenderInfo(view, sender);
      if (reception !== null) writeBlock(view, 2 * WORD_BYTES + infoBytes, reception);
    },
  );
}

function writeSenderInfo(view: DataView, { wallMs, timestamp, packets, bytes }: SenderInfo): void {
  const seconds = Math.floor(wallMs / 1000);
  view.setUint32(8, seconds + NTP_OFFSET_S);
  view.setUint32(12, ((wallMs - seconds * 1000) / 1000) * 2 ** 32);
  view.setUint32(16, timestamp);
  view.setUint32(20, packets);
  view.setUint32(24, bytes);
}

function writeBlock(view: DataView, at: number, report: ReceptionReport): void {
  view.setUint32(at, report.ssrc);
  view.setInt32(at + 4, Math.max(-LOST_MAX - 1, Math.min(report.lost, LOST_MAX)));
  view.setUint8(at + 4, report.fractionLost);
  view.setUint32(at + 8, report.highestSequence);
  view.setUint32(at + 12, report.jitter);
  view.setUint32(at + 16, report.lastSenderReport);
  view.setUint32(at + 20, report.delaySinceLast);
}

/** One chunk with one item, ended by a zero and padded to a word (§6.5). */
function writeName(ssrc: number, cname: string): Uint8Array {
  const name = new TextEncoder().encode(cname).subarray(0, 255);
  const itemBytes = Math.ceil((2 + name.length + 1) / WORD_BYTES) * WORD_BYTES;
  return writePacket(SOURCE_DESCRIPTION, 1, WORD_BYTES + itemBytes, (view) => {
    view.setUint32(4, ssrc);
    view.setUint8(8, CNAME);
    view.setUint8(9, name.length);
    new Uint8Array(view.buffer).set(name, 10);
  });
}

/** Counts one sender's packets for the reports to it (appendices A.1, A.3 and A.8). */
export class Reception {
  readonly #ssrc: number;
  readonly #rateHz: number;
  #first: number | null = null;
  #highest = 0;
  #received = 0;
  #reportedExpected = 0;
  #reportedReceived = 0;
  #jitter = 0;
  #transit: number | null = null;

  constructor(ssrc: number, rateHz: number) {
    this.#ssrc = ssrc;
    this.#rateHz = rateHz;
  }

  /** Counts a packet by its unwrapped counters and its arrival time. */
  add(sequence: number, timestamp: number, arrivalMs: number): void {
    if (this.#first === null) {
      this.#first = sequence;
      this.#highest = sequence;
    }
    this.#highest = Math.max(this.#highest, sequence);
    this.#received++;
    const transit = (arrivalMs * this.#rateHz) / 1000 - timestamp;
    if (this.#transit !== null) this.#jitter += (Math.abs(transit - this.#transit) - this.#jitter) / 16;
    this.#transit = transit;
  }

  /** Packets received. */
  get received(): number {
    return this.#received;
  }

  /** Packets lost; below 0 when more were duplicated than lost. */
  get lost(): number {
    return this.#expected - this.#received;
  }

  get jitterMs(): number {
    return (this.#jitter * 1000) / this.#rateHz;
  }

  /** A report for the time since the previous one; `last` = the latest sender report and its age. */
  report(last: { readonly ntpMiddle: number; readonly agoMs: number } | null): ReceptionReport {
    const expected = this.#expected - this.#reportedExpected;
    const lost = expected - (this.#received - this.#reportedReceived);
    this.#reportedExpected = this.#expected;
    this.#reportedReceived = this.#received;
    return {
      ssrc: this.#ssrc,
      fractionLost: expected <= 0 || lost <= 0 ? 0 : Math.min(Math.floor((lost * 256) / expected), 255),
      lost: this.lost,
      highestSequence: this.#highest >>> 0,
      jitter: Math.floor(this.#jitter),
      lastSenderReport: last?.ntpMiddle ?? 0,
      delaySinceLast: last === null ? 0 : Math.round((last.agoMs * 65_536) / 1000) >>> 0,
    };
  }

  get #expected(): number {
    return this.#first === null ? 0 : this.#highest - this.#first + 1;
  }
}
