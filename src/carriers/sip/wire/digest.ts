/** Digest authentication of a client (RFC 7616, RFC 8760): MD5 and SHA-256, with `qop=auth` or without. */
import { createHash } from 'node:crypto';

const HASHES: Readonly<Record<string, string>> = { MD5: 'md5', 'SHA-256': 'sha256' };

/** A server's challenge, from WWW-Authenticate or Proxy-Authenticate. */
export interface DigestChallenge {
  readonly realm?: string;
  readonly nonce?: string;
  readonly opaque?: string;
  readonly algorithm?: string;
  readonly stale?: boolean;
  readonly qop?: readonly string[];
}

/** The request that is challenged, and the client's credentials. */
export interface DigestRequest {
  readonly user: string;
  readonly password: string;
  readonly method: string;
  readonly uri: string;
  /** How many requests the client has authenticated, with this one; for `qop=auth`. */
  readonly count: number;
  readonly clientNonce: string;
}

/** Whether a client that knows MD5 and SHA-256 with `qop=auth` or without can answer the challenge. */
export function canAnswerDigest({ realm, nonce, qop, algorithm = 'MD5' }: DigestChallenge): boolean {
  const takesAuth = qop === undefined || qop.includes('auth');
  return realm !== undefined && nonce !== undefined && takesAuth && Object.hasOwn(HASHES, algorithm);
}

/** The value of Authorization or Proxy-Authorization. The challenge must be one of {@link canAnswerDigest}. */
export function answerDigest(challenge: DigestChallenge, request: DigestRequest): string {
  const { realm = '', nonce = '', opaque, qop, algorithm = 'MD5' } = challenge;
  const { user, password, method, uri, clientNonce } = request;
  const hash = (text: string): string =>
    createHash(HASHES[algorithm] ?? 'md5')
      .update(text)
      .digest('hex');
  const secret = hash(`${user}:${realm}:${password}`);
  const asked = hash(`${method}:${uri}`);
  const fields = [`username="${quoted(user)}"`, `realm="${quoted(realm)}"`, `nonce="${quoted(nonce)}"`, `uri="${uri}"`];
  if (qop === undefined) fields.push(`response="${hash(`${secret}:${nonce}:${asked}`)}"`);
  else {
    const count = request.count.toString(16).padStart(8, '0');
    const response = hash(`${secret}:${nonce}:${count}:${clientNonce}:auth:${asked}`);
    fields.push(`response="${response}"`, 'qop=auth', `nc=${count}`, `cnonce="${clientNonce}"`);
  }
  if (opaque !== undefined) fields.push(`opaque="${quoted(opaque)}"`);
  return `Digest ${[...fields, `algorithm=${algorithm}`].join(', ')}`;
}

function quoted(text: string): string {
  return text.replace(/[\\"]/g, '\\$&');
}
