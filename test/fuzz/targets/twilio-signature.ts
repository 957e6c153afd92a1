import assert from 'node:assert/strict';
import { isTwilioHandshake, isTwilioWebhook, signTwilio } from '../../../src/protocols/twilio-signature.ts';
import type { FuzzTarget } from '../fuzz.ts';

const AUTH_TOKEN = '12345';

function request(url: string, signature: string, body: string): Uint8Array {
  return Buffer.from(`${url}\n${signature}\n${body}`);
}

/**
 * A request as three lines: url, signature, body. What Twilio signed is let in; what it did not sign is not, and
 * nothing throws.
 */
export const target: FuzzTarget = {
  name: 'twilio-signature',
  seeds: [
    request(
      'https://mycompany.com/myapp.php?foo=1&bar=2',
      'RSOYDt4T1cUTdK1PDd93/VVr8B8',
      'CallSid=CA1&From=%2B14158675309&Digits=1&Digits=2',
    ),
    request('wss://bridge.example.com:443/twilio/media', '', ''),
    request('wss://user:secret@[::1]', 'x', ''),
    request("https://h.example/it's?bodySHA256=ab", 'ü', '{"a":1}'),
  ],
  words: ['https://', 'wss://', ':443', ':80', '?', '&', '=', '%27', '%zz', '+', '@', '[', 'bodySHA256='],
  run(input) {
    const [url = '', signature = '', body = ''] = Buffer.from(input).toString().split('\n');
    assert(!isTwilioWebhook({ authToken: AUTH_TOKEN, signature, url, body }), 'a made-up signature was accepted');
    assert(!isTwilioHandshake({ authToken: AUTH_TOKEN, signature, url }), 'a made-up signature was accepted');
    const handshake = signTwilio(AUTH_TOKEN, url);
    assert(isTwilioHandshake({ authToken: AUTH_TOKEN, signature: handshake, url }), 'a signed handshake was refused');
    if (/[?&]bodySHA256=/.test(url)) return;
    const webhook = signTwilio(AUTH_TOKEN, url, new URLSearchParams(body));
    assert(isTwilioWebhook({ authToken: AUTH_TOKEN, signature: webhook, url, body }), 'a signed webhook was refused');
  },
};
