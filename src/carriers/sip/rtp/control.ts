/** RTCP of one RTP session: our reports, every few seconds, and the reports of the peer. */

import type { Clock, Timer } from '../../../foundation/clock.ts';
import { samplesToMs } from '../../../foundation/units.ts';
import { type OwnReport, parseRtcp, Reception, writeReport } from '../wire/rtp/rtcp.ts';
import type { CountedPacket } from './receiver.ts';
import type { RtpSender } from './sender.ts';

/** Between two reports, on average (RFC 3550 §6.2); each time it is half as much to one and a half times as much. */
const REPORT_EVERY_MS = 5000;

interface ControlOptions {
  readonly clock: Clock;
  readonly random: () => number;
  readonly cname: string;
  readonly sender: RtpSender;
  transmit(datagram: Uint8Array): void;
}

/** What the peer reports about our packets. */
export interface PeerReport {
  readonly lost: number;
  readonly jitterMs: number;
}

export class RtcpControl {
  readonly #options: ControlOptions;
  #timer: Timer | null = null;
  #reception: { readonly ssrc: number; readonly clockHz: number; readonly counts: Reception } | null = null;
  #lastSenderReport: { readonly ssrc: number; readonly ntpMiddle: number; readonly atMs: number } | null = null;
  #reportedPackets = 0;
  #earlier = { received: 0, lost: 0 };
  #peerReport: PeerReport | null = null;

  constructor(options: ControlOptions) {
    this.#options = options;
  }

  /** Packets received and lost over all of the peer's streams; the jitter is of the last one. */
  get received(): { readonly received: number; readonly lost: number; readonly jitterMs: number } {
    const counts = this.#reception?.counts;
    return {
      received: this.#earlier.received + (counts?.received ?? 0),
      lost: this.#earlier.lost + Math.max(counts?.lost ?? 0, 0),
      jitterMs: counts?.jitterMs ?? 0,
    };
  }

  get peerReport(): PeerReport | null {
    return this.#peerReport;
  }

  /** Begins to report; ignored when it has begun. */
  start(): void {
    if (this.#timer === null) this.#setTimer();
  }

  /** An RTP packet was received. */
  count(packet: CountedPacket): void {
    const { ssrc, clockHz } = packet;
    if (this.#reception?.ssrc !== ssrc || this.#reception.clockHz !== clockHz) {
      const { received, lost } = this.received;
      this.#earlier = { received, lost };
      this.#reception = { ssrc, clockHz, counts: new Reception(ssrc, clockHz) };
    }
    this.#reception.counts.add(packet.sequence, packet.timestamp, this.#options.clock.nowMs());
  }

  /** A datagram of the peer. False when it is not RTCP. */
  receive(datagram: Uint8Array): boolean {
    const packets = parseRtcp(datagram);
    if (packets === null) return false;
    for (const packet of packets) {
      if (packet.type === 'goodbye') continue;
      if (packet.type === 'sender') {
        this.#lastSenderReport = { ssrc: packet.ssrc, ntpMiddle: packet.ntpMiddle, atMs: this.#options.clock.nowMs() };
      }
      const ours = packet.reports.find(({ ssrc }) => ssrc === this.#options.sender.ssrc);
      if (ours !== undefined)
        this.#peerReport = { lost: ours.lost, jitterMs: samplesToMs(ours.jitter, this.#options.sender.clockHz) };
    }
    return true;
  }

  /** Sends a goodbye if reports were sent, and reports no more. */
  close(): void {
    if (this.#timer === null) return;
    this.#timer.cancel();
    this.#timer = null;
    this.#options.transmit(writeReport(this.#report(true)));
  }

  #setTimer(): void {
    const { clock, random } = this.#options;
    this.#timer = clock.after(REPORT_EVERY_MS * (0.5 + random()), () => {
      this.#options.transmit(writeReport(this.#report(false)));
      this.#setTimer();
    });
  }

  #report(goodbye: boolean): OwnReport {
    const { clock, cname, sender } = this.#options;
    const { packets, bytes } = sender.sent;
    const hasSent = sender.sentPackets > this.#reportedPackets;
    this.#reportedPackets = sender.sentPackets;
    const last = this.#lastSenderReport;
    const nowMs = clock.nowMs();
    const ofPeer =
      last !== null && last.ssrc === this.#reception?.ssrc
        ? { ntpMiddle: last.ntpMiddle, agoMs: nowMs - last.atMs }
        : null;
    return {
      ssrc: sender.ssrc,
      cname,
      sender: hasSent ? { wallMs: clock.wall().getTime(), timestamp: sender.timestampNow, packets, bytes } : null,
      reception: this.#reception?.counts.report(ofPeer) ?? null,
      goodbye,
    };
  }
}
