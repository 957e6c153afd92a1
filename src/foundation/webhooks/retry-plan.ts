/** When a webhook that was not taken is sent again. */
import type { WebhookOutcome } from './send-webhook.ts';

/** How long a kind of webhooks is repeated. */
export interface RetryPlan {
  /** The wait in ms after `attempts` that failed; null = there are no more. */
  delayMs(attempts: number): number | null;
  /** A receiver may ask for this much patience at most (`Retry-After`). */
  readonly patienceMaxMs: number;
  /** What would be sent later than this after the first attempt could be made is given up. */
  readonly lastsMs: number;
}

/** After each attempt but the last of {@link WITHIN_HOURS}. */
export const DELAYS_MS = [1000, 10_000, 60_000, 600_000, 3_600_000] as const;

/** Six attempts in 71 minutes, in less than two hours where the receiver asks for patience. */
export const WITHIN_HOURS: RetryPlan = {
  delayMs: (attempts) => DELAYS_MS[attempts - 1] ?? null,
  patienceMaxMs: 600_000,
  lastsMs: Number.POSITIVE_INFINITY,
};

/** 5 s, 20 s, 80 s … 1 h, each up to a fifth shorter, for three days. */
export const FOR_DAYS: RetryPlan = {
  delayMs: (attempts) => Math.round(Math.min(5000 * 4 ** (attempts - 1), 3_600_000) * (1 - 0.2 * Math.random())),
  patienceMaxMs: 86_400_000,
  lastsMs: 3 * 86_400_000,
};

/** The receiver says that nobody wants it (RFC 9110 §15.5.11). */
const GONE = '410';

/** Where a webhook stands after one more attempt. */
export interface AfterAttempt {
  readonly state: 'waiting' | 'delivered' | 'failed';
  readonly attempts: number;
  /** In how many ms the next one is due; null = there is none. */
  readonly againInMs: number | null;
  /** What the receiver answered, or what failed in one word; names no host and no address. */
  readonly answer: string;
}

/** What `outcome` means for a webhook with `attempts` before it that has waited for `ageMs`. */
export function afterAttempt(
  { delayMs, patienceMaxMs, lastsMs }: RetryPlan,
  { attempts, ageMs }: { readonly attempts: number; readonly ageMs: number },
  { isDelivered, answer, retryAfterMs }: WebhookOutcome,
): AfterAttempt {
  const made = { attempts: attempts + 1, answer };
  if (isDelivered) return { ...made, state: 'delivered', againInMs: null };
  const planned = answer === GONE ? null : delayMs(attempts + 1);
  const againInMs = planned === null ? null : Math.max(planned, Math.min(retryAfterMs ?? 0, patienceMaxMs));
  if (againInMs === null || ageMs + againInMs > lastsMs) return { ...made, state: 'failed', againInMs: null };
  return { ...made, state: 'waiting', againInMs };
}

/** The word for an attempt in metrics. */
export function attemptOutcome(state: AfterAttempt['state']): 'delivered' | 'retried' | 'failed' {
  return state === 'waiting' ? 'retried' : state;
}
