/**
 * WAV files (RIFF/WAVE, Microsoft "Multimedia Programming Interface and Data Specifications 1.0" and its
 * WAVEFORMATEXTENSIBLE). The reader takes every common sample format and tolerates common errors of writers: sizes of 0
 * or 0xFFFFFFFF in streamed files, truncated ends, unpadded odd chunks.
 */
import { TrunklineError } from '../foundation/errors.ts';
import { type Codec, MULAW_8K } from '../foundation/units.ts';
import { decodeG711 } from './g711.ts';
import { refusalOf } from './limits.ts';
import { toSample } from './pcm.ts';

const TAG_PCM = 1;
const TAG_FLOAT = 3;
const TAG_ALAW = 6;
const TAG_MULAW = 7;
const TAG_EXTENSIBLE = 0xfffe;
/** The tag of each codec's samples. */
const TAGS = { pcm16: TAG_PCM, alaw: TAG_ALAW, mulaw: TAG_MULAW } as const satisfies Record<Codec['name'], number>;
const TAG_NAMES: Readonly<Record<number, string>> = {
  2: 'MS ADPCM',
  17: 'IMA ADPCM',
  49: 'GSM 6.10',
  69: 'G.726',
  80: 'MPEG',
  85: 'MP3',
};
const SIZE_UNKNOWN = 0xffff_ffff;
const MAGIC_BYTES = 12;
const HEADER_BYTES = 44;

/** Decoded audio: one array per channel, all of the same length. */
export interface WavAudio {
  readonly rateHz: number;
  readonly channels: Int16Array[];
}

interface Format {
  readonly tag: number;
  readonly channels: number;
  readonly rateHz: number;
  readonly bits: number;
}

type SampleReader = (view: DataView, offset: number) => number;

/** Key: `tag/bits`. Integers keep their upper 16 bits. */
const READERS: Readonly<Record<string, SampleReader>> = {
  '1/8': (view, offset) => (view.getUint8(offset) - 128) << 8,
  '1/16': (view, offset) => view.getInt16(offset, true),
  '1/24': (view, offset) => view.getInt16(offset + 1, true),
  '1/32': (view, offset) => view.getInt16(offset + 2, true),
  '3/32': (view, offset) => fromFloat(view.getFloat32(offset, true)),
  '3/64': (view, offset) => fromFloat(view.getFloat64(offset, true)),
  '6/8': companded({ ...MULAW_8K, name: 'alaw' }),
  '7/8': companded(MULAW_8K),
};

function fromFloat(value: number): number {
  return Number.isNaN(value) ? 0 : toSample(value * 32_768);
}

function companded(codec: Codec): SampleReader {
  const table = decodeG711(
    Uint8Array.from({ length: 256 }, (_, code) => code),
    codec,
  );
  return (view, offset) => table[view.getUint8(offset)] as number;
}

function refuse(what: string): never {
  throw new TrunklineError('invalid_request', `not a WAV file that can be read: ${what}`);
}

function chunkId(view: DataView, offset: number): string {
  return String.fromCharCode(
    view.getUint8(offset),
    view.getUint8(offset + 1),
    view.getUint8(offset + 2),
    view.getUint8(offset + 3),
  );
}

function checkMagic(view: DataView): void {
  if (view.byteLength < MAGIC_BYTES) refuse(`it has ${view.byteLength} bytes, a header alone takes ${HEADER_BYTES}`);
  const magic = chunkId(view, 0);
  const form = chunkId(view, 8);
  if ((magic === 'RIFF' || magic === 'RF64') && form === 'WAVE') return;
  refuse(`it begins with ${JSON.stringify(magic)} … ${JSON.stringify(form)}, expected "RIFF" … "WAVE"`);
}

