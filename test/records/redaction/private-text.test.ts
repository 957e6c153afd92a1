import { expect, it } from 'vitest';
import { NO_PATTERNS, readOwnPatterns } from '../../../src/records/redaction/own-patterns.ts';
import { mayBePrivate } from '../../../src/records/redaction/private-text.ts';

it.each([
  'Press 1 for sales, 2 for support and 3 for everything else.',
  'We are open from nine to five.',
  'Thank you for calling.',
  '',
])('a sentence that tells nothing of a caller may be kept: %s', (text) => {
  expect(mayBePrivate(text, NO_PATTERNS)).toBe(false);
});

it.each([
  'Your card is 4539 1488 0343 6467.',
  'It begins with 4539.',
  'Then six four six seven.',
  'We wrote to ada@example.com.',
])('a sentence that may have part of a private number is not kept: %s', (text) => {
  expect(mayBePrivate(text, NO_PATTERNS)).toBe(true);
});

it("a sentence with something of the operator's own patterns is not kept", () => {
  const { patterns } = readOwnPatterns('code word: \\bswordfish\\b');
  expect(mayBePrivate('The word is swordfish.', patterns)).toBe(true);
});
