/** Tells clients by webhook that their batches have ended. */
import type { Clock } from '../foundation/clock.ts';
import type { Metrics } from '../foundation/metrics.ts';
import { namedTargets } from '../foundation/outbound-targets.ts';
import type { Settings } from '../foundation/settings/settings.ts';
import { type AfterAttempt, attemptOutcome, WITHIN_HOURS } from '../foundation/webhooks/retry-plan.ts';
import { WebhookSender } from '../foundation/webhooks/webhook-sender.ts';
import type { Batch, Webhook, WholeBatchView } from './batch.ts';

interface WebhooksOptions {
  readonly settings: Pick<Settings, 'WEBHOOK_SECRET' | 'OUTBOUND_ALLOW'>;
  readonly clock: Clock;
  readonly metrics: Pick<Metrics, 'webhooks'>;
}

/** The webhooks of batches, wherever those are kept. */
export class BatchWebhooks {
  readonly #metrics: WebhooksOptions['metrics'];
  readonly #sender: WebhookSender;

  constructor({ settings, clock, metrics }: WebhooksOptions) {
    this.#metrics = metrics;
    this.#sender = new WebhookSender({
      secret: settings.WEBHOOK_SECRET,
      allowPrivate: namedTargets(settings.OUTBOUND_ALLOW, 'batches'),
      plan: WITHIN_HOURS,
      clock,
    });
  }

  /** One attempt. Null = `signal` aborted it. Never rejects. */
  async attempt(told: WholeBatchView, webhook: Webhook, signal: AbortSignal): Promise<AfterAttempt | null> {
    const { url, attempts } = webhook;
    const after = await this.#sender.attempt({ url, id: told.batch.id, body: bodyOf(told), attempts }, signal);
    if (after !== null) this.#count(after);
    return after;
  }

  /**
   * Attempts until it is taken or given up, or `signal` aborts. `describe` is asked before each; null = the batch was
   * removed. `batch.webhook` has the result when `onAttempt` is called. Never rejects.
   */
  async deliver(
    batch: Batch,
    signal: AbortSignal,
    { describe, onAttempt }: { describe(): WholeBatchView | null; onAttempt(): void },
  ): Promise<void> {
    const { id, webhook } = batch;
    if (webhook === null) return;
    const body = (): string | null => {
      const told = describe();
      return told === null ? null : bodyOf(told);
    };
    await this.#sender.deliver({ url: webhook.url, id, attempts: webhook.attempts, body }, signal, (after) => {
      webhook.state = after.state;
      webhook.attempts = after.attempts;
      this.#count(after);
      onAttempt();
    });
  }

  #count({ state }: AfterAttempt): void {
    this.#metrics.webhooks.inc({ outcome: attemptOutcome(state) });
  }
}

function bodyOf({ batch: { webhook: _webhook, ...batch }, files }: WholeBatchView): string {
  return JSON.stringify({ type: 'batch.ended', batch: { ...batch, files } });
}
