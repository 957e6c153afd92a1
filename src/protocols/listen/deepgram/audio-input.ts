/**
 * The audio of a stream as it is to be read: as it comes where each channel is read by itself, else mixed; a WAV file
 * without its header, and of Ogg the packets of Opus.
 */
import { decodeG711 } from '../../../audio/g711.ts';
import { mixDown } from '../../../audio/mix.ts';
import { isOgg, OggPackets } from '../../../audio/ogg-packets.ts';
import { OpusPacker } from '../../../audio/opus-stream.ts';
import { samplesToPcm16 } from '../../../audio/pcm.ts';
import { readWavLayout, type WavLayout } from '../../../audio/wav.ts';
import { TrunklineError } from '../../../foundation/errors.ts';
import type { Codec } from '../../../foundation/units.ts';
import type { DeepgramAudio } from './listen-query.ts';

/** Audio as it is read: interleaved where there are several channels; of Opus groups of packets, mixed later. */
export interface ReadFormat {
  readonly encoding: DeepgramAudio['encoding'];
  readonly rateHz: number;
  readonly channels: number;
}

type RawFormat = ReadFormat & { readonly encoding: Exclude<ReadFormat['encoding'], 'opus'> };

/** Longest header of a file. */
const HEADER_MAX_BYTES = 65_536;
/** Each message is a look at all of the header that has come. */
const HEADER_MESSAGES_MAX = 1000;
/** Until the header of a file has come. */
const PLAIN: ReadFormat = Object.freeze({ encoding: 'linear16', rateHz: 16_000, channels: 1 });
const OPUS: ReadFormat = Object.freeze({ encoding: 'opus', rateHz: 16_000, channels: 1 });
const CODEC_NAMES = { linear16: 'pcm16', mulaw: 'mulaw', alaw: 'alaw' } as const satisfies Record<
  RawFormat['encoding'],
  Codec['name']
>;
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
  /** How frames are read; null = bytes are passed on as they are. */
  #frames: Frames | null = null;
  #rest: Uint8Array = new Uint8Array(0);
  readonly #packer = new OpusPacker();
  /** The packets in a message; null = it is no Opus. */
  #packets: ((bytes: Uint8Array) => Uint8Array[]) | null = null;

  /**
   * @param audio null = a file, whose header says what it is
   * @param multichannel whether each channel is read by itself
   */
  constructor(audio: DeepgramAudio | null, multichannel: boolean) {
    this.#isMixed = !multichannel;
    this.#head = audio === null ? new Uint8Array(0) : null;
    this.#format = audio ?? PLAIN;
    if (audio?.encoding === 'opus') {
      this.#packets = onePacket;
      this.#format = OPUS;
    }
    if (audio === null || !isRaw(audio) || audio.channels === 1 || multichannel) return;
    this.#frames = framesOf(audio);
    this.#format = { encoding: 'linear16', rateHz: audio.rateHz, channels: 1 };
  }

  /** What {@link push} gives; of a file, once that gives anything. */
  get format(): ReadFormat {
    return this.#format;
  }

  /**
   * The audio in `bytes`, cut anywhere unless they are a packet of Opus, in the parts in which it is to be read; none
   * while a header or the rest of a frame has to come.
   * @throws TrunklineError `audio_unreadable` for a file that is no WAV or Ogg, or not of a kind that is read
   */
  push(bytes: Uint8Array): Uint8Array[] {
    if (this.#packets === null && this.#head !== null) {
      const head = Buffer.concat([this.#head, bytes]);
      const isPackets = isOgg(head);
      if (isPackets === true) return this.#beginOgg(head);
      if (isPackets === null) this.#head = head;
      if (isPackets === null) return [];
    }
    if (this.#packets !== null) return this.#packer.pack(this.#packets(bytes));
    const audio = this.#pushRaw(bytes);
    return audio.length === 0 ? [] : [audio];
  }

  #beginOgg(head: Uint8Array): Uint8Array[] {
    const ogg = new OggPackets();
    this.#packets = (bytes) => packetsOf(ogg, bytes);
    this.#head = null;
    this.#format = OPUS;
    return this.push(head);
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

function isRaw(format: ReadFormat): format is RawFormat {
  return format.encoding !== 'opus';
}

/** Who sends a file in place of packets has named an encoding by mistake. */
function onePacket(bytes: Uint8Array): Uint8Array[] {
  if (isOgg(bytes) === true)
    throw unreadable('got Ogg, expected one packet of Opus in each message; leave out encoding for Ogg');
  return [bytes];
}

function packetsOf(ogg: OggPackets, bytes: Uint8Array): Uint8Array[] {
  try {
    return ogg.push(bytes);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw unreadable(`expected Ogg with Opus: ${error.message}`);
  }
}

function readHeader(head: Uint8Array): WavLayout | null {
  let layout: WavLayout | null;
  try {
    layout = readWavLayout(head, Number.POSITIVE_INFINITY);
  } catch (error) {
    if (!(error instanceof TrunklineError)) throw error;
    throw unreadable(
      `expected a WAV file, Ogg with Opus, or the parameters encoding and sample_rate: ${error.message}`,
    );
  }
  if (layout !== null && (layout.rateHz < RATES_HZ.min || layout.rateHz > RATES_HZ.max))
    throw unreadable(`got a WAV file of ${layout.rateHz} Hz, expected ${RATES_HZ.min} to ${RATES_HZ.max} Hz`);
  return layout;
}

function unreadable(message: string): TrunklineError {
  return new TrunklineError('audio_unreadable', message);
}

function framesOf({ encoding, rateHz, channels }: RawFormat): Frames {
  const bytesPerSample = encoding === 'linear16' ? 2 : 1;
  const codec: Codec = { name: CODEC_NAMES[encoding], rateHz, channels, bytesPerSample };
  return {
    frameBytes: channels * bytesPerSample,
    read: (bytes) => {
      const samples = decodeG711(bytes, codec);
      return Array.from({ length: channels }, (_, channel) => {
        const own = new Int16Array(samples.length / channels);
        for (let at = 0; at < own.length; at++) own[at] = samples[at * channels + channel] as number;
        return own;
      });
    },
  };
}

function interleave(channels: readonly Int16Array[]): Int16Array {
  const samples = new Int16Array((channels[0]?.length ?? 0) * channels.length);
  for (const [channel, own] of channels.entries())
    for (const [at, sample] of own.entries()) samples[at * channels.length + channel] = sample;
  return samples;
}
