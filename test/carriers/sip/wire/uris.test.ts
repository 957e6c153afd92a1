import { describe, expect, it } from 'vitest';
import { hostOf, userOf } from '../../../../src/carriers/sip/wire/uris.ts';

describe('userOf', () => {
  it.each([
    ['sip:+14155550100@h', '+14155550100'],
    ['"A <b>" <sip:a%20b;phone-context=x:pw@h>;tag=1', null],
    ['"A" <sip:a%20b;phone-context=x@h>;tag=1', 'a b'],
    ['<sips:a:pw@[::1]>', 'a'],
    ['tel:+1;phone-context=x', '+1'],
    ['sip:h', null],
    ['sip:@h', null],
    ['sip:%zz@h', '%zz'],
    ['sip:a%00b%0A@h', 'a%00b%0A'],
    ['mailto:a@b', null],
  ])('of %s is %s', (address, user) => expect(userOf(address)).toBe(user));
});

describe('hostOf', () => {
  it.each([
    ['sip:pbx.example.com', { host: 'pbx.example.com', port: 5060 }],
    ['sip:a@[2001:db8::1]:5070;transport=tcp', { host: '2001:db8::1', port: 5070 }],
    ['tel:+1', null],
    ['', null],
  ])('of %s', (uri, host) => expect(hostOf(uri)).toEqual(host));
});
