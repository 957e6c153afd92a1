/** Tells clients by webhook that a shared batch has ended. Any gateway does it. */

import type { Clock } from '../../foundation/clock.ts';
import type { Metrics } from '../../foundation/metrics.ts';
import { namedTargets } from '../../foundation/outbound-targets.ts';
import type { Settings } from '../../foundation/settings/settings.ts';
import { sendWebhook } from '../../foundation/webhooks/send-webhook.ts';
import type { Batch, WholeBatchView } from '../batch.ts';
import { afterAttempt } from '../notifier.ts';
import type { JobOutcome } from './job-queue.ts';
import type { WorkTables } from './work-tables.ts';

interface EndWebhooksOptions {
  readonly settings: Pick<Settings, 'WEBHOOK_SECRET' | 'OUTBOUND_ALLOW'>;
  readonly work: Pick<WorkTables, 'noteWebhook'>;
  readonly clock: Clock;
  readonly metrics: Pick<Metrics, 'webhooks'>;
  /** Undefined = there is no such batch any more. */
  look(id: string): Promise<(WholeBatchView & { readonly webhook: Batch['webhook'] }) | undefined>;
}

/** The webhooks of shared batches. */
export class EndWebhooks {
  readonly #options: EndWebhooksOptions;

  constructor(options: EndWebhooksOptions) {
    this.#options = options;
  }

  /** One attempt. @throws the reason of `signal`; errors of the database */
  async deliver(id: string, signal: AbortSignal): Promise<JobOutcome> {
    const { settings, clock, metrics, work } = this.#options;
    const found = await this.#options.look(id);
    if (found === undefined || found.batch.state === 'running' || found.webhook?.state !== 'waiting') return 'done';
    const { webhook: _told, ...batch } = found.batch;
    const { isDelivered } = await sendWebhook({
      url: found.webhook.url,
      id,
      body: JSON.stringify({ type: 'batch.ended', batch: { ...batch, files: found.files } }),
      secret: settings.WEBHOOK_SECRET,
      allowPrivate: namedTargets(settings.OUTBOUND_ALLOW, 'batches'),
      clock,
      signal,
    });
    signal.throwIfAborted();
    const { webhook, againInMs } = afterAttempt(found.webhook, isDelivered);
    metrics.webhooks.inc({ outcome: webhook.state === 'waiting' ? 'retried' : webhook.state });
    await work.noteWebhook(id, webhook);
    return againInMs === null ? 'done' : { againInMs };
  }
}
