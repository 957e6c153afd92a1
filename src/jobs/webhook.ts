/**
 * Sends the webhook for the end of a batch, signed as Standard Webhooks defines it (standardwebhooks.com, symmetric
 * signatures).
 */
import { createHmac } from 'node:crypto';
import type { Clock } from '../foundation/clock.ts';
import { guardedFetch, withinTime } from '../foundation/guarded-fetch.ts';
import type { Settings } from '../foundation/settings/settings.ts';

const ATTEMPT_TIMEOUT_MS = 10_000;

/** How long to wait before each attempt after the first. */
export const RETRY_DELAYS_MS = [1000, 10_000, 60_000, 600_000, 3_600_000] as const;

interface Delivery {
  readonly url: string;
  /** The same for every attempt. */
  readonly id: string;
  readonly body: string;
  readonly settings: Pick<Settings, 'WEBHOOK_SECRET' | 'BATCH_ALLOW_PRIVATE'>;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/**
 * `v1,` and the base64 HMAC-SHA256 of `id.timestamp.body`. The key is the secret's bytes; for a secret that begins with
 * `whsec_` it is the decoded base64 after that.
 */
export function signWebhook({
  id,
  timestamp,
  body,
  secret,
}: {
  id: string;
  timestamp: string;
  body: string;
  secret: string;
}): string {
  const key = secret.startsWith('whsec_') ? Buffer.from(secret.slice('whsec_'.length), 'base64') : Buffer.from(secret);
  return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`;
}

/** Makes one attempt. Resolves with true when the server answers with a status from 200 to 299. */
export async function deliver({ url, id, body, settings, clock, signal }: Delivery): Promise<boolean> {
  const timestamp = String(Math.floor(clock.wall().getTime() / 1000));
  const headers = {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': signWebhook({ id, timestamp, body, secret: settings.WEBHOOK_SECRET }),
  };
  const request = {
    url,
    allowPrivate: settings.BATCH_ALLOW_PRIVATE,
    redirectsMax: 0,
    prepare: (to: URL) => ({ url: to, method: 'POST' as const, headers, body }),
  };
  try {
    const { response } = await withinTime({ clock, timeoutMs: ATTEMPT_TIMEOUT_MS, signal }, (either) =>
      guardedFetch({ ...request, signal: either }),
    );
    response.destroy();
    const status = response.statusCode ?? 0;
    return status >= 200 && status < 300;
  } catch {
    return false;
  }
}
