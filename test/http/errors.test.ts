import { constants } from 'node:os';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { Recordings } from '../../src/recordings/recordings.ts';
import { type Doors, openDoors } from './doors.ts';

let doors: Doors;

afterEach(async () => {
  vi.restoreAllMocks();
  await doors.app.close();
});

async function messageOf(method: 'GET' | 'POST', url: string, options: { type?: string; body?: string } = {}): Promise<string> {
  doors = await openDoors();
  const { type = 'application/json', body } = options;
  const headers = body === undefined ? {} : { 'content-type': type };
  const answer = await doors.app.inject({ method, url, headers, ...(body === undefined ? {} : { payload: body }) });
  expect([answer.statusCode, answer.json().error.code]).toEqual([400, 'invalid_request']);
  return answer.json().error.message;
}

describe('what is wrong with a request', () => {
  it.each([
    ['a field that is missing', '{}', 'body.input: got nothing, expected string'],
    ['a field of another type', '{"input":7}', 'body.input: got 7, expected string'],
    [
      'a value that is none of those allowed',
      '{"input":"x","stream_format":"ws"}',
      'body.stream_format: got "ws", expected one of "audio", "sse"',
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
      `body.text: got ${open.repeat(80).slice(0, 80)}…, expected string`,
    );
  });

  it('is said of names that every object has', async () => {
    const message = await messageOf('POST', '/v1/calls', { body: '{"to":"+15550100","parameters":{"/constructor":5,"//__proto__":5}}' });
    expect(message).toMatch(/^body\.parameters\.constructor: got nothing, expected string\. body\.parameters\.__proto__: /);
  });

  it('repeats little of a long name', async () => {
    const long = 'x'.repeat(60_000);
    const message = await messageOf('POST', '/v1/calls', { body: JSON.stringify({ to: '+15550100', [long]: 1 }) });
    expect(message).toMatch(/^body: no such field: "x{60,70}…$/);
  });
});

describe('a disk that is full or fails', () => {
  it.each(['ENOSPC', 'EDQUOT', 'EIO'] as const)('is told of with a code of its own and without a path: %s', async (name) => {
    const failure = Object.assign(new Error(`${name}: write '/secret/path'`), { errno: -constants.errno[name], syscall: 'write' });
    vi.spyOn(Recordings.prototype, 'admit').mockRejectedValue(failure);
    doors = await openDoors();
    const answer = await doors.app.inject({ method: 'POST', url: '/v1/audio/transcriptions' });
    expect([answer.statusCode, answer.json().error]).toEqual([
      507,
      { message: `the disk has no room or fails (${name})`, type: 'server_error', param: null, code: 'disk_full' },
    ]);
  });
});
