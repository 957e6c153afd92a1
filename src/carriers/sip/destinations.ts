/** Where SIP messages go, as addresses. */
import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import type { SipDestination } from './wire/uris.ts';

/** The address of a destination that is a name, with that name. Rejects when it is not known. */
export async function resolveName(destination: SipDestination): Promise<SipDestination> {
  const { address } = await lookup(destination.host);
  return { ...destination, host: address, name: destination.host };
}

/** An address as URIs write it: IPv6 in brackets. */
export function bracketed(host: string): string {
  return isIP(host) === 6 ? `[${host}]` : host;
}

/** Whether this is an address of this machine. */
export function isOwnAddress(host: string): boolean {
  const known = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  return known.some(({ address }) => address === host);
}

/** Where peers reach a socket that listens on all addresses: the machine's first one beyond loopback. */
export function reachableAddress(address: string): string {
  if (address !== '0.0.0.0' && address !== '::') return address;
  const family = address === '::' ? 'IPv6' : 'IPv4';
  const known = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  const outer = known.find((each) => !each.internal && each.family === family) ?? known.find((each) => !each.internal);
  return outer?.address ?? (family === 'IPv6' ? '::1' : '127.0.0.1');
}
