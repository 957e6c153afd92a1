import { describe, expect, it } from 'vitest';
import { TelnyxDialect } from '../../src/carriers/telnyx/wire/telnyx.ts';
import { MULAW_8K } from '../../src/foundation/units.ts';
import { readCodec } from '../../src/protocols/codecs.ts';

/** Deeper than the stack is for what looks into it by recursion. */
const DEEP: unknown = JSON.parse(`${'['.repeat(30_000)}${']'.repeat(30_000)}`);
const NO_TEXT: unknown = JSON.parse('{"toString":0,"valueOf":0}');
const GOOD = { encoding: 'audio/x-mulaw', rate: 8000, channels: 1 };

const read = (format: Parameters<typeof readCodec>[0]) => readCodec(format, ['audio/x-mulaw'], 'start.mediaFormat');

describe('a declared format', () => {
  it('is taken with its numbers as numbers or as texts', () => {
    expect(read(GOOD)).toBe(MULAW_8K);
    expect(read({ ...GOOD, rate: '8000', channels: '1' })).toBe(MULAW_8K);
  });

  it.each(['encoding', 'rate', 'channels'])(
    'is refused with its code when its %s is a list or an object, however deep',
    (field) => {
      for (const value of [DEEP, NO_TEXT, [GOOD[field as keyof typeof GOOD]]])
        expect(() => read({ ...GOOD, [field]: value })).toThrow(expect.objectContaining({ code: 'codec_unsupported' }));
    },
  );
});

it('an error of Telnyx is counted under no name when its code is a list or an object, however deep', () => {
  const dialect = new TelnyxDialect({ bigEndian: false });
  for (const [code, what] of [
    [DEEP, 'error'],
    [NO_TEXT, 'error'],
    ['100003', 'error_100003'],
    [100003, 'error_100003'],
  ]) {
    const json = code === DEEP ? '['.repeat(30_000) + ']'.repeat(30_000) : JSON.stringify(code);
    const error = `{"event":"error","payload":{"code":${json}}}`;
    expect(dialect.receive(error)).toEqual({ type: 'ignored', what });
  }
});
