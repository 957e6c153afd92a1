import { describe, expect, it } from 'vitest';
import { isPlivoHandshake, signPlivo } from '../../../../src/carriers/plivo/wire/plivo-signature.ts';

const ORIGIN = 'https://bridge.example.com';

/** What Plivo's own helper library (plivo 4.79.0 for Node) makes of the token `MAtoken` and the nonce `12345`. */
const VECTORS = [
  ['/plivo/media', 'SK7EguFuFUpSRtf1UNOHvCSr4e0PuVO6YaaNkADBKAo='],
  ['/plivo/media?token=abc&b=2&a=1&a=0', 'Dkd/S9K/KWOOP2ix5tOMqk+68MuOhK+pOrU0DCLvD9I='],
  ['/plivo/media?e=', 'j5x2aimlDGSay2CJaQ75iTVDOHH+3VxUMiP/bI9Vf44='],
] as const;

const check = (
  signature: string | undefined,
  url: string,
  nonce: string | undefined = '12345',
  authToken = 'MAtoken',
) => isPlivoHandshake({ authToken, signature, nonce, url });

describe('the signature of a handshake', () => {
  it.each(VECTORS)('of %s is what the helper library makes', (path, signature) => {
    expect(signPlivo('MAtoken', ORIGIN + path, '12345')).toBe(signature);
    expect(check(signature, ORIGIN + path)).toBe(true);
  });

  it('is the same for an escaped space as the library has it', () => {
    expect(signPlivo('MAtoken', `${ORIGIN}:8443/plivo/media?x=a%20b`, '12345')).toBe(
      'Itn2lvGLVtDFtzY9LTxLw+AdtyknWFcbcwKObb3ZGg8=',
    );
  });

  it('fits whether the address was signed as https or as wss', () => {
    const signedAsWss = 'JwHtwqhd2FoDhKf+4ibgsYjzXx23497pjQKxwku22Vw=';
    expect(check(signedAsWss, `${ORIGIN}/plivo/media?z=1`)).toBe(true);
    expect(check(VECTORS[0][1], 'wss://bridge.example.com/plivo/media')).toBe(true);
  });

  it('may be one of several', () => {
    expect(check(`bm9uZSBvZiBpdA==, ${VECTORS[0][1]}`, `${ORIGIN}/plivo/media`)).toBe(true);
  });

  it.each([
    ['another token', check(VECTORS[0][1], `${ORIGIN}/plivo/media`, '12345', 'other')],
    ['no token', check(signPlivo('', `${ORIGIN}/plivo/media`, '12345'), `${ORIGIN}/plivo/media`, '12345', '')],
    ['another nonce', check(VECTORS[0][1], `${ORIGIN}/plivo/media`, '12346')],
    ['another host', check(VECTORS[0][1], 'https://evil.example.com/plivo/media')],
    ['another path', check(VECTORS[0][1], `${ORIGIN}/plivo/media/`)],
    ['no signature', check(undefined, `${ORIGIN}/plivo/media`)],
    ['an empty one', check('', `${ORIGIN}/plivo/media`)],
  ])('does not fit with %s', (_what, fits) => {
    expect(fits).toBe(false);
  });
});
