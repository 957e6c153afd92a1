/**
 * OUTBOUND_ALLOW: what requests of this server may reach besides the public internet. An entry is a network or a host;
 * with `flows=`, `apps=`, `calls=` or `batches=` before it, it holds for the URLs of that purpose, whoever named them.
 * Without one it holds for all URLs that the operator wrote, and for none that a request, an app or a caller names.
 */

import type { LookupFunction } from 'node:net';
import { AddressRanges, isAddressRange, isPublicAddress, lookupAllowed, PrivateAddressError } from './addresses.ts';

/** What requests are made for: flows, apps and their documents, webhooks of calls, batches and their webhooks. */
export const OUTBOUND_PURPOSES = ['flows', 'apps', 'calls', 'batches'] as const;
export type OutboundPurpose = (typeof OUTBOUND_PURPOSES)[number];

/** The private targets that a request may reach. */
export interface PrivateTargets {
  /** @throws PrivateAddressError when `hostname` (as in a URL) is an address that may not be reached */
  check(hostname: string): void;
  /** Whether it takes this name whatever its addresses, or loopback, where localhost is. */
  takesName(hostname: string): boolean;
  /** Resolves the names that it takes. */
  readonly lookup: LookupFunction;
}

/** One entry, as it is read. */
interface Entry {
  readonly purpose: OutboundPurpose | null;
  readonly target: string;
}

const HOST = /^(?=.{1,253}$)[a-z0-9_](?:[a-z0-9_-]*[a-z0-9])?(?:\.[a-z0-9_](?:[a-z0-9_-]*[a-z0-9])?)*$/i;

/** Reads one entry of the list; null = it is none. */
export function parseOutboundEntry(text: string): Entry | null {
  const at = text.indexOf('=');
  const named = at < 0 ? null : text.slice(0, at).trim();
  const purpose = OUTBOUND_PURPOSES.find((one) => one === named) ?? null;
  if (named !== null && purpose === null) return null;
  const target = text
    .slice(at + 1)
    .trim()
    .toLowerCase();
  return isAddressRange(target) || HOST.test(target) ? { purpose, target } : null;
}

/** What URLs of this purpose may reach that the operator wrote: in a setting, or in a flow. */
export function operatorTargets(entries: readonly string[], purpose: OutboundPurpose): PrivateTargets {
  return targetsOf(entries, (entry) => entry.purpose === null || entry.purpose === purpose);
}

/** What URLs of this purpose may reach that somebody else named: a request, an app, a document. */
export function namedTargets(entries: readonly string[], purpose: OutboundPurpose): PrivateTargets {
  return targetsOf(entries, (entry) => entry.purpose === purpose);
}

function targetsOf(texts: readonly string[], holds: (entry: Entry) => boolean): PrivateTargets {
  const targets = texts
    .map(parseOutboundEntry)
    .filter((entry) => entry !== null)
    .filter(holds)
    .map(({ target }) => target);
  const ranges = new AddressRanges(targets.filter(isAddressRange));
  const hosts = new Set(targets.filter((target) => !isAddressRange(target)));
  const isAllowed = (address: string): boolean => isPublicAddress(address) || ranges.has(address);
  return {
    check(hostname) {
      const address = hostname.replace(/^\[|\]$/g, '');
      if (isAddressRange(address) && !isAllowed(address))
        throw new PrivateAddressError('the address is in a private network');
    },
    takesName: (hostname) => hosts.has(hostname.toLowerCase()) || ranges.has('127.0.0.1') || ranges.has('::1'),
    lookup: lookupAllowed((hostname, address) => hosts.has(hostname.toLowerCase()) || isAllowed(address)),
  };
}
