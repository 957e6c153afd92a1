/**
 * Sound as it comes → a file that grows with it and can be played meanwhile. Sound here is little-endian 16-bit samples
 * of one channel.
 */
import type { WasmMediaEncoder } from 'wasm-media-encoders';
import { nextTurn } from '../foundation/next-turn.ts';
import { pcm16ToSamples } from './pcm.ts';
import { writeWav } from './wav.ts';

const FULL_SCALE = 32_768;

/**
 * What the size fields of a WAV file hold while nobody knows how long it becomes: players then play to the end of the
 * file.
 */
const SIZE_UNKNOWN = 0xffff_ffff;
const RIFF_SIZE_AT = 4;
const DATA_SIZE_AT = 40;

/** Bytes of the header that {@link encodeWav} writes. */
export const WAV_HEADER_BYTES = 44;

/**
 * The sound as a WAV file; nothing at all when there is no sound. `soundBytes` is how many bytes there will be of it;
 * null = nobody knows yet.
 */
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

function wavHeader(rateHz: number, soundBytes: number | null): Uint8Array {
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
/** Samples encoded in one go, about 1 ms of work: calls get their turn in between. */
const MP3_BLOCK_SAMPLES = 4096;
/**
 * Encoders kept for later: making one holds everything up for several ms, and each holds memory that is returned late.
 */
const MP3_SPARES_MAX = 4;

type Lame = WasmMediaEncoder<'audio/mpeg'>;

/** Encodes MP3 (LAME, as `wasm-media-encoders` brings it), any number of sounds at a time. */
export class Mp3Encoder {
  readonly #spares: Lame[] = [];

  /** The sound as an MP3 file of 64 kbit/s; nothing at all when there is no sound. */
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

/** Loaded when it is first needed: a gateway that encodes no MP3 does not hold the program in memory. */
async function createLame(): Promise<Lame> {
  const { createMp3Encoder } = await import('wasm-media-encoders');
  return createMp3Encoder();
}

async function* encodeBlocks(lame: Lame, samples: Int16Array): AsyncGenerator<Uint8Array, void, undefined> {
  for (let from = 0; from < samples.length; from += MP3_BLOCK_SAMPLES) {
    const block = Float32Array.from(samples.subarray(from, from + MP3_BLOCK_SAMPLES), (sample) => sample / FULL_SCALE);
    // What it returns is its own memory, overwritten by the next call.
    const encoded = lame.encode([block]).slice();
    if (encoded.length > 0) yield encoded;
    await nextTurn();
  }
}
