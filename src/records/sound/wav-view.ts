/** A file of sound as a WAV file of two channels, any bytes of which can be had without making those before them. */
import { samplesToPcm16 } from '../../audio/pcm.ts';
import { writeWav } from '../../audio/wav.ts';
import { msToSamples } from '../../foundation/units.ts';
import type { WantedBytes } from './sound-messages.ts';
import type { SoundReader } from './sound-reader.ts';

const HEADER_BYTES = 44;
const RIFF_SIZE_AT = 4;
const DATA_SIZE_AT = 40;
/** What the size fields of a header can say. */
const SIZE_MAX = 0xffff_ffff;
/** Two channels of 16 bits. */
const FRAME_BYTES = 4;

/** First and last byte. */
export interface ByteRange {
  readonly first: number;
  readonly last: number;
}

export class WavView {
  readonly totalBytes: number;
  readonly #reader: SoundReader;

  /** `untilMs` = the sound up to that moment of the call alone; null = all there is. */
  constructor(reader: SoundReader, untilMs: number | null) {
    const { totalSamples, header } = reader.layout;
    const samples = untilMs === null ? totalSamples : Math.min(totalSamples, msToSamples(untilMs, header.rateHz));
    this.#reader = reader;
    this.totalBytes = HEADER_BYTES + samples * FRAME_BYTES;
  }

  /** The bytes that there are of what is wanted (RFC 9110 §14.1.2); null = none. */
  rangeOf(wanted: WantedBytes | null): ByteRange | null {
    const lastByte = this.totalBytes - 1;
    if (wanted === null) return { first: 0, last: lastByte };
    const { first, last } = wanted;
    if (first === null)
      return last === 0 ? null : { first: Math.max(this.totalBytes - (last ?? 0), 0), last: lastByte };
    return first > lastByte ? null : { first, last: Math.min(last ?? lastByte, lastByte) };
  }

  /** The bytes from `first` to `last`. @throws TrunklineError `sound_damaged` */
  read({ first, last }: ByteRange): Uint8Array {
    if (first < HEADER_BYTES) {
      const header = this.#header().subarray(first, Math.min(last + 1, HEADER_BYTES));
      if (last < HEADER_BYTES) return header;
      return Buffer.concat([header, this.read({ first: HEADER_BYTES, last })]);
    }
    const [from, to] = [first - HEADER_BYTES, last + 1 - HEADER_BYTES];
    const fromSample = Math.floor(from / FRAME_BYTES);
    const count = Math.ceil(to / FRAME_BYTES) - fromSample;
    const bytes = samplesToPcm16(this.#reader.read(fromSample, count));
    return bytes.slice(from - fromSample * FRAME_BYTES, to - fromSample * FRAME_BYTES);
  }

  #header(): Uint8Array {
    const nothing = new Int16Array(0);
    const header = writeWav([nothing, nothing], this.#reader.layout.header.rateHz);
    const view = new DataView(header.buffer, header.byteOffset, header.byteLength);
    view.setUint32(RIFF_SIZE_AT, Math.min(this.totalBytes - RIFF_SIZE_AT - 4, SIZE_MAX), true);
    view.setUint32(DATA_SIZE_AT, Math.min(this.totalBytes - HEADER_BYTES, SIZE_MAX), true);
    return header;
  }
}
