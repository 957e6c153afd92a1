/** A whole gateway that records: over HTTP, across kill -9, and deleted with its call. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readWav } from '../../../src/audio/wav.ts';
import { systemClock } from '../../../src/foundation/clock.ts';
import { TwilioCaller } from '../../../src/simulator/twilio-caller.ts';
import { type GatewayProcess, startGateway } from '../../helpers/gateway.ts';
import { makeFolder, removeFolder, tone } from './sound-files.ts';

const TONES = { ASR_MODEL: 'tone', VAD_MODEL: 'tone', TTS_MODEL: 'tone', ENGINE_WORKERS: '1' };

let folder: string;
let gateway: GatewayProcess;

beforeEach(async () => {
  folder = await makeFolder();
});

afterEach(async () => {
  await gateway.stop('SIGKILL');
  await removeFolder(folder);
});

const start = (): Promise<GatewayProcess> =>
  startGateway({ ...TONES, DATA_DIR: folder, RECORD: 'both', RECORD_KEY: 'a passphrase of a test' });

function call(seconds: number, pace: 'fast' | 'realtime'): TwilioCaller {
  const frames = Array.from({ length: seconds * 50 }, (_, i) => tone(440, 20 * i, 8000));
  const inbound = Int16Array.from(frames.flatMap((frame) => [...frame]));
  const url = `${gateway.url.replace(/^http/, 'ws')}/twilio/media`;
  return new TwilioCaller({ url, tracks: { inbound }, pace, clock: systemClock });
}

const soundOf = async (id: string): Promise<{ status: number; seconds: number; loud: boolean }> => {
  const response = await fetch(`${gateway.url}/v1/calls/${id}/sound`);
  const bytes = new Uint8Array(await response.arrayBuffer());
  if (response.status !== 200) return { status: response.status, seconds: 0, loud: false };
  const { rateHz, channels } = readWav(bytes);
  const [caller = new Int16Array(0)] = channels;
  return { status: 200, seconds: caller.length / rateHz, loud: caller.some((sample) => sample > 8000) };
};

const viewOf = async (id: string): Promise<Record<string, unknown>> =>
  (await fetch(`${gateway.url}/v1/calls/${id}`)).json() as Promise<Record<string, unknown>>;

test('a call is recorded, heard after kill -9 of the gateway, and deleted with all that is kept of it', async () => {
  gateway = await start();
  const whole = call(5, 'fast');
  await whole.run();
  const isRecorded = { state: 'ended', sound: 'recorded' };
  await expect.poll(() => viewOf(whole.callSid), { timeout: 15_000 }).toMatchObject(isRecorded);
  const cut = call(60, 'realtime');
  const failed = cut.run().catch(() => undefined);
  await expect.poll(async () => (await soundOf(cut.callSid)).seconds, { timeout: 30_000 }).toBeGreaterThan(2);
  expect(await viewOf(cut.callSid)).toMatchObject({ state: 'live', sound: 'recording' });
  await gateway.stop('SIGKILL');
  await failed;

  gateway = await start();
  expect(await viewOf(whole.callSid)).toMatchObject(isRecorded);
  expect(await soundOf(whole.callSid)).toMatchObject({ status: 200, seconds: 5, loud: true });
  expect(await viewOf(cut.callSid)).toMatchObject({ endReason: 'server_lost', sound: 'recorded' });
  const { seconds, loud } = await soundOf(cut.callSid);
  expect(seconds).toBeGreaterThan(2);
  expect(loud).toBe(true);

  for (const { callSid } of [whole, cut]) {
    expect((await fetch(`${gateway.url}/v1/calls/${callSid}`, { method: 'DELETE' })).ok).toBe(true);
    expect((await soundOf(callSid)).status).toBe(404);
  }
  const left = await readdir(join(folder, 'sound'), { recursive: true });
  expect(left.filter((name) => name.endsWith('.sound'))).toEqual([]);
}, 120_000);
