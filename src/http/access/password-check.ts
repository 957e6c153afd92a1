/** Whose name and password somebody sends. */
import { TrunklineError } from '../../foundation/errors.ts';
import type { People } from '../../records/users/people.ts';
import type { User } from '../../records/users/user.ts';
import type { Attempt, Attempts } from './attempts.ts';
import { type Identities, type Proof, proofOf } from './identities.ts';
import type { Client } from './origin.ts';
import type { SignInLog } from './sign-in-log.ts';

interface CheckOptions {
  readonly people: Pick<People, 'passwords'>;
  readonly attempts: Attempts;
  readonly identities: Identities;
  readonly signIns: SignInLog;
}

/** Checks names and passwords, and counts wrong ones. */
export class PasswordCheck {
  readonly #options: CheckOptions;

  constructor(options: CheckOptions) {
    this.#options = options;
  }

  /**
   * Whose name and password they are. A name that does not exist takes as long, and gets the same answer.
   * `isKnownBrowser` = whether a person has signed in with that browser before.
   * @throws TrunklineError `credentials_invalid` or `too_many_attempts`
   */
  async prove(
    client: Client,
    { name, password }: { name: string; password: string },
    isKnownBrowser: (user: User | undefined) => boolean,
  ): Promise<{ readonly proof: Proof; readonly user: User }> {
    const { attempts, identities, signIns } = this.#options;
    const user = identities.person(name);
    const named = { name: nameOf(name), isKnownBrowser: isKnownBrowser(user) };
    const attempt = attempts.begin(client, named) ?? refuseAttempt();
    if (await this.#isPassword(password, user?.secret ?? null, attempt)) {
      // The user may have been removed or changed meanwhile.
      const now = identities.person(name);
      if (user !== undefined && now?.secret === user.secret) {
        attempt.right();
        return { proof: proofOf(now), user: now };
      }
    }
    signIns.refuse(user?.name ?? null, client);
    if (attempt.ifWrong === 'refused') refuseAttempt();
    throw new TrunklineError('credentials_invalid', 'there is no user with that name and password');
  }

  async #isPassword(password: string, secret: string | null, attempt: Attempt): Promise<boolean> {
    try {
      return await this.#options.people.passwords.verify(password, secret, attempt.isKnown);
    } catch (error) {
      attempt.unchecked();
      throw error;
    }
  }
}

/** Names of the same user count as one. */
function nameOf(name: string): string {
  return name.normalize('NFC').toLowerCase();
}

/** @throws TrunklineError `too_many_attempts` */
export function refuseAttempt(): never {
  throw new TrunklineError(
    'too_many_attempts',
    'too many wrong keys or passwords came from this address, or for this name; try again in a minute',
  );
}

/** Throws `api_key_missing`. */
export function askForKey(): never {
  throw new TrunklineError(
    'api_key_missing',
    'this endpoint needs a key: send Authorization: Bearer <key>, or sign in at / with a browser',
  );
}
