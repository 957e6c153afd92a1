import type { Random } from './random.ts';

type Mutation = (bytes: Buffer, random: Random, words: readonly string[], seeds: readonly Uint8Array[]) => Buffer;

const INPUT_MAX_BYTES = 16_384;
const EDGE_BYTES = [0, 1, 0x7f, 0x80, 0xff, 0x0a, 0x22, 0x7b];
const EDGE_VALUES = [
  ...['null', 'true', '{}', '[]', '""', '"0"', '0', '-1', '"-1"', '1e999', '0.5', '1e-7', '9007199254740993'],
  ...['"99999999999999999999"', '"\\u0000"', '"\\ud800"', '"__proto__"', '"constructor"', '[[[[[[[[1]]]]]]]]'],
  // Deeper than the stack is for what goes into a value by recursion, and an object that is no text and no number.
  ...[
    `${'['.repeat(7000)}${']'.repeat(7000)}`,
    `${'{"a":'.repeat(2400)}1${'}'.repeat(2400)}`,
    '{"toString":0,"valueOf":0}',
  ],
];

function cut(bytes: Buffer, random: Random): { from: number; to: number } {
  const from = random.below(bytes.length);
  return { from, to: Math.min(bytes.length, from + 1 + random.below(random.pick([4, 32, 512]))) };
}

function splice(bytes: Buffer, from: number, to: number, inserted: Uint8Array): Buffer {
  return Buffer.concat([bytes.subarray(0, from), inserted, bytes.subarray(to)]);
}

function changeLines(bytes: Buffer, change: (lines: string[]) => void): Buffer {
  const lines = bytes.toString('latin1').split('\n');
  change(lines);
  return Buffer.from(lines.join('\n'), 'latin1');
}

const MUTATIONS: readonly Mutation[] = [
  function flipBit(bytes, random) {
    const at = random.below(bytes.length);
    return splice(bytes, at, at + 1, Buffer.of((bytes[at] ?? 0) ^ (1 << random.below(8))));
  },
  function setByte(bytes, random) {
    const at = random.below(bytes.length);
    return splice(bytes, at, at + 1, Buffer.of(random.pick(EDGE_BYTES)));
  },
  function insertRandom(bytes, random) {
    const at = random.below(bytes.length + 1);
    return splice(bytes, at, at, Buffer.from(Array.from({ length: 1 + random.below(8) }, () => random.below(256))));
  },
  function remove(bytes, random) {
    const { from, to } = cut(bytes, random);
    return splice(bytes, from, to, Buffer.alloc(0));
  },
  function truncate(bytes, random) {
    return bytes.subarray(0, random.below(bytes.length + 1));
  },
  function repeat(bytes, random) {
    const { from, to } = cut(bytes, random);
    return splice(bytes, from, from, Buffer.concat(Array(1 + random.below(4)).fill(bytes.subarray(from, to))));
  },
  function crossOver(bytes, random, _, seeds) {
    const other = random.pick(seeds);
    return Buffer.concat([
      bytes.subarray(0, random.below(bytes.length + 1)),
      other.subarray(random.below(other.length + 1)),
    ]);
  },
  function insertWord(bytes, random, words) {
    const at = random.below(bytes.length + 1);
    return splice(bytes, at, at, Buffer.from(random.pick([...words, ...EDGE_VALUES])));
  },
  /** Text formats: a whole string or number becomes another value. */
  function replaceValue(bytes, random, words) {
    const text = bytes.toString('latin1');
    const values = [...text.matchAll(/"[^"\n]*"|-?\d+/g)];
    if (values.length === 0) return bytes;
    const value = random.pick(values);
    const replacement = random.pick([
      ...words.map((word) => JSON.stringify(word)),
      ...EDGE_VALUES,
      random.pick(values)[0],
    ]);
    return splice(bytes, value.index, value.index + value[0].length, Buffer.from(replacement, 'latin1'));
  },
  function moveLine(bytes, random) {
    return changeLines(bytes, (lines) => {
      const [line = ''] = lines.splice(random.below(lines.length), 1);
      lines.splice(random.below(lines.length + 1), 0, line);
    });
  },
  function repeatLine(bytes, random) {
    return changeLines(bytes, (lines) => lines.splice(random.below(lines.length + 1), 0, random.pick(lines)));
  },
  function dropLine(bytes, random) {
    return changeLines(bytes, (lines) => lines.splice(random.below(lines.length), 1));
  },
];

/** One of the seeds, changed in one to eight ways. */
export function mutate(seeds: readonly Uint8Array[], words: readonly string[], random: Random): Uint8Array {
  let bytes: Buffer = Buffer.from(random.pick(seeds));
  for (let left = 1 + random.below(8); left > 0; left--)
    bytes = random.pick(MUTATIONS)(bytes, random, words, seeds).subarray(0, INPUT_MAX_BYTES);
  return bytes;
}
