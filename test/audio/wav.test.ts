import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readWav, writeWav } from '../../src/audio/wav.ts';
import { TrunklineError } from '../../src/foundation/errors.ts';

interface Parts {
  tag?: number;
  channels?: number;
  rateHz?: number;
  bits?: number;
  data?: Uint8Array;
  dataSize?: number;
  /** Chunks between fmt and data, as they stand in the file. */
  between?: Uint8Array;
  after?: Uint8Array;
  extensible?: boolean;
}

function u16(...values: number[]): number[] {
  return values.flatMap((value) => [value & 255, (value >> 8) & 255]);
}

function u32(...values: number[]): number[] {
  return values.flatMap((value) => u16(value & 0xffff, value >>> 16));
}

function text(value: string): number[] {
  return [...Buffer.from(value, 'latin1')];
}

/** A WAV file written out field by field. */
function wav(parts: Parts = {}): Uint8Array {
  const {
    tag = 1,
    channels = 1,
    rateHz = 8000,
    bits = 16,
    data = new Uint8Array(),
    between = [],
    after = [],
    extensible = false,
  } = parts;
  const align = (channels * bits) / 8;
  const guidTail = [0, 0, 0, 0, 0x10, 0, 0x80, 0, 0, 0xaa, 0, 0x38, 0x9b, 0x71];
  const fields = [...u16(extensible ? 0xfffe : tag, channels), ...u32(rateHz, rateHz * align), ...u16(align, bits)];
  const fmt = extensible ? [...fields, ...u16(22, bits), ...u32(0), ...u16(tag), ...guidTail] : fields;
  const body = [
    ...text('WAVEfmt '),
    ...u32(fmt.length),
    ...fmt,
    ...between,
    ...text('data'),
    ...u32(parts.dataSize ?? data.length),
    ...data,
    ...after,
  ];
  return Uint8Array.from([...text('RIFF'), ...u32(body.length), ...body]);
}

function bytesOf(array: Int16Array | Float32Array | Float64Array | Int32Array): Uint8Array {
  return new Uint8Array(array.buffer);
}

function onlyChannel(bytes: Uint8Array): number[] {
  const { channels } = readWav(bytes);
  expect(channels).toHaveLength(1);
  return [...(channels[0] ?? [])];
}

describe('sample formats', () => {
  it.each<[string, Parts, number[]]>([
    ['PCM 8', { bits: 8, data: Uint8Array.of(0, 128, 255) }, [-32_768, 0, 32_512]],
    ['PCM 16', { data: bytesOf(Int16Array.of(-32_768, -1, 32_767)) }, [-32_768, -1, 32_767]],
    [
      'PCM 24',
      { bits: 24, data: Uint8Array.of(0xff, 0xff, 0x7f, 0, 0, 0x80, 0x12, 0x34, 0x56) },
      [32_767, -32_768, 0x5634],
    ],
    [
      'PCM 32',
      { bits: 32, data: bytesOf(Int32Array.of(0x7fff_ffff, -0x8000_0000, 0x0001_8000)) },
      [32_767, -32_768, 1],
    ],
    [
      'float 32',
      { tag: 3, bits: 32, data: bytesOf(Float32Array.of(0.5, -1, 2, Number.NaN)) },
      [16_384, -32_768, 32_767, 0],
    ],
    ['float 64', { tag: 3, bits: 64, data: bytesOf(Float64Array.of(-0.25, 1e300)) }, [-8192, 32_767]],
    ['µ-law', { tag: 7, bits: 8, data: Uint8Array.of(0xff, 0x00, 0x80) }, [0, -32_124, 32_124]],
    ['A-law', { tag: 6, bits: 8, data: Uint8Array.of(0xd5, 0x2a) }, [8, -32_256]],
  ])('%s is read, plain and extensible', (_, parts, expected) => {
    expect(onlyChannel(wav(parts))).toEqual(expected);
    expect(onlyChannel(wav({ ...parts, extensible: true }))).toEqual(expected);
  });

  it('channels are taken apart', () => {
    const audio = readWav(wav({ channels: 3, rateHz: 44_100, data: bytesOf(Int16Array.of(1, 2, 3, 4, 5, 6, 7)) }));
    expect(audio.rateHz).toBe(44_100);
    expect(audio.channels.map((channel) => [...channel])).toEqual([
      [1, 4],
      [2, 5],
      [3, 6],
    ]);
  });
});

