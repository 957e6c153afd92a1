import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { checkCores, checkFfmpeg, checkNode, checkPorts, checkSettings } from '../../src/checks/checks.ts';
import { readSettings } from '../../src/foundation/settings/config.ts';

const settings = readSettings({ MODELS_DIR: 'none' });

afterEach(() => vi.unstubAllEnvs());

describe("the doctor's checks", () => {
  it('want a Node.js that is new enough', async () => {
    expect(await checkNode('20.19.0')).toMatchObject({ status: 'ok' });
    expect(await checkNode('22.0.0')).toMatchObject({ status: 'ok' });
    expect(await checkNode('20.9.0')).toMatchObject({ status: 'fail', detail: expect.stringContaining('20.19') });
  });

  it('find every wrong setting and go on with the defaults', () => {
    vi.stubEnv('CHUNK_MS', 'foo');
    vi.stubEnv('MAX_CALLS', '-1');
    const { settings: used, findings } = checkSettings();
    expect(findings.map(({ status }) => status)).toEqual(['fail', 'fail']);
    expect(findings.map(({ detail }) => detail)).toContainEqual(expect.stringMatching(/^CHUNK_MS: got "foo"/));
    expect(used.CHUNK_MS).toBe(settings.CHUNK_MS);
  });

  it('pass on what the settings are warned of', () => {
    vi.stubEnv('API_KEYS', 'sesame');
    expect(checkSettings().findings).toMatchObject([
      { status: 'ok' },
      { name: 'settings', status: 'warn', detail: expect.stringMatching(/^API_KEYS: 1 of 1/) },
    ]);
  });

  it('say how many calls the cores are good for', () => {
    expect(checkCores({ ...settings, MAX_CALLS: 30 }, 1.5).detail).toMatch(
      /^1\.5 found; 1 engine processes .*at most 30 calls/,
    );
  });

  it('warn of more engine threads than cores', () => {
    expect(checkCores(settings, 2).status).toBe('ok');
    expect(checkCores({ ...settings, ENGINE_WORKERS: 4 }, 2)).toMatchObject({
      status: 'warn',
      detail: expect.stringContaining('ENGINE_WORKERS'),
    });
  });

  it('say that ffmpeg is of no use without ffprobe', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'trunkline-test-'));
    const install = (name: string): void => {
      writeFileSync(join(folder, name), '#!/bin/sh\necho "$0 version 5.1.9 of a test"\n');
      chmodSync(join(folder, name), 0o755);
    };
    vi.stubEnv('PATH', folder);
    try {
      expect(await checkFfmpeg()).toMatchObject({ status: 'ok', detail: expect.stringContaining('not found') });
      install('ffmpeg');
      expect(await checkFfmpeg()).toMatchObject({
        status: 'warn',
        detail: expect.stringContaining('5.1.9, but no ffprobe'),
      });
      install('ffprobe');
      expect(await checkFfmpeg()).toMatchObject({ status: 'ok', detail: expect.stringContaining('5.1.9') });
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('find out whether the ports are free', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    const PORT = typeof address === 'object' ? (address?.port ?? 0) : 0;
    const [inUse, sip] = await checkPorts({ ...settings, PORT, SIP_PORT: PORT });
    expect(inUse).toMatchObject({ name: 'port', status: 'warn', detail: expect.stringContaining('in use') });
    expect(sip).toMatchObject({ name: 'sip', status: 'warn', detail: expect.stringContaining('another SIP_PORT') });
    server.close();
    await once(server, 'close');
    expect(await checkPorts({ ...settings, PORT })).toMatchObject([{ status: 'ok' }]);
    expect(await checkPorts({ ...settings, HOST: '192.0.2.1', PORT })).toMatchObject([{ status: 'fail' }]);
  });
});
