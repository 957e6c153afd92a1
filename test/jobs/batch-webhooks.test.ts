import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DELAYS_MS } from '../../src/foundation/webhooks/retry-plan.ts';
import { signWebhook } from '../../src/foundation/webhooks/sign-webhook.ts';
import type { Batches } from '../../src/jobs/batches.ts';
import { FakeClock } from '../fakes/clock.ts';
import { eventually } from '../helpers/eventually.ts';
import { beginBatch, openBatches, TRANSCRIPT } from './open-batches.ts';

let folder: string;
let clock: FakeClock;
let batches: Batches | null;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'trunkline-test-'));
  clock = new FakeClock();
  batches = null;
});

afterEach(async () => {
  await batches?.close();
  rmSync(folder, { recursive: true });
});

function open(environment: Readonly<Record<string, string>> = {}): Batches {
  batches = openBatches({ folder, clock, transcribe: async () => TRANSCRIPT, environment });
  return batches;
}

describe('a webhook', () => {
  interface Received {
    readonly headers: IncomingMessage['headers'];
    readonly body: string;
  }

  /** A server that answers with the given statuses in turn. */
  async function receiver(...statuses: number[]) {
    const received: Received[] = [];
    const server = createServer(async (request, response) => {
      let body = '';
      for await (const chunk of request) body += String(chunk);
      received.push({ headers: request.headers, body });
      response.writeHead(statuses[received.length - 1] ?? 200).end();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    return { received, url, close: () => new Promise((resolve) => server.close(resolve)) };
  }

  it('tells of the end, signed, and is sent again until it is taken', async () => {
    const { received, url, close } = await receiver(500, 204);
    const batch = await beginBatch(open({ OUTBOUND_ALLOW: 'batches=127.0.0.0/8' }), { webhookUrl: url });
    await eventually(() => expect(batch.webhook?.attempts).toBe(1));
    clock.advance(DELAYS_MS[0]);
    await eventually(() => expect(batch.webhook).toMatchObject({ state: 'delivered', attempts: 2 }));
    const [, last] = received;
    const { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signature } = last?.headers ?? {};
    expect(id).toBe(batch.id);
    expect(signature).toBe(
      signWebhook({ id: batch.id, timestamp: String(timestamp), body: last?.body ?? '', secret: 'secret' }),
    );
    expect(JSON.parse(last?.body ?? '')).toMatchObject({ type: 'batch.ended', batch: { id: batch.id, state: 'done' } });
    await close();
  });

  it('does not go to a private network', async () => {
    const { received, url, close } = await receiver();
    const batch = await beginBatch(open(), { webhookUrl: url });
    for (const delayMs of DELAYS_MS) {
      const attempts = batch.webhook?.attempts ?? 0;
      await eventually(() => expect(batch.webhook?.attempts).toBeGreaterThan(attempts));
      clock.advance(delayMs);
    }
    await eventually(() => expect(batch.webhook?.state).toBe('failed'));
    expect(received).toEqual([]);
    await close();
  });
});
