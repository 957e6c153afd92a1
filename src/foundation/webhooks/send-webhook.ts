/** Sends a webhook once, signed. */
import type { IncomingMessage } from 'node:http';
import { PrivateAddressError } from '../addresses.ts';
import type { Clock } from '../clock.ts';
import { FetchError, guardedFetch, networkCode, withinTime } from '../guarded-fetch.ts';
import type { PrivateTargets } from '../outbound-targets.ts';
import { signedHeaders } from './sign-webhook.ts';

const ATTEMPT_TIMEOUT_MS = 10_000;
/** RFC 9110 §10.2.3: seconds, or a date. */
const SECONDS = /^\d{1,9}$/;

/** One attempt at one webhook. */
export interface WebhookAttempt {
  readonly url: string;
  /** The same for every attempt. */
  readonly id: string;
  /** JSON. */
  readonly body: string;
  readonly secret: string;
  /** Which loopback, private and link-local addresses it may go to. */
  readonly allowPrivate: boolean | PrivateTargets;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** What came of an attempt. */
export interface WebhookOutcome {
  /** The server answered with a status from 200 to 299. */
  readonly isDelivered: boolean;
  /** The status, or what failed in one word; names no host and no address. */
  readonly answer: string;
  /** How long the server asks us to wait (`Retry-After`); null = it did not say. */
  readonly retryAfterMs: number | null;
}

/** Makes one attempt of at most 10 s. Redirects are not followed and count as failures. Never rejects. */
export async function sendWebhook(attempt: WebhookAttempt): Promise<WebhookOutcome> {
  const { url, id, body, secret, allowPrivate, clock, signal } = attempt;
  const headers = { 'content-type': 'application/json', ...signedHeaders({ id, body, secret }, clock) };
  const request = {
    url,
    allowPrivate,
    redirectsMax: 0,
    prepare: (to: URL) => ({ url: to, method: 'POST' as const, headers, body }),
  };
  try {
    const { response } = await withinTime({ clock, timeoutMs: ATTEMPT_TIMEOUT_MS, signal }, (either) =>
      guardedFetch({ ...request, signal: either }),
    );
    response.destroy();
    return outcomeOf(response, clock);
  } catch (error) {
    return { isDelivered: false, answer: failureName(error), retryAfterMs: null };
  }
}

function outcomeOf({ statusCode = 0, headers }: IncomingMessage, clock: Clock): WebhookOutcome {
  return {
    isDelivered: statusCode >= 200 && statusCode < 300,
    answer: String(statusCode),
    retryAfterMs: readRetryAfter(headers['retry-after'], clock.wall().getTime()),
  };
}

/** The wait in ms that the header `Retry-After` asks for at `wallMs`; null when it says nothing that can be read. */
export function readRetryAfter(header: string | undefined, wallMs: number): number | null {
  if (header === undefined) return null;
  if (SECONDS.test(header)) return Number(header) * 1000;
  const atMs = Date.parse(header);
  return Number.isNaN(atMs) ? null : Math.max(atMs - wallMs, 0);
}

function failureName(error: unknown): string {
  if (error instanceof PrivateAddressError) return 'private address';
  return error instanceof FetchError ? error.failure : networkCode(error);
}
