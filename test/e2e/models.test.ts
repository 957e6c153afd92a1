/** A real model: added, listed, spoken with, removed. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { runBuiltCli } from '../helpers/cli.ts';
import { type GatewayProcess, startGateway } from '../helpers/gateway.ts';
import { TEST_MODELS_DIR, whyNotRun } from '../helpers/installed-models.ts';

const MODELS_DIR = mkdtempSync(join(tmpdir(), 'trunkline-models-'));
afterAll(() => rmSync(MODELS_DIR, { recursive: true }));

const LACKS = whyNotRun('hibari');

let gateway: GatewayProcess | null = null;
afterEach(async () => {
  await gateway?.stop();
  gateway = null;
});

async function start(): Promise<string> {
  gateway = await startGateway({ MODELS_DIR, ASR_MODEL: 'tone', VAD_MODEL: 'tone', ENGINE_WORKERS: '1' });
  await expect.poll(async () => (await fetch(`${gateway?.url}/ready`)).status).toBe(200);
  return gateway.url;
}

const healthOf = async (url: string) => (await (await fetch(`${url}/health`)).json()) as Record<string, unknown>;

function say(url: string, voice?: string): Promise<Response> {
  const body = JSON.stringify({ model: 'tts-1', input: 'Your table is ready.', voice, response_format: 'wav' });
  return fetch(`${url}/v1/audio/speech`, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
}

describe('an installed voice', () => {
  it.skipIf(LACKS !== '')(`is there from its add to its remove${LACKS}`, async () => {
    const models = (...args: string[]) => runBuiltCli(['models', ...args], { MODELS_DIR });
    expect(await models('add', 'hibari', '--from', join(TEST_MODELS_DIR, 'hibari'))).toMatchObject({ code: 0 });
    expect(await models('verify')).toMatchObject({ code: 0, out: 'hibari 0.2.1: whole\n' });

    const url = await start();
    const health = await healthOf(url);
    expect(health).toMatchObject({ default_voice: 'hibari:heart', turn_model_id: null });
    expect(health['voices']).toContain('hibari:heart');
    const [spoken, standard] = [await say(url, 'hibari:heart'), await say(url)];
    expect([spoken.status, standard.status]).toEqual([200, 200]);
    // Of 8 kHz and 16 bits this is half a second.
    expect((await spoken.arrayBuffer()).byteLength).toBeGreaterThan(8000);
    await gateway?.stop();

    expect(await models('remove', 'hibari')).toMatchObject({ code: 0 });
    const after = await start();
    expect(await healthOf(after)).toMatchObject({ default_voice: 'rms' });
    expect((await say(after, 'hibari:heart')).status).toBe(400);
    expect((await say(after)).status).toBe(200);
  });
});
