/**
 * Encodes sound as it comes to a file that can be played while it grows. The sound is little-endian 16-bit samples of
 * one channel.
 */
import type { WasmMediaEncoder } from 'wasm-media-encoders';
import { nextTurn } from '../foundation/next-turn.ts';
import { pcm16ToSamples } from './pcm.ts';
import { writeWav } from './wav.ts';

const FULL_SCALE = 32_768;

/** The size fields of a WAV file of unknown length: players play to the end of the file. */
const SIZE_UNKNOWN = 0xffff_ffff;
const RIFF_SIZE_AT = 4;
const DATA_SIZE_AT = 40;

/** Bytes of the header that {@link encodeWav} writes. */
export const WAV_HEADER_BYTES = 44;

/** Encodes a sound as a WAV file; no sound gives no file. `soundBytes` is its length; null = not known yet. */
export async function* encodeWav(
  sound: AsyncIterable<Uint8Array>,
  rateHz: number,
  soundBytes: number | null = null,
): AsyncGenerator<Uint8Array, void, undefined> {
  let begun = false;
  for await (const bytes of sound) {
    if (!begun) yield wavHeader(rateHz, soundBytes);
    begun = true;
    yield bytes;
  }
}

/** The header of a mono WAV file with `soundBytes` of 16-bit samples behind it; null = nobody knows how many. */
export function wavHeader(rateHz: number, soundBytes: number | null): Uint8Array {
  const header = writeWav([new Int16Array(0)], rateHz);
  const view = new DataView(header.buffer, header.byteOffset, header.byteLength);
  view.setUint32(
    RIFF_SIZE_AT,
    soundBytes === null ? SIZE_UNKNOWN : soundBytes + WAV_HEADER_BYTES - RIFF_SIZE_AT - 4,
    true,
  );
  view.setUint32(DATA_SIZE_AT, soundBytes ?? SIZE_UNKNOWN, true);
  return header;
}

/** The sampling rates of MPEG-1, MPEG-2 (ISO/IEC 13818-3) and MPEG-2.5 layer III, in Hz. */
export const MP3_RATES_HZ = [8000, 11_025, 12_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000] as const;
export type Mp3RateHz = (typeof MP3_RATES_HZ)[number];

/** Allowed at all of these rates, and transparent for speech. */
const MP3_BITRATE_KBPS = 64;
/** Samples encoded at once, about 1 ms of work: work for calls can run in between. */
const MP3_BLOCK_SAMPLES = 4096;
/** Most idle encoders that are kept: creating one blocks the process for several ms, and each holds memory. */
const MP3_SPARES_MAX = 4;

type Lame = WasmMediaEncoder<'audio/mpeg'>;

/** Encodes MP3 with LAME (package `wasm-media-encoders`), any number of sounds at a time. */
export class Mp3Encoder {
  readonly #spares: Lame[] = [];

  /** Encodes a sound as an MP3 file of 64 kbit/s; no sound gives no file. */
  async *encode(sound: AsyncIterable<Uint8Array>, rateHz: Mp3RateHz): AsyncGenerator<Uint8Array, void, undefined> {
    const lame = this.#spares.pop() ?? (await createLame());
    try {
      lame.configure({ channels: 1, sampleRate: rateHz, outputSampleRate: rateHz, bitrate: MP3_BITRATE_KBPS });
      let begun = false;
      for await (const bytes of sound) {
        begun = true;
        yield* encodeBlocks(lame, pcm16ToSamples(bytes));
      }
      if (begun) yield lame.finalize().slice();
    } finally {
      if (this.#spares.length < MP3_SPARES_MAX) this.#spares.push(lame);
    }
  }
}

/** Loads the encoder when it is first needed: a gateway that encodes no MP3 saves its memory. */
async function createLame(): Promise<Lame> {
  const { createMp3Encoder } = await import('wasm-media-encoders');
  return createMp3Encoder();
}

async function* encodeBlocks(lame: Lame, samples: Int16Array): AsyncGenerator<Uint8Array, void, undefined> {
  for (let from = 0; from < samples.length; from += MP3_BLOCK_SAMPLES) {
    const block = Float32Array.from(samples.subarray(from, from + MP3_BLOCK_SAMPLES), (sample) => sample / FULL_SCALE);
    // The result lies in the encoder's memory, which the next call overwrites.
    const encoded = lame.encode([block]).slice();
    if (encoded.length > 0) yield encoded;
    await nextTurn();
  }
}
