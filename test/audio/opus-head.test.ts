import { describe, expect, it } from 'vitest';
import { readOpusHead } from '../../src/audio/opus-head.ts';
import { opusHead } from '../helpers/opus-sound.ts';

/** A header with a table of channels. */
function mapped(channels: number, family: number, ...table: number[]): Uint8Array {
  const head = opusHead(channels);
  head[18] = family;
  return Buffer.concat([head, Uint8Array.from(table)]);
}

describe('the header of a stream of Opus', () => {
  it('says the channels, and what is not to be heard', () => {
    const head = opusHead(2);
    head.set([0x38, 0x01], 10);
    expect(readOpusHead(head)).toEqual({ channels: 2, preSkipSamples: 312 });
    expect(readOpusHead(mapped(1, 1, 1, 0, 0)).channels).toBe(1);
    expect(readOpusHead(mapped(2, 1, 1, 1, 0, 1)).channels).toBe(2);
  });

  it.each([
    ['surround', mapped(6, 1, 4, 2, 0, 4, 1, 2, 3, 5)],
    ['two streams', mapped(2, 1, 2, 0, 0, 1)],
    ['channels in another order', mapped(2, 1, 1, 1, 1, 0)],
    ['no table', mapped(2, 1)],
    ['a family without an order', mapped(2, 255, 1, 1, 0, 1)],
    ['no channel', opusHead(0)],
  ])('is refused with %s', (_, head) => {
    expect(() => readOpusHead(head)).toThrow(/channels in mapping family \d+, expected one or two in one stream/);
  });

  it('is refused where it is none', () => {
    expect(() => readOpusHead(opusHead(1).subarray(0, 18))).toThrow('got 18 bytes');
    expect(() => readOpusHead(Buffer.alloc(19))).toThrow('expected OpusHead');
    const newer = opusHead(1);
    newer[8] = 16;
    expect(() => readOpusHead(newer)).toThrow('version 16');
  });
});
