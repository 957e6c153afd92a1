/** Where a request comes from and how its client names this server. Headers are the client's word: each function says what it believes. */
import { BlockList, isIPv6 } from 'node:net';
import type { FastifyRequest } from 'fastify';
import { isLoopback } from '../config.ts';

/** RFC 1918, RFC 4193, RFC 6598 and loopback: where a reverse proxy of one's own sits. */
const PRIVATE_ADDRESSES = new BlockList();
for (const [network, prefix] of [
  ['127.0.0.0', 8],
  ['10.0.0.0', 8],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
  ['100.64.0.0', 10],
] as const)
  PRIVATE_ADDRESSES.addSubnet(network, prefix, 'ipv4');
PRIVATE_ADDRESSES.addAddress('::1', 'ipv6');
PRIVATE_ADDRESSES.addSubnet('fc00::', 7, 'ipv6');

/** Headers that a proxy or tunnel adds: with one of them, a loopback peer is not the client. */
const FORWARDING_HEADERS = ['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'x-real-ip'];

/** The `Host` header as it came; empty when there is none. */
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
  return (request.socket.remoteAddress ?? '').replace(/^::ffff:/i, '');
}

/**
 * Whether a request was made on this machine, for this machine: loopback peer, no proxy in between, and a `Host` that is loopback. The last keeps
 * out web pages that point a name of their own at 127.0.0.1 (DNS rebinding), the other two keep out tunnels.
 */
export function isLocal(request: FastifyRequest): boolean {
  if (FORWARDING_HEADERS.some((header) => header in request.headers)) return false;
  return isLoopback(peerOf(request)) && isLoopback(nameOf(hostOf(request)));
}

/** Whether the browser says (`Origin`) that another site made the request. Programs send no `Origin`. */
export function isForeign(request: FastifyRequest, publicUrl: string): boolean {
  const { origin } = request.headers;
  if (origin === undefined || (publicUrl !== '' && origin === publicUrl)) return false;
  return !URL.canParse(origin) || new URL(origin).host !== hostOf(request).toLowerCase();
}

/** Whether the client came by https, as a proxy in front says or as `PUBLIC_URL` implies. */
export function isSecure(request: FastifyRequest, publicUrl: string): boolean {
  if (request.headers['x-forwarded-proto'] === 'https') return true;
  return publicUrl.startsWith('https:') && new URL(publicUrl).host === hostOf(request).toLowerCase();
}

/** How the carrier names this server: `PUBLIC_URL`, else as the request says. No path, no slash at the end. */
export function publicOrigin(request: FastifyRequest, publicUrl: string): string {
  return publicUrl === '' ? `${isSecure(request, '') ? 'https' : 'http'}://${hostOf(request)}` : publicUrl;
}

/**
 * What attempts are counted by: the client's address, an IPv6 client's /64 network. Behind a proxy of one's own (`PUBLIC_URL` is set and the peer is
 * private) it is the address that this proxy added last to `X-Forwarded-For`, so that one stranger cannot lock everybody out.
 */
export function clientAddress(request: FastifyRequest, publicUrl: string): string {
  const peer = peerOf(request);
  const forwarded = [request.headers['x-forwarded-for'] ?? []].flat().at(-1)?.split(',').at(-1)?.trim();
  const isProxied = publicUrl !== '' && forwarded !== undefined && PRIVATE_ADDRESSES.check(peer, isIPv6(peer) ? 'ipv6' : 'ipv4');
  const address = isProxied ? forwarded : peer;
  return isIPv6(address) ? networkOf(address) : address;
}

/** The first 64 bits of an IPv6 address: what one subscriber usually has. */
function networkOf(address: string): string {
  const [head = '', tail] = address.split('::');
  const left = head.split(':').filter((group) => group !== '');
  const right = (tail ?? '').split(':').filter((group) => group !== '');
  const zeros = tail === undefined ? 0 : Math.max(8 - left.length - right.length, 0);
  const groups = [...left, ...Array<string>(zeros).fill('0'), ...right];
  return groups
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':');
}
