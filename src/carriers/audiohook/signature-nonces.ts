/** Nonces of signed handshakes: each holds once, at one gateway or at any of several. */
import { LRUCache } from 'lru-cache';
import type { UsedKeys } from '../../calls/admission/shared-one-use.ts';
import type { Clock } from '../../foundation/clock.ts';
import { settlesWithin } from '../../foundation/settles-within.ts';

/** Those that are remembered; more handshakes than that in half a minute are refused earlier. */
const NONCES_MAX = 10_000;
/** Longer than a signature holds. */
const LIFE_MS = 30_000;
/** A handshake waits no longer for the database. */
const WAIT_MS = 1000;

interface NoncesOptions {
  readonly clock: Clock;
  /** What several gateways share; null = this one is alone. */
  readonly shared: UsedKeys | null;
}

export class SignatureNonces {
  readonly #options: NoncesOptions;
  readonly #used = new LRUCache<string, number>({ max: NONCES_MAX });

  constructor(options: NoncesOptions) {
    this.#options = options;
  }

  /**
   * Whether `nonce` comes for the first time while its signature holds. While the database is away, this gateway's
   * memory alone decides: calls are worth more than a signature of a few seconds. Never rejects.
   */
  async isFirst(nonce: string): Promise<boolean> {
    const { clock, shared } = this.#options;
    const nowMs = clock.nowMs();
    if ((this.#used.get(nonce) ?? -Infinity) > nowMs) return false;
    this.#used.set(nonce, nowMs + LIFE_MS);
    if (shared === null) return true;
    let isFirst = true;
    const asked = shared.claim('audiohook-nonce', nonce, LIFE_MS).then((answer) => {
      isFirst = answer;
    });
    await settlesWithin(clock, asked, WAIT_MS);
    return isFirst;
  }
}
