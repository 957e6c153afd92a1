/**
 * Where a request comes from and how its client names this server. A client may write anything into headers: each
 * function says which headers it trusts.
 */
import type { FastifyRequest } from 'fastify';
import { AddressRanges, canonicalAddress, isPublicAddress } from '../../foundation/addresses.ts';
import { isLoopback } from '../../foundation/settings/config.ts';
import type { Settings } from '../../foundation/settings/settings.ts';
import { isProxied } from './proxied.ts';

/** Most proxies in a chain, from ours to the client. */
const HOPS_MAX = 16;

/** The client of a request, as far as it is known. */
export interface Client {
  /**
   * IPv4 address, or the first 64 bits of an IPv6 address: what one subscriber usually has. Empty when the socket is
   * gone.
   */
  readonly address: string;
  /** The address is that of a trusted proxy that did not name its client: several clients may share it. */
  readonly isShared: boolean;
}

/** The `Host` header; empty when there is none. */
function hostOf(request: FastifyRequest): string {
  return request.headers.host ?? '';
}

/** `example.com:8080` → `example.com`, `[::1]:8080` → `::1`. */
function nameOf(host: string): string {
  const bracketed = /^\[([^\]]*)\](:\d+)?$/.exec(host);
  return (bracketed?.[1] ?? host.replace(/:\d+$/, '')).toLowerCase();
}

/** The peer's address; an IPv4 peer of an IPv6 socket as IPv4. Empty when the socket is gone. */
function peerOf(request: FastifyRequest): string {
  return canonicalAddress(request.socket.remoteAddress ?? '') ?? '';
}

/**
 * Whether a request was made on this machine, for this machine: loopback peer, no sign of a proxy in between, and a
 * `Host` that is loopback. The last keeps out web pages that point a name of their own at 127.0.0.1 (DNS rebinding),
 * the other two keep out tunnels and proxies that show themselves.
 */
export function isLocal(request: FastifyRequest): boolean {
  return !isProxied(request) && isLoopback(peerOf(request)) && isLoopback(nameOf(hostOf(request)));
}

/** Whether the peer speaks TLS with this server. */
function isTls({ socket }: FastifyRequest): boolean {
  return 'encrypted' in socket && socket.encrypted === true;
}

/** Reads requests with the settings' PUBLIC_URL and trusted proxies. */
export class Origins {
  readonly #publicUrl: string;
  readonly #trusted: AddressRanges;

  constructor({ PUBLIC_URL, TRUSTED_PROXIES }: Pick<Settings, 'PUBLIC_URL' | 'TRUSTED_PROXIES'>) {
    this.#publicUrl = PUBLIC_URL;
    this.#trusted = new AddressRanges(TRUSTED_PROXIES);
  }

  /** Whether the browser says (`Origin`) that another site made the request. Programs send no `Origin`. */
  isForeign(request: FastifyRequest): boolean {
    const { origin } = request.headers;
    if (origin === undefined || (this.#publicUrl !== '' && origin === this.#publicUrl)) return false;
    return !URL.canParse(origin) || new URL(origin).host !== hostOf(request).toLowerCase();
  }

  /**
   * Whether the client came by https: to this server, as a trusted proxy says (`X-Forwarded-Proto`) or as `PUBLIC_URL`
   * implies.
   */
  isSecure(request: FastifyRequest): boolean {
    if (isTls(request) || this.#isHttpsForwarded(request)) return true;
    return this.#publicUrl.startsWith('https:') && new URL(this.#publicUrl).host === hostOf(request).toLowerCase();
  }

  /** How the carrier names this server: `PUBLIC_URL`, else as the request says. No path, no slash at the end. */
  publicOrigin(request: FastifyRequest): string {
    if (this.#publicUrl !== '') return this.#publicUrl;
    return `${isTls(request) || this.#isHttpsForwarded(request) ? 'https' : 'http'}://${hostOf(request)}`;
  }

  /**
   * The client whose attempts are counted: the peer or, if that is a trusted proxy, the last address in
   * `X-Forwarded-For` that is not a trusted proxy. Each proxy appends the address of its own client, so a client can
   * forge everything left of that address, and the whole header when the peer is no trusted proxy. `Forwarded`
   * (RFC 7239) is not read: with two headers that disagree a client could choose one.
   */
  clientOf(request: FastifyRequest): Client {
    let address = peerOf(request);
    for (const hop of forwardedFor(request)) {
      if (!this.#trusted.has(address)) break;
      const next = addressOfHop(hop);
      if (next === null) break;
      address = next;
    }
    return { address: networkOf(address), isShared: this.#trusted.has(address) };
  }

  /**
   * The peer if it looks like the operator's own proxy that `TRUSTED_PROXIES` does not name: it is in a private
   * network and forwards. Else null.
   */
  untrustedProxy(request: FastifyRequest): string | null {
    const peer = peerOf(request);
    const isForwarded = request.headers['x-forwarded-for'] !== undefined;
    return isForwarded && peer !== '' && !isPublicAddress(peer) && !this.#trusted.has(peer) ? peer : null;
  }

  #isHttpsForwarded(request: FastifyRequest): boolean {
    return request.headers['x-forwarded-proto'] === 'https' && this.#trusted.has(peerOf(request));
  }
}

/** The entries of `X-Forwarded-For`, the nearest first. */
function forwardedFor(request: FastifyRequest): string[] {
  const entries = [request.headers['x-forwarded-for'] ?? []].flat().join(',').split(',');
  return entries.slice(-HOPS_MAX).reverse();
}

/** `192.0.2.1`, `192.0.2.1:4711`, `2001:db8::1` or `[2001:db8::1]:4711` → the address; null for anything else. */
function addressOfHop(text: string): string | null {
  const hop = text.trim();
  const [, bracketed, dotted] = /^(?:\[([^\]]+)\]|([\d.]+))(?::\d{1,5})?$/.exec(hop) ?? [];
  return canonicalAddress(bracketed ?? dotted ?? hop);
}

/** Of an IPv6 address the first 64 bits, e.g. `2001:db8:0:1`; an IPv4 address as it is. */
function networkOf(address: string): string {
  if (!address.includes(':')) return address;
  const [head = '', tail] = address.split('::');
  const left = head.split(':').filter((group) => group !== '');
  const right = (tail ?? '').split(':').filter((group) => group !== '');
  const zeros = tail === undefined ? 0 : Math.max(8 - left.length - right.length, 0);
  return [...left, ...Array<string>(zeros).fill('0'), ...right].slice(0, 4).join(':');
}
