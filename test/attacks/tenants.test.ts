/** Two who have a key each, and browsers, at one gateway: each tries to see and to stop what is the other's. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type GatewayProcess, startGateway } from '../helpers/gateway.ts';
import { formOf, speechFile } from '../http/recording-server.ts';

const ANN = 'the-key-of-ann-and-her-team';
const BOB = 'the-key-of-bob-and-his-team';

type Headers = Readonly<Record<string, string>>;

let folder: string;
let gateway: GatewayProcess;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'trunkline-attack-'));
});

afterEach(async () => {
  await gateway.stop();
  rmSync(folder, { recursive: true, force: true });
});

async function start(keys: readonly string[]): Promise<void> {
  const pretend = { ASR_MODEL: 'tone', VAD_MODEL: 'tone', TTS_MODEL: 'tone', ENGINE_WORKERS: '1' };
  gateway = await startGateway({
    ...pretend,
    BATCH_DIR: folder,
    ...(keys.length === 0 ? {} : { API_KEYS: keys.join(',') }),
  });
}

const bearer = (key: string): Headers => ({ authorization: `Bearer ${key}` });

async function browser(key: string): Promise<Headers> {
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch(`${gateway.url}/v1/session`, { method: 'POST', headers, body: JSON.stringify({ key }) });
  return { cookie: answer.headers.get('set-cookie')?.split(';')[0] ?? '' };
}

async function begin(headers: Headers): Promise<string> {
  const response = await fetch(`${gateway.url}/v1/batches`, { method: 'POST', headers, body: formOf(speechFile([1])) });
  const { id } = (await response.json()) as { id: string };
  await (await fetch(`${gateway.url}/v1/batches/${id}/events`, { headers })).text();
  return id;
}

async function idsOf(headers: Headers): Promise<string[]> {
  const { data } = (await (await fetch(`${gateway.url}/v1/batches`, { headers })).json()) as { data: { id: string }[] };
  return data.map(({ id }) => id);
}

async function statusOf(headers: Headers, path: string, method = 'GET'): Promise<number> {
  const response = await fetch(gateway.url + path, { method, headers });
  await response.body?.cancel();
  return response.status;
}

describe('two browsers that signed in with different keys', () => {
  it('have nothing of each other, whatever they ask for', async () => {
    await start([ANN, BOB]);
    const [ann, bob] = [await browser(ANN), await browser(BOB)];
    const [annsBatch, bobsBatch] = [await begin(ann), await begin(bob)];
    for (const [thief, other, id] of [
      [bob, ann, annsBatch],
      [ann, bob, bobsBatch],
    ] as const) {
      expect(await idsOf(thief)).not.toContain(id);
      const asked: [string, string][] = [
        ['GET', `/v1/batches/${id}`],
        ['GET', `/v1/batches/${id}/events`],
        ['GET', `/v1/batches/${id}/files/0`],
        ['GET', `/v1/batches/${id}/files/0?asSpoken=true`],
        ['DELETE', `/v1/batches/${id}`],
      ];
      for (const [method, path] of asked) expect([path, await statusOf(thief, path, method)]).toEqual([path, 404]);
      expect(await statusOf(other, `/v1/batches/${id}/files/0`)).toBe(200);
    }
  });

  it('and whose key was taken away with a restart, leave nothing open', async () => {
    await start([ANN, BOB]);
    const [ann, bob] = [await browser(ANN), await browser(BOB)];
    await begin(ann);
    await gateway.stop();
    await start([BOB]);
    expect([
      await statusOf(ann, '/v1/batches'),
      await statusOf(bob, '/v1/batches'),
      await statusOf(bearer(ANN), '/v1/batches'),
    ]).toEqual([401, 401, 401]);
    expect(await idsOf(await browser(BOB))).toEqual([]);
  });
});

describe('where there are no keys', () => {
  it('an invented one makes nobody somebody else', async () => {
    await start([]);
    const id = await begin(bearer('invented'));
    expect([await idsOf({}), await idsOf(bearer('another'))]).toEqual([[id], [id]]);
  });
});
