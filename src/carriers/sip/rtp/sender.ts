/**
 * Sends one packet for each slot of a fixed time grid, so that late timers never add up. Timestamps are those of the
 * slots, whether or not earlier slots were used. Between sentences the packets hold silence or low noise, because
 * carriers end calls in which no packets come; a peer that takes comfort noise gets a few packets of that instead.
 */
import { COMFORT_NOISE_DBOV, ComfortNoise } from '../../../audio/comfort-noise.ts';
import { silentBytes } from '../../../audio/frames.ts';
import type { Clock, Timer } from '../../../foundation/clock.ts';
import { type Codec, FRAME_MS, msToBytes, msToSamples } from '../../../foundation/units.ts';
import type { RemoteMedia } from '../wire/offer-answer.ts';
import { writeRtp } from '../wire/rtp/packet.ts';
import { writeEvent } from '../wire/rtp/telephone-event.ts';
import { COMFORT_NOISE_TYPE, type EventFormat } from '../wire/rtp-codecs.ts';
import { OutboundSound } from './call-sound.ts';

/** A timer that fires this much early is on time: timers count in whole ms. */
const EARLY_MS = 1;
/** After a longer hold-up the missed slots are skipped. */
const CATCH_UP_SLOTS = 3;
/**
 * Sound that begins waits at least this long for its slot, so that a frame that is a little late finds its own still
 * free.
 */
const SLACK_MS = 8;
const WHOLE_MS = 10;
/** Sound that may wait to be sent; a hold-up of the process is the only way to have so much. */
const WAITING_MAX_MS = 200;
/** How long a key is down; receivers ask for 40 ms (ITU-T Q.24). */
const KEY_MS = 100;
/** How often the last packet of a key is sent, because each may be lost (RFC 4733 §2.5.1.4). */
const KEY_ENDS = 3;
const KEYS_WAITING_MAX = 100;
/** How often comfort noise is announced anew, since each packet may be lost. */
const NOISE_EVERY_MS = 200;

interface SenderOptions {
  readonly clock: Clock;
  /** The call's codec, even when the peer changes to another one later. */
  readonly codec: Codec;
  /** Numbers from 0 to 1, below 1. */
  readonly random: () => number;
  /** Whether silence is low noise (COMFORT_NOISE); left out = it is digital silence. */
  readonly comfortNoise?: boolean;
  /** Whether the next packet is to begin another stream (SSRC); left out = never. */
  isNewStream?(): boolean;
  transmit(datagram: Uint8Array): void;
}

interface Key {
  readonly digit: string;
  readonly timestamp: number;
  readonly fromMs: number;
  ends: number;
}

/** Counters for the reports: packets and bytes of payload sent. */
export interface SentCounts {
  readonly packets: number;
  readonly bytes: number;
}

export class RtpSender {
  readonly #options: SenderOptions;
  #ssrc: number;
  readonly #startMs: number;
  /** What timestamps count, in Hz, and the one of the beginning. */
  #clockHz: number;
  #timestampBase: number;
  #sequence: number;
  #remote: RemoteMedia | null = null;
  /** In the format that was agreed, for as long as it is. */
  #sound: { readonly of: RemoteMedia; readonly encoder: OutboundSound } | null = null;
  #timer: Timer | null = null;
  /** When the next packet is due. */
  #dueMs = 0;
  #waiting: Uint8Array = new Uint8Array(0);
  /** When the sound that waits may begin; null while sound is being sent. */
  #beginMs: number | null = 0;
  #silent = true;
  /** Null = silence is digital. */
  readonly #noise: ComfortNoise | null;
  /** When comfort noise is to be announced next. */
  #noiseDueMs = 0;
  /** Nothing has been sent since the grid began. */
  #fresh = true;
  #key: Key | null = null;
  readonly #keys: string[] = [];
  #packets = 0;
  #bytes = 0;
  /** In the streams before. */
  #earlierPackets = 0;

  constructor(options: SenderOptions) {
    const { random, clock } = options;
    this.#options = options;
    this.#clockHz = options.codec.rateHz;
    this.#ssrc = Math.floor(random() * 2 ** 32);
    this.#timestampBase = Math.floor(random() * 2 ** 32);
    this.#sequence = firstSequence(random);
    this.#startMs = clock.nowMs();
    this.#noise = options.comfortNoise === true ? new ComfortNoise(options.codec, this.#ssrc) : null;
  }

  /** The name of the stream. */
  get ssrc(): number {
    return this.#ssrc;
  }

