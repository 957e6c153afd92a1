/** A program that takes webhooks as a customer's would: it checks each signature. */
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { signWebhook } from '../../../src/foundation/webhooks/sign-webhook.ts';
import type { WebhookSettings } from '../../../src/records/webhooks/open-webhooks.ts';

export const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';

/** Settings with which the ends of calls are told to `url`, with `changes`. */
export function webhookSettings(url: string, changes: Partial<WebhookSettings> = {}): WebhookSettings {
  return {
    CALL_WEBHOOK_URL: url,
    CALL_WEBHOOK_EVENTS: ['call.ended'],
    CLUSTER_KEY: '',
    FLOWS_DIR: '',
    OUTBOUND_ALLOW: ['127.0.0.0/8'],
    FLOW_SIGNING_KEY: '',
    WEBHOOK_SECRET: SECRET,
    ...changes,
  };
}

/** A webhook that came, and whose signature was right. */
export interface Taken {
  readonly id: string;
  readonly body: { readonly type: string; readonly timestamp: string; readonly data: Record<string, unknown> };
}

export class WebhookReceiver {
  readonly taken: Taken[] = [];
  /** Signatures that were wrong. */
  forged = 0;
  /** Requests, whatever became of them. */
  requests = 0;
  /** Answers a request; by default 204. */
  answer: (response: ServerResponse) => void = (response) => void response.writeHead(204).end();
  readonly #server = createServer(async (request, response) => {
    this.requests++;
    let body = '';
    for await (const chunk of request) body += String(chunk);
    const { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signature } = request.headers;
    const parts = { id: String(id), timestamp: String(timestamp), body, secret: SECRET };
    if (signWebhook(parts) === signature) this.taken.push({ id: parts.id, body: JSON.parse(body) });
    else this.forged++;
    this.answer(response);
  });

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/calls`;
  }

  async open(): Promise<void> {
    await once(this.#server.listen(0, '127.0.0.1'), 'listening');
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
