import type { FastifyRequest } from 'fastify';

/**
 * Headers that proxies, tunnels and content delivery networks add, and programs do not: RFC 9110 §7.6 (Via), RFC 7239
 * (Forwarded), RFC 8586 (CDN-Loop), and the makers' own.
 */
const NAMES: ReadonlySet<string> = new Set([
  'akamai-origin-hop',
  'cdn-loop',
  'client-ip',
  'forwarded',
  'front-end-https',
  'incap-client-ip',
  'max-forwards',
  'proxy-authorization',
  'proxy-client-ip',
  'proxy-connection',
  'surrogate-capability',
  'true-client-ip',
  'via',
  'wl-proxy-client-ip',
  'x-appgw-trace-id',
  'x-client-ip',
  'x-cloud-trace-context',
  'x-cluster-client-ip',
  'x-host',
  'x-originating-ip',
  'x-proxyuser-ip',
  'x-real-ip',
  'x-remote-addr',
  'x-remote-ip',
  'x-request-start',
  'x-rewrite-url',
  'x-scheme',
  'x-sucuri-clientip',
  'x-true-client-ip',
  'x-url-scheme',
  'x-varnish',
]);

/** Prefixes of the names of such headers. */
const PREFIXES = [
  'cf-',
  'cloudfront-',
  'fastly-',
  'fly-',
  'l5d-',
  'ngrok-',
  'tailscale-',
  'x-akamai-',
  'x-amz-cf-',
  'x-amzn-',
  'x-appengine-',
  'x-arr-',
  'x-azure-',
  'x-envoy-',
  'x-forwarded',
  'x-nf-',
  'x-original-',
  'x-proxy-',
  'x-vercel-',
] as const;

/**
 * Whether a request shows that it came through a proxy. The signs are: a header that only proxies add; HTTP/1.0, which
 * nginx before 1.29.7 speaks to its upstreams by default and hardly any client does; a whole URL in the first line,
 * which only proxies receive (RFC 9112 §3.2.2) and which may name another server than `Host`; and `Connection: upgrade`
 * without an upgrade, which nginx sends with the usual WebSocket configuration. Without a sign there may still be a
 * proxy: nginx since 1.29.7 adds nothing by default.
 */
export function isProxied({ raw: { httpVersion, url = '' }, headers }: FastifyRequest): boolean {
  if (httpVersion !== '1.1' || !url.startsWith('/')) return true;
  if (headers.upgrade === undefined && /\bupgrade\b/i.test(headers.connection ?? '')) return true;
  return Object.keys(headers).some((name) => NAMES.has(name) || PREFIXES.some((prefix) => name.startsWith(prefix)));
}
