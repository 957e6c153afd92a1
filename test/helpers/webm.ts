/** WebM as browsers' MediaRecorder streams it (RFC 9559), for tests. */
import { opusHead } from './opus-sound.ts';

const ID = {
  ebml: 0x1a45dfa3,
  segment: 0x18538067,
  info: 0x1549a966,
  tracks: 0x1654ae6b,
  trackEntry: 0xae,
  trackNumber: 0xd7,
  codecId: 0x86,
  codecPrivate: 0x63a2,
  cluster: 0x1f43b675,
  timestamp: 0xe7,
  simpleBlock: 0xa3,
  blockGroup: 0xa0,
  block: 0xa1,
  discardPadding: 0x75a2,
  void: 0xec,
} as const;

const KEYFRAME = 0x80;
const FRAMES_PER_CLUSTER = 20;

/** An element; a size of null is written as unknown. */
export function element(id: keyof typeof ID | number, content: Uint8Array, size: number | null = content.length) {
  const number = typeof id === 'number' ? id : ID[id];
  const idBytes = Buffer.alloc(4);
  idBytes.writeUInt32BE(number);
  const sizeBytes = Buffer.alloc(8, 0xff);
  sizeBytes[0] = 1;
  if (size !== null) sizeBytes.writeUIntBE(size, 2, 6);
  if (size !== null) sizeBytes[1] = 0;
  return Buffer.concat([idBytes.subarray(idBytes.findIndex((byte) => byte !== 0)), sizeBytes, content]);
}

/** A block of the track `track`; `lacing` are its flags, and `frames` what follows them. */
export function block(frames: Uint8Array, { track = 1, lacing = 0 } = {}): Uint8Array {
  return Buffer.concat([Uint8Array.of(0x80 | track, 0, 0, KEYFRAME | lacing), frames]);
}

/** A track's entry. */
export function trackEntry(number: number, codec: string, codecPrivate: Uint8Array | null): Uint8Array {
  const fields = [element('trackNumber', Uint8Array.of(number)), element('codecId', Buffer.from(codec))];
  if (codecPrivate !== null) fields.push(element('codecPrivate', codecPrivate));
  return element('trackEntry', Buffer.concat(fields));
}

/** All of a stream before its first cluster. */
export function webmHead(tracks: readonly Uint8Array[] = [trackEntry(1, 'A_OPUS', opusHead(1))]): Uint8Array {
  return Buffer.concat([
    element('ebml', Buffer.from('B\x86\x81\x01B\x82\x84webm', 'latin1')),
    element('segment', new Uint8Array(0), null),
    element('info', Buffer.alloc(25)),
    element('tracks', Buffer.concat(tracks)),
  ]);
}

/** A cluster of unknown size with these in it. */
export function cluster(content: readonly Uint8Array[]): Uint8Array {
  return Buffer.concat([
    element('cluster', new Uint8Array(0), null),
    element('timestamp', Uint8Array.of(0)),
    ...content,
  ]);
}

/** A stream of these packets. */
export function webmFile(packets: readonly Uint8Array[], head: Uint8Array = webmHead()): Uint8Array {
  const parts = [head];
  for (let at = 0; at < packets.length; at += FRAMES_PER_CLUSTER)
    parts.push(
      cluster(packets.slice(at, at + FRAMES_PER_CLUSTER).map((packet) => element('simpleBlock', block(packet)))),
    );
  return Buffer.concat(parts);
}
