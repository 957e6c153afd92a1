/**
 * Packets of Opus on their way to whoever decodes them when there is time for it: joined, and each with the duration
 * that its sound has even if it turns out to be broken. So all of them have a place in time before any is decoded.
 */
import { TrunklineError } from '../foundation/errors.ts';
import { msToSamples } from '../foundation/units.ts';
import { joinBytes } from './bytes.ts';
import { joinSamples, splitChannels } from './mix.ts';
import { OpusDecoder, type OpusRateHz, opusPacketMs } from './opus.ts';

/** Durations are counted in the shortest that there is. */
const UNIT_MS = 2.5;
/** Units, then the length in two bytes. */
const FRAME_HEADER_BYTES = 3;
/** Until a packet has said another one. */
const USUAL_MS = 20;
/** A group has about this much sound, so that a reader can stop between two: it is decoded in a millisecond or two. */
const GROUP_MS = 250;
/** Samples of a header count at this rate (RFC 7845 §5.1). */
const SKIP_RATE_HZ = 48_000;
/** The most that a packet has (RFC 6716 §3.4). */
const PACKET_MAX_BYTES = 7658;
/** After so many that are no packets from the start, the sender does not send Opus. */
const BROKEN_AT_FIRST_MAX = 50;

/** Joins the packets of one stream. */
export class OpusPacker {
  #lastMs = USUAL_MS;
  #skipMs = 0;

  /** So much sound of the packets to come, in samples at 48 kHz, is not to be heard; it is rounded to 2.5 ms. */
  skip(samples: number): void {
    this.#skipMs = Math.round((samples * 1000) / SKIP_RATE_HZ / UNIT_MS) * UNIT_MS;
  }

  /** Groups of at most about a quarter of a second. A packet that cannot be one takes as long as the one before. */
  pack(packets: readonly Uint8Array[]): Uint8Array[] {
    const groups: Uint8Array[] = [];
    let parts: Uint8Array[] = [];
    let groupMs = 0;
    for (const packet of packets) {
      const ms = packet.length > PACKET_MAX_BYTES ? 0 : opusPacketMs(packet);
      if (ms > 0) this.#lastMs = ms;
      const content = ms > 0 ? packet : packet.subarray(0, 0);
      const skippedMs = Math.min(this.#skipMs, this.#lastMs);
      this.#skipMs -= skippedMs;
      const heardMs = this.#lastMs - skippedMs;
      parts.push(Uint8Array.of(heardMs / UNIT_MS, content.length >> 8, content.length & 0xff), content);
      groupMs += heardMs;
      if (groupMs < GROUP_MS) continue;
      groups.push(joinBytes(parts));
      parts = [];
      groupMs = 0;
    }
    return parts.length === 0 ? groups : [...groups, joinBytes(parts)];
  }
}

/** How long the sound of groups is, in ms. */
export function packedMs(groups: Uint8Array): number {
  let units = 0;
  for (const each of framesOf(groups)) units += each.units;
  return units * UNIT_MS;
}

/** Decodes groups of {@link OpusPacker}, each of which must come whole. It holds memory until it is closed. */
export class OpusUnpacker {
  readonly #rateHz: OpusRateHz;
  readonly #channels: 1 | 2;
  readonly #decoder: OpusDecoder;
  #hasSound = false;
  #broken = 0;

  /** @param channels as {@link OpusDecoder} has them */
  constructor(rateHz: OpusRateHz, channels: 1 | 2) {
    this.#rateHz = rateHz;
    this.#channels = channels;
    this.#decoder = new OpusDecoder(rateHz, channels);
  }

  /** Packets so far that could not be decoded; something was guessed in their place. */
  get broken(): number {
    return this.#broken;
  }

  /**
   * Exactly as much sound of each channel as {@link packedMs} says.
   * @throws TrunklineError `audio_unreadable` when nothing that came so far is Opus
   */
  read(groups: Uint8Array): Int16Array[] {
    const parts: Int16Array[] = [];
    for (const { units, packet } of framesOf(groups)) parts.push(this.#decode(packet, units * UNIT_MS));
    return splitChannels(joinSamples(parts), this.#channels);
  }

  close(): void {
    this.#decoder.close();
  }

  #decode(packet: Uint8Array, ms: number): Int16Array {
    const wanted = msToSamples(ms, this.#rateHz) * this.#channels;
    const decoded = this.#decoder.decode(packet);
    if (decoded.length > 0) this.#hasSound = true;
    else this.#countBroken();
    const sound = decoded.length > 0 ? decoded : this.#decoder.conceal(ms, packet.subarray(0, 0));
    // What is to be skipped is at the beginning.
    if (sound.length === wanted) return sound;
    if (sound.length > wanted) return sound.slice(sound.length - wanted);
    const whole = new Int16Array(wanted);
    whole.set(sound);
    return whole;
  }

  #countBroken(): void {
    this.#broken++;
    if (this.#hasSound || this.#broken < BROKEN_AT_FIRST_MAX) return;
    throw new TrunklineError(
      'audio_unreadable',
      `got ${this.#broken} messages none of which is a packet of Opus, expected one packet in each message`,
    );
  }
}

function* framesOf(groups: Uint8Array): Generator<{ readonly units: number; readonly packet: Uint8Array }> {
  for (let at = 0; at + FRAME_HEADER_BYTES <= groups.length; ) {
    const [units = 0, high = 0, low = 0] = groups.subarray(at, at + FRAME_HEADER_BYTES);
    const from = at + FRAME_HEADER_BYTES;
    at = from + high * 256 + low;
    yield { units, packet: groups.subarray(from, at) };
  }
}
