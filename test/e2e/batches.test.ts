import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { writeWav } from '../../src/audio/wav.ts';
import { type GatewayProcess, metricValue, startGateway } from '../helpers/gateway.ts';
import { toneSpeech } from '../helpers/tones.ts';

const PRETEND = { ASR_MODEL: 'tone', VAD_MODEL: 'tone', TTS_MODEL: 'tone', ENGINE_WORKERS: '1' };
const FILES = 10;
const WORDS = 90;

interface View {
  readonly id: string;
  readonly state: string;
  readonly counts: Record<string, number>;
  readonly files: { readonly number: number; readonly state: string }[];
}

let folder: string;
const gateways: GatewayProcess[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'trunkline-test-'));
});

afterEach(async () => {
  for (const gateway of gateways.splice(0)) await gateway.stop('SIGKILL');
  rmSync(folder, { recursive: true });
});

async function start(): Promise<GatewayProcess> {
  const gateway = await startGateway({ ...PRETEND, BATCH_DIR: join(folder, 'batches'), UPLOAD_DIR: folder });
  gateways.push(gateway);
  return gateway;
}

function speech(words: number): Blob {
  return new Blob([writeWav([toneSpeech(words, 400)], 16_000) as Uint8Array<ArrayBuffer>]);
}

function form(count: number): FormData {
  const body = new FormData();
  for (let number = 0; number < count; number++) body.append('file', speech(WORDS), `${number}.wav`);
  return body;
}

const view = async (gateway: GatewayProcess, id: string) =>
  (await (await fetch(`${gateway.url}/v1/batches/${id}`)).json()) as View;

const until = (check: () => Promise<void>) => vi.waitFor(check, { timeout: 120_000, interval: 20 });

describe('a gateway that is killed in mid-batch', () => {
  it('is followed by one that does the rest, loses nothing and does nothing twice', async () => {
    const first = await start();
    const begun = await fetch(`${first.url}/v1/batches`, { method: 'POST', body: form(FILES) });
    expect(begun.status).toBe(202);
    const { id } = (await begun.json()) as View;
    await until(async () => expect((await view(first, id)).counts['done']).toBeGreaterThan(2));
    await first.stop('SIGKILL');
    const home = join(folder, 'batches', id);
    const made = readdirSync(home).filter((name) => name.endsWith('.json'));
    const times = made.map((name) => statSync(join(home, name)).mtimeMs);
    expect(made.length).toBeLessThan(FILES);

    const second = await start();
    await until(async () => expect((await view(second, id)).state).toBe('done'));
    expect((await view(second, id)).files.map(({ state }) => state)).toEqual(
      Array.from({ length: FILES }, () => 'done'),
    );
    expect(made.map((name) => statSync(join(home, name)).mtimeMs)).toEqual(times);
    const seconds = metricValue(await second.metrics(), 'trunkline_file_audio_seconds_total');
    expect(seconds).toBeLessThanOrEqual((FILES - made.length) * 2 * WORDS + 1);
    const texts = await Promise.all(
      Array.from(
        { length: FILES },
        async (_, number) =>
          (await fetch(`${second.url}/v1/batches/${id}/files/${number}`)).json() as Promise<{ text: string }>,
      ),
    );
    expect(new Set(texts.map(({ text }) => text)).size).toBe(1);
    expect(readdirSync(home).toSorted()).toEqual(
      Array.from({ length: FILES }, (_, number) => `${number}.json`).toSorted(),
    );
  });

  it('leaves its folder to one other gateway alone', async () => {
    const first = await start();
    await expect(start()).rejects.toThrow(new RegExp(`ended with 78.*BATCH_DIR.*in use by process ${first.pid}`, 's'));
    await first.stop('SIGKILL');
    await start();
  });
});

describe('a recording', () => {
  it('is transcribed whole when an engine is killed in mid-piece', async () => {
    const gateway = await start();
    const heardSeconds = async () => metricValue(await gateway.metrics(), 'trunkline_file_audio_seconds_total');
    const post = async (): Promise<string> => {
      const body = new FormData();
      body.append('file', speech(5 * WORDS), 'a.wav');
      const response = await fetch(`${gateway.url}/v1/audio/transcriptions`, { method: 'POST', body });
      return ((await response.json()) as { text: string }).text;
    };
    const whole = await post();
    // The pretend recogniser writes a word for each 400 ms that are left when the pauses are out: 419 characters.
    expect(whole.length).toBeGreaterThan(4.5 * WORDS);
    // Looked at before the second is sent: a fast machine may hear much of it meanwhile.
    let heard = await heardSeconds();
    const answer = post();
    for (let kill = 1; kill <= 2; kill++) {
      const before = heard;
      await until(async () => {
        heard = await heardSeconds();
        expect(heard).toBeGreaterThan(before);
      });
      for (const pid of gateway.enginePids()) process.kill(pid, 'SIGKILL');
    }
    expect(await answer).toBe(whole);
    expect(metricValue(await gateway.metrics(), 'trunkline_engine_restarts_total')).toBeGreaterThan(0);
  });

  it('whose client goes away in mid-stream takes its work and its file with it', async () => {
    const gateway = await start();
    const body = new FormData();
    body.append('file', speech(10 * WORDS), 'a.wav');
    body.append('stream', 'true');
    const leaving = new AbortController();
    const response = await fetch(`${gateway.url}/v1/audio/transcriptions`, {
      method: 'POST',
      body,
      signal: leaving.signal,
    });
    await response.body?.getReader().read();
    expect(metricValue(await gateway.metrics(), 'trunkline_files')).toBe(1);
    leaving.abort();
    await until(async () => expect(metricValue(await gateway.metrics(), 'trunkline_files')).toBe(0));
    const uploads = () =>
      readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
        /recordings-.*\/(?!owner\.)/.test(name),
      );
    await until(async () => expect(uploads()).toEqual([]));
    const heard = metricValue(await gateway.metrics(), 'trunkline_file_audio_seconds_total');
    expect(heard).toBeLessThan(20 * WORDS);
    expect(metricValue(await gateway.metrics(), 'trunkline_lane_depth{lane="batch"}')).toBe(0);
  });
});
