import { describe, expect, it } from 'vitest';
import {
  AddressRanges,
  canonicalAddress,
  isAddressRange,
  isPublicAddress,
  lookupPublic,
  PrivateAddressError,
  refusePrivateAddress,
} from '../../src/foundation/addresses.ts';

describe('addresses', () => {
  it.each([
    '1.1.1.1',
    '8.8.8.8',
    '100.63.255.255',
    '172.15.0.1',
    '172.32.0.1',
    '192.167.1.1',
    '223.255.255.255',
    '2606:4700::1111',
  ])('%s is public', (address) => {
    expect(isPublicAddress(address)).toBe(true);
  });

  it.each([
    '0.0.0.0',
    '10.1.2.3',
    '100.64.0.1',
    '127.0.0.1',
    '127.255.255.254',
    '169.254.169.254',
    '172.16.0.1',
    '172.31.255.255',
    '192.0.0.8',
    '192.168.1.1',
    '198.18.0.1',
    '224.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    '::ffff:127.0.0.1',
    '::ffff:8.8.8.8',
    '64:ff9b::7f00:1',
    '2001::1',
    '2001:db8::1',
    '2002:7f00:1::',
    'fc00::1',
    'fd12:3456::1',
    'fe80::1',
    'fe80::1%eth0',
    'ff02::1',
    'localhost',
    '',
  ])('%s is not public', (address) => {
    expect(isPublicAddress(address)).toBe(false);
  });

  /** Every way to write 127.0.0.1 that URLs know. */
  it.each(['127.0.0.1', '127.1', '2130706433', '0x7f.0.0.1', '0177.0.0.1', '[::1]', '[::ffff:7f00:1]'])(
    '%s is refused in a URL',
    (host) => {
      expect(() => refusePrivateAddress(new URL(`http://${host}/`).hostname)).toThrow(/private network/);
    },
  );

  it('leaves names and public addresses to the connection', () => {
    for (const host of ['example.com', '8.8.8.8', '[2606:4700::1111]']) {
      expect(() => refusePrivateAddress(new URL(`http://${host}/`).hostname)).not.toThrow();
    }
  });

  it.each([{ all: true }, {}])('are looked up and refused when a name leads to this machine (%o)', async (options) => {
    const error = await new Promise((resolve) => lookupPublic('localhost', options, resolve));
    expect(error).toBeInstanceOf(PrivateAddressError);
  });
});

describe('canonicalAddress', () => {
  it.each([
    ['192.0.2.7', '192.0.2.7'],
    ['::FFFF:192.0.2.7', '192.0.2.7'],
    ['0:0:0:0:0:ffff:c0ff:0207', '192.255.2.7'],
    ['2001:0DB8:0000:0000:0000:0000:0000:0001', '2001:db8::1'],
    ['64:ff9b::192.0.2.7', '64:ff9b::c000:207'],
    ['fe80::1%eth0', 'fe80::1'],
    ['::1', '::1'],
  ])('writes %s as %s', (text, expected) => expect(canonicalAddress(text)).toBe(expected));

  it.each(['', '1.2.3', '01.2.3.4', '1.2.3.4:80', '[::1]', '::1/64', 'unknown', '%eth0'])(
    'knows that "%s" is none',
    (text) => expect(canonicalAddress(text)).toBeNull(),
  );
});

describe('AddressRanges', () => {
  const ranges = new AddressRanges(['127.0.0.0/8', '192.0.2.7', '2001:db8::/32']);

  it.each(['127.0.0.1', '127.255.0.9', '192.0.2.7', '::ffff:192.0.2.7', '2001:db8::5'])('has %s', (address) =>
    expect(ranges.has(address)).toBe(true),
  );

  it.each(['128.0.0.1', '192.0.2.8', '2001:db9::5', '::1', '', 'localhost'])('has no "%s"', (address) =>
    expect(ranges.has(address)).toBe(false),
  );

  it('takes in one more later', () => {
    const growing = new AddressRanges([]);
    growing.add('198.51.100.0/24');
    expect(growing.has('198.51.100.77')).toBe(true);
  });

  it.each(['', '1.2.3', '1.2.3.4/33', '::1/129', 'pbx.example.com', '1.2.3.4/-1'])('refuses "%s"', (text) => {
    expect(isAddressRange(text)).toBe(false);
    expect(() => new AddressRanges([text])).toThrow(RangeError);
  });
});
