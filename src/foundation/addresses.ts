/**
 * Public and private network addresses. A host name from a client may resolve to this machine or its network, which
 * the client must not reach through the server.
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

/** Inside 2000::/3, the only allocated part of IPv6: protocol assignments and Teredo, documentation, 6to4. */
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

/** Whether `address` (IPv4 or IPv6, without brackets) is public. False when it is not an address. */
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

/** RFC 4291 §2.5.5.2, in the spelling of the URL class. */
const MAPPED_IPV4 = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/;

/**
 * Normalises an address (IPv4 or IPv6, without brackets): IPv6 is compressed and loses its zone, IPv4-mapped IPv6
 * (`::ffff:192.0.2.1`) becomes IPv4. Null when `text` is not an address.
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

/** An address, or one of the addresses of a host name, is not public. */
export class PrivateAddressError extends Error {}

/**
 * Accepts host names, which {@link lookupPublic} checks later.
 * @throws PrivateAddressError when `hostname` (as in a URL) is an address that is not public
 */
export function refusePrivateAddress(hostname: string): void {
  const address = hostname.replace(/^\[|\]$/g, '');
  if (isIP(address) !== 0 && !isPublicAddress(address))
    throw new PrivateAddressError('the address is in a private network');
}

/**
 * A resolver for `http.request` that fails with {@link PrivateAddressError} when any address of the name is not public.
 * The socket connects to the address that it returns, so the name is not resolved a second time.
 */
export const lookupPublic: LookupFunction = lookupAllowed((_, address) => isPublicAddress(address));

/** The same, for the addresses that `isAllowed` takes for a name. */
export function lookupAllowed(isAllowed: (hostname: string, address: string) => boolean): LookupFunction {
  return (hostname, options, done) => {
    lookup(hostname, { ...options, all: true }, (error, addresses) => {
      if (error !== null) return done(error, []);
      if (!addresses.every(({ address }) => isAllowed(hostname, address)))
        return done(new PrivateAddressError('an address of the name is in a private network'), []);
      const [first] = addresses;
      if (options.all === true || first === undefined) return done(null, addresses);
      return done(null, first.address, first.family);
    });
  };
}

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

  /** Every item of `list` must satisfy {@link isAddressRange}. */
  constructor(list: readonly string[]) {
    for (const text of list) this.add(text);
  }

  /** Adds an address or network. @throws RangeError when `text` is neither */
  add(text: string): void {
    if (!isAddressRange(text))
      throw new RangeError(`got ${text}, expected an address or a network such as 192.0.2.0/24`);
    const [address = '', prefix] = text.split('/');
    const family = isIP(address) === 4 ? 'ipv4' : 'ipv6';
    if (prefix === undefined) this.#ranges.addAddress(address, family);
    else this.#ranges.addSubnet(address, Number(prefix), family);
  }

  /**
   * Whether the set contains `address`. Dual-stack sockets give IPv4 as IPv6 (`::ffff:192.0.2.1`), which is found too.
   */
  has(address: string): boolean {
    const family = isIP(address);
    return family !== 0 && this.#ranges.check(address, family === 4 ? 'ipv4' : 'ipv6');
  }
}
