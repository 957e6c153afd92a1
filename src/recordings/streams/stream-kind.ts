/** Tells by its first bytes how a stream is decoded. Unlike a file it may begin in the middle of a frame. */
import type { DecodableKind } from '../../audio/decode.ts';
import { DETECT_BYTES, detectAudio } from '../../audio/detect.ts';
import { type FrameKind, framesOf } from '../../audio/frame-sync.ts';
import { unreadable } from '../refusals.ts';

/** A decoder of our own, or what ffmpeg calls the format; `name` is for people. */
export type StreamKind =
  | { readonly name: string; readonly decoder: Extract<DecodableKind, 'mp3' | 'flac' | 'vorbis'> }
  | { readonly name: string; readonly ffmpeg: string };

/** Formats for ffmpeg that their first bytes tell. */
const FOR_FFMPEG: readonly { readonly name: string; readonly ffmpeg: string; readonly begins: string }[] = [
  { name: 'AMR', ffmpeg: 'amr', begins: '#!AMR' },
  { name: 'AU', ffmpeg: 'au', begins: '.snd' },
];
const MP4 = { name: 'MP4', ffmpeg: 'mov' } as const;
const OF_FRAMES: Readonly<Record<FrameKind, StreamKind>> = {
  mp3: { name: 'MP3', decoder: 'mp3' },
  adts: { name: 'AAC', ffmpeg: 'aac' },
};

/** Of this length are the shortest of the heads that tell anything: the codec of Ogg, and of WAV, are behind it. */
const KIND_BYTES = 40;
/** Packets of an MPEG transport stream (ISO 13818-1) each begin with the same byte. */
const TS_SYNC = 0x47;
const TS_PACKET_BYTES = 188;
/** Boxes of MP4 (ISO 14496-12) that may come before its index, and those with which it can be read. */
const BOXES_BEFORE = ['ftyp', 'styp', 'free', 'skip', 'wide', 'uuid', 'pdin', 'sidx'];
const BOXES_OF_INDEX = ['moov', 'moof'];

/**
 * How a stream that begins with `head` is decoded; null = by nothing of this folder; undefined = more has to come.
 * @param isAll nothing more comes
 * @throws TrunklineError `audio_unreadable` for an MP4 file that can only be read when all of it is there
 */
export function streamKindOf(head: Uint8Array, isAll: boolean): StreamKind | null | undefined {
  const isLongest = isAll || head.length >= DETECT_BYTES;
  if (head.length < KIND_BYTES && !isLongest) return undefined;
  const boxes = mp4Of(head, isLongest);
  if (boxes !== null) return boxes;
  const kind = detectAudio(head);
  if (kind === 'flac') return { name: 'FLAC', decoder: kind };
  if (kind === 'vorbis') return { name: 'Ogg Vorbis', decoder: kind };
  if (startsWith(head, 'ID3') && kind === 'mp3') return OF_FRAMES.mp3;
  if (kind === 'other' && startsWith(head, 'RIFF')) return { name: 'this kind of WAV', ffmpeg: 'wav' };
  const found = FOR_FFMPEG.find(({ begins }) => startsWith(head, begins));
  if (found !== undefined) return { name: found.name, ffmpeg: found.ffmpeg };
  if (kind === 'text' || kind === 'wav' || kind === 'opus' || startsWith(head, '\u001aE\u00df\u00a3')) return null;
  if (head[0] === TS_SYNC && head.length <= TS_PACKET_BYTES && !isLongest) return undefined;
  if (head[0] === TS_SYNC && head[TS_PACKET_BYTES] === TS_SYNC) return { name: 'MPEG-TS', ffmpeg: 'mpegts' };
  const frames = framesOf(head);
  if (frames !== null) return OF_FRAMES[frames];
  if (!isLongest) return undefined;
  return kind === 'mp3' ? OF_FRAMES.mp3 : null;
}

/** Null = it is no MP4; undefined = the box that says whether it can be read has to come. */
function mp4Of(head: Uint8Array, isLongest: boolean): StreamKind | null | undefined {
  const view = new DataView(head.buffer, head.byteOffset, head.byteLength);
  for (let at = 0; at + 8 <= head.length; ) {
    const box = String.fromCharCode(...head.subarray(at + 4, at + 8));
    if (BOXES_OF_INDEX.includes(box)) return MP4;
    if (box === 'mdat') throw unreadable('it is MP4 with its index at the end, expected it first (ffmpeg: +faststart)');
    if (!BOXES_BEFORE.includes(box)) return at === 0 ? null : MP4;
    at += Math.max(view.getUint32(at), 8);
  }
  return isLongest ? MP4 : undefined;
}

function startsWith(bytes: Uint8Array, text: string): boolean {
  return bytes.length >= text.length && [...text].every((letter, at) => bytes[at] === letter.charCodeAt(0));
}
