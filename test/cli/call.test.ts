import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { writeWav } from '../../src/audio/wav.ts';
import { RefusedError } from '../../src/carriers/sip/simulator/call.ts';
import { askEndReason } from '../../src/cli/call/end-reason.ts';
import { explainRefusal } from '../../src/cli/call/sip.ts';
import { call, transcriptUrl } from '../../src/cli/call.ts';
import { readSettings } from '../../src/foundation/settings/config.ts';
import { type Gateway, runGateway } from '../../src/gateway/main.ts';
import { freePort } from '../helpers/ports.ts';
import { captureTerminal } from '../helpers/terminal.ts';

it.each([
  [{}, 'http://127.0.0.1:8080'],
  [{ voice: 'https://bridge.example.com/twilio/voice' }, 'https://bridge.example.com'],
  [{ url: 'wss://bridge.example.com/asterisk/media' }, 'https://bridge.example.com'],
  [{ url: 'tcp://10.0.0.7:9019' }, 'http://10.0.0.7:8080'],
  [{ url: 'sip:bridge@10.0.0.7:5060' }, 'http://10.0.0.7:8080'],
  [{ url: 'sip:[::1]:5060;transport=udp' }, 'http://[::1]:8080'],
  [{ url: 'sips:bridge@pbx.example.com' }, 'http://pbx.example.com:8080'],
])('after a call with %j the transcript is looked for at %s', (order, origin) => {
  expect(transcriptUrl('CA1', order, { PORT: 8080, TLS_CERT: '' })).toBe(
    `${origin}/v1/calls/CA1/transcript?format=text`,
  );
});

it('a server that does not answer is not said to have answered 408', () => {
  expect(explainRefusal(new RefusedError(408), 'sip:a@127.0.0.1:5060')).toMatchObject({
    message: expect.stringContaining('nothing answered at sip:a@'),
  });
  expect(explainRefusal(new RefusedError(408, 'ECONNREFUSED'), 'sips:a@127.0.0.1')).toMatchObject({
    message: expect.stringContaining('nothing answered at sips:a@127.0.0.1 (ECONNREFUSED)'),
  });
  expect(explainRefusal(new RefusedError(503, 'Service Unavailable'), 'sip:a@127.0.0.1:5060')).toMatchObject({
    message: 'the server answered 503 Service Unavailable',
  });
});

describe('why a call ended', () => {
  let close: () => void = () => undefined;
  afterEach(() => close());

  async function serve(status: number, body: string): Promise<{ url: string; requests: IncomingMessage[] }> {
    const requests: IncomingMessage[] = [];
    const server = createServer((request, response) => {
      requests.push(request);
      response.writeHead(status).end(body);
    });
    close = () => server.close();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/calls/CA1`, requests };
  }

  it('is asked with the key', async () => {
    const { url, requests } = await serve(200, '{"endReason":"hangup"}');
    expect(await askEndReason(url, 'a key')).toBe('hangup');
    expect(requests[0]).toMatchObject({ url: '/v1/calls/CA1', headers: { authorization: 'Bearer a key' } });
  });

  it.each([
    [401, '{"error":{"code":"unauthorized"}}'],
    [200, 'null'],
    [200, 'no JSON'],
  ])('is not known where the answer is %i %s', async (status, body) => {
    expect(await askEndReason((await serve(status, body)).url, undefined)).toBeNull();
  });

  it('is not known where nobody answers', async () => {
    expect(await askEndReason('http://127.0.0.1:9/v1/calls/CA1', undefined)).toBeNull();
  });
});

describe('a call to an app that is not there', () => {
  const folder = mkdtempSync(join(tmpdir(), 'trunkline-'));
  let gateway: Gateway | undefined;
  afterEach(async () => {
    rmSync(folder, { recursive: true });
    await gateway?.close();
  });

  it('ends with 1 and says so', async () => {
    const engines = {
      ENGINE_WORKERS: '1',
      ASR_MODEL: 'tone',
      VAD_MODEL: 'tone',
      TTS_MODEL: 'tone',
      MODELS_DIR: 'none',
      DATA_DIR: 'none',
      LOG_LEVEL: 'silent',
    };
    gateway = await runGateway(readSettings({ ...engines, PORT: '0', APP_URL: `ws://127.0.0.1:${await freePort()}` }));
    const settings = readSettings({ PORT: new URL(gateway.url).port });
    const { terminal, err } = captureTerminal();
    const wav = join(folder, 'silence.wav');
    writeFileSync(wav, writeWav([new Int16Array(2400)], 8000));
    const order = { wav, jitterMs: 0, loss: 0, reorder: 0, seed: 1, param: {} };
    expect(await call({ ...order, carrier: 'twilio', from: '+15550100', to: '+15550199' }, settings, terminal)).toBe(1);
    expect(err.text).toContain('the server could not reach its app in this call');
  });
});
