import fc from 'fast-check';
import twilio from 'twilio';
import { describe, expect, it } from 'vitest';
import { isTwilioHandshake, isTwilioWebhook, signTwilio } from '../../src/protocols/twilio-signature.ts';

const TOKEN = '12345';
const WEBHOOK = 'https://mycompany.com/myapp.php?foo=1&bar=2';
const FORM = {
  CallSid: 'CA1234567890ABCDE',
  Caller: '+14158675309',
  Digits: '1234',
  From: '+14158675309',
  To: '+18005551212',
};
const JSON_HASH = '015abd7f5cc57a2dd94b7590f04ad8084273905ee33ec5cebeae62276a97f862';

function handshake(url: string, signature: string): boolean {
  return isTwilioHandshake({ authToken: TOKEN, signature, url });
}

function webhook(url: string, signature: string | undefined, body = '', authToken = TOKEN): boolean {
  return isTwilioWebhook({ authToken, signature, url, body });
}

describe('signing', () => {
  it.each<[string, string, Record<string, string>]>([
    ['RSOYDt4T1cUTdK1PDd93/VVr8B8=', WEBHOOK, FORM],
    ['0/KCTR6DLpKmkAf8muzZqo1nDgQ=', WEBHOOK, { ...FORM, Caller: '+12349013030', From: '+12349013030' }],
    ['B2+yyMriW5CfRMg+lTsplZLRP2A=', 'wss://bridge.example.com/twilio/stream', {}],
    ['gRmTHaXe3LrzayX17eVfUuVad4A=', 'wss://bridge.example.com:443/twilio/stream', {}],
    ['86fdVKcdq5XPvIuv3q7XGXcK9L8=', `https://bridge.example.com/hook?bodySHA256=${JSON_HASH}`, {}],
  ])('gives the known signature %s', (signature, url, fields) => {
    expect(signTwilio(TOKEN, url, Object.entries(fields))).toBe(signature);
  });

  it('agrees with the twilio package for any fields, repeated ones included', () => {
    const fields = fc.dictionary(
      fc.string({ minLength: 1 }),
      fc.oneof(fc.string(), fc.array(fc.string(), { minLength: 1, maxLength: 4 })),
    );
    fc.assert(
      fc.property(fields, fc.webUrl({ withQueryParameters: true }), (form, url) => {
        const pairs = Object.entries(form).flatMap(([name, value]) =>
          [value].flat().map((each) => [name, each] as const),
        );
        expect(signTwilio(TOKEN, url, pairs.reverse())).toBe(twilio.getExpectedTwilioSignature(TOKEN, url, form));
      }),
    );
  });
});

