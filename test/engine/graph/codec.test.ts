import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decode, encode, type Schema } from '../../../engine/graph/codec.ts';
import { MODEL, type ModelProto } from '../../../engine/graph/onnx-proto.ts';
import { shippedFiles } from '../../../engine/models/moonshine.ts';
import { smallGraph } from './small-graph.ts';

const LEAF: Schema = { name: { number: 1, type: 'string' } };
const ALL: Schema = {
  count: { number: 1, type: 'int32' },
  size: { number: 2, type: 'int64' },
  share: { number: 3, type: 'float' },
  name: { number: 4, type: 'string' },
  data: { number: 5, type: 'bytes' },
  sizes: { number: 6, type: 'int64', many: true },
  packedSizes: { number: 7, type: 'int64', many: true, packed: true },
  leaves: { number: 8, type: LEAF, many: true },
  inner: { number: 17, type: () => ALL },
};

const hex = (text: string) => Buffer.from(text.replaceAll(' ', ''), 'hex');

describe('protobuf messages', () => {
  it('come out as they went in', () => {
    const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
    const scalars = {
      count: fc.integer(),
      size: int64,
      share: fc.float({ noNaN: true }),
      name: fc.string({ unit: 'grapheme' }),
      data: fc.uint8Array(),
    };
    const lists = {
      sizes: fc.array(int64),
      packedSizes: fc.array(int64),
      leaves: fc.array(fc.record({ name: fc.string() })),
    };
    const message = fc.record({ ...scalars, ...lists }, { requiredKeys: ['sizes', 'packedSizes', 'leaves'] });
    fc.assert(
      fc.property(message, (value) => {
        expect(decode(ALL, encode(ALL, value))).toEqual(value);
      }),
    );
  });

  it('may hold lists packed or not, whatever the table says', () => {
    expect(decode(ALL, hex('30 01  32 02 02 03  38 04  3a 01 05'))).toMatchObject({
      sizes: [1n, 2n, 3n],
      packedSizes: [4n, 5n],
    });
  });

  it('keep the fields that nobody knows', () => {
    const bytes = hex('08 01  f8 01 07  fa 01 02 aa bb');
    expect(encode(ALL, decode(ALL, bytes))).toEqual(new Uint8Array(bytes));
  });

  it.each([
    ['a field cut short', '22 05 61 62'],
    ['a length beyond the end', '2a ff ff ff ff 0f'],
    ['a number without an end', '08 ff'],
    ['a text where a number belongs', '0a 01 61'],
    ['a float cut short', '1d 00 00'],
    ['field number zero', '00 00'],
    ['text that is not UTF-8', '22 01 ff'],
  ])('are refused: %s', (_, bytes) => {
    expect(() => decode(ALL, hex(bytes))).toThrow('not a message of the expected kind');
  });

  it('are refused when they are nested beyond all sense', () => {
    let bytes: Uint8Array = new Uint8Array(0);
    for (let depth = 0; depth < 100; depth++)
      bytes = encode({ inner: { number: 17, type: 'bytes' } }, { inner: bytes });
    expect(() => decode(ALL, bytes)).toThrow('nested more than 64 deep');
  });
});

describe('ONNX files', () => {
  it.each(Object.entries(shippedFiles()))('of the npm package come out byte for byte: %s', (_, path) => {
    const bytes = readFileSync(path);
    const model = decode<ModelProto>(MODEL, bytes);
    expect(model.graph?.node.length).toBeGreaterThan(0);
    expect(Buffer.compare(encode(MODEL, model), bytes)).toBe(0);
  });

  it('of our own come out byte for byte', () => {
    const bytes = smallGraph();
    expect(Buffer.compare(encode(MODEL, decode(MODEL, bytes)), bytes)).toBe(0);
  });
});
