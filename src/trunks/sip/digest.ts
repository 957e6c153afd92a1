/** Digest credentials of a client (RFC 7616, RFC 8760): MD5 and SHA-256, with `qop=auth` or without. */
import { createHash, randomBytes } from 'node:crypto';
import { DigestAuthentication, LoggerFactory, type OutgoingRequestMessage } from 'sip.js/lib/core/index.js';

const HASHES: Readonly<Record<string, string>> = { MD5: 'md5', 'SHA-256': 'sha256' };

/** What a server asks for, as sip.js reads it from WWW-Authenticate or Proxy-Authenticate. */
interface Challenge {
  readonly realm?: string;
  readonly nonce?: string;
  readonly opaque?: string;
  readonly algorithm?: string;
  readonly stale?: boolean;
  readonly qop?: readonly string[];
}

/** One request's answer to challenges. sip.js's own knows MD5 alone, and would answer anybody. */
export class Credentials extends DigestAuthentication {
  readonly #user: string;
  readonly #secret: string;
  readonly #withinCalls: boolean;
  readonly #clientNonce: () => string;
  #header = '';
  #count = 0;

  /** `withinCalls` = challenges within a call are answered, too. */
  constructor(options: {
    readonly user: string;
    readonly password: string;
    readonly withinCalls?: boolean;
    readonly clientNonce?: () => string;
  }) {
    super(new LoggerFactory(), undefined, undefined, undefined);
    this.#user = options.user;
    this.#secret = options.password;
    this.#withinCalls = options.withinCalls ?? false;
    this.#clientNonce = options.clientNonce ?? (() => randomBytes(8).toString('hex'));
  }

  /**
   * Whether the challenge can be answered. What opens something (REGISTER, a first INVITE) is; within a call only that
   * of whom we called. OPTIONS asks whether somebody is there, and a challenge says so.
   */
  override authenticate(request: OutgoingRequestMessage, challenge: Challenge): boolean {
    const { realm, nonce, opaque, qop, algorithm = 'MD5' } = challenge;
    const hash = HASHES[algorithm];
    const takesAuth = qop === undefined || qop.includes('auth');
    const isAnswered = request.method !== 'OPTIONS' && (this.#withinCalls || (request.toTag ?? '') === '');
    if (hash === undefined || realm === undefined || nonce === undefined || !takesAuth || !isAnswered) return false;
    const digest = (text: string): string => createHash(hash).update(text).digest('hex');
    const uri = request.ruri.toString();
    const own = digest(`${this.#user}:${realm}:${this.#secret}`);
    const asked = digest(`${request.method}:${uri}`);
    const fields = [
      `username="${quoted(this.#user)}"`,
      `realm="${quoted(realm)}"`,
      `nonce="${quoted(nonce)}"`,
      `uri="${uri}"`,
    ];
    if (qop === undefined) fields.push(`response="${digest(`${own}:${nonce}:${asked}`)}"`);
    else fields.push(...this.#answerOnce(digest, own, nonce, asked));
    if (opaque !== undefined) fields.push(`opaque="${quoted(opaque)}"`);
    this.#header = `Digest ${[...fields, `algorithm=${algorithm}`].join(', ')}`;
    return true;
  }

  /** The header's value. */
  override toString(): string {
    return this.#header;
  }

  #answerOnce(digest: (text: string) => string, own: string, nonce: string, asked: string): string[] {
    this.#count += 1;
    const count = this.#count.toString(16).padStart(8, '0');
    const clientNonce = this.#clientNonce();
    const response = digest(`${own}:${nonce}:${count}:${clientNonce}:auth:${asked}`);
    return [`response="${response}"`, 'qop=auth', `nc=${count}`, `cnonce="${clientNonce}"`];
  }
}

function quoted(text: string): string {
  return text.replace(/[\\"]/g, '\\$&');
}
