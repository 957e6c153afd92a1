import assert from 'node:assert/strict';
import { decodeBase64, encodeBase64 } from '../../../src/protocols/base64.ts';
import type { FuzzTarget } from '../fuzz.ts';

const ALPHABET = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

export const target: FuzzTarget = {
  name: 'base64',
  seeds: ['', '/w==', '//8=', '////', 'AAECAwQFBgcICQ==', '_-_-', ' /w==\n'].map((text) => Buffer.from(text)),
  words: ['=', '==', '+', '/', '-', '_', ' ', '\u0141'],
  run(input) {
    const text = Buffer.from(input).toString();
    const bytes = decodeBase64(text);
    if (bytes === null) return;
    assert.match(text, ALPHABET);
    assert.equal(encodeBase64(bytes), text);
  },
};
