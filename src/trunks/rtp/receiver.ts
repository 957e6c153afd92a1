/**
 * What comes in: packets of one peer → chunks with a sequence and a time that only grow, and keys. It holds nothing
 * back and drops nothing for being late: order, loss and gaps are the call's timeline's, which waits for audio and not
 * for the clock, so that jitter costs a recogniser nothing.
 */
import { silentBytes } from '../../audio/frames.ts';
import { decodeG711, encodeG711 } from '../../audio/g711.ts';
import { bytesToSamples, type Codec, FRAME_MS, samplesToMs } from '../../foundation/units.ts';
import type { RtpPacket } from '../../protocols/rtp/packet.ts';
import { KeyListener, parseEvent } from '../../protocols/rtp/telephone-event.ts';
import { sequenceUnwrapper, timestampUnwrapper, type Unwrapper } from '../../protocols/rtp/unwrapper.ts';
import type { RemoteMedia } from '../../protocols/sip/offer-answer.ts';

/** RFC 3389: the peer says that it will be silent, and may send nothing until it no longer is. */
const COMFORT_NOISE = 13;
/** A sequence further off than this is another stream (RFC 3550, A.1). */
const DROPOUT_MAX = 3000;
const MISORDER_MAX = 100;
/** Timestamps that move so much otherwise than both the sequence and the clock have jumped. */
const JUMP_MS = 1000;
/** A stream that begins anew later than this after the old one left a gap. */
const BREAK_MS = 200;
/**
 * Announced silence is heard this much after its time, so that it is not in the way of a packet that is a little late,
 * and no longer than ends an utterance.
 */
const SILENCE_BEHIND_MS = 60;
const SILENCE_MAX_MS = 1000;

/** Audio in the call's codec; `sequence` counts from 1, `atMs` from the first packet. */
export interface AudioChunk {
  readonly bytes: Uint8Array;
  readonly atMs: number;
  readonly sequence: number;
}

/** Whom a receiver tells. */
export interface ReceiverHandlers {
  onAudio(chunk: AudioChunk): void;
  onDigit(digit: string): void;
  /** A packet was counted, by its unwrapped numbers; `ssrc` is of the stream that it belongs to. */
  onPacket(packet: { readonly ssrc: number; readonly sequence: number; readonly timestamp: number }): void;
}

/** One sender's numbers, and where they lie in ours. */
interface Stream {
  readonly ssrc: number;
  readonly sequences: Unwrapper;
  readonly timestamps: Unwrapper;
  readonly keys: KeyListener;
  highest: number;
  /** Of the packet with the highest sequence. */
  timestamp: number;
  arrivalMs: number;
  /** Ours = the sender's less this. */
  sequenceOffset: number;
  /** `atMs` of the sender's timestamp 0. */
  zeroMs: number;
}

export class RtpReceiver {
  readonly #codec: Codec;
  readonly #handlers: ReceiverHandlers;
  #remote: RemoteMedia;
  #stream: Stream | null = null;
  /** A packet that is not of the stream: the next one in its row shows whether there is a new stream. */
  #candidate: { readonly ssrc: number; readonly sequence: number } | null = null;
  #lastSequence = 0;
  /** Where the audio so far ends. */
  #endMs = 0;
  /** Silence was announced: from when on, in our time and by the clock. */
  #silence: { readonly fromMs: number; readonly atMs: number } | null = null;

  /** `codec` = what the call hears, whatever the peer changes to later. */
  constructor(codec: Codec, remote: RemoteMedia, handlers: ReceiverHandlers) {
    this.#codec = codec;
    this.#remote = remote;
    this.#handlers = handlers;
  }

  /** Payload numbers and codec have been agreed anew. */
  set remote(remote: RemoteMedia) {
    this.#remote = remote;
  }

  /**
   * Whether the silence that the peer announced is still to be heard: {@link hearSilence} is then to be called every 20
   * ms.
   */
  get isSilent(): boolean {
    return this.#silence !== null;
  }

  /** A packet of the peer. Those of payload numbers that were not agreed are passed over. */
  receive(packet: RtpPacket, arrivalMs: number): void {
    const { payloadType, telephoneEventType } = this.#remote;
    const known =
      packet.payloadType === payloadType ||
      packet.payloadType === telephoneEventType ||
      packet.payloadType === COMFORT_NOISE;
    const stream = known ? this.#streamOf(packet, arrivalMs) : null;
    if (stream === null) return;
    const sequence = stream.sequences.unwrap(packet.sequence);
    const timestamp = stream.timestamps.unwrap(packet.timestamp);
    this.#handlers.onPacket({ ssrc: stream.ssrc, sequence, timestamp });
    if (packet.payloadType === payloadType)
      this.#hear(stream, { sequence, timestamp, arrivalMs, payload: packet.payload });
    else this.#takeOut(stream, sequence);
    if (packet.payloadType === telephoneEventType) this.#hearKey(stream, packet);
    if (packet.payloadType === COMFORT_NOISE) this.#silence = { fromMs: this.#endMs, atMs: arrivalMs };
  }