  /** Of the stream. */
  get sent(): SentCounts {
    return { packets: this.#packets, bytes: this.#bytes };
  }

  /** Packets of all streams. */
  get sentPackets(): number {
    return this.#earlierPackets + this.#packets;
  }

  /** What timestamps count, in Hz. */
  get clockHz(): number {
    return this.#clockHz;
  }

  /** The timestamp of this moment. */
  get timestampNow(): number {
    return this.#timestampAt(this.#options.clock.nowMs());
  }

  /** Sends to `remote` from now on, or not while it does not receive. */
  set remote(remote: RemoteMedia) {
    const { clock } = this.#options;
    const wasSending = this.#remote?.receives === true && this.#timer !== null;
    const newGrid = !wasSending || this.#remote?.ptimeMs !== remote.ptimeMs;
    this.#remote = remote;
    this.#setClock(remote.format.clockHz);
    if (!remote.receives) {
      this.#stop();
      return;
    }
    if (!newGrid) return;
    this.#dueMs = this.#nextWhole(clock.nowMs());
    this.#fresh = true;
    this.#setTimer();
  }

  /** Sound in the call's codec, to be sent in the slots to come. Thrown away while the peer does not receive. */
  send(bytes: Uint8Array): void {
    if (this.#timer === null || this.#remote === null || this.#isPressing) return;
    const { codec, clock } = this.#options;
    if (this.#waiting.length === 0 && this.#beginMs !== null) {
      this.#beginMs = clock.nowMs() + SLACK_MS + framesAheadMs(this.#remote.ptimeMs);
    }
    const all = new Uint8Array(this.#waiting.length + bytes.length);
    all.set(this.#waiting);
    all.set(bytes, this.#waiting.length);
    this.#waiting = all.subarray(Math.max(all.length - msToBytes(WAITING_MAX_MS, codec), 0));
  }

  /**
   * Presses a key by events; sound is left out meanwhile. False, and nothing done, where none were agreed: its tone is
   * then to be sent as sound.
   */
  press(digit: string): boolean {
    if (this.#timer === null || this.#remote === null || this.#remote.events === null) return false;
    if (this.#keys.length < KEYS_WAITING_MAX) this.#keys.push(digit);
    this.#waiting = new Uint8Array(0);
    return true;
  }

  /** Sends nothing more. */
  close(): void {
    this.#stop();
    this.#sound?.encoder.close();
  }

  get #isPressing(): boolean {
    return this.#key !== null || this.#keys.length > 0;
  }

  #stop(): void {
    this.#timer?.cancel();
    this.#timer = null;
    this.#waiting = new Uint8Array(0);
    this.#beginMs = 0;
    this.#key = null;
    this.#keys.length = 0;
  }

  #setTimer(): void {
    const { clock } = this.#options;
    this.#timer?.cancel();
    this.#timer = clock.after(Math.max(this.#dueMs - clock.nowMs(), 0), () => this.#onTimer());
  }

  #onTimer(): void {
    const remote = this.#remote;
    if (remote === null) return;
    const nowMs = this.#options.clock.nowMs();
    const missed = Math.floor((nowMs - this.#dueMs) / remote.ptimeMs);
    if (missed > CATCH_UP_SLOTS) this.#dueMs += missed * remote.ptimeMs;
    while (this.#dueMs <= nowMs + EARLY_MS) {
      this.#fillSlot(remote);
      this.#dueMs += remote.ptimeMs;
    }
    this.#setTimer();
  }

  #fillSlot(remote: RemoteMedia): void {
    const digit = this.#key === null ? this.#keys.shift() : undefined;
    if (digit !== undefined)
      this.#key = { digit, timestamp: this.#timestampAt(this.#dueMs), fromMs: this.#dueMs, ends: 0 };
    if (this.#key !== null && remote.events !== null) this.#sendKey(this.#key, remote, remote.events);
    else this.#sendSound(remote);
  }

  #sendSound(remote: RemoteMedia): void {
    const { codec } = this.#options;
    const begins = this.#beginMs === null || (this.#waiting.length > 0 && this.#beginMs <= this.#dueMs);
    const sound = begins ? this.#waiting.subarray(0, msToBytes(remote.ptimeMs, codec)) : new Uint8Array(0);
    this.#waiting = this.#waiting.subarray(sound.length);
    this.#beginMs = sound.length > 0 ? null : (this.#beginMs ?? 0);
    if (sound.length === 0 && this.#noise !== null && remote.comfortNoise) {
      this.#announceNoise();
      return;
    }
    const frame = sound.length === 0 ? this.#silence(remote.ptimeMs) : silentBytes(remote.ptimeMs, codec);
    frame.set(sound);
    const payload = this.#soundTo(remote).encode(frame, remote.ptimeMs);
    const marker = this.#fresh || (this.#silent && sound.length > 0);
    this.#silent = sound.length === 0;
    this.#fresh = false;
    this.#transmit(remote.payloadType, this.#timestampAt(this.#dueMs), marker, payload);
  }

  #silence(durationMs: number): Uint8Array {
    return this.#noise?.next(durationMs) ?? silentBytes(durationMs, this.#options.codec);
  }

  /** RFC 3389 §4: the level alone. The peer makes the noise, and nothing else is sent until there is sound. */
  #announceNoise(): void {
    const isDue = !this.#silent || this.#fresh || this.#dueMs >= this.#noiseDueMs;
    this.#silent = true;
    this.#fresh = false;
    if (!isDue) return;
    this.#noiseDueMs = this.#dueMs + NOISE_EVERY_MS;
    this.#transmit(COMFORT_NOISE_TYPE, this.#timestampAt(this.#dueMs), false, Uint8Array.of(COMFORT_NOISE_DBOV));
  }

  #soundTo(remote: RemoteMedia): OutboundSound {
    if (this.#sound !== null && isSameSound(this.#sound.of, remote)) return this.#sound.encoder;
    this.#sound?.encoder.close();
    const encoder = new OutboundSound(remote.format, remote.parameters, this.#options.codec);
    this.#sound = { of: remote, encoder };
    return encoder;
  }

  /** The key's packets all have the timestamp of its beginning, and say how long it has been down at their end. */
  #sendKey(key: Key, remote: RemoteMedia, events: EventFormat): void {
    const downMs = key.ends === 0 ? this.#dueMs - key.fromMs + remote.ptimeMs : KEY_MS;
    const end = downMs >= KEY_MS;
    const duration = msToSamples(Math.min(downMs, KEY_MS), events.clockHz);
    const marker = this.#dueMs === key.fromMs;
    this.#transmit(events.payloadType, key.timestamp, marker, writeEvent({ digit: key.digit, end, duration }));
    if (end) key.ends++;
    if (key.ends === KEY_ENDS) this.#key = null;
    this.#silent = true;
    this.#beginMs ??= 0;
  }

  #transmit(payloadType: number, timestamp: number, marker: boolean, payload: Uint8Array): void {
    if (this.#options.isNewStream?.() === true) this.#beginStream();
    const sequence = this.#sequence;
    this.#sequence = (sequence + 1) & 0xffff;
    this.#packets++;
    this.#bytes += payload.length;
    this.#options.transmit(writeRtp({ marker, payloadType, sequence, timestamp, ssrc: this.#ssrc, payload }));
  }

  /** Another SSRC; the time goes on. */
  #beginStream(): void {
    const { random } = this.#options;
    this.#ssrc = (this.#ssrc + 1 + Math.floor(random() * (2 ** 32 - 1))) % 2 ** 32;
    this.#sequence = firstSequence(random);
    this.#earlierPackets = this.sentPackets;
    this.#packets = 0;
    this.#bytes = 0;
  }

  /**
   * The grid lies on whole tens of ms since the beginning, so that timestamps are whole whatever the packets' length.
   */
  #nextWhole(nowMs: number): number {
    return this.#startMs + Math.ceil((nowMs - this.#startMs) / WHOLE_MS) * WHOLE_MS;
  }

