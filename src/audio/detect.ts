/** Detects the kind of an audio file by its first bytes, never by its name. */

/** Kinds that Trunkline decodes itself; `other` may still be audio (MP4, WebM, AMR …); `text` is readable text. */
export type AudioKind = 'wav' | 'mp3' | 'flac' | 'vorbis' | 'opus' | 'other' | 'text';

/** How many bytes {@link detectAudio} needs from the beginning, if the file has as many. */
export const DETECT_BYTES = 4096;

/**
 * Offset of the codec's name in an Ogg stream: the first packet follows a page header of 27 bytes and one lacing value
 * (RFC 3533 §6).
 */
const OGG_PACKET_AT = 28;

/** Offset of a WAV file's first chunk. */
const WAV_FORMAT_AT = 12;
/**
 * Codecs in WAV files that are left to ffmpeg (RFC 2361): MS and IMA ADPCM, GSM 6.10, G.726, G.723, MPEG, MP3, G.722,
 * G.729.
 */
const FFMPEG_WAV_TAGS: readonly number[] = [0x02, 0x11, 0x31, 0x40, 0x42, 0x45, 0x50, 0x55, 0x83, 0x28f];

const TEXT_BYTES_MIN = 0.95;

/** Texts that containers for ffmpeg have near their beginning, and where. */
const CONTAINERS: readonly (readonly [text: string, at: number])[] = [
  ...(['ftyp', 'moov', 'mdat', 'wide', 'free'] as const).map((box) => [box, 4] as const),
  ...(['AVI ', 'WAVE', 'AIFF', 'AIFC'] as const).map((form) => [form, 8] as const),
  ...[
    '\u001aE\u00df\u00a3',
    '#!AMR',
    'caff',
    'FLV',
    '0&\u00b2u',
    '.snd',
    'MAC ',
    'wvpk',
    'TTA1',
    'riff',
    'OggS',
    '\u000bw',
  ].map((magic) => [magic, 0] as const),
  ...['Creative Voice File', '\u007f\u00fe\u0080\u0001', '\u0000\u0000\u0001\u00ba'].map(
    (magic) => [magic, 0] as const,
  ),
];
/** Brands of ISO base media files that hold pictures (HEIF, AVIF). */
const PICTURE_BRAND = /^(hei[cxms]|hev[cx]|mif1|msf1|avi[fs]|crx )/;
/** Packets of an MPEG transport stream (ISO 13818-1) each begin with the same byte. */
const TS_PACKET_BYTES = 188;
const TS_SYNC = 0x47;

/** The kind of a file that begins with `head`. A tag (ID3v2) before the audio is skipped as far as `head` reaches. */
export function detectAudio(head: Uint8Array): AudioKind {
  const tagBytes = id3Bytes(head);
  if (tagBytes >= head.length && tagBytes > 0) return 'mp3';
  const bytes = head.subarray(tagBytes);
  if ((startsWith(bytes, 'RIFF') || startsWith(bytes, 'RF64')) && startsWith(bytes, 'WAVE', 8)) return wavKind(bytes);
  if (startsWith(bytes, 'fLaC')) return 'flac';
  if (startsWith(bytes, 'OggS')) return oggKind(bytes);
  if (isUtf16(bytes)) return 'text';
  if (isMpegFrame(bytes)) return 'mp3';
  return looksLikeText(bytes) ? 'text' : 'other';
}

/** Whether a file that begins with `head` may be a recording. Text, pictures and programs are not. */
export function looksLikeRecording(head: Uint8Array): boolean {
  const kind = detectAudio(head);
  if (kind !== 'other') return kind !== 'text';
  if (startsWith(head, 'ftyp', 4)) return !PICTURE_BRAND.test(String.fromCharCode(...head.subarray(8, 12)));
  const isTransportStream =
    head[0] === TS_SYNC && head[TS_PACKET_BYTES] === TS_SYNC && head[2 * TS_PACKET_BYTES] === TS_SYNC;
  const isAdts = head[0] === 0xff && ((head[1] ?? 0) & 0xf6) === 0xf0;
  return isTransportStream || isAdts || CONTAINERS.some(([text, at]) => startsWith(head, text, at));
}

/**
 * A WAV file can contain any codec. Its tag has a fixed offset when the format chunk comes first, as it nearly always
 * does; otherwise the decoder finds out.
 */
function wavKind(bytes: Uint8Array): AudioKind {
  if (!startsWith(bytes, 'fmt ', WAV_FORMAT_AT) || bytes.length < WAV_FORMAT_AT + 10) return 'wav';
  const tag = (bytes[WAV_FORMAT_AT + 8] ?? 0) + 256 * (bytes[WAV_FORMAT_AT + 9] ?? 0);
  return FFMPEG_WAV_TAGS.includes(tag) ? 'other' : 'wav';
}

function oggKind(bytes: Uint8Array): AudioKind {
  if (startsWith(bytes, 'OpusHead', OGG_PACKET_AT)) return 'opus';
  if (startsWith(bytes, '\u0001vorbis', OGG_PACKET_AT)) return 'vorbis';
  return 'other';
}

/** Length of an ID3v2 tag at the start (id3.org, ID3v2.4 §3.1: a size of four times seven bits); 0 = none. */
function id3Bytes(bytes: Uint8Array): number {
  if (!startsWith(bytes, 'ID3') || bytes.length < 10) return 0;
  return bytes.subarray(6, 10).reduce((size, byte) => size * 128 + (byte & 0x7f), 0) + 10;
}

/**
 * The header of an MPEG audio frame of layer I to III (ISO 11172-3 §2.4.2.3) with no reserved value in it; layer 0 is
 * AAC in ADTS.
 */
function isMpegFrame(bytes: Uint8Array): boolean {
  const [first = 0, second = 0, third = 0] = bytes;
  const isSync = first === 0xff && (second & 0xe0) === 0xe0;
  const isVersion = (second & 0x18) !== 0x08;
  const isLayer = (second & 0x06) !== 0;
  return isSync && isVersion && isLayer && (third & 0xf0) !== 0xf0 && (third & 0x0c) !== 0x0c;
}

/** A byte order mark, then mostly zeros in every other byte; the mark alone looks like an MPEG frame. */
function isUtf16(bytes: Uint8Array): boolean {
  const [first, second] = bytes;
  if (!(first === 0xff && second === 0xfe) && !(first === 0xfe && second === 0xff)) return false;
  const upper = bytes.filter((_, at) => at >= 2 && at % 2 === (first === 0xff ? 1 : 0));
  return upper.filter((byte) => byte === 0).length * 2 > upper.length;
}

function looksLikeText(bytes: Uint8Array): boolean {
  const readable = bytes.reduce(
    (count, byte) => (byte >= 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09 ? count + 1 : count),
    0,
  );
  const isUtf8 = !new TextDecoder().decode(bytes.subarray(0, DETECT_BYTES - 4)).includes('\uFFFD');
  return isUtf8 && readable >= bytes.length * TEXT_BYTES_MIN;
}

function startsWith(bytes: Uint8Array, text: string, at = 0): boolean {
  if (bytes.length < at + text.length) return false;
  for (let i = 0; i < text.length; i++) if (bytes[at + i] !== text.charCodeAt(i)) return false;
  return true;
}
