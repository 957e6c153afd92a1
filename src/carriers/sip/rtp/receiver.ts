/**
 * Turns the packets of one peer into chunks of audio, whose sequence and time only grow, and keys. The receiver delays
 * nothing and drops nothing for being late. The call's timeline sees to order, loss and gaps: it waits for audio and
 * not for the clock, so jitter costs a recogniser nothing.
 */
import { DtmfDetector } from '../../../audio/dtmf-detector.ts';
import { silentBytes } from '../../../audio/frames.ts';
import { decodeG711 } from '../../../audio/g711.ts';
import { bytesToMs, type Codec, FRAME_MS, samplesToMs } from '../../../foundation/units.ts';
import type { RemoteMedia } from '../wire/offer-answer.ts';
import type { RtpPacket } from '../wire/rtp/packet.ts';
import { KeyDetector, parseEvent } from '../wire/rtp/telephone-event.ts';
import { sequenceUnwrapper, timestampUnwrapper, type Unwrapper } from '../wire/rtp/unwrapper.ts';
import { COMFORT_NOISE_TYPE, type RtpFormat } from '../wire/rtp-codecs.ts';
import { InboundSound } from './call-sound.ts';
import { type OrderedPacket, PacketOrder } from './packet-order.ts';

/** A sequence further off than this is another stream (RFC 3550, A.1). */
const DROPOUT_MAX = 3000;
const MISORDER_MAX = 100;
/** Timestamps have jumped when they differ by more than this from both the sequence and the clock. */
const JUMP_MS = 1000;
/** A stream that begins later than this after the one before leaves a gap. */
const BREAK_MS = 200;
/** Packets of Opus this short hold no sound: silence begins, and the next ones may be left out (RFC 6716 §2.1.9). */
const DTX_BYTES_MAX = 2;
/** Lost sound that a codec can make up for; the call's timeline bridges more. */
const CONCEALED_MIN_MS = 5;
const CONCEALED_MAX_MS = 120;
/**
 * Announced silence is filled in this much after its time, so that it does not take the place of a packet that is a
 * little late, and for no longer than it takes to end an utterance.
 */
const SILENCE_BEHIND_MS = 60;
const SILENCE_MAX_MS = 1000;
/** A tone of ours lasts 100 ms, and lines bring it back within 600 ms. */
const OWN_TONE_MS = 700;

/** Audio in the call's codec; `sequence` counts from 1, `atMs` from the first packet. */
export interface AudioChunk {
  readonly bytes: Uint8Array;
  readonly atMs: number;
  readonly sequence: number;
  /** It stands for packets that were lost. */
  readonly concealed?: true;
}

/** Takes what the peer sends: the leg of the call. What it throws is not caught. */
export interface MediaListener {
  /** Audio in the call's codec. The call's timeline sees to order, loss and gaps. */
  receiveAudio(chunk: AudioChunk): void;
  /** A key was pressed (RFC 4733). */
  receiveDigit(digit: string): void;
  /** The tone of a key was heard where none are agreed as events; left out = tones are sound like all other. */
  receiveTone?(digit: string): void;
}

/** A packet by its unwrapped numbers; `ssrc` and `clockHz` are of the stream that it belongs to. */
export interface CountedPacket {
  readonly ssrc: number;
  readonly clockHz: number;
  readonly sequence: number;
  readonly timestamp: number;
}

/** Counts the packets of the peer for the reports. */
interface PacketCounter {
  count(packet: CountedPacket): void;
}

interface ReceiverOptions {
  /** The call's codec, even when the peer changes to another one later. */
  readonly codec: Codec;
  readonly remote: RemoteMedia;
  readonly listener: MediaListener;
  readonly counter: PacketCounter;
}

/** A packet of audio, by its unwrapped numbers. */
interface AudioPacket {
  readonly sequence: number;
  readonly timestamp: number;
  readonly arrivalMs: number;
  readonly payload: Uint8Array;
}

/** One sender's numbers, and where they lie in ours. */
interface Stream {
  readonly ssrc: number;
  readonly sequences: Unwrapper;
  readonly timestamps: Unwrapper;
  readonly keys: KeyDetector;
  highest: number;
  /** Of the packet with the highest sequence. */
  timestamp: number;
  arrivalMs: number;
  /** Ours = the sender's less this. */
  sequenceOffset: number;
  /** `atMs` of the sender's timestamp 0. */
  zeroMs: number;
  readonly clockHz: number;
}

export class RtpReceiver {
  readonly #codec: Codec;
  readonly #listener: MediaListener;
  readonly #counter: PacketCounter;
  #remote: RemoteMedia;
  #stream: Stream | null = null;
  /** A packet outside the stream: when the next one follows it, there is a new stream. */
  #candidate: { readonly ssrc: number; readonly sequence: number } | null = null;
  #lastSequence = 0;
  /** Where the audio so far ends. */
  #endMs = 0;
  /** Of the stream, in its format. */
  #sound: InboundSound;
  #soundFormat: RtpFormat;
  readonly #order = new PacketOrder();
  /** Null = keys come as events, or nobody wants their tones. */
  #tones: DtmfDetector | null = null;
  /** Tones before this time are an echo of ours. */
  #tonesFromMs = 0;
  /** When announced silence begins, in our time and by the clock; null = none was announced. */
  #silence: { readonly fromMs: number; readonly atMs: number } | null = null;

