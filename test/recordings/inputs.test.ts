import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { writeWav } from '../../src/audio/wav.ts';
import { Metrics } from '../../src/foundation/metrics.ts';
import { RecordingDisk } from '../../src/recordings/disk.ts';
import { download, expandFolders, findInput } from '../../src/recordings/inputs.ts';
import { FakeClock } from '../fakes/clock.ts';
import { eventually } from '../helpers/eventually.ts';
import { readSettings } from '../helpers/settings.ts';

let folder: string;
let clock: FakeClock;
let server: Server | undefined;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'trunkline-test-'));
  clock = new FakeClock();
});

afterEach(() => {
  server?.close();
  server?.closeAllConnections();
  server = undefined;
  rmSync(folder, { recursive: true });
});

async function serve(answer: RequestListener): Promise<string> {
  server = createServer(answer);
  await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Fetches `url`; the code and the message of what went wrong, or what came. */
async function fetched(
  url: string,
  environment: Record<string, string> = { OUTBOUND_ALLOW: 'batches=127.0.0.0/8' },
  signal = new AbortController().signal,
) {
  const to = join(folder, 'got');
  try {
    const settings = readSettings(environment);
    const disk = new RecordingDisk({ maxBytes: settings.UPLOAD_DISK_MAX_BYTES, metrics: new Metrics() });
    await download({ url, to, disk, settings, clock, signal });
    return readFileSync(to, 'utf8');
  } catch (error) {
    return error;
  }
}

const refusal = (message: RegExp) =>
  expect.objectContaining({ code: 'input_refused', message: expect.stringMatching(message) });

describe('download', () => {
  it('gets what is at a URL, also where it has moved', async () => {
    const url = await serve((request, response) => {
      if (request.url === '/moved') response.writeHead(302, { location: '/here' }).end();
      else response.end('audio');
    });
    expect(await fetched(`${url}/here`)).toBe('audio');
    expect(await fetched(`${url}/moved`)).toBe('audio');
  });

  it('does not go into a private network', async () => {
    const asked: unknown[] = [];
    const url = await serve((request, response) => {
      asked.push(request.url);
      response.end();
    });
    expect(await fetched(`${url}/here`, {})).toEqual(refusal(/private network.*OUTBOUND_ALLOW/));
    expect(await fetched('http://[::1]:1/', {})).toEqual(refusal(/private network/));
    expect(await fetched('http://localhost:1/', {})).toEqual(refusal(/private network/));
    expect(asked).toEqual([]);
  });

  it.each([
    [
      'is not there',
      (_: unknown, response: Parameters<RequestListener>[1]) => void response.writeHead(404).end(),
      /answered 404/,
    ],
    [
      'moves for ever',
      (_: unknown, response: Parameters<RequestListener>[1]) => void response.writeHead(302, { location: '/' }).end(),
      /cannot be read/,
    ],
    [
      'moves to a file',
      (_: unknown, response: Parameters<RequestListener>[1]) =>
        void response.writeHead(302, { location: 'file:///etc/passwd' }).end(),
      /cannot be read/,
    ],
    [
      'wants another protocol',
      (_: unknown, response: Parameters<RequestListener>[1]) =>
        void response.writeHead(101, { connection: 'Upgrade', upgrade: 'websocket' }).end(),
      /answered 101/,
    ],
    [
      'breaks off',
      (_: unknown, response: Parameters<RequestListener>[1]) => {
        response.writeHead(200, { 'content-length': '10' }).write('au', () => response.destroy());
      },
      /cannot be read/,
    ],
  ])('says so when it %s', async (_what, answer, message) => {
    expect(await fetched(await serve(answer))).toEqual(refusal(message));
  });

  it('stops at UPLOAD_MAX_BYTES, whatever length was claimed', async () => {
    const url = await serve((_request, response) => void response.end(Buffer.alloc(5000)));
    expect(await fetched(url, { OUTBOUND_ALLOW: 'batches=127.0.0.0/8', UPLOAD_MAX_BYTES: '4096' })).toMatchObject({
      code: 'upload_too_large',
    });
  });

  it('gives up what does not come within UPLOAD_TIMEOUT_MS, and at once when it is told to', async () => {
    let asked = 0;
    const url = await serve((_request, response) => {
      asked++;
      response.write('au');
    });
    const late = fetched(url, { OUTBOUND_ALLOW: 'batches=127.0.0.0/8', UPLOAD_TIMEOUT_MS: '1000' });
    await eventually(() => expect(asked).toBe(1));
    clock.advance(1000);
    expect(await late).toEqual(refusal(/UPLOAD_TIMEOUT_MS/));
    const leaving = new AbortController();
    const left = fetched(url, undefined, leaving.signal);
    await eventually(() => expect(asked).toBe(2));
    leaving.abort(new Error('cancelled'));
    expect(await left).toMatchObject({ message: 'cancelled' });
  });
});

describe('paths', () => {
  const WAV = writeWav([new Int16Array(100)], 8000);
  const path = (location: string) => ({ name: location, source: { kind: 'path', location } as const });

  it('of folders stand for the recordings in them, named by their paths', async () => {
    mkdirSync(join(folder, 'calls/monday'), { recursive: true });
    writeFileSync(join(folder, 'calls/monday/a'), WAV);
    writeFileSync(join(folder, 'calls/b.wav'), WAV);
    writeFileSync(join(folder, 'calls/notes.wav'), 'Minutes of the meeting');
    const settings = readSettings({ BATCH_INPUT_DIR: folder });
    const inputs = [
      path('calls'),
      path('calls/b.wav'),
      path('calls/none'),
      { name: 'c', source: { kind: 'upload' } as const },
    ];
    expect((await expandFolders(inputs, settings)).map(({ name }) => name)).toEqual([
      ...['calls/b.wav', 'calls/monday/a'],
      ...['calls/b.wav', 'calls/none', 'c'],
    ]);
    expect(await findInput('calls/monday/a', folder)).toMatch(/calls\/monday\/a$/);
    await expect(
      expandFolders([path('.'), path('.')], readSettings({ BATCH_INPUT_DIR: folder, BATCH_FILES_MAX: '3' })),
    ).rejects.toMatchObject({
      code: 'invalid_request',
      message: expect.stringContaining('the most allowed'),
    });
  });

  it('lead nowhere outside of BATCH_INPUT_DIR', async () => {
    mkdirSync(join(folder, 'in'));
    mkdirSync(join(folder, 'secret'));
    writeFileSync(join(folder, 'secret/a.wav'), WAV);
    symlinkSync(join(folder, 'secret'), join(folder, 'in/link'));
    const inside = join(folder, 'in');
    const settings = readSettings({ BATCH_INPUT_DIR: inside });
    for (const location of ['../secret', 'link', '/etc', '.']) {
      expect(await expandFolders([path(location)], settings)).toEqual([path(location)]);
      await expect(findInput(location, inside)).rejects.toMatchObject({ code: 'input_refused' });
    }
    await expect(findInput('link/a.wav', inside)).rejects.toMatchObject({ code: 'input_refused' });
    await expect(findInput('a', '')).rejects.toMatchObject({
      code: 'input_refused',
      message: expect.stringContaining('BATCH_INPUT_DIR'),
    });
  });
});
