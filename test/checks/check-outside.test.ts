/** What the doctor says of certificates, of AudioHook and of chat endpoints. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { checkAudioHook } from '../../src/carriers/audiohook/check.ts';
import { checkCertificates } from '../../src/checks/check-certificate.ts';
import { checkChat } from '../../src/checks/check-chat.ts';
import { readSettings } from '../../src/foundation/settings/config.ts';
import { type CertificateFiles, makeCertificate } from '../helpers/certificates.ts';

const NONE = {
  TLS_CERT: '',
  TLS_KEY: '',
  SIP_TLS_CERT: '',
  SIP_TLS_KEY: '',
  SIP_TLS_CA: '',
  PUBLIC_URL: '',
  GATEWAY_URL: '',
};

describe("the doctor's findings on certificates", () => {
  let folder: string;
  let good: CertificateFiles;
  let soon: CertificateFiles;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'doctor-'));
    good = makeCertificate(folder, 'good');
    soon = makeCertificate(folder, 'soon', 1);
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('are none where none is set', async () => {
    expect(await checkCertificates(NONE)).toEqual([]);
  });

  it('say for whom one is, and what it is not for', async () => {
    const urls = { PUBLIC_URL: 'https://bridge.example.com', GATEWAY_URL: 'https://127.0.0.1:8443' };
    expect(await checkCertificates({ ...NONE, ...urls, TLS_CERT: good.cert, TLS_KEY: good.key })).toMatchObject([
      { name: 'tls', status: 'ok', detail: expect.stringContaining('DNS:localhost, IP Address:127.0.0.1') },
      { name: 'tls', status: 'warn', detail: expect.stringContaining('not for bridge.example.com') },
    ]);
  });

  it('warn of the end, and find a key of another certificate, by the names of the settings of SIP, too', async () => {
    const sip = { SIP_TLS_CERT: soon.cert, SIP_TLS_KEY: soon.key, SIP_TLS_CA: good.cert };
    expect(await checkCertificates({ ...NONE, ...sip })).toMatchObject([
      { name: 'sip tls', status: 'warn', detail: expect.stringContaining('renew it') },
      { name: 'sip tls', status: 'ok', detail: expect.stringContaining('1 certificate in ') },
    ]);
    expect(await checkCertificates({ ...NONE, ...sip, SIP_TLS_KEY: good.key, SIP_TLS_CA: '' })).toMatchObject([
      { status: 'fail', detail: expect.stringContaining('SIP_TLS_KEY') },
    ]);
  });

  it('tell a file of authorities that has none', async () => {
    const path = join(folder, 'empty.pem');
    writeFileSync(path, 'nothing');
    expect(await checkCertificates({ ...NONE, SIP_TLS_CA: path })).toMatchObject([{ status: 'fail' }]);
    expect(await checkCertificates({ ...NONE, SIP_TLS_CA: join(folder, 'none') })).toMatchObject([{ status: 'fail' }]);
  });
});

describe("the doctor's findings on AudioHook", () => {
  const set = { GENESYS_API_KEY: 'key', GENESYS_CLIENT_SECRET: 'c2VjcmV0', PUBLIC_URL: 'https://bridge.example.com' };

  it.each([
    ['nothing', { GENESYS_API_KEY: '', GENESYS_CLIENT_SECRET: '' }, []],
    ['the address to enter', {}, ['wss://bridge.example.com/genesys/media']],
    ['a missing key', { GENESYS_API_KEY: '' }, ['only this machine']],
    ['a missing secret', { GENESYS_CLIENT_SECRET: '' }, ['wss://', 'without a signature']],
    ['a secret that is none', { GENESYS_CLIENT_SECRET: 'not base64!' }, ['wss://', 'no base64']],
    ['an address without TLS', { PUBLIC_URL: '' }, ['wss alone']],
  ])('are %s', (_what, changes, expected) => {
    const found = checkAudioHook({ ...set, ...changes });
    expect(found).toMatchObject(expected.map((text) => ({ detail: expect.stringContaining(text) })));
  });
});

describe("the doctor's question to chat endpoints", () => {
  let server: Server | null = null;
  let asked = 0;
  afterEach(() => server?.close());

  async function check(status: number, environment: Record<string, string>) {
    asked = 0;
    server = createServer((_request, response) => {
      asked++;
      response.writeHead(status).end(JSON.stringify({ choices: [{ message: { content: 'yes' } }] }));
    });
    await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
    return checkChat(readSettings({ LLM_BASE_URL: url, ...environment }));
  }

  it('is one for all that ask the same model, and none where nothing is set', async () => {
    const found = await check(200, { LLM_MODEL: 'm', HINTS_MODEL: 'm' });
    expect(found).toMatchObject([{ name: 'chat', status: 'ok' }]);
    expect(found[0]?.detail).toMatch(
      /^m at 127\.0\.0\.1:\d+ \(LLM_MODEL, HINTS_MODEL, TRANSLATE_MODEL\) answered in \d+ ms$/,
    );
    expect(asked).toBe(1);
    expect(await checkChat(readSettings({}))).toEqual([]);
  });

  it('says what may be wrong when there is no answer, or no model', async () => {
    expect(await check(404, { LLM_MODEL: 'm' })).toMatchObject([
      { status: 'fail', detail: expect.stringMatching(/the endpoint answered 404: look at its address/) },
    ]);
    expect(await check(200, {})).toMatchObject([{ status: 'warn' }]);
    expect(asked).toBe(0);
  });
});
