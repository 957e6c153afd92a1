import { expect, it } from 'vitest';
import { namesSipDomain } from '../../../../src/carriers/sip/wire/certificate-names.ts';

it.each([
  ['URI:sip:example.com', 'example.com', true],
  ['DNS:pbx.example.com, URI:sip:Example.com', 'example.COM', true],
  ['DNS:example.com', 'example.com', false],
  ['URI:sips:example.com', 'example.com', false],
  ['URI:sip:alice@example.com', 'example.com', false],
  ['URI:sip:example.com.evil.test', 'example.com', false],
  ['DNS:"evil.test, URI:sip:example.com, more"', 'example.com', false],
  ['', 'example.com', false],
])('%s is for %s: %s', (names, domain, expected) => {
  expect(namesSipDomain(names, domain)).toBe(expected);
});
