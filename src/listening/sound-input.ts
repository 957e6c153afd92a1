/** The audio that a client of a listening session sends, as samples for the engine. */
import { ENGINE_RATE_HZ } from '../../engine/contract.ts';
import { decodeG711 } from '../audio/g711.ts';
import { splitChannels } from '../audio/mix.ts';
import { OpusUnpacker, packedMs } from '../audio/opus-stream.ts';
import { Resampler } from '../audio/resample.ts';
import { TrunklineError } from '../foundation/errors.ts';
import { type Codec, LINEAR_16K, msToBytes } from '../foundation/units.ts';

/**
 * Audio that a client sends: raw samples, interleaved where there are several channels; 16 bits are little-endian. Of
 * Opus there are one or two channels, and what comes are groups of packets (`OpusPacker`), each of them whole.
 */
export interface ListeningFormat {
  readonly encoding: 'linear16' | 'mulaw' | 'alaw' | 'opus';
  readonly rateHz: number;
  readonly channels: number;
}

/** The range of sampling rates, in Hz. */
export const LISTENING_RATE_MIN_HZ = 8000;
export const LISTENING_RATE_MAX_HZ = 48_000;
/** Most channels of one session. Each costs the engines as much as a call. */
export const LISTENING_CHANNELS_MAX = 8;
/** More are several streams in each packet (RFC 7845 §5.1.1), which the decoder does not take. */
const OPUS_CHANNELS_MAX = 2;

const CODEC_NAMES = { linear16: 'pcm16', mulaw: 'mulaw', alaw: 'alaw' } as const satisfies Record<
  Exclude<ListeningFormat['encoding'], 'opus'>,
  Codec['name']
>;

/** How audio of `format` lies on the wire; of Opus, what it is decoded to. */
export function codecOf({ encoding, rateHz, channels }: ListeningFormat): Codec {
  if (encoding === 'opus') return { ...LINEAR_16K, channels };
  const name = CODEC_NAMES[encoding];
  return { name, rateHz, channels, bytesPerSample: name === 'pcm16' ? 2 : 1 };
}

/** @throws TrunklineError `invalid_request` for a rate or a number of channels that is not taken */
function assertFormat({ encoding, rateHz, channels }: ListeningFormat): void {
  const isRate = Number.isInteger(rateHz) && rateHz >= LISTENING_RATE_MIN_HZ && rateHz <= LISTENING_RATE_MAX_HZ;
  if (!isRate)
    throw new TrunklineError(
      'invalid_request',
      `sampling rate: got ${rateHz} Hz, expected ${LISTENING_RATE_MIN_HZ} to ${LISTENING_RATE_MAX_HZ}`,
    );
  const channelsMax = encoding === 'opus' ? OPUS_CHANNELS_MAX : LISTENING_CHANNELS_MAX;
  if (!Number.isInteger(channels) || channels < 1 || channels > channelsMax)
    throw new TrunklineError('invalid_request', `channels: got ${channels}, expected 1 to ${channelsMax}`);
}

/**
 * Turns bytes, cut anywhere, into one stream of samples at the engine's rate for each channel. The first bytes of a
 * sample wait for the rest of it.
 */
export class SoundInput {
  readonly #codec: Codec;
  readonly #frameBytes: number;
  /** One for each channel. Creating one can take as long as resampling seconds of audio. */
  readonly #resamplers: readonly Resampler[];
  /** Null for raw samples. */
  readonly #opus: OpusUnpacker | null;
  #rest: Uint8Array = new Uint8Array(0);

  /** @throws TrunklineError `invalid_request` for a rate or a number of channels that is not taken */
  constructor(format: ListeningFormat) {
    assertFormat(format);
    this.#codec = codecOf(format);
    this.#frameBytes = this.#codec.channels * this.#codec.bytesPerSample;
    const { channels, rateHz } = this.#codec;
    this.#opus = format.encoding === 'opus' ? new OpusUnpacker(ENGINE_RATE_HZ, channels === 1 ? 1 : 2) : null;
    this.#resamplers = Array.from({ length: channels }, () => new Resampler(rateHz, ENGINE_RATE_HZ));
  }

  /** Packets of Opus so far in whose place something was guessed. */
  get brokenPackets(): number {
    return this.#opus?.broken ?? 0;
  }

  /** How many bytes of {@link codecOf} the client's `bytes` are. */
  bytesOf(bytes: Uint8Array): number {
    return this.#opus === null ? bytes.length : msToBytes(packedMs(bytes), this.#codec);
  }

  /**
   * The samples that are complete with `bytes`, channel by channel.
   * @throws TrunklineError `audio_unreadable` for what is no Opus at all
   */
  push(bytes: Uint8Array): Int16Array[] {
    if (this.#opus !== null) return this.#opus.read(bytes);
    const all = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes]);
    const whole = all.length - (all.length % this.#frameBytes);
    this.#rest = all.slice(whole);
    const channels = splitChannels(decodeG711(all.subarray(0, whole), this.#codec), this.#codec.channels);
    return this.#resamplers.map((resampler, channel) => resampler.push(channels[channel] as Int16Array));
  }

  /** The last samples of each channel; what comes then is a new stream. A part of a sample is dropped. */
  flush(): Int16Array[] {
    this.#rest = new Uint8Array(0);
    return this.#resamplers.map((resampler) => resampler.flush());
  }

  /** Gives memory back; nothing may come any more. */
  close(): void {
    this.#opus?.close();
  }
}
