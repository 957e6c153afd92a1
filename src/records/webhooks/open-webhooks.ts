import type { Clock } from '../../foundation/clock.ts';
import type { Log } from '../../foundation/log/log.ts';
import type { Metrics } from '../../foundation/metrics.ts';
import { ConfigError } from '../../foundation/settings/config.ts';
import type { Settings } from '../../foundation/settings/settings.ts';
import type { Records } from '../records.ts';
import { Outbox } from './outbox.ts';
import { WebhookBodies } from './webhook-bodies.ts';

/** The settings of the webhooks of calls. */
export type WebhookSettings = Pick<
  Settings,
  'CALL_WEBHOOK_URL' | 'CALL_WEBHOOK_EVENTS' | 'CALL_WEBHOOK_ALLOW_PRIVATE' | 'WEBHOOK_SECRET'
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
  const { CALL_WEBHOOK_URL: url, CALL_WEBHOOK_EVENTS, CALL_WEBHOOK_ALLOW_PRIVATE, WEBHOOK_SECRET } = settings;
  if (url === '') return null;
  if (records === null) {
    throw new ConfigError([
      'CALL_WEBHOOK_URL: webhooks wait in the records of calls, and there are none: set DATA_DIR to a folder that ' +
        'can be written to, or DATABASE_URL',
    ]);
  }
  const { database, calls } = records;
  const bodies = new WebhookBodies(database, calls);
  const target = { url, secret: WEBHOOK_SECRET, allowPrivate: CALL_WEBHOOK_ALLOW_PRIVATE };
  const outbox = new Outbox({ ...target, database, bodies, clock, log, metrics: metrics.records.webhooks });
  return { outbox, types: new Set(CALL_WEBHOOK_EVENTS) };
}
