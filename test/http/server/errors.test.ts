import { constants } from 'node:os';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { Recordings } from '../../../src/recordings/recordings.ts';
import { startServer, type TestServer } from '../test-server.ts';

let testServer: TestServer;

afterEach(async () => {
  vi.restoreAllMocks();
  await testServer.app.close();
});

async function messageOf(
  method: 'GET' | 'POST',
  url: string,
  options: { type?: string; body?: string } = {},
): Promise<string> {
  testServer = await startServer();
  const { type = 'application/json', body } = options;
  const headers = body === undefined ? {} : { 'content-type': type };
  const answer = await testServer.app.inject({
    method,
    url,
    headers,
    ...(body === undefined ? {} : { payload: body }),
  });
  expect([answer.statusCode, answer.json().error.code]).toEqual([400, 'invalid_request']);
  return answer.json().error.message;
}

describe('what is wrong with a request', () => {
  it.each([
    ['a field that is missing', '{}', 'body.input: got nothing, expected text'],
    ['a field of another type', '{"input":7}', 'body.input: got 7, expected text'],
    [
      'a value that is none of those allowed',
      '{"input":"x","stream_format":"ws"}',
      'body.stream_format: got "ws", expected one of "audio", "sse"',
    ],
    ['a text that is empty', '{"input":""}', 'body.input: got "", expected text of at least 1 character'],
    ['a number that is too large', '{"input":"x","speed":9}', 'body.speed: got 9, expected at most 4'],
    ['what may be one thing or another', '{"input":"x","voice":7}', 'body.voice: got 7, expected text or an object'],
    [
      'a number that is none of those allowed',
      '{"input":"x","sample_rate":1}',
      'body.sample_rate: got 1, expected one of 8000, 11025, 12000, 16000, 22050, 24000, 32000, 44100, 48000',
    ],
  ])('is said once, and what was expected: %s', async (_what, body, words) => {
    expect(await messageOf('POST', '/v1/audio/speech', { body })).toBe(words);
  });

  it('names fields that there are not, and does not repeat the rest', async () => {
    expect(await messageOf('GET', '/v1/captions?cal=CA1')).toBe('query: no such field: "cal"');
  });

  it('says which content type came, and which are taken', async () => {
    expect(await messageOf('POST', '/v1/calls', { type: 'text/csv', body: 'to' })).toBe(
      'header content-type: got "text/csv", expected application/json',
    );
    expect(await messageOf('POST', '/v1/audio/transcriptions', { type: 'text/csv', body: 'to' })).toBe(
      'header content-type: got "text/csv", expected multipart/form-data',
    );
  });

  it('says how large a body came, and how large one may be', async () => {
    testServer = await startServer();
    const answer = await testServer.app.inject({
      method: 'POST',
      url: '/v1/calls',
      headers: { 'content-type': 'application/json' },
      payload: 'x'.repeat(70_000),
    });
    expect([answer.statusCode, answer.json().error.message]).toEqual([
      413,
      'body: got 70000 bytes, expected at most 65536',
    ]);
  });

  it.each([
    [
      'a file without a filename',
      ['Content-Disposition: form-data; name="file"\r\n\r\nhello'],
      'file: got a text, for the part has no filename, expected a recording as a part of that name with a filename',
    ],
    [
      'a part without a name',
      ['Content-Disposition: form-data\r\n\r\nhello'],
      'file: got nothing, expected a recording as a part of that name with a filename',
    ],
    [
      'two files',
      Array(2).fill('Content-Disposition: form-data; name="file"; filename="f"\r\n\r\nx'),
      'got more than one file, expected one',
    ],
    [
      'a file under another name',
      ['Content-Disposition: form-data; name="audio"; filename="f"\r\n\r\nx'],
      'file: got a file named "audio", expected the part to be named file',
    ],
    [
      'many fields',
      Array(41).fill('Content-Disposition: form-data; name="a"\r\n\r\nx'),
      'got more fields than 40, which is the most allowed',
    ],
    [
      'a field that is no JSON',
      ['Content-Disposition: form-data; name="model"\r\nContent-Type: application/json\r\n\r\n{'],
      'got a field whose content type is JSON and whose text is none',
    ],
  ])('is said of a form with %s', async (_what, parts: string[], words) => {
    const body = `${parts.map((part) => `--b\r\n${part}\r\n`).join('')}--b--\r\n`;
    expect(await messageOf('POST', '/v1/audio/transcriptions', { type: 'multipart/form-data; boundary=b', body })).toBe(
      words,
    );
  });

  it('says of a clone that is no form what it is', async () => {
    testServer = await startServer();
    const answer = await testServer.app.inject({
      method: 'POST',
      url: '/v1/audio/speech/clone',
      payload: { input: 'x' },
    });
    expect([answer.statusCode, answer.json().message]).toEqual([
      422,
      'header content-type: got "application/json", expected multipart/form-data with a part named file',
    ]);
  });

  it('asks a webhook without a body for the field that is missing', async () => {
    expect(await messageOf('POST', '/twilio/voice')).toBe(
      'body.CallSid: got nothing, expected a call identifier such as CA and 32 hexadecimal digits',
    );
  });

  it.each([
    ['a list', '[', ']'],
    ['an object', '{"a":', '}'],
  ])('is said of %s that is nested deeper than any stack', async (_what, open, close) => {
    const depth = 60_000 / (open.length + close.length);
    const deep = open.repeat(depth).replace(/:$/, ':1') + close.repeat(depth);
    expect(await messageOf('POST', '/v1/calls/CA1/say', { body: `{"text":${deep}}` })).toBe(
      `body.text: got ${open.repeat(80).slice(0, 80)}…, expected text`,
    );
  });

  it('is said of names that every object has', async () => {
    const message = await messageOf('POST', '/v1/calls', {
      body: '{"to":"+15550100","parameters":{"/constructor":5,"//__proto__":5}}',
    });
    expect(message).toMatch(
      /^body\.parameters\.\/constructor: got 5, expected text\. body\.parameters\.\/\/__proto__: /,
    );
  });

  it('repeats little of a long name', async () => {
    const long = 'x'.repeat(60_000);
    const message = await messageOf('POST', '/v1/calls', { body: JSON.stringify({ to: '+15550100', [long]: 1 }) });
    expect(message).toMatch(/^body: no such field: "x{60,70}…$/);
  });
});

describe('a disk that is full or fails', () => {
  it.each(['ENOSPC', 'EDQUOT', 'EIO'] as const)(
    'is told of with a code of its own and without a path: %s',
    async (name) => {
      const failure = Object.assign(new Error(`${name}: write '/secret/path'`), {
        errno: -constants.errno[name],
        syscall: 'write',
      });
      vi.spyOn(Recordings.prototype, 'admit').mockRejectedValue(failure);
      testServer = await startServer();
      const answer = await testServer.app.inject({ method: 'POST', url: '/v1/audio/transcriptions' });
      expect([answer.statusCode, answer.json().error]).toEqual([
        507,
        {
          message: `the disk is full or fails (${name})`,
          type: 'server_error',
          param: null,
          code: 'disk_full',
          request_id: answer.headers['x-request-id'],
        },
      ]);
    },
  );
});
