/** Gateways that reach one another by https, with certificates that only NODE_EXTRA_CA_CERTS makes them believe. */
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { type RequestOptions, request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { makeCertificate } from '../helpers/certificates.ts';
import { type GatewayProcess, startGateway } from '../helpers/gateway.ts';
import { freePort } from '../helpers/ports.ts';
import { startPostgres, type TestPostgres, whyNoPostgres } from '../helpers/postgres.ts';

const API_KEY = 'a-key-of-the-operator';
const CALL_ID = 'CA-tls';
const START = {
  event: 'start',
  streamSid: 'MZ-tls',
  start: {
    callSid: CALL_ID,
    tracks: ['inbound'],
    mediaFormat: { encoding: 'audio/x-mulaw', sampleRate: 8000, channels: 1 },
  },
};

describe.runIf(whyNoPostgres === '')(`gateways with TLS of their own${whyNoPostgres}`, () => {
  const folder = mkdtempSync(join(tmpdir(), 'cluster-tls-'));
  const pair = makeCertificate(folder, 'gateways');
  const ca = readFileSync(pair.cert);
  const gateways: GatewayProcess[] = [];
  let postgres: TestPostgres;
  let carrier: WebSocket;

  beforeAll(async () => {
    postgres = await startPostgres();
    const databaseUrl = await postgres.createDatabase();
    const start = async (trust: Readonly<Record<string, string>>): Promise<GatewayProcess> => {
      const port = String(await freePort());
      const gateway = await startGateway({
        ASR_MODEL: 'tone',
        VAD_MODEL: 'tone',
        ENGINE_WORKERS: '1',
        API_KEYS: API_KEY,
        ALLOW_UNSIGNED_TWILIO: 'true',
        DATABASE_URL: databaseUrl,
        CLUSTER_KEY: 'cluster-key-of-the-end-to-end-tests',
        PORT: port,
        GATEWAY_URL: `https://127.0.0.1:${port}`,
        TLS_CERT: pair.cert,
        TLS_KEY: pair.key,
        ...trust,
      });
      gateways.push(gateway);
      return gateway;
    };
    const owner = await start({ NODE_EXTRA_CA_CERTS: pair.cert });
    await start({ NODE_EXTRA_CA_CERTS: pair.cert });
    await start({});
    carrier = new WebSocket(`${owner.url.replace('https', 'wss')}/twilio/media`, { ca });
    await once(carrier, 'open');
    carrier.send(JSON.stringify(START));
  }, 60_000);

  afterAll(async () => {
    carrier?.terminate();
    await Promise.all(gateways.map((gateway) => gateway.stop('SIGKILL')));
    await postgres?.remove();
    rmSync(folder, { recursive: true, force: true });
  });

  async function ask(gateway: GatewayProcess | undefined, path: string, method = 'GET'): Promise<[number, string]> {
    const options: RequestOptions = { ca, method, headers: { authorization: `Bearer ${API_KEY}` } };
    const sent = request(`${gateway?.url}${path}`, options);
    sent.end();
    const [response] = await once(sent, 'response');
    let body = '';
    for await (const chunk of response) body += String(chunk);
    return [response.statusCode, body];
  }

  it('pass a command on to the gateway that has the call', async () => {
    const [, believing] = gateways;
    await expect.poll(async () => (await ask(believing, `/v1/calls/${CALL_ID}`))[0], { timeout: 20_000 }).toBe(200);
    expect(await ask(believing, `/v1/calls/${CALL_ID}/interrupt`, 'POST')).toEqual([200, '{"interrupted":null}']);
  });

  it('tell the one who asked when they do not believe each other', async () => {
    const [status, body] = await ask(gateways[2], `/v1/calls/${CALL_ID}/interrupt`, 'POST');
    expect([status, body]).toEqual([503, expect.stringContaining('DEPTH_ZERO_SELF_SIGNED_CERT')]);
  });
});
