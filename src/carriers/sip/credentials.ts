/** Our credentials at registrars and trunks, in the place of sip.js's own. */
import { randomBytes } from 'node:crypto';
import { DigestAuthentication, LoggerFactory, type OutgoingRequestMessage } from 'sip.js/lib/core/index.js';
import { answerDigest, canAnswerDigest, type DigestChallenge } from './wire/digest.ts';

/** Answers the challenges to one request. sip.js's own class knows only MD5, and would answer anybody. */
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
   * Whether the challenge is answered. A challenge to REGISTER or a first INVITE is; within a call only a challenge
   * from the party that we called. One to OPTIONS is not: it shows already that somebody is there.
   */
  override authenticate(request: OutgoingRequestMessage, challenge: DigestChallenge): boolean {
    const isWithinCall = (request.toTag ?? '') !== '';
    if (request.method === 'OPTIONS' || (isWithinCall && !this.#withinCalls)) return false;
    if (!canAnswerDigest(challenge)) return false;
    if (challenge.qop !== undefined) this.#count += 1;
    this.#header = answerDigest(challenge, {
      user: this.#user,
      password: this.#secret,
      method: request.method,
      uri: request.ruri.toString(),
      count: this.#count,
      clientNonce: this.#clientNonce(),
    });
    return true;
  }

  /** The header's value. */
  override toString(): string {
    return this.#header;
  }
}