  #timestampAt(atMs: number): number {
    return (this.#timestampBase + msToSamples(atMs - this.#startMs, this.#clockHz)) % 2 ** 32;
  }

  /** Timestamps go on from where they are when another codec counts them otherwise. */
  #setClock(clockHz: number): void {
    if (clockHz === this.#clockHz) return;
    const timestamp = this.timestampNow;
    this.#clockHz = clockHz;
    this.#timestampBase = (this.#timestampBase + ((timestamp - this.timestampNow) % 2 ** 32) + 2 ** 32) % 2 ** 32;
  }
}

/** Far from the end, where a receiver that has seen no wrap yet could misjudge one (RFC 3711 §3.3.1). */
function firstSequence(random: () => number): number {
  return Math.floor(random() * 2 ** 15);
}

/** How long frames must be gathered before packets of `ptimeMs` can be made of them one after the other. */
function framesAheadMs(ptimeMs: number): number {
  return Math.max(Math.ceil(ptimeMs / FRAME_MS) - 1, 0) * FRAME_MS;
}

function isSameSound(before: RemoteMedia, now: RemoteMedia): boolean {
  if (before === now) return true;
  const isSame = [...now.parameters].every(([name, value]) => before.parameters.get(name) === value);
  return before.format === now.format && isSame && before.parameters.size === now.parameters.size;
}