describe('what writers get wrong', () => {
  const data = bytesOf(Int16Array.of(10, 20, 30));

  it.each<[string, Parts, number[]]>([
    ['a size of 0 in a streamed file', { data, dataSize: 0 }, [10, 20, 30]],
    ['a size of 0xFFFFFFFF', { data, dataSize: 0xffff_ffff }, [10, 20, 30]],
    ['a size beyond the end', { data, dataSize: 1000 }, [10, 20, 30]],
    ['a sample cut in half', { data: data.subarray(0, 5) }, [10, 20]],
    [
      'an odd LIST chunk, padded',
      { data, between: Uint8Array.from([...text('LIST'), ...u32(3), 1, 2, 3, 0]) },
      [10, 20, 30],
    ],
    [
      'an odd LIST chunk, not padded',
      { data, between: Uint8Array.from([...text('LIST'), ...u32(3), 1, 2, 3]) },
      [10, 20, 30],
    ],
    ['chunks after the data', { data, after: Uint8Array.from([...text('LIST'), ...u32(4), 1, 2, 3, 4]) }, [10, 20, 30]],
    ['truly no data, but a chunk after it', { after: Uint8Array.from([...text('LIST'), ...u32(4), 1, 2, 3, 4]) }, []],
  ])('%s is forgiven', (_, parts, expected) => {
    expect(onlyChannel(wav(parts))).toEqual(expected);
  });

  it('a view into a larger buffer is read where it lies', () => {
    const file = wav({ data });
    const larger = new Uint8Array(file.length + 7);
    larger.set(file, 7);
    expect(onlyChannel(larger.subarray(7))).toEqual([10, 20, 30]);
  });
});

describe('what cannot be read is named', () => {
  const longFmt = text('RIFF\x24\0\0\0WAVEfmt \x10\0\0\0');
  it.each<[string, Uint8Array, RegExp]>([
    ['an Ogg file', Uint8Array.from(text('OggS0123456789')), /begins with "OggS"/],
    ['nothing', new Uint8Array(), /0 bytes/],
    ['IMA ADPCM', wav({ tag: 0x11, bits: 4 }), /codec tag is 0x11 \(IMA ADPCM\)/],
    ['an unnamed codec', wav({ tag: 0x1234 }), /codec tag is 0x1234, expected PCM/],
    ['PCM of 12 bits', wav({ bits: 12 }), /12 bits/],
    ['no channel', wav({ channels: 0 }), /0 channels, expected 1 to 8/],
    ['nine channels', wav({ channels: 9 }), /9 channels/],
    ['a rate of 0', wav({ rateHz: 0 }), /0 Hz, expected 4000 to 192000/],
    ['a cut header', Uint8Array.from(longFmt), /fmt chunk claims \d+ bytes, but 0 follow/],
    ['no data chunk', wav().subarray(0, 36), /no data chunk/],
    ['data before fmt', Uint8Array.from([...text('RIFF\0\0\0\0WAVEdata'), ...u32(2), 1, 2]), /data chunk comes before/],
    ['no chunk at all', Uint8Array.from(text('RIFF\0\0\0\0WAVE')), /no fmt chunk/],
  ])('%s', (_, bytes, message) => {
    expect(() => readWav(bytes)).toThrow(TrunklineError);
    expect(() => readWav(bytes)).toThrow(message);
  });
});

it('what is written is read back', () => {
  fc.assert(
    fc.property(
      fc.array(fc.int16Array({ minLength: 20, maxLength: 20 }), { minLength: 1, maxLength: 8 }),
      (channels) => {
        expect(readWav(writeWav(channels, 16_000))).toEqual({ rateHz: 16_000, channels });
      },
    ),
  );
});

it('a shorter channel is written with silence at its end', () => {
  const { channels } = readWav(writeWav([Int16Array.of(1, 2), Int16Array.of(3)], 8000));
  expect(channels.map((channel) => [...channel])).toEqual([
    [1, 2],
    [3, 0],
  ]);
});
