import type { OutgoingRequestMessage } from 'sip.js/lib/core/index.js';
import { describe, expect, it } from 'vitest';
import { Credentials } from '../../../src/carriers/sip/credentials.ts';

/** The examples of RFC 7616 §3.9.1. */
const REALM = 'http-auth@example.org';
const NONCE = '7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v';
const CLIENT_NONCE = 'f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ';

function request(toTag = ''): OutgoingRequestMessage {
  return { method: 'GET', ruri: { toString: () => '/dir/index.html' }, toTag } as unknown as OutgoingRequestMessage;
}

const credentials = () =>
  new Credentials({ user: 'Mufasa', password: 'Circle of Life', clientNonce: () => CLIENT_NONCE });

describe('Credentials', () => {
  it.each([
    ['MD5', '8ca523f5e9506fed4657c9700eebdbec'],
    ['SHA-256', '753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1'],
  ])('answer as RFC 7616 does with %s', (algorithm, response) => {
    const given = credentials();
    expect(given.authenticate(request(), { realm: REALM, nonce: NONCE, algorithm, qop: ['auth', 'auth-int'] })).toBe(
      true,
    );
    expect(given.toString()).toContain(`response="${response}"`);
    expect(given.toString()).toContain('qop=auth, nc=00000001');
  });

  it('count their answers', () => {
    const given = credentials();
    for (let i = 0; i < 2; i++) given.authenticate(request(), { realm: REALM, nonce: NONCE, qop: ['auth'] });
    expect(given.toString()).toContain('nc=00000002');
  });

  it('answer the older form too, with MD5 where nothing else is said', () => {
    const given = new Credentials({ user: 'Mufasa', password: 'CircleOfLife' });
    const old = { realm: 'testrealm@host.com', nonce: 'dcd98b7102dd2f0e8b11d0f600bfb0c093', opaque: '5ccc"' };
    expect(given.authenticate(request(), old)).toBe(true);
    // RFC 2069 §2.4 as corrected by its errata.
    expect(given.toString()).toContain('response="1949323746fe6a43ef61f9606e7febea"');
    expect(given.toString()).toContain('opaque="5ccc\\""');
    expect(given.toString()).not.toContain('qop');
  });

  it.each([
    ['an unknown algorithm', { realm: REALM, nonce: NONCE, algorithm: 'SHA-512-256' }],
    ['a protection that we do not have', { realm: REALM, nonce: NONCE, qop: ['auth-int'] }],
    ['no realm', { nonce: NONCE }],
    ['no nonce', { realm: REALM }],
  ])('do not answer %s', (_what, challenge) => {
    expect(credentials().authenticate(request(), challenge)).toBe(false);
  });

  it('are not shown to a peer that asks for them within a call', () => {
    expect(credentials().authenticate(request('far'), { realm: REALM, nonce: NONCE })).toBe(false);
  });
});
