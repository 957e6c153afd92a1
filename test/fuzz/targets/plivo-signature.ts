import assert from 'node:assert/strict';
import { isPlivoHandshake, signPlivo } from '../../../src/carriers/plivo/wire/plivo-signature.ts';
import type { FuzzTarget } from '../fuzz.ts';

const AUTH_TOKEN = '12345';

/**
 * A handshake as three lines: url, signature, nonce. What Plivo signed is let in, among other signatures too; what it
 * did not sign is not.
 */
export const target: FuzzTarget = {
  name: 'plivo-signature',
  seeds: [
    'wss://bridge.example.com/plivo/media\nx,y\n42',
    'https://h/?b=2&a=1&a=0\n\n',
    'ws://[::1]:8080/?%zz\nü\n7',
  ].map((text) => Buffer.from(text)),
  words: ['https://', 'wss://', '?', '&', '=', ',', '%27', '%zz', '+'],
  run(input) {
    const [url = '', signature = '', nonce = ''] = Buffer.from(input).toString().split('\n');
    assert(!isPlivoHandshake({ authToken: AUTH_TOKEN, signature, nonce, url }), 'a made-up signature was accepted');
    if (!/^(?:https?|wss?):\/\//.test(url)) return;
    const signed = `${signature},${signPlivo(AUTH_TOKEN, url, nonce)}`;
    assert(
      isPlivoHandshake({ authToken: AUTH_TOKEN, signature: signed, nonce, url }),
      'a signed handshake was refused',
    );
    assert(!isPlivoHandshake({ authToken: '', signature: signed, nonce, url }), 'no token let everybody in');
  },
};
