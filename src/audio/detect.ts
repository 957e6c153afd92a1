/** What kind of audio some bytes are, by what they begin with and never by a name. */

/**
 * Kinds that are decoded in here, and `other`: something else that may be audio (MP4, WebM, AMR …). `text`: bytes that people read, which no
 * decoder need be bothered with.
 */
export type AudioKind = 'wav' | 'mp3' | 'flac' | 'vorbis' | 'opus' | 'other' | 'text';

/** Bytes from the beginning that {@link detectAudio} looks at; fewer will do if the file is shorter. */
export const DETECT_BYTES = 4096;

/** Where the codec of an Ogg stream is named: the first packet follows a page header of 27 bytes and one lacing value (RFC 3533 §6). */
const OGG_PACKET_AT = 28;

const TEXT_BYTES_MIN = 0.95;

/** The kind of a file that begins with `head`. A tag (ID3v2) before the audio is looked past as far as `head` reaches. */
export function detectAudio(head: Uint8Array): AudioKind {
  const tagBytes = id3Bytes(head);
  if (tagBytes >= head.length && tagBytes > 0) return 'mp3';
  const bytes = head.subarray(tagBytes);
  if ((startsWith(bytes, 'RIFF') || startsWith(bytes, 'RF64')) && startsWith(bytes, 'WAVE', 8)) return 'wav';
  if (startsWith(bytes, 'fLaC')) return 'flac';
  if (startsWith(bytes, 'OggS')) return oggKind(bytes);
  if (isMpegFrame(bytes)) return 'mp3';
  return looksLikeText(bytes) ? 'text' : 'other';
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

/** The header of an MPEG audio frame of layer I to III (ISO 11172-3 §2.4.2.3) with no reserved value in it; layer 0 is AAC in ADTS. */
function isMpegFrame(bytes: Uint8Array): boolean {
  const [first = 0, second = 0, third = 0] = bytes;
  const isSync = first === 0xff && (second & 0xe0) === 0xe0;
  const isVersion = (second & 0x18) !== 0x08;
  const isLayer = (second & 0x06) !== 0;
  return isSync && isVersion && isLayer && (third & 0xf0) !== 0xf0 && (third & 0x0c) !== 0x0c;
}

function looksLikeText(bytes: Uint8Array): boolean {
  const readable = bytes.reduce((count, byte) => (byte >= 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09 ? count + 1 : count), 0);
  const isUtf8 = !new TextDecoder().decode(bytes.subarray(0, DETECT_BYTES - 4)).includes('\uFFFD');
  return isUtf8 && readable >= bytes.length * TEXT_BYTES_MIN;
}

function startsWith(bytes: Uint8Array, text: string, at = 0): boolean {
  if (bytes.length < at + text.length) return false;
  for (let i = 0; i < text.length; i++) if (bytes[at + i] !== text.charCodeAt(i)) return false;
  return true;
}
