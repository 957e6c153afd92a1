import { afterEach, describe, expect, it } from 'vitest';
import { MULAW_8K } from '../../../src/foundation/units.ts';
import type { CallStart } from '../../../src/protocols/dialect.ts';
import { startServer, type TestServer } from '../../http/test-server.ts';

const UUID = '40325ec2-5efd-4bd3-805f-53576e581d13';
const START: CallStart = {
  carrier: 'audiosocket',
  callId: UUID,
  streamId: 's',
  from: null,
  to: null,
  tracks: ['inbound'],
  codec: MULAW_8K,
  playback: 'paced',
  parameters: {},
};

let testServer: TestServer;
afterEach(() => testServer.app.close());

async function announce(
  payload: string,
  { uuid = UUID, type = 'application/x-www-form-urlencoded', headers = {} } = {},
) {
  const answer = await testServer.app.inject({
    method: 'POST',
    url: `/asterisk/calls/${uuid}`,
    headers: { 'content-type': type, host: '127.0.0.1', ...headers },
    payload,
  });
  return { status: answer.statusCode, body: answer.json() };
}

describe('POST /asterisk/calls/{uuid}', () => {
  it('keeps what CURL() of a dialplan posts for the call that brings the UUID', async () => {
    testServer = await startServer();
    const form = 'from=%2B15550100&to=601&app=wss%3A%2F%2Fapp.example.com%2F&bargeIn=off';
    expect(await announce(form, { uuid: UUID.toUpperCase() })).toEqual({ status: 201, body: { callId: UUID } });
    expect(testServer.announced.complete(START)).toMatchObject({
      from: '+15550100',
      to: '601',
      parameters: { app: 'wss://app.example.com/', bargeIn: 'off' },
    });
  });

  it('takes JSON as well, and an empty caller as none', async () => {
    testServer = await startServer();
    expect((await announce('{"from":"","to":"601"}', { type: 'application/json' })).status).toBe(201);
    expect(testServer.announced.complete(START)).toMatchObject({ from: null, to: '601', parameters: {} });
  });

  it.each([
    ['an id that is none', '', { uuid: 'lab' }],
    ['a field of a strange name', 'caller-id=5', {}],
    ['too many fields', Array.from({ length: 33 }, (_, i) => `f${i}=1`).join('&'), {}],
    ['too long fields', `note=${'x'.repeat(4096)}`, {}],
    ['a caller of 257 characters', `from=${'5'.repeat(257)}`, {}],
    ['JSON that is no object of texts', '{"from":{"number":5}}', { type: 'application/json' }],
  ])('refuses %s', async (_what, payload, options) => {
    testServer = await startServer();
    expect(await announce(payload, options)).toMatchObject({
      status: 400,
      body: { error: { code: 'invalid_request' } },
    });
  });

  it('asks for the password where one is set, and else for this machine', async () => {
    testServer = await startServer({ ASTERISK_PASSWORD: 'secret' });
    expect((await announce('from=1')).status).toBe(401);
    const authorization = `Basic ${Buffer.from('asterisk:secret').toString('base64')}`;
    expect((await announce('from=1', { headers: { authorization, host: 'bridge.example.com' } })).status).toBe(201);
    await testServer.app.close();
    testServer = await startServer();
    expect((await announce('from=1', { headers: { host: 'bridge.example.com' } })).status).toBe(403);
  });
});