function readFormat(view: DataView, offset: number, size: number): Format {
  const there = view.byteLength - offset;
  if (size < 16) refuse(`its fmt chunk has ${size} bytes, expected 16 or more`);
  if (size > there) refuse(`its fmt chunk claims ${size} bytes, but ${there} follow`);
  const tag = view.getUint16(offset, true);
  const extended = tag === TAG_EXTENSIBLE && size >= 26;
  const format: Format = {
    // The sub-format GUID of an extensible header begins with the plain tag.
    tag: extended ? view.getUint16(offset + 24, true) : tag,
    channels: view.getUint16(offset + 2, true),
    rateHz: view.getUint32(offset + 4, true),
    bits: view.getUint16(offset + 14, true),
  };
  checkFormat(format);
  return format;
}

function checkFormat({ tag, channels, rateHz, bits }: Format): void {
  const name = TAG_NAMES[tag];
  if (![TAG_PCM, TAG_FLOAT, TAG_ALAW, TAG_MULAW].includes(tag)) {
    refuse(
      `its codec tag is 0x${tag.toString(16)}${name === undefined ? '' : ` (${name})`}, ` +
        'expected PCM (1), float (3), A-law (6) or µ-law (7)',
    );
  }
  if (READERS[`${tag}/${bits}`] === undefined)
    refuse(`its samples have ${bits} bits with codec tag ${tag}, expected PCM 8, 16, 24, 32, float 32, 64 or G.711 8`);
  const refusal = refusalOf(rateHz, channels);
  if (refusal !== null) refuse(refusal);
}

/** Whether there can be a chunk at `offset`: a printable name and a size that fits. */
function looksLikeChunk(view: DataView, offset: number, totalBytes: number): boolean {
  return (
    offset + 8 <= view.byteLength &&
    /^[ -~]{4}$/.test(chunkId(view, offset)) &&
    view.getUint32(offset + 4, true) <= totalBytes - offset - 8
  );
}

/** The length of the data chunk at `offset`. Streaming writers leave 0 or all ones in its size field. */
function dataBytes(view: DataView, offset: number, size: number, totalBytes: number): number {
  const left = totalBytes - offset;
  if (size === SIZE_UNKNOWN || (size === 0 && !looksLikeChunk(view, offset, totalBytes))) return left;
  return Math.min(size, left);
}

function readSamples(view: DataView, format: Format): Int16Array[] {
  const reader = READERS[`${format.tag}/${format.bits}`] as SampleReader;
  const sampleBytes = format.bits / 8;
  const frameBytes = sampleBytes * format.channels;
  const frames = Math.floor(view.byteLength / frameBytes);
  return Array.from({ length: format.channels }, (_, channel) => {
    const samples = new Int16Array(frames);
    for (let i = 0; i < frames; i++) samples[i] = reader(view, i * frameBytes + channel * sampleBytes);
    return samples;
  });
}

/** Where the samples of a WAV file are, and their format. */
export interface WavLayout {
  readonly rateHz: number;
  /** Bytes of one sample of every channel. */
  readonly frameBytes: number;
  /** Offset of the samples in the file, and their length in bytes. */
  readonly dataFrom: number;
  readonly dataBytes: number;
  /** Reads the whole frames in `bytes`: one array for each channel. */
  read(bytes: Uint8Array): Int16Array[];
}

/**
 * Reads the layout of a file of `totalBytes` bytes that begins with `head`; null when its header is longer than `head`.
 * @throws TrunklineError `invalid_request` with the reason
 */
export function readWavLayout(head: Uint8Array, totalBytes: number): WavLayout | null {
  const view = new DataView(head.buffer, head.byteOffset, head.byteLength);
  if (view.byteLength < MAGIC_BYTES && view.byteLength < totalBytes) return null;
  checkMagic(view);
  let format: Format | null = null;
  let offset = MAGIC_BYTES;
  while (offset + 8 <= view.byteLength) {
    const id = chunkId(view, offset);
    const size = view.getUint32(offset + 4, true);
    const body = offset + 8;
    if (id === 'fmt ') {
      if (body + size > view.byteLength && view.byteLength < totalBytes) return null;
      format = readFormat(view, body, size);
    }
    if (id === 'data') {
      if (format === null) refuse('its data chunk comes before its fmt chunk');
      return layoutOf(format, body, dataBytes(view, body, size, totalBytes));
    }
    // Chunks of odd length are padded with a zero, which some writers forget.
    offset = body + size + (size % 2 === 1 && head[body + size] === 0 ? 1 : 0);
  }
  if (view.byteLength < totalBytes && offset < totalBytes) return null;
  return refuse(format === null ? 'it has no fmt chunk' : 'it has no data chunk');
}

