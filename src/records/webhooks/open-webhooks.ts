import type { Clock } from '../../foundation/clock.ts';
import type { Log } from '../../foundation/log/log.ts';
import type { Metrics } from '../../foundation/metrics.ts';
import { type OutboundPurpose, operatorTargets } from '../../foundation/outbound-targets.ts';
import { ConfigError } from '../../foundation/settings/config.ts';
import type { Settings } from '../../foundation/settings/settings.ts';
import { FOR_DAYS } from '../../foundation/webhooks/retry-plan.ts';
import { WebhookSender } from '../../foundation/webhooks/webhook-sender.ts';
import type { Records } from '../records.ts';
import { readDatabaseNowMs } from '../retention/retention-clock.ts';
import { Outbox } from './outbox.ts';
import { WebhookBodies } from './webhook-bodies.ts';

/** The settings of the webhooks of calls, and of messages in flows. */
export type WebhookSettings = Pick<
  Settings,
  | 'CALL_WEBHOOK_URL'
  | 'CALL_WEBHOOK_EVENTS'
  | 'CLUSTER_KEY'
  | 'FLOWS_DIR'
  | 'OUTBOUND_ALLOW'
  | 'FLOW_SIGNING_KEY'
  | 'WEBHOOK_SECRET'
>;

/**
 * The outbox of `records`; null = the settings want none.
 * @throws ConfigError when there are no records to keep what waits in
 */
export function openWebhooks(
  settings: WebhookSettings,
  records: Pick<Records, 'database' | 'calls'> | null,
  { clock, log, metrics }: { readonly clock: Clock; readonly log: Log; readonly metrics: Metrics },
): { readonly outbox: Outbox; readonly types: ReadonlySet<string> } | null {
  const { CALL_WEBHOOK_URL: url, CALL_WEBHOOK_EVENTS, OUTBOUND_ALLOW, WEBHOOK_SECRET } = settings;
  const hasCalls = url !== '';
  if (!hasCalls && (settings.FLOWS_DIR === '' || records === null)) return null;
  if (records === null) {
    throw new ConfigError([
      'CALL_WEBHOOK_URL: webhooks wait in the records of calls, and there are none: set DATA_DIR to a folder that ' +
        'can be written to, or DATABASE_URL',
    ]);
  }
  const { database, calls } = records;
  const bodies = new WebhookBodies(database, calls);
  const senderOf = (secret: string, purpose: OutboundPurpose): WebhookSender =>
    new WebhookSender({ secret, allowPrivate: operatorTargets(OUTBOUND_ALLOW, purpose), plan: FOR_DAYS, clock });
  const outbox = new Outbox({
    database,
    bodies,
    calls: hasCalls ? { url, sender: senderOf(WEBHOOK_SECRET, 'calls') } : null,
    messages: senderOf(settings.FLOW_SIGNING_KEY || WEBHOOK_SECRET, 'flows'),
    clock,
    // A claim of a gateway whose clock is slow would be over at once for one whose clock is right.
    ...(settings.CLUSTER_KEY !== '' && { readNowMs: () => readDatabaseNowMs(database.reader) }),
    log,
    metrics: metrics.records.webhooks,
  });
  return { outbox, types: new Set(hasCalls ? CALL_WEBHOOK_EVENTS : []) };
}
