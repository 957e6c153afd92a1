/**
 * The header of a stream of Opus (RFC 7845 §5.1): the first packet in Ogg, and `CodecPrivate` in WebM
 * (Matroska codec specification, "A_OPUS").
 */

/** What a header says. */
export interface OpusHead {
  /** One or two. */
  readonly channels: number;
  /** Samples at 48 kHz that are decoded and not heard. */
  readonly preSkipSamples: number;
}

const MAGIC = Uint8Array.from('OpusHead', (char) => char.charCodeAt(0));
const HEAD_BYTES = 19;
const MAPPING_AT = 21;
/** Two channels are one stream; more are several in each packet, which need another decoder. */
const CHANNELS_MAX = 2;
/** The upper half of the version says whether the header can be read at all. */
const VERSION_MAX = 15;

/** Whether `bytes` begin as a header does. */
export function isOpusHead(bytes: Uint8Array): boolean {
  return MAGIC.every((each, at) => bytes[at] === each);
}

/** @throws RangeError for what is no header, or one of a stream that is not read */
export function readOpusHead(bytes: Uint8Array): OpusHead {
  if (!isOpusHead(bytes) || bytes.length < HEAD_BYTES)
    throw new RangeError(`got ${bytes.length} bytes of a header of Opus, expected OpusHead and ${HEAD_BYTES} or more`);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const version = view.getUint8(8);
  const channels = view.getUint8(9);
  if (version > VERSION_MAX) throw new RangeError(`got version ${version} of Opus, expected at most ${VERSION_MAX}`);
  if (channels < 1 || channels > CHANNELS_MAX || !isOneStream(bytes, channels))
    throw new RangeError(
      `got Opus of ${channels} channels in mapping family ${view.getUint8(18)}, expected one or two in one stream`,
    );
  return { channels, preSkipSamples: view.getUint16(10, true) };
}

/** Families above 0 have a table: streams, those of two channels, and where each channel is (RFC 7845 §5.1.1). */
function isOneStream(bytes: Uint8Array, channels: number): boolean {
  const family = bytes[HEAD_BYTES - 1] as number;
  if (family === 0) return true;
  const [streams, coupled] = bytes.subarray(HEAD_BYTES, MAPPING_AT);
  const isInOrder = Array.from({ length: channels }, (_, at) => bytes[MAPPING_AT + at] === at).every(Boolean);
  return family === 1 && streams === 1 && coupled === channels - 1 && isInOrder;
}
