/** Batches that several gateways share: one of them is killed over a recording, another one is drained. */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { packagePath } from '../../src/foundation/folders/paths.ts';
import type { BatchView } from '../../src/jobs/batch.ts';
import { startCluster, type TestCluster, whyNoCluster } from './cluster-harness.ts';

const RECORDING = readFileSync(packagePath('fixtures', 'audio', 'short.wav'));
/** Files that a gateway of a cluster reads at once: all of them for a key that is alone. */
const FILES_AT_ONCE = 4;
/** A gateway that died is noticed by its silence. */
const NOTICED = { timeout: 60_000 };

let cluster: TestCluster | undefined;
let site: Server;
/** Requests that wait for an answer; null = all are answered at once. */
let held: ServerResponse[] | null;
let told: unknown[];

beforeEach(async () => {
  held = null;
  told = [];
  site = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    if (request.method === 'POST') told.push(JSON.parse(Buffer.concat(chunks).toString()));
    if (request.method === 'GET' && held !== null) held.push(response);
    else response.end(RECORDING);
  }).listen(0, '127.0.0.1');
  await once(site, 'listening');
});

afterEach(async () => {
  await cluster?.remove();
  cluster = undefined;
  site.closeAllConnections();
  site.close();
});

const urlOf = (name: string): string => `http://127.0.0.1:${(site.address() as AddressInfo).port}/${name}`;

async function begin(url: string, count: number): Promise<BatchView> {
  const inputs = Array.from({ length: count }, (_, number) => ({ url: urlOf(`${number}.wav`) }));
  const response = await fetch(`${url}/v1/batches`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ inputs, webhookUrl: urlOf('ended') }),
  });
  expect(response.status).toBe(202);
  return (await response.json()) as BatchView;
}

async function read(url: string, id: string): Promise<BatchView> {
  return (await (await fetch(`${url}/v1/batches/${id}`)).json()) as BatchView;
}

const ENVIRONMENT = { OUTBOUND_ALLOW: 'batches=127.0.0.0/8', WEBHOOK_SECRET: 'secret-of-the-end-to-end-tests' };

describe.skipIf(whyNoCluster !== '')(`batches of several gateways${whyNoCluster}`, () => {
  it('outlive the gateway that took them, and are told of once', async () => {
    cluster = await startCluster(1, ENVIRONMENT);
    const [first] = cluster.gateways;
    held = [];
    const { id } = await begin(first?.url ?? '', FILES_AT_ONCE + 1);
    await expect.poll(() => held?.length).toBe(FILES_AT_ONCE);
    const other = await cluster.add();
    await first?.stop('SIGKILL');
    held = null;
    await expect.poll(async () => (await read(other.url, id)).state, NOTICED).toBe('done');
    await expect.poll(async () => (await read(other.url, id)).webhook?.state, NOTICED).toBe('delivered');
    expect(await read(other.url, id)).toMatchObject({ counts: { done: FILES_AT_ONCE + 1 } });
    const transcript = await (await fetch(`${other.url}/v1/batches/${id}/files/2`)).json();
    expect(transcript).toMatchObject({ text: expect.any(String) });
    expect(told).toMatchObject([{ type: 'batch.ended', batch: { id, counts: { done: FILES_AT_ONCE + 1 } } }]);
  });

  it('are handed over by a gateway that is drained, and its readers at another see their end', async () => {
    cluster = await startCluster(1, ENVIRONMENT);
    const [first] = cluster.gateways;
    held = [];
    const { id } = await begin(first?.url ?? '', 2);
    await expect.poll(() => held?.length).toBe(2);
    const other = await cluster.add();
    const events = fetch(`${other.url}/v1/batches/${id}/events`).then((response) => response.text());
    held = null;
    expect(await first?.stop('SIGTERM')).toBe(0);
    const types = [...(await events).matchAll(/^event: (\w+)$/gm)].map(([, type]) => type);
    expect([types[0], types.at(-1)]).toEqual(['batch', 'end']);
    expect(types.filter((type) => type === 'file')).toHaveLength(2);
  });
});
