import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { messageSoundId } from '../../../src/calls/sound/message-recording.ts';
import { callView } from '../../helpers/call-view.ts';
import {
  makeFolder,
  type OpenedStore,
  openStore,
  recordTones,
  removeFolder,
  STARTED_AT,
} from '../../records/sound/sound-files.ts';
import { listen, startServer, type TestServer } from '../test-server.ts';

const WAV_BYTES = 44 + 2 * 32_000;

let folder: string;
let kept: OpenedStore;
let server: TestServer;
let url: string;

beforeEach(async () => {
  folder = await makeFolder();
  kept = await openStore(folder);
  await recordTones(kept, 'CA1');
  server = await startServer({}, undefined, undefined, kept.store);
  server.calls.views.push({ ...callView('CA1', { state: 'ended' }), startedAt: STARTED_AT.toISOString() });
  server.calls.views.push({ ...callView('CA2', { state: 'live' }), startedAt: STARTED_AT.toISOString() });
  url = await listen(server.app);
});

afterEach(async () => {
  await server.app.close();
  await kept.store.close();
  await removeFolder(folder);
});

const get = (headers: Record<string, string> = {}, method = 'GET', id = 'CA1'): Promise<Response> =>
  fetch(`${url}/v1/calls/${id}/sound`, { method, headers });

const codeOf = async (response: Response): Promise<string> =>
  ((await response.json()) as { error: { code: string } }).error.code;

test('the sound of a call is a WAV file', async () => {
  const response = await get();
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toBe('audio/wav');
  expect(response.headers.get('accept-ranges')).toBe('bytes');
  expect(response.headers.get('content-length')).toBe(String(WAV_BYTES));
  expect((await response.arrayBuffer()).byteLength).toBe(WAV_BYTES);
});

test('HEAD tells its length and sends nothing', async () => {
  const response = await get({}, 'HEAD');
  expect([response.status, response.headers.get('content-length')]).toEqual([200, String(WAV_BYTES)]);
  expect((await response.arrayBuffer()).byteLength).toBe(0);
});

test('the sound up to a moment of the call is that much shorter', async () => {
  const response = await fetch(`${url}/v1/calls/CA1/sound?untilMs=500`);
  expect((await response.arrayBuffer()).byteLength).toBe(44 + 16_000);
  expect((await fetch(`${url}/v1/calls/CA1/sound?untilMs=soon`)).status).toBe(400);
});

test('the sound of a message is a file of its own', async () => {
  await recordTones(kept, messageSoundId('CA1', 1), { durationMs: 500 });
  const of = (message: string) => fetch(`${url}/v1/calls/CA1/messages/${message}/sound`);
  const response = await of('message-1');
  expect([response.status, (await response.arrayBuffer()).byteLength]).toEqual([200, 44 + 500 * 8 * 4]);
  expect(await codeOf(await of('message-2'))).toBe('sound_not_found');
  expect((await of('message-1%20message-1')).status).toBe(400);
});

describe('a range', () => {
  test.each([
    ['bytes=0-', 206, 0, WAV_BYTES - 1],
    ['bytes=44-99', 206, 44, 99],
    ['bytes=-16', 206, WAV_BYTES - 16, WAV_BYTES - 1],
    [`bytes=64000-999999`, 206, 64_000, WAV_BYTES - 1],
  ])('%s is answered with that part', async (range, status, first, last) => {
    const response = await get({ range });
    expect(response.status).toBe(status);
    expect(response.headers.get('content-range')).toBe(`bytes ${first}-${last}/${WAV_BYTES}`);
    const whole = Buffer.from(await (await get()).arrayBuffer());
    expect(Buffer.from(await response.arrayBuffer())).toEqual(whole.subarray(first, last + 1));
  });

  test('behind the end is refused with the length', async () => {
    const response = await get({ range: 'bytes=64044-' });
    expect(response.status).toBe(416);
    expect(response.headers.get('content-range')).toBe(`bytes */${WAV_BYTES}`);
    expect(await response.json()).toMatchObject({ error: { code: 'range_refused' } });
  });

  test.each(['bytes=5-2', 'lines=1-2', 'bytes=1-2,5-6', 'bytes=-', 'bytes=a-b'])('%s is passed over', async (range) => {
    const response = await get({ range });
    expect(response.status).toBe(200);
    await response.arrayBuffer();
  });

  test('counts only for the sound that the client has a part of', async () => {
    const etag = (await get({}, 'HEAD')).headers.get('etag') ?? '';
    expect(etag).toMatch(/^"\d+"$/);
    const same = await get({ range: 'bytes=0-9', 'if-range': etag });
    expect([same.status, (await same.arrayBuffer()).byteLength]).toEqual([206, 10]);
    const other = await get({ range: 'bytes=0-9', 'if-range': '"1"' });
    expect([other.status, (await other.arrayBuffer()).byteLength]).toEqual([200, WAV_BYTES]);
  });
});

test('a call that is not there, or has no sound, is told apart', async () => {
  const missing = await get({}, 'GET', 'CA9');
  expect([missing.status, await codeOf(missing)]).toEqual([404, 'call_not_found']);
  const silent = await get({}, 'GET', 'CA2');
  expect([silent.status, await codeOf(silent)]).toEqual([404, 'sound_not_found']);
});

describe('POST /v1/calls/{id}/recording', () => {
  const post = (id: string, body: object): Promise<Response> =>
    fetch(`${url}/v1/calls/${id}/recording`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });

  test.each(['on', 'paused', 'off'])('takes %s', async (state) => {
    const response = await post('CA2', { state });
    expect([response.status, await response.json()]).toEqual([202, { id: 'CA2', state }]);
    expect(server.calls.recordings).toEqual([{ id: 'CA2', state }]);
  });

  test('refuses other states, calls that are over, and servers without a folder', async () => {
    expect((await post('CA2', { state: 'loud' })).status).toBe(400);
    expect((await post('CA1', { state: 'on' })).status).toBe(404);
    server.calls.keepsSound = false;
    const response = await post('CA2', { state: 'on' });
    expect([response.status, await codeOf(response)]).toEqual([501, 'recording_unavailable']);
  });
});
