import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { joinBytes } from '../../src/audio/bytes.ts';
import { WebmPackets } from '../../src/audio/webm-packets.ts';
import { opusHead } from '../helpers/opus-sound.ts';
import { block, cluster, element, trackEntry, webmFile, webmHead } from '../helpers/webm.ts';

const PACKETS = [Buffer.alloc(30, 1), Buffer.alloc(255, 2), Buffer.alloc(700, 3), Buffer.alloc(1, 4)];
const [A, B, C, D] = PACKETS as [Buffer, Buffer, Buffer, Buffer];

/** All packets of `file`, in pieces of `size` bytes. */
function read(file: Uint8Array, size = file.length, webm = new WebmPackets()): string[] {
  const packets: Uint8Array[] = [];
  for (let at = 0; at < file.length; at += size) packets.push(...webm.push(file.subarray(at, at + size)));
  return hex(packets);
}

const hex = (packets: readonly Uint8Array[]): string[] => packets.map((each) => Buffer.from(each).toString('hex'));
const follow = (...content: Uint8Array[]): Uint8Array => Buffer.concat([webmHead(), cluster(content)]);

describe('the packets of Opus in WebM', () => {
  it('are the same however the file is cut', () => {
    const file = webmFile([...PACKETS, ...PACKETS]);
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 900 }), (size) => {
        expect(read(file, size)).toEqual(hex([...PACKETS, ...PACKETS]));
      }),
      { numRuns: 30 },
    );
  });

  it('come in simple blocks and in groups, and are passed over where they are of another track', () => {
    const video = trackEntry(1, 'V_VP8', null);
    const head = webmHead([video, trackEntry(2, 'A_OPUS', opusHead(2))]);
    const group = element(
      'blockGroup',
      joinBytes([element('discardPadding', Uint8Array.of(9, 9)), element('block', block(A, { track: 2 }))]),
    );
    const picture = element('simpleBlock', block(Buffer.alloc(100_000), { track: 1 }));
    const file = joinBytes([head, cluster([picture, group, picture]), cluster([element('void', C), group])]);
    for (const size of [7, 1000, file.length]) expect(read(file, size)).toEqual(hex([A, A]));
  });

  it('are laced in three ways, or not', () => {
    const laced = (lacing: number, ...parts: Uint8Array[]) =>
      read(follow(element('simpleBlock', block(joinBytes(parts), { lacing }))), 100);
    // Three sizes: 30, 255 and the rest; 255 goes on in another byte.
    expect(laced(2, Uint8Array.of(2, 30, 255, 0), A, B, C)).toEqual(hex([A, B, C]));
    // 30, then 225 more in two bytes: 225 + 8191.
    expect(laced(6, Uint8Array.of(2, 0x80 | 30, 0x40 | (8416 >> 8), 8416 & 0xff), A, B, C)).toEqual(hex([A, B, C]));
    expect(laced(4, Uint8Array.of(2), A, A, A)).toEqual(hex([A, A, A]));
  });

  it.each([
    ['Xiph', 2, [2, 30, 255]],
    ['Xiph, longer than the block', 2, [1, 200, 1]],
    ['EBML', 6, [2, 0x81]],
    ['EBML, less than nothing', 6, [3, 0x81, 0x80, 0x80, 1, 2]],
    ['EBML, longer than the block', 6, [1, 0xfe, 1]],
    ['one size', 4, [2, 1, 2, 3, 4]],
    ['no count', 2, []],
  ])('are refused where lacing is wrong: %s', (_, lacing, bytes) => {
    const file = follow(element('simpleBlock', block(Uint8Array.from(bytes), { lacing })));
    expect(() => read(file)).toThrow(/laced block, expected/);
  });

  it('go on in another file, whose header counts then', () => {
    const skipping = opusHead(2);
    skipping[10] = 100;
    const webm = new WebmPackets();
    expect(webm.head).toBeNull();
    expect(read(webmFile([A]), 11, webm)).toEqual(hex([A]));
    expect(webm.head).toEqual({ channels: 1, preSkipSamples: 0 });
    const next = webmFile([B], webmHead([trackEntry(1, 'A_OPUS', skipping)]));
    expect(read(next, 11, webm)).toEqual(hex([B]));
    expect(webm.head).toEqual({ channels: 2, preSkipSamples: 100 });
  });

  it('have what the track says where it has no header of Opus', () => {
    const delay = element(0x56aa, Uint8Array.of(0x63, 0x2e, 0xa0));
    const channels = element(0xe1, element(0x9f, Uint8Array.of(2)));
    const entry = joinBytes([
      element('trackNumber', Uint8Array.of(1)),
      element('codecId', Buffer.from('A_OPUS')),
      delay,
      channels,
    ]);
    const webm = new WebmPackets();
    expect(read(webmFile([D], webmHead([element('trackEntry', entry)])), 100, webm)).toEqual(hex([D]));
    // 6.5 ms at 48 kHz.
    expect(webm.head).toEqual({ channels: 2, preSkipSamples: 312 });
  });

  it('are refused with the codec that came in their place', () => {
    const wrong = (...tracks: Uint8Array[]) => read(webmHead(tracks));
    expect(() => wrong(trackEntry(1, 'A_PCM/FLOAT/IEEE', null))).toThrow('got WebM with A_PCM/FLOAT/IEEE');
    expect(() => wrong(trackEntry(1, 'V_VP8', null), trackEntry(2, 'A\u0000_VORBIS\n', null))).toThrow(
      'V_VP8, A_VORBIS',
    );
    expect(() => wrong()).toThrow('no track');
    expect(() => wrong(trackEntry(1, 'A_OPUS', opusHead(6)))).toThrow('6 channels');
    expect(() => wrong(trackEntry(1, 'A_OPUS', Buffer.from('OpusHea')))).toThrow('expected OpusHead');
    const packed = joinBytes([element('codecId', Buffer.from('A_OPUS')), element(0x6d80, A)]);
    expect(() => wrong(element('trackEntry', packed))).toThrow('compressed or encrypted');
  });

  it('are refused where an element is longer than anything of use', () => {
    const head = webmHead();
    const none = new Uint8Array(0);
    const simple = element('simpleBlock', block(none), 70_000);
    expect(() => read(joinBytes([head, simple]))).toThrow('a block of 70000 bytes, expected at most');
    expect(() => read(joinBytes([head, element('void', none, 1e9)]))).toThrow('1000000000 bytes of the element 0xec');
    expect(() => read(joinBytes([head, element('void', none, null)]))).toThrow('no bytes of the element 0xec');
    expect(() => read(element('tracks', none, 1e6))).toThrow('tracks of 1000000 bytes');
    const before = element('void', Buffer.alloc(600_000));
    expect(() => read(joinBytes([before, before]), 4096)).toThrow('without a track of Opus');
    expect(() => read(joinBytes([head, Uint8Array.of(0)]))).toThrow("first byte of an element's id");
    expect(() => read(joinBytes([head, Uint8Array.of(0xec, 0)]))).toThrow('more than 8 bytes');
  });
});