  constructor({ codec, remote, listener, counter }: ReceiverOptions) {
    this.#codec = codec;
    this.#remote = remote;
    this.#listener = listener;
    this.#counter = counter;
    this.#soundFormat = remote.format;
    this.#sound = new InboundSound(remote.format, codec);
    this.#setTones();
  }

  /** There is a new agreement on payload numbers and codec. */
  set remote(remote: RemoteMedia) {
    this.#remote = remote;
    if (remote.format !== this.#soundFormat) this.#beginSound();
    this.#setTones();
  }

  /** Whether the peer announced silence that is not filled in yet: call {@link fillSilence} every 20 ms then. */
  get isSilent(): boolean {
    return this.#silence !== null;
  }

  /** A packet of the peer. A packet whose payload number was not agreed is ignored. */
  receive(packet: RtpPacket, arrivalMs: number): void {
    const { payloadType, events } = this.#remote;
    const known =
      packet.payloadType === payloadType ||
      packet.payloadType === events?.payloadType ||
      packet.payloadType === COMFORT_NOISE_TYPE;
    const stream = known ? this.#streamOf(packet, arrivalMs) : null;
    if (stream === null) return;
    const sequence = stream.sequences.unwrap(packet.sequence);
    const timestamp = stream.timestamps.unwrap(packet.timestamp);
    this.#counter.count({ ssrc: stream.ssrc, clockHz: stream.clockHz, sequence, timestamp });
    if (packet.payloadType === payloadType)
      this.#receiveAudio(stream, { sequence, timestamp, arrivalMs, payload: packet.payload });
    else this.#takeOut(stream, sequence);
    if (packet.payloadType === events?.payloadType) this.#receiveKey(stream, packet);
    // The peer announces silence, and may send nothing until it ends.
    if (packet.payloadType === COMFORT_NOISE_TYPE) this.#silence = { fromMs: this.#endMs, atMs: arrivalMs };
  }

  /** We send a key as a tone now, which may come back as an echo: that presses nothing. */
  passOverTones(): void {
    this.#tonesFromMs = this.#endMs + OWN_TONE_MS;
  }

  /** Gives the decoder's memory back; nothing may come any more. */
  close(): void {
    this.#sound.close();
  }

  /** Hands on as much of the announced silence as is due. */
  fillSilence(nowMs: number): void {
    if (this.#silence === null || this.#stream === null) return;
    this.#decodeHeld();
    const { fromMs, atMs } = this.#silence;
    const untilMs = fromMs + Math.min(nowMs - atMs - SILENCE_BEHIND_MS, SILENCE_MAX_MS);
    while (this.#endMs + FRAME_MS <= untilMs) {
      this.#stream.sequenceOffset--;
      this.#emit(silentBytes(FRAME_MS, this.#codec), this.#endMs, this.#lastSequence + 1);
    }
    if (nowMs - atMs - SILENCE_BEHIND_MS >= SILENCE_MAX_MS) this.#silence = null;
  }

  /** The stream that a packet belongs to, the current one or a new one; null while that is not clear. */
  #streamOf(packet: RtpPacket, arrivalMs: number): Stream | null {
    const isOther = this.#stream?.clockHz !== this.#remote.format.clockHz;
    if (this.#stream === null || isOther) return this.#begin(packet, arrivalMs);
    const ahead = signed16(packet.sequence - this.#stream.highest);
    if (packet.ssrc === this.#stream.ssrc && ahead > -MISORDER_MAX && ahead < DROPOUT_MAX) {
      this.#candidate = null;
      return this.#stream;
    }
    const { ssrc, sequence } = packet;
    if (this.#candidate?.ssrc === ssrc && this.#candidate.sequence === sequence) return this.#begin(packet, arrivalMs);
    this.#candidate = { ssrc, sequence: (sequence + 1) & 0xffff };
    return null;
  }

  /** Begins a stream with this packet. Its time continues where the stream before ended, plus any break. */
  #begin({ ssrc, sequence, timestamp }: RtpPacket, arrivalMs: number): Stream {
    const before = this.#stream;
    const { clockHz } = this.#remote.format;
    const brokenMs = before === null ? 0 : arrivalMs - before.arrivalMs;
    const atMs = this.#endMs + (brokenMs > BREAK_MS ? brokenMs - FRAME_MS : 0);
    this.#candidate = null;
    this.#silence = null;
    if (before !== null) this.#beginSound();
    this.#stream = {
      ssrc,
      timestamp,
      arrivalMs,
      sequences: sequenceUnwrapper(),
      timestamps: timestampUnwrapper(),
      keys: new KeyDetector(),
      highest: sequence - 1,
      sequenceOffset: sequence - this.#lastSequence - 1,
      zeroMs: atMs - samplesToMs(timestamp, clockHz),
      clockHz,
    };
    return this.#stream;
  }

  #receiveAudio(stream: Stream, { sequence, timestamp, arrivalMs, payload }: AudioPacket): void {
    const { name, clockHz } = this.#remote.format;
    if (payload.length === 0) {
      this.#takeOut(stream, sequence);
      return;
    }
    this.#silence = null;
    if (this.#hasJumped(stream, { sequence, timestamp, arrivalMs })) {
      const brokenMs = arrivalMs - stream.arrivalMs;
      stream.zeroMs = this.#endMs + (brokenMs > BREAK_MS ? brokenMs - FRAME_MS : 0) - samplesToMs(timestamp, clockHz);
    }
    if (sequence > stream.highest) Object.assign(stream, { highest: sequence, timestamp, arrivalMs });
    const atMs = stream.zeroMs + samplesToMs(timestamp, clockHz);
    const packet = { sequence: sequence - stream.sequenceOffset, atMs, payload };
    if (!this.#sound.conceals) this.#emit(this.#sound.decode(payload), atMs, packet.sequence);
    else for (const ready of this.#order.push(packet, this.#lastSequence)) this.#decode(ready);
    if (name === 'opus' && payload.length <= DTX_BYTES_MAX) this.#silence = { fromMs: this.#endMs, atMs: arrivalMs };
  }

  /** What was lost before the packet is made up for, if it is short enough to be guessed. */
  #decode({ sequence, atMs, payload }: OrderedPacket): void {
    const gapMs = atMs - this.#endMs;
    const isLost = sequence > this.#lastSequence + 1 && this.#lastSequence > 0;
    if (isLost && gapMs >= CONCEALED_MIN_MS && gapMs <= CONCEALED_MAX_MS)
      this.#emit(this.#sound.conceal(gapMs, payload), this.#endMs, sequence - 1, true);
    this.#emit(this.#sound.decode(payload), atMs, sequence);
  }

  #decodeHeld(): void {
    for (const packet of this.#order.flush()) this.#decode(packet);
  }

  /** Another stream, or another codec: its decoder begins anew. */
  #beginSound(): void {
    this.#decodeHeld();
    this.#sound.close();
    this.#soundFormat = this.#remote.format;
    this.#sound = new InboundSound(this.#soundFormat, this.#codec);
  }

  #emit(sound: Uint8Array, atMs: number, sequence: number, concealed = false): void {
    this.#lastSequence = Math.max(this.#lastSequence, sequence);
    this.#endMs = Math.max(this.#endMs, atMs + bytesToMs(sound.length, this.#codec));
    if (sound.length === 0) return;
    const bytes = this.#withoutTones(sound);
    this.#listener.receiveAudio({ bytes, atMs, sequence, ...(concealed && { concealed }) });
  }

