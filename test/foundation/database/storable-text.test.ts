import fc from 'fast-check';
import { expect, it } from 'vitest';
import { storableText, storableValue } from '../../../src/foundation/database/storable-text.ts';

const anyText = fc.string({
  unit: fc.oneof(fc.constantFrom('\0', '\ud83d', '\ude00', '\\', '"'), fc.string({ unit: 'binary' })),
});

it('what a database refuses becomes U+FFFD, and all other text stays as it is', () => {
  expect(storableText('a\0b')).toBe('a\uFFFDb');
  expect(storableText('lone \ud83d half')).toBe('lone \uFFFD half');
  expect(storableText('whole 😀, \\u0000 in words')).toBe('whole 😀, \\u0000 in words');
  expect(storableText('{not JSON \\u0000')).toBe('{not JSON \\u0000');
});

it('JSON is cleaned at any depth, in names too, also where a string of it is JSON', () => {
  const inner = JSON.stringify({ said: 'a\0' });
  const spoilt = JSON.stringify({
    'a\0': ['\udc00', { deep: 'x\0y' }],
    inner,
    path: 'C:\\u0000',
    number: 1.5,
    no: null,
  });
  expect(JSON.parse(storableText(spoilt))).toEqual({
    'a\uFFFD': ['\uFFFD', { deep: 'x\uFFFDy' }],
    inner: JSON.stringify({ said: 'a\uFFFD' }),
    path: 'C:\\u0000',
    number: 1.5,
    no: null,
  });
});

it('any text has neither afterwards, and stays so', () => {
  fc.assert(
    fc.property(fc.oneof(anyText, fc.json({ stringUnit: 'binary' })), (text) => {
      const cleaned = storableText(text);
      expect(cleaned.isWellFormed()).toBe(true);
      expect(cleaned).not.toContain('\0');
      expect(storableText(cleaned)).toBe(cleaned);
    }),
  );
});

it('arrays are cleaned, and what is no text stays', () => {
  const bytes = Uint8Array.of(0, 1);
  expect(storableValue(['a\0', ['\ud800'], 1])).toEqual(['a\uFFFD', ['\uFFFD'], 1]);
  expect([1, null, true, bytes].map(storableValue)).toEqual([1, null, true, bytes]);
});
