/**
 * The audio of a stream as it is to be read: as it comes where each channel is read by itself, else mixed; a WAV file
 * without its header, and of Ogg and WebM the packets of Opus.
 */

import { detectAudio } from '../../../audio/detect.ts';
import { decodeG711 } from '../../../audio/g711.ts';
import { interleave, mixDown, splitChannels } from '../../../audio/mix.ts';
import { type OpusContainer, openContainer } from '../../../audio/opus-container.ts';
import type { OpusHead } from '../../../audio/opus-head.ts';
import { OpusPacker } from '../../../audio/opus-stream.ts';
import { samplesToPcm16, toSample } from '../../../audio/pcm.ts';
import { readWavLayout, type WavLayout } from '../../../audio/wav.ts';
import { TrunklineError } from '../../../foundation/errors.ts';
import type { Codec } from '../../../foundation/units.ts';
import type { DeepgramAudio } from './listen-query.ts';

/** Audio as it is read: interleaved where there are several channels; of Opus groups of packets. */
export interface ReadFormat {
  readonly encoding: Exclude<DeepgramAudio['encoding'], 'linear32'>;
  readonly rateHz: number;
  readonly channels: number;
}

type RawAudio = DeepgramAudio & { readonly encoding: Exclude<DeepgramAudio['encoding'], 'opus'> };
type CodecAudio = RawAudio & { readonly encoding: keyof typeof CODEC_NAMES };

/** Longest header of a file. */
const HEADER_MAX_BYTES = 65_536;
/** Each message is a look at all of the header that has come. */
const HEADER_MESSAGES_MAX = 1000;
/** Until the header of a file has come. */
const PLAIN: ReadFormat = Object.freeze({ encoding: 'linear16', rateHz: 16_000, channels: 1 });
const OPUS_RATE_HZ = 16_000;
/** As many bytes say what a file is: MP4 has its name behind a length. */
const KIND_BYTES = 12;
const WAV_NAMES: readonly string[] = ['RIFF', 'RF64'];
const EXPECTED = 'expected WAV, MP3, FLAC, AAC, MP4, Ogg or WebM with Opus, or encoding and sample_rate';
const CODEC_NAMES = { linear16: 'pcm16', mulaw: 'mulaw', alaw: 'alaw' } as const satisfies Partial<
  Record<RawAudio['encoding'], Codec['name']>
>;
const FLOAT_BYTES = 4;
const RATES_HZ = { min: 8000, max: 48_000 };

/** Reads whole frames: one array for each channel. */
interface Frames {
  readonly frameBytes: number;
  read(bytes: Uint8Array): Int16Array[];
}

/** See above. */
export class AudioInput {
  readonly #isMixed: boolean;
  #format: ReadFormat;
  /** What has come of the header of a file; null = there is none to come. */
  #head: Uint8Array | null;
  #headMessages = 0;
  #isWav = false;
  /** How frames are read; null = bytes are passed on as they are. */
  #frames: Frames | null = null;
  #rest: Uint8Array = new Uint8Array(0);
  readonly #packer = new OpusPacker();
  /** Opus comes packet by packet. */
  readonly #arePackets: boolean;
  #hasPacket = false;
  #container: OpusContainer | null = null;
  #opusHead: OpusHead | null = null;

  /**
   * @param audio null = a file, whose header says what it is
   * @param multichannel whether each channel is read by itself
   */
  constructor(audio: DeepgramAudio | null, multichannel: boolean) {
    this.#isMixed = !multichannel;
    this.#head = audio === null ? new Uint8Array(0) : null;
    this.#arePackets = audio?.encoding === 'opus';
    if (audio === null) this.#format = PLAIN;
    else if (audio.encoding === 'opus') this.#format = this.#opusOf(audio.channels);
    else this.#format = this.#rawOf(audio as RawAudio);
  }

