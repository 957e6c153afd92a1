/** Signs what is sent as Standard Webhooks defines it (standardwebhooks.com, symmetric signatures). */
import { createHmac } from 'node:crypto';
import type { Clock } from '../clock.ts';

/** What a signature covers. */
interface SignedParts {
  /** `webhook-id`, the same for every attempt. */
  readonly id: string;
  /** Seconds since 1970. */
  readonly timestamp: string;
  readonly body: string;
  readonly secret: string;
}

/**
 * `v1,` and the base64 HMAC-SHA256 of `id.timestamp.body`, as Standard Webhooks defines symmetric signatures
 * (standardwebhooks.com). The key is the secret's bytes; for a secret that begins with `whsec_` it is the decoded
 * base64 after that.
 */
export function signWebhook({ id, timestamp, body, secret }: SignedParts): string {
  const key = secret.startsWith('whsec_') ? Buffer.from(secret.slice('whsec_'.length), 'base64') : Buffer.from(secret);
  return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`;
}

/** The headers of a request with `body` that is sent now: its id, the time and the signature. */
export function signedHeaders(
  { id, body, secret }: Omit<SignedParts, 'timestamp'>,
  clock: Clock,
): Readonly<Record<string, string>> {
  const timestamp = String(Math.floor(clock.wall().getTime() / 1000));
  return {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': signWebhook({ id, timestamp, body, secret }),
  };
}