describe('a webhook', () => {
  const body = new URLSearchParams(FORM).toString();

  it('is accepted with its signature', () => {
    expect(webhook(WEBHOOK, 'RSOYDt4T1cUTdK1PDd93/VVr8B8=', body)).toBe(true);
  });

  it.each<[string, () => boolean]>([
    ['without a signature', () => webhook(WEBHOOK, undefined, body)],
    ['with an empty one', () => webhook(WEBHOOK, '', body)],
    ['with another body', () => webhook(WEBHOOK, 'RSOYDt4T1cUTdK1PDd93/VVr8B8=', `${body}&X=1`)],
    ['with another token', () => webhook(WEBHOOK, 'RSOYDt4T1cUTdK1PDd93/VVr8B8=', body, '12346')],
    ['when we have no token', () => webhook(WEBHOOK, signTwilio('', WEBHOOK, Object.entries(FORM)), body, '')],
    ['to another path', () => webhook('https://mycompany.com/other', 'RSOYDt4T1cUTdK1PDd93/VVr8B8=', body)],
    ['with a signature of another length', () => webhook(WEBHOOK, 'RSOYDt4T1cUTdK1PDd93/VVr8B8', body)],
  ])('is refused %s', (_, verdict) => {
    expect(verdict()).toBe(false);
  });

  it('may have a port that was not signed, or lack one that was', () => {
    const bare = 'https://h.example/x?a=%27b';
    const ported = 'https://h.example:443/x?a=%27b';
    expect(webhook(ported, signTwilio(TOKEN, bare))).toBe(true);
    expect(webhook(bare, signTwilio(TOKEN, ported))).toBe(true);
    expect(webhook('https://h.example:8443/x', signTwilio(TOKEN, 'https://h.example:443/x'))).toBe(false);
  });

  it('with a JSON body is checked by the hash in its query', () => {
    const url = `https://bridge.example.com/hook?bodySHA256=${JSON_HASH}`;
    expect(webhook(url, '86fdVKcdq5XPvIuv3q7XGXcK9L8=', '{"a":1}')).toBe(true);
    expect(webhook(url, '86fdVKcdq5XPvIuv3q7XGXcK9L8=', '{"a":2}')).toBe(false);
  });

  it('is accepted whenever the twilio package accepts it', () => {
    const spelling = fc.constantFrom<(url: string) => string>(
      (url) => url,
      (url) => url.replace(/^(\w+:\/\/[^/:]+)/, '$1:443'),
      (url) => url.replace(/^(\w+:\/\/[^/:]+)/, '$1:80'),
      (url) => new URL(url).toString(),
      (url) => url.replaceAll("'", '%27'),
    );
    const query = fc.string({
      unit: fc.constantFrom('a', 'B', '=', '&', "'", '%27', '%20', '+', '!', '(', '~'),
      maxLength: 8,
    });
    fc.assert(
      fc.property(
        fc.webPath(),
        query,
        fc.constantFrom('https', 'http', 'wss'),
        spelling,
        spelling,
        (path, q, scheme, signedAs, seenAs) => {
          const url = `${scheme}://bridge.example.com${path}${q === '' ? '' : `?${q}`}`;
          const signature = signTwilio(TOKEN, signedAs(url));
          const accepted = twilio.validateRequest(TOKEN, signature, seenAs(url), {});
          if (accepted) expect(webhook(seenAs(url), signature)).toBe(true);
          expect(webhook(seenAs(url).replace('bridge', 'other'), signature)).toBe(false);
        },
      ),
    );
  });
});

describe('a WebSocket handshake', () => {
  it.each<[string, string, string]>([
    ['as it is', 'wss://h.example/twilio/media', 'wss://h.example/twilio/media'],
    ['signed with the port of wss', 'wss://h.example/twilio/media', 'wss://h.example:443/twilio/media'],
    ['seen with the port of wss', 'wss://h.example:443/twilio/media', 'wss://h.example/twilio/media'],
    ['signed with a slash for the empty path', 'wss://h.example', 'wss://h.example/'],
    ['signed without it', 'wss://h.example/', 'wss://h.example'],
    ['signed with its query', 'wss://h.example/m?b=2&a=1', 'wss://h.example/m?b=2&a=1'],
    ['through an IPv6 address', 'wss://[::1]/m', 'wss://[::1]:443/m'],
  ])('%s is accepted', (_, seen, signed) => {
    expect(handshake(seen, signTwilio(TOKEN, signed))).toBe(true);
  });

  it('with its query signed as fields is accepted', () => {
    const signature = signTwilio(TOKEN, 'wss://h.example/m', [
      ['a', '1'],
      ['b', 'x y'],
    ]);
    expect(handshake('wss://h.example/m?b=x%20y&a=1', signature)).toBe(true);
  });

  it.each<[string, string, string]>([
    ['over https', 'wss://h.example/m', 'https://h.example/m'],
    ['to another host', 'wss://h.example/m', 'wss://g.example/m'],
    ['to a path with a slash more', 'wss://h.example/m', 'wss://h.example/m/'],
    ['with a query that was not signed', 'wss://h.example/m?x=1', 'wss://h.example/m'],
  ])('%s is refused', (_, seen, signed) => {
    expect(handshake(seen, signTwilio(TOKEN, signed))).toBe(false);
  });
});
