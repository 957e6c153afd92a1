/**
 * Somebody puts a reverse proxy that says nothing of its clients before a gateway, which then takes them all for this
 * machine.
 */
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type GatewayProcess, startGateway } from '../helpers/gateway.ts';
import { type PlainProxy, type ProxyStyle, startPlainProxy } from '../helpers/plain-proxy.ts';
import { upgradeStatus } from '../http/test-server.ts';

const PRETEND = {
  ASR_MODEL: 'tone',
  VAD_MODEL: 'tone',
  TTS_MODEL: 'tone',
  ENGINE_WORKERS: '1',
  ENGINE_PRELOAD: 'false',
};
const KEY = 'a-key-of-the-operator';

let gateway: GatewayProcess;
let proxy: PlainProxy | undefined;

afterEach(async () => {
  await proxy?.close();
  proxy = undefined;
});

interface Asked {
  readonly method?: 'GET' | 'POST';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** How a request is answered, over a connection of its own; of an answer that is no error only the status is read. */
async function ask(
  url: string,
  { method = 'GET', headers = {}, body = '' }: Asked = {},
): Promise<{ status: number; code: string | null }> {
  const asked = request(url, { method, headers, agent: false }).end(body);
  const [response] = (await once(asked, 'response')) as [IncomingMessage];
  const { statusCode: status = 0 } = response;
  if (status < 400) {
    asked.destroy();
    return { status, code: null };
  }
  const { error } = JSON.parse((await response.setEncoding('utf8').toArray()).join('')) as { error: { code: string } };
  return { status, code: error.code };
}

const refused = { status: 403, code: 'anonymous_refused' };
const json = (body: object): Asked => ({
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
});
const form = (body: string): Asked => ({
  method: 'POST',
  headers: { 'content-type': 'application/x-www-form-urlencoded' },
  body,
});
const bearer = (key: string): Asked => ({ headers: { authorization: `Bearer ${key}` } });

const GUARDED: readonly (readonly [path: string, asked: Asked])[] = [
  ...['/v1/calls', '/v1/captions', '/v1/batches', '/v1/models', '/docs', '/docs/json', '/metrics'].map(
    (path) => [path, bearer('guess')] as const,
  ),
  ['/v1/phone', { method: 'POST' }],
  ['/v1/calls', json({ to: '+14155550100' })],
  ['/v1/audio/speech', json({ input: 'Hello.', model: 'tts-1', voice: 'alloy' })],
  ['/v1/session', json({ key: 'guess' })],
  ['/asterisk/calls/3b241101-e2bb-4255-8caf-4136c566a962', form('from=1')],
  ['/twilio/voice', form('CallSid=CA1')],
];

describe('before a gateway without keys', () => {
  beforeAll(async () => {
    gateway = await startGateway(PRETEND);
  });
  afterAll(() => gateway.stop());

  it.each<ProxyStyle>(['default', 'sockets'])(
    'nothing answers to strangers that answers this machine (%s)',
    async (style) => {
      proxy = await startPlainProxy(gateway.url, style);
      for (const [path, asked] of GUARDED) expect([path, await ask(proxy.url + path, asked)]).toEqual([path, refused]);
      expect(await (await fetch(`${proxy.url}/ready`)).json()).toEqual({ status: expect.any(String) });
      expect(await ask(`${gateway.url}/v1/calls`)).toEqual({ status: 200, code: null });
    },
  );

  it('no WebSocket opens, for what comes of one is no upgrade any more', async () => {
    proxy = await startPlainProxy(gateway.url);
    for (const path of [
      '/v1/captions',
      '/twilio/media',
      '/asterisk/media',
      '/vonage/media',
      '/freeswitch/media',
      '/v1/audio/speech/ws',
      '/ws/transcribe',
    ]) {
      expect([path, await upgradeStatus(proxy.url + path)]).not.toEqual([path, 101]);
      expect([path, await upgradeStatus(gateway.url + path)]).toEqual([path, 101]);
    }
  });

  it('it does not even start where its public name is told', async () => {
    await expect(startGateway({ ...PRETEND, PUBLIC_URL: 'https://bridge.example.com' })).rejects.toThrow(
      /ended with 78.*set API_KEYS/is,
    );
  });
});

describe('before a gateway with keys', () => {
  beforeAll(async () => {
    gateway = await startGateway({ ...PRETEND, API_KEYS: KEY, PUBLIC_URL: 'https://bridge.example.com' });
  });
  afterAll(() => gateway.stop());

  it('a key opens what it opens without the proxy, and no key nothing', async () => {
    proxy = await startPlainProxy(gateway.url);
    expect(await ask(`${proxy.url}/v1/calls`)).toEqual({ status: 401, code: 'api_key_missing' });
    expect(await ask(`${proxy.url}/v1/calls`, bearer('guess'))).toEqual({ status: 401, code: 'invalid_api_key' });
    expect(await ask(`${proxy.url}/v1/calls`, bearer(KEY))).toEqual({ status: 200, code: null });
  });
});
