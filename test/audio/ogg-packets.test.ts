import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { OggPackets } from '../../src/audio/ogg-packets.ts';
import { oggFile, oggPage, opusHead } from '../helpers/opus-sound.ts';

const PACKETS = [Buffer.alloc(30, 1), Buffer.alloc(255, 2), Buffer.alloc(700, 3), Buffer.alloc(1, 4)];

/** All packets of `file`, in pieces of `size` bytes. */
function read(file: Uint8Array, size = file.length): string[] {
  const ogg = new OggPackets();
  const packets: Uint8Array[] = [];
  for (let at = 0; at < file.length; at += size) packets.push(...ogg.push(file.subarray(at, at + size)));
  return packets.map((packet) => Buffer.from(packet).toString('hex'));
}

const hex = (packets: readonly Uint8Array[]): string[] => packets.map((each) => Buffer.from(each).toString('hex'));

describe('the packets of Opus in Ogg', () => {
  it('are the same however the file is cut', () => {
    const file = oggFile([...PACKETS, ...PACKETS]);
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 900 }), (size) => {
        expect(read(file, size)).toEqual(hex([...PACKETS, ...PACKETS]));
      }),
      { numRuns: 30 },
    );
  });

  it('go on over pages, and are dropped where the end of one is missing or it is too long', () => {
    const begun = oggPage([]);
    begun[26] = 1;
    const first = Buffer.concat([begun, Uint8Array.of(255), Buffer.alloc(255, 5)]);
    const head = oggPage([opusHead(1)], { flags: 2 });
    const rest = oggPage([Buffer.alloc(9, 5)], { flags: 1 });
    expect(read(Buffer.concat([head, first, rest]))).toEqual(hex([Buffer.alloc(264, 5)]));
    expect(read(Buffer.concat([head, first, oggPage([PACKETS[0] as Buffer])]))).toEqual(hex([PACKETS[0] as Buffer]));
    const long = oggPage([Buffer.alloc(9000, 6), PACKETS[3] as Buffer]);
    expect(read(Buffer.concat([head, long]))).toEqual(hex([PACKETS[3] as Buffer]));
  });

  it('are those of one stream', () => {
    const other = oggPage([Buffer.from('\x01vorbis of another')], { flags: 2, serial: 8 });
    const between = oggPage([Buffer.alloc(40)], { serial: 8 });
    const head = oggPage([opusHead(2)], { flags: 2 });
    const file = Buffer.concat([other, head, between, oggPage(PACKETS)]);
    expect(read(file, 100)).toEqual(hex(PACKETS));
  });

  it('are refused with many channels, without Opus, and where pages do not follow each other', () => {
    expect(() => read(oggFile(PACKETS, 8))).toThrow('8 channels');
    const foreign = oggPage([Buffer.alloc(8000)], { flags: 2 });
    expect(() => read(Buffer.concat(Array(9).fill(foreign)))).toThrow('without a stream of Opus');
    expect(() => read(Buffer.concat([oggFile(PACKETS), Buffer.from('more')]))).toThrow('does not begin');
  });
});
