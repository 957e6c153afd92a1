/**
 * A phone's RTP: packets made of samples, sent over a line with faults, and packets received, with their arrival times.
 * Written from RFC 3550 and RFC 4733.
 */
import { randomInt } from 'node:crypto';
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { joinSamples } from '../../../audio/mix.ts';
import type { Clock, Timer } from '../../../foundation/clock.ts';
import { type Codec, msToSamples, samplesToMs } from '../../../foundation/units.ts';
import { seededRandom } from '../../../simulator/random.ts';
import {
  type PayloadDecoder,
  type PayloadEncoder,
  payloadDecoder,
  payloadEncoder,
} from '../wire/rtp/payload-codecs.ts';
import { RTP_FORMATS, type RtpCodecName, type RtpFormat } from '../wire/rtp-codecs.ts';
import { newPhoneKey, type PhoneKey, PhoneSrtp } from './phone-srtp.ts';
import type { Peer } from './socket.ts';

const HEADER_BYTES = 12;
const EVENT_CLOCK_HZ = 8000;
/** Its Opus makes up for lost packets. */
const PARAMETERS = new Map([['useinbandfec', '1']]);
const EMPTY = new Uint8Array(0);
const KEYS = '0123456789*#ABCD';
/** How long a key is down, and the pause before another. */
const KEY_MS = 100;
/** A packet that is overtaken leaves this much after the next one. */
const OVERTAKEN_MS = 5;
/** With `dtx`, anything softer than this (about −50 dBm0) is silence and is not sent. */
const SILENCE_PEAK = 200;
/** Ten minutes. Later packets are only counted. */
const PACKETS_MAX = 30_000;

/** What a phone says, and how well its line carries it. Times are ms of its sound. */
export interface PhoneSound {
  /** At 8 kHz, at 16 kHz for g722 and opus; read as it is sent, so that more can be written ahead of it. */
  readonly audio: Int16Array;
  readonly codec?: RtpCodecName;
  readonly ptimeMs?: number;
  /** Each packet is up to this much late. */
  readonly jitterMs?: number;
  /** Shares (0–1) of packets that are lost, and that come after their successor. */
  readonly lossShare?: number;
  readonly reorderShare?: number;
  readonly seed?: number;
  /** Nothing is sent while nothing is said. */
  readonly dtx?: boolean;
  readonly dtmf?: readonly { readonly atMs: number; readonly digit: string }[];
  /** Its packets are secured (SRTP), and it takes no others. */
  readonly srtp?: boolean;
  /** Beyond the end of the audio silence is sent, rather than the end told. */
  readonly endless?: boolean;
  /** A packet's sound, as it comes. */
  onAudio?(payload: Uint8Array): void;
}

/** A packet of sound that came. */
export interface ReceivedPacket {
  /** By the phone's clock. */
  readonly atMs: number;
  readonly sequence: number;
  readonly timestamp: number;
  readonly marker: boolean;
  readonly payload: Uint8Array;
}

/** Whom it sends to, and under which numbers; null = no events. */
export interface PhoneAgreement {
  readonly to: Peer;
  readonly payloadType: number;
  readonly eventType: number | null;
  /** What opens the other side's packets; null = they are not secured. */
  readonly srtpKey: PhoneKey | null;
  /** Whether the other side wants to receive audio. */
  readonly receives: boolean;
}

interface MediaOptions extends PhoneSound {
  readonly clock: Clock;
  readonly address: string;
  /** All of the audio was sent. */
  onSpoken(): void;
}

export class PhoneMedia {
  readonly format: RtpFormat;
  readonly ptimeMs: number;
  /** What secures its packets; null = nothing. */
  readonly srtpKey: PhoneKey | null;
  /** Datagrams whose tag was wrong. */
  forged = 0;
  /** Packets of sound that came, in their order of arrival. */
  readonly packets: ReceivedPacket[] = [];
  readonly #decoder: PayloadDecoder;
  readonly #encoder: PayloadEncoder;
  readonly #socket: Socket;
  readonly #options: MediaOptions;
  readonly #random: () => number;
  readonly #ssrc = randomInt(2 ** 32);
  readonly #timestampBase = randomInt(2 ** 32);
  readonly #digits: { readonly atMs: number; readonly digit: string }[];
  readonly #late = new Set<Timer>();
  readonly #sealer: PhoneSrtp | null;
  #opener: PhoneSrtp | null = null;
  #agreement: PhoneAgreement | null = null;
  #timer: Timer | null = null;
  #startMs = 0;
  #sequence = randomInt(2 ** 16);
  #frames = 0;
  #wasSilent = true;
  #spoken = false;
  #key: { readonly digit: string; readonly timestamp: number; downMs: number } | null = null;
  readonly #decoded: Int16Array[] = [];
  #heldBack = false;
  #received = 0;
  #receivedDigits = '';
  #lastKey = -1;
  #closed = false;