function layoutOf(format: Format, dataFrom: number, bytes: number): WavLayout {
  return {
    rateHz: format.rateHz,
    dataFrom,
    dataBytes: bytes,
    frameBytes: (format.bits / 8) * format.channels,
    read: (frames) => readSamples(new DataView(frames.buffer, frames.byteOffset, frames.byteLength), format),
  };
}

/**
 * Reads a WAV file: PCM of 8, 16, 24 and 32 bits, float of 32 and 64, µ-law and A-law, plain or extensible header, 1 to
 * 8 channels.
 * @throws TrunklineError `invalid_request` with the reason
 */
export function readWav(bytes: Uint8Array): WavAudio {
  const layout = readWavLayout(bytes, bytes.length) ?? refuse('it ends inside its header');
  const { rateHz, dataFrom, dataBytes: size } = layout;
  return { rateHz, channels: layout.read(bytes.subarray(dataFrom, dataFrom + size)) };
}

/**
 * The header of a WAV file with `dataBytes` of samples in `codec` behind it; null = nobody knows how many, and its size
 * fields say so.
 */
export function wavHeaderOf(codec: Codec, dataBytes: number | null): Uint8Array {
  const { name, rateHz, channels, bytesPerSample } = codec;
  const header = new Uint8Array(HEADER_BYTES);
  const view = new DataView(header.buffer);
  writeHeader(view, channels, rateHz);
  view.setUint32(4, dataBytes === null ? SIZE_UNKNOWN : dataBytes + HEADER_BYTES - 8, true);
  view.setUint16(20, TAGS[name], true);
  view.setUint32(28, rateHz * channels * bytesPerSample, true);
  view.setUint16(32, channels * bytesPerSample, true);
  view.setUint16(34, bytesPerSample * 8, true);
  view.setUint32(40, dataBytes ?? SIZE_UNKNOWN, true);
  return header;
}

function writeHeader(view: DataView, channels: number, rateHz: number): void {
  const text = (offset: number, value: string) => {
    for (let i = 0; i < value.length; i++) view.setUint8(offset + i, value.charCodeAt(i));
  };
  text(0, 'RIFF');
  view.setUint32(4, view.byteLength - 8, true);
  text(8, 'WAVEfmt ');
  view.setUint32(16, 16, true);
  view.setUint16(20, TAG_PCM, true);
  view.setUint16(22, channels, true);
  view.setUint32(24, rateHz, true);
  view.setUint32(28, rateHz * channels * 2, true);
  view.setUint16(32, channels * 2, true);
  view.setUint16(34, 16, true);
  text(36, 'data');
  view.setUint32(40, view.byteLength - HEADER_BYTES, true);
}

/** Writes 16-bit PCM; shorter channels are padded with silence. */
export function writeWav(channels: Int16Array[], rateHz: number): Uint8Array {
  const frames = Math.max(0, ...channels.map((channel) => channel.length));
  const bytes = new Uint8Array(HEADER_BYTES + frames * channels.length * 2);
  const view = new DataView(bytes.buffer);
  writeHeader(view, channels.length, rateHz);
  channels.forEach((samples, channel) => {
    for (let i = 0; i < samples.length; i++)
      view.setInt16(HEADER_BYTES + (i * channels.length + channel) * 2, samples[i] as number, true);
  });
  return bytes;
}
