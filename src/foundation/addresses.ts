/**
 * Public and private network addresses. A host that a client names may lead to this machine or its network, which the
 * client must not reach through us.
 */
import { lookup } from 'node:dns';
import { BlockList, isIP, type LookupFunction } from 'node:net';

/**
 * IANA's special-purpose registries (RFC 6890), multicast and reserved networks: none of them is on the public
 * internet.
 */
const SPECIAL_IPV4 = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 3],
] as const;

/** Within 2000::/3, the only part of IPv6 that is given out: protocol assignments and Teredo, documentation, 6to4. */
const SPECIAL_IPV6 = [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
] as const;

const special = new BlockList();
for (const [net, prefix] of SPECIAL_IPV4) special.addSubnet(net, prefix, 'ipv4');
for (const [net, prefix] of SPECIAL_IPV6) special.addSubnet(net, prefix, 'ipv6');
const unicast = new BlockList();
unicast.addSubnet('2000::', 3, 'ipv6');

/**
 * Whether `address` (IPv4 or IPv6, without brackets) can be on the public internet. False for what is no address.
 */
export function isPublicAddress(address: string): boolean {
  switch (isIP(address)) {
    case 4:
      return !special.check(address, 'ipv4');
    case 6:
      return unicast.check(address, 'ipv6') && !special.check(address, 'ipv6');
    default:
      return false;
  }
}

/** RFC 4291 §2.5.5.2, as URL spells it. */
const MAPPED_IPV4 = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/;

/**
 * One spelling for each address (IPv4 or IPv6, without brackets): IPv6 compressed and without its zone, IPv4 that is
 * written as IPv6 (`::ffff:192.0.2.1`) as IPv4. Null for what is no address.
 */
export function canonicalAddress(text: string): string | null {
  const [address = ''] = text.split('%', 1);
  const family = isIP(address);
  if (family !== 6) return family === 4 ? address : null;
  const compressed = new URL(`http://[${address}]`).hostname.slice(1, -1);
  const [, high, low] = MAPPED_IPV4.exec(compressed) ?? [];
  if (high === undefined || low === undefined) return compressed;
  return [high, low].flatMap((group) => [Number.parseInt(group, 16) >> 8, Number.parseInt(group, 16) & 0xff]).join('.');
}

/** The address, or one of those of a name, is not public. */
export class PrivateAddressError extends Error {}

/**
 * @throws PrivateAddressError when `hostname` (as URL has it) is an address that is not public. Names are left to
 * {@link lookupPublic}.
 */
export function refusePrivateAddress(hostname: string): void {
  const address = hostname.replace(/^\[|\]$/g, '');
  if (isIP(address) !== 0 && !isPublicAddress(address))
    throw new PrivateAddressError('the address is in a private network');
}

/**
 * A resolver for `http.request` that fails with {@link PrivateAddressError} when any address of the name is not public.
 * What it answers is what is then connected to.
 */
export const lookupPublic: LookupFunction = (hostname, options, done) => {
  lookup(hostname, { ...options, all: true }, (error, addresses) => {
    if (error !== null) return done(error, []);
    if (!addresses.every(({ address }) => isPublicAddress(address)))
      return done(new PrivateAddressError('an address of the name is in a private network'), []);
    const [first] = addresses;
    if (options.all === true || first === undefined) return done(null, addresses);
    return done(null, first.address, first.family);
  });
};

const RANGE = /^([0-9a-fA-F:.]+)(?:\/(\d{1,3}))?$/;

/** Whether `text` is an address (IPv4 or IPv6, without brackets) or a network in CIDR form such as 192.0.2.0/24. */
export function isAddressRange(text: string): boolean {
  const [, address = '', prefix] = RANGE.exec(text) ?? [];
  const family = isIP(address);
  return family !== 0 && Number(prefix ?? 0) <= (family === 4 ? 32 : 128);
}

/** A set of addresses and networks. */
export class AddressRanges {
  readonly #ranges = new BlockList();

  /** `list` = addresses and networks, each as {@link isAddressRange} has it. */
  constructor(list: readonly string[]) {
    for (const text of list) this.add(text);
  }

  /** Adds one more. Throws RangeError when it is none. */
  add(text: string): void {
    if (!isAddressRange(text))
      throw new RangeError(`got ${text}, expected an address or a network such as 192.0.2.0/24`);
    const [address = '', prefix] = text.split('/');
    const family = isIP(address) === 4 ? 'ipv4' : 'ipv6';
    if (prefix === undefined) this.#ranges.addAddress(address, family);
    else this.#ranges.addSubnet(address, Number(prefix), family);
  }

  /**
   * Whether `address` is among them; an IPv4 address may be written as IPv6 (`::ffff:192.0.2.1`), as sockets for both
   * do.
   */
  has(address: string): boolean {
    const family = isIP(address);
    return family !== 0 && this.#ranges.check(address, family === 4 ? 'ipv4' : 'ipv6');
  }
}
