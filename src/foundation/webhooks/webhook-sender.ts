/** Sends webhooks of one kind, and says what is to be done with what was not taken. Who asks keeps what waits. */
import { pause } from '../abortable-pause.ts';
import type { Clock } from '../clock.ts';
import type { PrivateTargets } from '../outbound-targets.ts';
import { type AfterAttempt, afterAttempt, type RetryPlan } from './retry-plan.ts';
import { sendWebhook } from './send-webhook.ts';

interface SenderOptions {
  readonly secret: string;
  /** Which loopback, private and link-local addresses they may go to. */
  readonly allowPrivate: PrivateTargets;
  readonly plan: RetryPlan;
  readonly clock: Clock;
}

/** A webhook before an attempt. */
interface PendingWebhook {
  readonly url: string;
  /** The same for every attempt. */
  readonly id: string;
  /** JSON. */
  readonly body: string;
  /** Those that were made before. */
  readonly attempts: number;
  /** How long it has waited since the first could be made; absent = just now. Plans that end after a time need it. */
  readonly ageMs?: number;
}

/** Webhooks that are signed with one secret, may go to the same places and are repeated alike. */
export class WebhookSender {
  readonly #options: SenderOptions;

  constructor(options: SenderOptions) {
    this.#options = options;
  }

  /** Makes one attempt. Null = `signal` aborted it, and it does not count. Never rejects. */
  async attempt(
    { url, id, body, attempts, ageMs = 0 }: PendingWebhook,
    signal: AbortSignal,
  ): Promise<AfterAttempt | null> {
    const { secret, allowPrivate, plan, clock } = this.#options;
    const outcome = await sendWebhook({ url, id, body, secret, allowPrivate, clock, signal });
    if (signal.aborted && !outcome.isDelivered) return null;
    return afterAttempt(plan, { attempts, ageMs }, outcome);
  }

  /**
   * Makes attempts until it is taken or given up, or `signal` aborts. `body` is asked before each; null ends it.
   * `onAttempt` is called after each. Never rejects.
   */
  async deliver(
    { body, ...webhook }: Omit<PendingWebhook, 'body' | 'ageMs'> & { readonly body: () => string | null },
    signal: AbortSignal,
    onAttempt: (after: AfterAttempt) => void,
  ): Promise<void> {
    for (let { attempts } = webhook; !signal.aborted; ) {
      const text = body();
      const after = text === null ? null : await this.attempt({ ...webhook, body: text, attempts }, signal);
      if (after === null) return;
      onAttempt(after);
      if (after.againInMs === null) return;
      attempts = after.attempts;
      await pause(this.#options.clock, after.againInMs, signal);
    }
  }
}