  #rawOf(audio: RawAudio): ReadFormat {
    if (isCoded(audio) && (audio.channels === 1 || !this.#isMixed)) return audio;
    this.#frames = framesOf(audio);
    return { encoding: 'linear16', rateHz: audio.rateHz, channels: this.#isMixed ? 1 : audio.channels };
  }

  /** What {@link push} gives; of a file, once that gives anything. */
  get format(): ReadFormat {
    return this.#format;
  }

  /**
   * The audio in `bytes`, cut anywhere unless they are a packet of Opus, in the parts in which it is to be read; none
   * while a header or the rest of a frame has to come.
   * @throws TrunklineError `audio_unreadable` for a file that is no WAV, Ogg or WebM, or not of a kind that is read
   */
  push(bytes: Uint8Array): Uint8Array[] {
    if (this.#arePackets) return this.#packer.pack([this.#onePacket(bytes)]);
    if (this.#container !== null) return this.#fromContainer(this.#container, bytes);
    if (this.#head !== null && !this.#isWav) {
      this.#head = Buffer.concat([this.#head, bytes]);
      return this.#begin(this.#head);
    }
    const audio = this.#pushRaw(bytes);
    return audio.length === 0 ? [] : [audio];
  }

  #begin(head: Uint8Array): Uint8Array[] {
    const container = openContainer(head);
    if (container === undefined || head.length < KIND_BYTES) return [];
    if (container === null && !WAV_NAMES.includes(textAt(head, 0)))
      throw unreadable(`got ${nameOf(head)}, ${EXPECTED}`);
    this.#container = container;
    this.#isWav = container === null;
    this.#head = this.#isWav ? new Uint8Array(0) : null;
    return this.push(head);
  }

  #fromContainer(container: OpusContainer, bytes: Uint8Array): Uint8Array[] {
    const packets = packetsOf(container, bytes);
    const { head } = container;
    if (head !== null && head !== this.#opusHead) {
      this.#packer.skip(head.preSkipSamples);
      if (this.#opusHead === null) this.#format = this.#opusOf(head.channels);
      this.#opusHead = head;
    }
    return this.#packer.pack(packets);
  }

  #opusOf(channels: number): ReadFormat {
    return { encoding: 'opus', rateHz: OPUS_RATE_HZ, channels: this.#isMixed ? 1 : channels };
  }

  /** Who sends a file in place of packets has named an encoding by mistake. */
  #onePacket(bytes: Uint8Array): Uint8Array {
    const container = this.#hasPacket ? null : openContainer(bytes);
    if (container)
      throw unreadable(`got ${container.name}, expected one packet of Opus in each message; leave out encoding`);
    this.#hasPacket = true;
    return bytes;
  }

  #pushRaw(bytes: Uint8Array): Uint8Array {
    const audio = this.#head === null ? bytes : this.#pastHeader(this.#head, bytes);
    if (this.#frames === null || audio.length === 0) return audio;
    const all = this.#rest.length === 0 ? audio : Buffer.concat([this.#rest, audio]);
    const whole = all.length - (all.length % this.#frames.frameBytes);
    this.#rest = all.slice(whole);
    const channels = this.#frames.read(all.subarray(0, whole));
    return samplesToPcm16(this.#isMixed ? mixDown(channels) : interleave(channels));
  }

  #pastHeader(before: Uint8Array, bytes: Uint8Array): Uint8Array {
    const head = Buffer.concat([before, bytes]);
    const layout = readHeader(head);
    if (layout === null && head.length > HEADER_MAX_BYTES)
      throw unreadable(`got ${head.length} bytes of a WAV header, expected at most ${HEADER_MAX_BYTES}`);
    if (layout === null && ++this.#headMessages > HEADER_MESSAGES_MAX)
      throw unreadable(`got more than ${HEADER_MESSAGES_MAX} messages of a WAV header, expected a few`);
    this.#head = layout === null ? head : null;
    if (layout === null) return new Uint8Array(0);
    const channels = layout.read(new Uint8Array(layout.frameBytes)).length;
    this.#frames = layout;
    this.#format = { encoding: 'linear16', rateHz: layout.rateHz, channels: this.#isMixed ? 1 : channels };
    return head.subarray(layout.dataFrom);
  }
}

function packetsOf(container: OpusContainer, bytes: Uint8Array): Uint8Array[] {
  try {
    return container.push(bytes);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw unreadable(`expected ${container.name} with Opus: ${error.message}`);
  }
}

/** Of a file that is not read. */
function nameOf(head: Uint8Array): string {
  return detectAudio(head) === 'text' ? 'text' : 'bytes of no known format';
}

function textAt(bytes: Uint8Array, at: number): string {
  return String.fromCharCode(...bytes.subarray(at, at + 4));
}

function readHeader(head: Uint8Array): WavLayout | null {
  let layout: WavLayout | null;
  try {
    layout = readWavLayout(head, Number.POSITIVE_INFINITY);
  } catch (error) {
    if (!(error instanceof TrunklineError)) throw error;
    throw unreadable(`${EXPECTED}: ${error.message}`);
  }
  if (layout !== null && (layout.rateHz < RATES_HZ.min || layout.rateHz > RATES_HZ.max))
    throw unreadable(`got a WAV file of ${layout.rateHz} Hz, expected ${RATES_HZ.min} to ${RATES_HZ.max} Hz`);
  return layout;
}

function unreadable(message: string): TrunklineError {
  return new TrunklineError('audio_unreadable', message);
}

function framesOf(audio: RawAudio): Frames {
  const { channels } = audio;
  if (isCoded(audio)) return codedFramesOf(audio);
  return { frameBytes: channels * FLOAT_BYTES, read: (bytes) => splitChannels(samplesOfFloats(bytes), channels) };
}

function isCoded(audio: RawAudio): audio is CodecAudio {
  return audio.encoding !== 'linear32';
}

/** Of floats from −1 to 1, little endian. What is no number is silence. */
function samplesOfFloats(bytes: Uint8Array): Int16Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return Int16Array.from({ length: bytes.length / FLOAT_BYTES }, (_, at) =>
    toSample((view.getFloat32(at * FLOAT_BYTES, true) || 0) * 32_768),
  );
}

function codedFramesOf({ encoding, rateHz, channels }: CodecAudio): Frames {
  const bytesPerSample = encoding === 'linear16' ? 2 : 1;
  const codec: Codec = { name: CODEC_NAMES[encoding], rateHz, channels, bytesPerSample };
  return {
    frameBytes: channels * bytesPerSample,
    read: (bytes) => splitChannels(decodeG711(bytes, codec), channels),
  };
}