  /** Hears as much of the announced silence as is due. */
  hearSilence(nowMs: number): void {
    if (this.#silence === null || this.#stream === null) return;
    const { fromMs, atMs } = this.#silence;
    const untilMs = fromMs + Math.min(nowMs - atMs - SILENCE_BEHIND_MS, SILENCE_MAX_MS);
    while (this.#endMs + FRAME_MS <= untilMs) {
      this.#stream.sequenceOffset--;
      this.#emit(silentBytes(FRAME_MS, this.#codec), this.#endMs, this.#lastSequence + 1);
    }
    if (nowMs - atMs - SILENCE_BEHIND_MS >= SILENCE_MAX_MS) this.#silence = null;
  }

  /** The stream that a packet belongs to: the one that is, or a new one; null while that is not clear. */
  #streamOf(packet: RtpPacket, arrivalMs: number): Stream | null {
    if (this.#stream === null) return this.#begin(packet, arrivalMs);
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

  /** A stream from `packet` on. It goes on where the one before ended, later by the time that nothing came. */
  #begin({ ssrc, sequence, timestamp }: RtpPacket, arrivalMs: number): Stream {
    const before = this.#stream;
    const brokenMs = before === null ? 0 : arrivalMs - before.arrivalMs;
    const atMs = this.#endMs + (brokenMs > BREAK_MS ? brokenMs - FRAME_MS : 0);
    this.#candidate = null;
    this.#silence = null;
    this.#stream = {
      ...{ ssrc, timestamp, arrivalMs },
      sequences: sequenceUnwrapper(),
      timestamps: timestampUnwrapper(),
      keys: new KeyListener(),
      highest: sequence - 1,
      sequenceOffset: sequence - this.#lastSequence - 1,
      zeroMs: atMs - samplesToMs(timestamp, this.#remote.codec.rateHz),
    };
    return this.#stream;
  }

  #hear(
    stream: Stream,
    {
      sequence,
      timestamp,
      arrivalMs,
      payload,
    }: { sequence: number; timestamp: number; arrivalMs: number; payload: Uint8Array },
  ): void {
    const { codec } = this.#remote;
    if (payload.length === 0) {
      this.#takeOut(stream, sequence);
      return;
    }
    this.#silence = null;
    if (this.#hasJumped(stream, { sequence, timestamp, arrivalMs })) {
      const brokenMs = arrivalMs - stream.arrivalMs;
      stream.zeroMs =
        this.#endMs + (brokenMs > BREAK_MS ? brokenMs - FRAME_MS : 0) - samplesToMs(timestamp, codec.rateHz);
    }
    if (sequence > stream.highest) Object.assign(stream, { highest: sequence, timestamp, arrivalMs });
    const bytes = codec.name === this.#codec.name ? payload : encodeG711(decodeG711(payload, codec), this.#codec);
    this.#emit(bytes, stream.zeroMs + samplesToMs(timestamp, codec.rateHz), sequence - stream.sequenceOffset);
  }

  #emit(bytes: Uint8Array, atMs: number, sequence: number): void {
    this.#lastSequence = Math.max(this.#lastSequence, sequence);
    this.#endMs = Math.max(
      this.#endMs,
      atMs + samplesToMs(bytesToSamples(bytes.length, this.#codec), this.#codec.rateHz),
    );
    this.#handlers.onAudio({ bytes, atMs, sequence });
  }

  /**
   * Whether the sender's clock was set: its timestamps agree neither with the packets since the last one nor with the
   * time since then.
   */
  #hasJumped(
    stream: Stream,
    { sequence, timestamp, arrivalMs }: { sequence: number; timestamp: number; arrivalMs: number },
  ): boolean {
    const { rateHz } = this.#remote.codec;
    const movedMs = samplesToMs(timestamp - stream.timestamp, rateHz);
    const byPacketsMs = (sequence - stream.highest) * this.#remote.ptimeMs;
    const byClockMs = arrivalMs - stream.arrivalMs;
    return Math.abs(movedMs - byPacketsMs) > JUMP_MS && Math.abs(movedMs - byClockMs) > JUMP_MS;
  }

  /**
   * A packet without audio leaves no hole in the audio's sequence. One out of order does, and the timeline bears it.
   */
  #takeOut(stream: Stream, sequence: number): void {
    if (sequence !== stream.highest + 1) return;
    stream.highest = sequence;
    stream.sequenceOffset++;
  }

  #hearKey({ keys }: Stream, { payload, timestamp, marker }: RtpPacket): void {
    const event = parseEvent(payload);
    const digit = event === null ? null : keys.hear(event, timestamp, marker);
    if (digit !== null) this.#handlers.onDigit(digit);
  }
}

function signed16(value: number): number {
  return (value << 16) >> 16;
}