  /** Use {@link PhoneMedia.open}. */
  private constructor(options: MediaOptions, socket: Socket) {
    this.#options = options;
    this.#socket = socket;
    this.format = RTP_FORMATS[options.codec ?? 'mulaw'];
    this.#decoder = payloadDecoder(this.format);
    this.#encoder = payloadEncoder(this.format, PARAMETERS);
    this.ptimeMs = options.ptimeMs ?? 20;
    this.srtpKey = options.srtp === true ? newPhoneKey() : null;
    this.#sealer = this.srtpKey === null ? null : new PhoneSrtp(this.srtpKey);
    this.#random = seededRandom(options.seed ?? 1);
    this.#digits = [...(options.dtmf ?? [])].sort((a, b) => a.atMs - b.atMs);
    socket.on('message', (datagram) => this.#receive(datagram));
    socket.on('error', () => undefined);
  }

  /** Opens a socket on any free port. */
  static async open(options: MediaOptions): Promise<PhoneMedia> {
    const socket = createSocket(options.address.includes(':') ? 'udp6' : 'udp4');
    socket.bind(0, options.address);
    await once(socket, 'listening');
    return new PhoneMedia(options, socket);
  }

  get port(): number {
    return this.#socket.address().port;
  }

  /** Sound sent so far, lost packets included. */
  get sentMs(): number {
    return this.#frames * this.ptimeMs;
  }

  /** Packets that came, and the keys among them. */
  get received(): { readonly packets: number; readonly digits: string } {
    return { packets: this.#received, digits: this.#receivedDigits };
  }

  /** How the samples of {@link PhoneSound.audio} are counted. */
  get codec(): Codec {
    return this.format.codec;
  }

  /** The sound of all packets, in their order of arrival. Each is decoded once. */
  get sound(): Int16Array {
    this.#decodeAll();
    return joinSamples(this.#decoded);
  }

  /** Speaks from now on, or as is agreed from now on. */
  agree(agreement: PhoneAgreement): void {
    const { srtpKey } = agreement;
    const isSameKey = Buffer.compare(srtpKey ?? EMPTY, this.#agreement?.srtpKey ?? EMPTY) === 0;
    if (!isSameKey) this.#opener = srtpKey === null ? null : new PhoneSrtp(srtpKey);
    this.#agreement = agreement;
    if (this.#timer !== null || this.#closed) return;
    this.#startMs = this.#options.clock.nowMs();
    this.#run();
  }

  /** Presses keys, one after the other. */
  press(digits: string): void {
    const { clock } = this.#options;
    const atMs = clock.nowMs() - this.#startMs;
    for (const [i, digit] of [...digits].entries()) this.#digits.push({ atMs: atMs + i * 2 * KEY_MS, digit });
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#timer?.cancel();
    for (const timer of this.#late) timer.cancel();
    this.#encoder.close();
    this.#decodeAll();
    this.#decoder.close();
    await new Promise<void>((resolve) => this.#socket.close(() => resolve()));
  }

  #decodeAll(): void {
    for (const { payload } of this.packets.slice(this.#decoded.length))
      this.#decoded.push(this.#decoder.decode(payload));
  }

  /** On a grid counted from the start, so that delays never add up. */
  #run(): void {
    const { clock } = this.#options;
    while (!this.#closed && this.sentMs <= clock.nowMs() - this.#startMs) this.#sendFrame();
    if (this.#closed) return;
    this.#timer = clock.after(Math.max(this.#startMs + this.sentMs - clock.nowMs(), 0), () => this.#run());
  }

  #sendFrame(): void {
    const { audio, endless = false } = this.#options;
    const frameSamples = msToSamples(this.ptimeMs, this.codec.rateHz);
    const from = this.#frames * frameSamples;
    if (!endless && !this.#spoken && from >= audio.length) {
      this.#spoken = true;
      this.#options.onSpoken();
      if (this.#closed) return;
    }
    const timestamp = (this.#timestampBase + msToSamples(this.sentMs, this.format.clockHz)) % 2 ** 32;
    const due = this.#digits[0];
    const eventType = this.#agreement?.eventType ?? null;
    if (eventType !== null && this.#key === null && due !== undefined && due.atMs <= this.sentMs) {
      this.#digits.shift();
      this.#key = { digit: due.digit, timestamp, downMs: 0 };
    }
    this.#frames++;
    if (this.#key !== null && eventType !== null) this.#sendKey(this.#key, eventType);
    else this.#sendSound(audio.subarray(from, from + frameSamples), frameSamples, timestamp);
  }

  #sendSound(samples: Int16Array, frameSamples: number, timestamp: number): void {
    const silent = this.#options.dtx === true && samples.every((sample) => Math.abs(sample) < SILENCE_PEAK);
    if (!silent) {
      const whole = new Int16Array(frameSamples);
      whole.set(samples);
      this.#send(this.#agreement?.payloadType ?? 0, timestamp, this.#wasSilent, this.#encoder.encode(whole));
    }
    this.#wasSilent = silent;
  }

  #sendKey(key: { readonly digit: string; readonly timestamp: number; downMs: number }, eventType: number): void {
    key.downMs += this.ptimeMs;
    const isEnd = key.downMs >= KEY_MS;
    const duration = msToSamples(Math.min(key.downMs, KEY_MS), EVENT_CLOCK_HZ);
    const payload = Uint8Array.of(KEYS.indexOf(key.digit), (isEnd ? 0x80 : 0) | 10, duration >> 8, duration & 0xff);
    this.#send(eventType, key.timestamp, key.downMs === this.ptimeMs, payload);
    if (key.downMs >= KEY_MS + 2 * this.ptimeMs) this.#key = null;
    this.#wasSilent = true;
  }

  #send(payloadType: number, timestamp: number, marker: boolean, payload: Uint8Array): void {
    const datagram = new Uint8Array(HEADER_BYTES + payload.length);
    const view = new DataView(datagram.buffer);
    view.setUint8(0, 0x80);
    view.setUint8(1, (marker ? 0x80 : 0) | payloadType);
    view.setUint16(2, this.#sequence);
    view.setUint32(4, timestamp);
    view.setUint32(8, this.#ssrc);
    datagram.set(payload, HEADER_BYTES);
    this.#sequence = (this.#sequence + 1) & 0xffff;
    this.#carry(this.#sealer === null ? datagram : this.#sealer.seal(datagram));
  }

  /** Over the line, with its faults. */
  #carry(datagram: Uint8Array): void {
    const { lossShare = 0, reorderShare = 0, jitterMs = 0 } = this.#options;
    if (this.#agreement?.receives !== true || this.#random() < lossShare) return;
    this.#heldBack = !this.#heldBack && this.#random() < reorderShare;
    const delayMs = this.#heldBack ? this.ptimeMs + OVERTAKEN_MS : this.#random() * jitterMs;
    if (delayMs === 0) this.#put(datagram);
    else {
      const timer = this.#options.clock.after(delayMs, () => {
        this.#late.delete(timer);
        this.#put(datagram);
      });
      this.#late.add(timer);
    }
  }

  #put(datagram: Uint8Array): void {
    const to = this.#agreement?.to;
    if (to !== undefined && !this.#closed) this.#socket.send(datagram, to.port, to.address, () => undefined);
  }

  #receive(came: Buffer): void {
    if (this.#agreement === null) return;
    const datagram = Buffer.from(this.#opener === null ? came : (this.#opener.open(came) ?? EMPTY));
    if (this.#opener !== null && datagram.length === 0) this.forged++;
    if (datagram.length < HEADER_BYTES) return;
    const payloadType = (datagram[1] ?? 0) & 0x7f;
    const [sequence, timestamp] = [datagram.readUInt16BE(2), datagram.readUInt32BE(4)];
    const payload = datagram.subarray(HEADER_BYTES);
    if (payloadType === this.#agreement.eventType) this.#receiveKey(payload, timestamp);
    if (payloadType !== this.#agreement.payloadType) return;
    this.#received++;
    this.#options.onAudio?.(payload);
    const marker = ((datagram[1] ?? 0) & 0x80) !== 0;
    if (this.packets.length < PACKETS_MAX)
      this.packets.push({ atMs: this.#options.clock.nowMs(), sequence, timestamp, marker, payload });
  }

  #receiveKey(payload: Uint8Array, timestamp: number): void {
    if (timestamp === this.#lastKey) return;
    this.#lastKey = timestamp;
    this.#receivedDigits += KEYS[payload[0] ?? 16] ?? '';
  }
}

/**
 * How far packets came from the spacing of their timestamps, in ms, one figure for each two that follow each other.
 * Markers begin anew.
 */
export function spacingErrors(packets: readonly ReceivedPacket[], rateHz: number): number[] {
  return packets.slice(1).flatMap((packet, i) => {
    const before = packets[i];
    if (before === undefined || packet.sequence !== ((before.sequence + 1) & 0xffff)) return [];
    const samples = (packet.timestamp - before.timestamp) >>> 0;
    return [Math.abs(packet.atMs - before.atMs - samplesToMs(samples, rateHz))];
  });
}
