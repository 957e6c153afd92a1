import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { formOf, type RecordingServer, speechFile, startRecordingServer } from './recording-server.ts';

const ANN = 'the-key-of-ann-and-her-team';
const BOB = 'the-key-of-bob-and-his-team';

let folder: string;
let testServer: RecordingServer;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'trunkline-test-'));
});

afterEach(async () => {
  await testServer.close();
  rmSync(folder, { recursive: true, force: true });
});

const open = async (environment: Record<string, string> = { API_KEYS: `${ANN},${BOB}` }) => {
  testServer = await startRecordingServer({ BATCH_DIR: folder, ...environment });
};

type Headers = Readonly<Record<string, string>>;
const bearer = (key: string): Headers => ({ authorization: `Bearer ${key}` });

/** A browser whose user typed the key. */
async function browser(key: string): Promise<Headers> {
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch(`${testServer.url}/v1/session`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ key }),
  });
  return { cookie: answer.headers.get('set-cookie')?.split(';')[0] ?? '' };
}

async function begin(who: Headers, words: number[] = [1], idempotencyKey?: string) {
  const headers = { ...who, ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }) };
  const response = await fetch(`${testServer.url}/v1/batches`, {
    method: 'POST',
    headers,
    body: formOf(speechFile(words)),
  });
  return { status: response.status, id: ((await response.json()) as { id: string }).id };
}

const statusOf = async (who: Headers, path: string, method = 'GET') => {
  const response = await fetch(`${testServer.url}${path}`, { method, headers: who });
  await response.body?.cancel();
  return response.status;
};

async function idsOf(who: Headers): Promise<string[]> {
  const { data } = (await (await fetch(`${testServer.url}/v1/batches`, { headers: who })).json()) as {
    data: { id: string }[];
  };
  return data.map(({ id }) => id);
}

describe('a batch', () => {
  it('of one browser is not there for another that signed in with another key, by whatever path', async () => {
    await open();
    const [ann, bob] = [await browser(ANN), await browser(BOB)];
    const { id } = await begin(ann);
    await (await fetch(`${testServer.url}/v1/batches/${id}/events`, { headers: ann })).text();
    for (const path of [`/v1/batches/${id}`, `/v1/batches/${id}/events`, `/v1/batches/${id}/files/0`]) {
      expect([path, await statusOf(bob, path), await statusOf(ann, path)]).toEqual([path, 404, 200]);
    }
    expect(await statusOf(bob, `/v1/batches/${id}`, 'DELETE')).toBe(404);
    expect([await idsOf(ann), await idsOf(bob)]).toEqual([[id], []]);
  });

  it('belongs to a key, whether a program shows it or a browser signed in with it', async () => {
    await open();
    const { id } = await begin(await browser(ANN));
    expect([await idsOf(bearer(ANN)), await idsOf(await browser(ANN)), await idsOf(bearer(BOB))]).toEqual([
      [id],
      [id],
      [],
    ]);
    const { id: second } = await begin(bearer(BOB));
    expect(await idsOf(await browser(BOB))).toEqual([second]);
  });

  it('is the key’s that came with it, even beside the session of another', async () => {
    await open();
    const { id } = await begin({ ...(await browser(BOB)), ...bearer(ANN) });
    expect([await idsOf(bearer(ANN)), await idsOf(bearer(BOB))]).toEqual([[id], []]);
  });

  it('is repeated under the same Idempotency-Key for its own key alone', async () => {
    await open();
    const [ann, bob] = [await browser(ANN), await browser(BOB)];
    const first = await begin(ann, [1], 'k');
    expect(await begin(bob, [2], 'k')).toMatchObject({ status: 202 });
    expect(await begin(bearer(ANN), [1], 'k')).toEqual({ status: 200, id: first.id });
  });

  it('counts for its own key alone where they are limited', async () => {
    await open({ API_KEYS: `${ANN},${BOB}`, BATCHES_MAX: '1' });
    const [ann, bob] = [await browser(ANN), await browser(BOB)];
    const asked = await Promise.all([begin(ann), begin(ann), begin(bob)]);
    expect(asked.map(({ status }) => status).toSorted()).toEqual([202, 202, 429]);
    expect(asked[2]?.status).toBe(202);
  });

  it('is everybody’s where there are no keys, whatever key somebody invents', async () => {
    await open({});
    const { id } = await begin(bearer('invented'));
    expect([await idsOf({}), await idsOf(bearer('another')), await idsOf({ authorization: 'Basic YTpi' })]).toEqual([
      [id],
      [id],
      [id],
    ]);
  });
});

describe('a recording', () => {
  it('takes turns with others as its key does, by whatever way that came', async () => {
    await open();
    const form = () => ({ method: 'POST', body: formOf(speechFile([1])) });
    for (const headers of [bearer(ANN), await browser(ANN), await browser(BOB)])
      await fetch(`${testServer.url}/v1/audio/transcriptions`, { ...form(), headers });
    const tenants = [...testServer.engine.transcribed, ...testServer.engine.detected].map(({ tenant }) => tenant);
    expect(tenants).not.toContain('');
    expect(new Set(tenants).size).toBe(2);
  });
});