  #setTones(): void {
    const isWanted = this.#remote.events === null && this.#listener.receiveTone !== undefined;
    this.#tones = isWanted ? (this.#tones ?? new DtmfDetector(this.#codec.rateHz)) : null;
  }

  /** A key that is down is silence, as it is where keys are events: neither recogniser nor recording gets its tone. */
  #withoutTones(sound: Uint8Array): Uint8Array {
    if (this.#tones === null) return sound;
    const digits = this.#tones.push(decodeG711(sound, this.#codec));
    if (this.#endMs < this.#tonesFromMs) return sound;
    for (const digit of digits) this.#listener.receiveTone?.(digit);
    return this.#tones.isDown ? silentBytes(bytesToMs(sound.length, this.#codec), this.#codec) : sound;
  }

  /** Whether the sender set its clock: its timestamps agree neither with the number of packets nor with our clock. */
  #hasJumped(stream: Stream, { sequence, timestamp, arrivalMs }: Omit<AudioPacket, 'payload'>): boolean {
    const movedMs = samplesToMs(timestamp - stream.timestamp, stream.clockHz);
    const byPacketsMs = (sequence - stream.highest) * this.#remote.ptimeMs;
    const byClockMs = arrivalMs - stream.arrivalMs;
    return Math.abs(movedMs - byPacketsMs) > JUMP_MS && Math.abs(movedMs - byClockMs) > JUMP_MS;
  }

  /**
   * A packet without audio leaves no gap in the audio's sequence. One out of order does; the timeline copes with it.
   */
  #takeOut(stream: Stream, sequence: number): void {
    if (sequence !== stream.highest + 1) return;
    stream.highest = sequence;
    stream.sequenceOffset++;
  }

  #receiveKey({ keys }: Stream, { payload, timestamp, marker }: RtpPacket): void {
    const event = parseEvent(payload);
    const digit = event === null ? null : keys.receive(event, timestamp, marker);
    if (digit !== null) this.#listener.receiveDigit(digit);
  }
}

function signed16(value: number): number {
  return (value << 16) >> 16;
}
