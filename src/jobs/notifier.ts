/** Sends webhooks when batches end, and repeats those that fail. */

import type { Clock, Timer } from '../foundation/clock.ts';
import type { Metrics } from '../foundation/metrics.ts';
import { namedTargets } from '../foundation/outbound-targets.ts';
import type { Settings } from '../foundation/settings/settings.ts';
import { sendWebhook } from '../foundation/webhooks/send-webhook.ts';
import type { Batch, Webhook } from './batch.ts';

/** How long to wait before each attempt after the first. */
export const RETRY_DELAYS_MS = [1000, 10_000, 60_000, 600_000, 3_600_000] as const;

/**
 * A batch's webhook after one more attempt, and in how many ms the next one is due; null = there is none.
 */
export function afterAttempt(
  { url, attempts }: Webhook,
  isDelivered: boolean,
): { readonly webhook: Webhook; readonly againInMs: number | null } {
  const againInMs = isDelivered ? null : (RETRY_DELAYS_MS[attempts] ?? null);
  const state = isDelivered ? 'delivered' : againInMs === null ? 'failed' : 'waiting';
  return { webhook: { url, state, attempts: attempts + 1 }, againInMs };
}

interface NotifierOptions {
  readonly settings: Pick<Settings, 'WEBHOOK_SECRET' | 'OUTBOUND_ALLOW'>;
  readonly clock: Clock;
  readonly metrics: Pick<Metrics, 'webhooks'>;
  /** Cancels all webhooks. */
  readonly signal: AbortSignal;
  /** The batch for the webhook's body; null when it was removed. */
  describe(batch: Batch): unknown;
  /** Called after each attempt. The batch's `webhook` has the result. */
  onAttempt(batch: Batch): void;
}

/** The webhooks of all batches. */
export class Notifier {
  readonly #options: NotifierOptions;
  readonly #retries = new Set<Timer>();

  constructor(options: NotifierOptions) {
    this.#options = options;
    options.signal.addEventListener('abort', () => this.#cancel(), { once: true });
  }

  /** Sends the batch's webhook, if it has one. Never rejects. */
  async notify(batch: Batch): Promise<void> {
    const { webhook } = batch;
    const { settings, clock, metrics, signal } = this.#options;
    const described = this.#options.describe(batch);
    if (webhook === null || signal.aborted || described === null) return;
    const body = JSON.stringify({ type: 'batch.ended', batch: described });
    const { isDelivered } = await sendWebhook({
      url: webhook.url,
      id: batch.id,
      body,
      secret: settings.WEBHOOK_SECRET,
      allowPrivate: namedTargets(settings.OUTBOUND_ALLOW, 'batches'),
      clock,
      signal,
    });
    if (signal.aborted) return;
    const { webhook: after, againInMs } = afterAttempt(webhook, isDelivered);
    Object.assign(webhook, after);
    if (againInMs !== null) this.#retry(batch, againInMs);
    metrics.webhooks.inc({ outcome: webhook.state === 'waiting' ? 'retried' : webhook.state });
    this.#options.onAttempt(batch);
  }

  #retry(batch: Batch, delayMs: number): void {
    const timer = this.#options.clock.after(
      delayMs,
      () => {
        this.#retries.delete(timer);
        void this.notify(batch);
      },
      true,
    );
    this.#retries.add(timer);
  }

  #cancel(): void {
    for (const timer of this.#retries) timer.cancel();
    this.#retries.clear();
  }
}
