import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { packagePath } from '../../../src/foundation/folders/paths.ts';
import { streamKindOf } from '../../../src/recordings/streams/stream-kind.ts';

const MP3 = readFileSync(packagePath('fixtures', 'audio', 'short.mp3'));
const MP4 = { name: 'MP4', ffmpeg: 'mov' };

/** A box of MP4 with `bytes` behind its name. */
function box(name: string, bytes: number): Buffer {
  const head = Buffer.alloc(8 + bytes);
  head.writeUInt32BE(8 + bytes);
  head.write(name, 4, 'latin1');
  return head;
}

/** A frame of AAC in ADTS, 16 kHz, of `length` bytes. */
function adts(length: number): Buffer {
  const frame = Buffer.alloc(length, 0x11);
  frame.set([0xff, 0xf1, 0x60, 0x40 | (length >> 11), (length >> 3) & 0xff, ((length & 7) << 5) | 0x1f, 0xfc]);
  return frame;
}

describe('the kind of a stream', () => {
  it.each([0, 1, 300, 700])('is MP3 from wherever it begins: byte %i', (from) => {
    expect(streamKindOf(MP3.subarray(from, from + 4096), false)).toEqual({ name: 'MP3', decoder: 'mp3' });
  });

  it('is AAC by several frames of it, also from the middle of one', () => {
    const frames = Buffer.concat([adts(300), adts(280), adts(310), adts(290), adts(40)]);
    for (const from of [0, 100])
      expect(streamKindOf(frames.subarray(from), false)).toEqual({ name: 'AAC', ffmpeg: 'aac' });
  });

  it('has to come while only one frame is there', () => {
    expect(streamKindOf(adts(300), false)).toBeUndefined();
    expect(streamKindOf(Buffer.alloc(3000, 0x80), false)).toBeUndefined();
    expect(streamKindOf(Buffer.alloc(4096, 0x80), false)).toBeNull();
    expect(streamKindOf(Buffer.alloc(100, 0x80), true)).toBeNull();
  });

  it('is left to others where it is WAV, Opus in Ogg, WebM or text', () => {
    const heads = ['RIFF\xff\xff\xff\x7fWAVEfmt \x10\0\0\0\x01\0', '\x1aE\xdf\xa3', '{"type":"KeepAlive"}'];
    for (const head of heads) expect(streamKindOf(Buffer.from(head.padEnd(64), 'latin1'), false)).toBeNull();
    const opus = readFileSync(packagePath('fixtures', 'audio', 'short.opus'));
    expect(streamKindOf(opus.subarray(0, 100), false)).toBeNull();
  });

  it('is MP4 where its index comes first, and is refused where its sound does', () => {
    expect(streamKindOf(Buffer.concat([box('ftyp', 24), box('moov', 100)]), false)).toEqual(MP4);
    expect(streamKindOf(Buffer.concat([box('styp', 24), box('moof', 100)]), false)).toEqual(MP4);
    expect(streamKindOf(Buffer.concat([box('ftyp', 40)]), false)).toBeUndefined();
    const endFirst = Buffer.concat([box('ftyp', 24), box('free', 0), box('mdat', 100)]);
    expect(() => streamKindOf(endFirst, false)).toThrow('MP4 with its index at the end');
  });
});
