/** The secrets in a request's headers and address. */
import type { FastifyRequest } from 'fastify';

/** Names the cookie that a browser gets when its user has signed in. */
export const SESSION_COOKIE = 'trunkline_session';

/** RFC 6750 §2.1. Null when no key was sent that way. */
export function bearerOf(request: FastifyRequest): string | null {
  return /^bearer +(.+)$/i.exec(request.headers.authorization ?? '')?.[1]?.trim() ?? null;
}

/** The `user:password` of the request; null when it has none. */
export function basicOf(request: FastifyRequest): string | null {
  const encoded = /^basic +([\w+/=-]{1,1024})$/i.exec(request.headers.authorization ?? '')?.[1];
  return encoded === undefined ? null : Buffer.from(encoded, 'base64').toString();
}

/** All tokens in a carrier's handshake. */
export function tokensOf(request: FastifyRequest, header?: string): string[] {
  const { token } = request.query as Readonly<Record<string, unknown>>;
  const sent = header === undefined ? undefined : request.headers[header];
  const basic = basicOf(request);
  return [bearerOf(request), basic?.slice(basic.indexOf(':') + 1), sent, token].filter(
    (each) => typeof each === 'string',
  );
}

/** The id of a browser's session; empty when it sent none. */
export function sessionOf(request: FastifyRequest): string {
  const pairs = (request.headers.cookie ?? '').split(';').map((pair) => pair.trim());
  return pairs.find((pair) => pair.startsWith(`${SESSION_COOKIE}=`))?.slice(SESSION_COOKIE.length + 1) ?? '';
}
