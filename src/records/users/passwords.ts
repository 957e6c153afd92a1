import { randomBytes, timingSafeEqual } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import type { Clock } from '../../foundation/clock.ts';
import { TrunklineError } from '../../foundation/errors.ts';
import { packagePath } from '../../foundation/folders/paths.ts';
import { WorkerPool } from '../../foundation/workers/worker-pool.ts';
import { formatScrypt, parseScrypt, type ScryptCost } from './secrets.ts';

/** One who waits. */
interface Turn {
  readonly begin: () => void;
  readonly refuse: (reason: Error) => void;
}

/** What the thread derives a hash from. */
export interface ScryptTask extends ScryptCost {
  readonly password: string;
  readonly salt: Uint8Array;
  readonly bytes: number;
}

/** 32 MiB: https://cheatsheetseries.owasp.org/cheatsheets/Password_Storage_Cheat_Sheet.html */
const COST: ScryptCost = { ln: 15, r: 8, p: 3 };
const SALT_BYTES = 16;
const HASH_BYTES = 32;
/**
 * Passwords that wait to be checked, of strangers and once more of people who were right before. One takes some
 * 0.2 s, so the last waits for some seconds.
 */
const WAITING_MAX = 32;
const HEAP_MB = 32;

/**
 * Hashes and checks passwords, one after the other in a thread of low priority: however many people sign in, or
 * strangers try to, calls lose a fraction of one core. Who was right before comes first.
 */
export class Passwords {
  readonly #pool: WorkerPool<ScryptTask, Uint8Array>;
  readonly #ending = new AbortController();
  readonly #cost: ScryptCost;
  readonly #strangers: Turn[] = [];
  readonly #known: Turn[] = [];
  #isBusy = false;

  /** `cost` is for tests. */
  constructor({ clock, cost = COST }: { clock: Clock; cost?: ScryptCost }) {
    const program = packagePath('dist', 'src', 'records', 'users', 'scrypt-worker.js');
    this.#pool = new WorkerPool({ program, threadsMax: 1, heapMb: HEAP_MB, clock });
    this.#cost = cost;
    setMaxListeners(WAITING_MAX, this.#ending.signal);
  }

  /** The secret that is kept of `password`. @throws TrunklineError `too_many_attempts` when too many wait */
  async hash(password: string): Promise<string> {
    const salt = randomBytes(SALT_BYTES);
    const hash = await this.#derive({ ...this.#cost, password, salt, bytes: HASH_BYTES }, this.#known);
    return formatScrypt({ ...this.#cost, salt, hash });
  }

  /**
   * Whether `secret` is that of `password`. With null, where there is no such user, it takes as long and is false.
   * `isKnown` = whoever asks was right before.
   * @throws TrunklineError `too_many_attempts` when too many wait
   */
  async verify(password: string, secret: string | null, isKnown: boolean): Promise<boolean> {
    const kept = secret === null ? null : parseScrypt(secret);
    const { salt, hash, ...cost } = kept ?? {
      ...this.#cost,
      salt: Buffer.alloc(SALT_BYTES),
      hash: Buffer.alloc(HASH_BYTES),
    };
    const turns = isKnown ? this.#known : this.#strangers;
    const derived = await this.#derive({ ...cost, password, salt, bytes: hash.length }, turns);
    return timingSafeEqual(derived, hash) && kept !== null;
  }

  /** Refuses what still waits. */
  close(): void {
    const reason = new TrunklineError('draining', 'the server is shutting down');
    this.#ending.abort(reason);
    for (const { refuse } of [...this.#known.splice(0), ...this.#strangers.splice(0)]) refuse(reason);
  }

  async #derive(task: ScryptTask, turns: Turn[]): Promise<Buffer> {
    if (this.#isBusy) await this.#turnIn(turns);
    this.#isBusy = true;
    const work = this.#pool.open({ ...task, password: task.password.normalize('NFC') });
    try {
      return Buffer.from(await work.next(this.#ending.signal));
    } finally {
      work.close();
      const next = this.#known.shift() ?? this.#strangers.shift();
      this.#isBusy = next !== undefined;
      next?.begin();
    }
  }

  #turnIn(turns: Turn[]): Promise<void> {
    if (turns.length >= WAITING_MAX)
      throw new TrunklineError('too_many_attempts', 'too many people sign in at this moment; try again in a minute');
    return new Promise((begin, refuse) => turns.push({ begin, refuse }));
  }
}
