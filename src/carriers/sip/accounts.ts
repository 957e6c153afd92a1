/** Which credentials answer a challenge: those of the trunk that the challenged request is for. */
import { DigestAuthentication, LoggerFactory, type OutgoingRequestMessage } from 'sip.js/lib/core/index.js';
import { Credentials } from './credentials.ts';
import type { SipTrunk } from './trunk-list.ts';
import type { DigestChallenge } from './wire/digest.ts';

type Account = Pick<SipTrunk, 'user' | 'password'>;

export class Accounts {
  readonly #accounts = new WeakMap<OutgoingRequestMessage, Account>();

  /** From now on challenges to this request are answered as this account. */
  sign(request: OutgoingRequestMessage, account: Account): void {
    this.#accounts.set(request, account);
  }

  /** What answers the challenges to one request, whichever it will be. */
  credentials(): DigestAuthentication {
    return new AccountCredentials((request) => this.#accounts.get(request));
  }

  /** What answers challenges within a call over this trunk; undefined where it has no user. */
  credentialsOf({ user, password }: Account): Credentials | undefined {
    return user === '' ? undefined : new Credentials({ user, password, withinCalls: true });
  }
}

class AccountCredentials extends DigestAuthentication {
  readonly #accountOf: (request: OutgoingRequestMessage) => Account | undefined;
  #credentials: Credentials | null = null;

  constructor(accountOf: (request: OutgoingRequestMessage) => Account | undefined) {
    super(new LoggerFactory(), undefined, undefined, undefined);
    this.#accountOf = accountOf;
  }

  override authenticate(request: OutgoingRequestMessage, challenge: DigestChallenge): boolean {
    const { user, password } = this.#accountOf(request) ?? { user: '', password: '' };
    if (user === '') return false;
    this.#credentials ??= new Credentials({ user, password });
    return this.#credentials.authenticate(request, challenge);
  }

  override toString(): string {
    return this.#credentials?.toString() ?? '';
  }
}
