/** The secrets in a request's headers and address. */
import type { FastifyRequest } from 'fastify';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The route takes a key as `?token=` too, for clients that can send nothing else. */
    readonly keyInUrl?: true;
    /** Pages of any site may open this WebSocket, if they send a key. */
    readonly fromAnySite?: true;
  }
}

/** Names the cookie that a browser gets when its user has signed in. */
export const SESSION_COOKIE = 'trunkline_session';

/** Headers in which clients of other services send their key: Anthropic's and many more, Azure's, ElevenLabs'. */
const KEY_HEADERS = ['x-api-key', 'api-key', 'xi-api-key', 'x-vapi-secret'] as const;
/** Subprotocols that have the key in the next one: Deepgram's, where browsers can send no header. */
const BEFORE_KEY = ['token', 'bearer'];
/** Begins the subprotocol that is a key of OpenAI's clients in a browser. */
const KEY_PROTOCOL = 'openai-insecure-api-key.';
/** As many as any client offers. */
const PROTOCOLS_MAX = 16;

/** The key that a request sends, wherever its client has it; null when it sends none. */
export function keyOf(request: FastifyRequest): string | null {
  return (
    schemeOf(request, /^(?:bearer|token) +([^ ].*)$/i) ??
    keyInHeader(request) ??
    keyInProtocol(request) ??
    keyInUrl(request)
  );
}

/** RFC 6750 §2.1. Null when no token was sent that way. */
function bearerOf(request: FastifyRequest): string | null {
  return schemeOf(request, /^bearer +([^ ].*)$/i);
}

function schemeOf({ headers }: FastifyRequest, scheme: RegExp): string | null {
  return scheme.exec(headers.authorization ?? '')?.[1]?.trim() ?? null;
}

function keyInHeader({ headers }: FastifyRequest): string | null {
  const sent = KEY_HEADERS.map((name) => headers[name]).find((value) => typeof value === 'string' && value !== '');
  return typeof sent === 'string' ? sent.trim() : null;
}

function keyInProtocol({ headers, ws }: FastifyRequest): string | null {
  if (!ws) return null;
  const protocols = (headers['sec-websocket-protocol'] ?? '').split(',', PROTOCOLS_MAX).map((each) => each.trim());
  const named = protocols.find((each) => each.startsWith(KEY_PROTOCOL))?.slice(KEY_PROTOCOL.length);
  const at = protocols.findIndex((each) => BEFORE_KEY.includes(each));
  return (named ?? (at < 0 ? undefined : protocols[at + 1])) || null;
}

function keyInUrl({ query, routeOptions }: FastifyRequest): string | null {
  if (routeOptions.config.keyInUrl !== true) return null;
  const { token } = query as Readonly<Record<string, unknown>>;
  return typeof token === 'string' && token !== '' ? token : null;
}

/**
 * Which of the subprotocols that a client offers the handshake answers: the first one that is no key; false = none.
 * A client that offered one and gets none closes.
 */
export function chooseProtocol(offered: ReadonlySet<string>): string | false {
  const protocols = [...offered];
  const open = protocols.filter(
    (each, at) => !each.startsWith(KEY_PROTOCOL) && !BEFORE_KEY.includes(protocols[at - 1] ?? ''),
  );
  return open[0] ?? false;
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
  return cookieOf(request, SESSION_COOKIE);
}

/** The value of a cookie; empty when it was not sent. */
export function cookieOf({ headers }: FastifyRequest, name: string): string {
  const pairs = (headers.cookie ?? '').split(';').map((pair) => pair.trim());
  return pairs.find((pair) => pair.startsWith(`${name}=`))?.slice(name.length + 1) ?? '';
}

/** The `Set-Cookie` header of a session; `id` empty and no seconds = it is removed. */
export function sessionCookie(id: string, maxAgeSeconds: number, isSecure: boolean): string {
  const secure = isSecure ? '; Secure' : '';
  return `${SESSION_COOKIE}=${id}; Path=/; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=Strict${secure}`;
}
