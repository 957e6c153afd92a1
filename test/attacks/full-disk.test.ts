/**
 * A disk that is full for a while. It is a small tmpfs in a mount namespace of its own, which root may make and
 * elsewhere whoever may make user namespaces; the gateways enter it, and this test reaches it by /proc. It goes with
 * the process that holds the namespace. /dev/full alone would not do: it says ENOSPC of one file at a time.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { writeWav } from '../../src/audio/wav.ts';
import { type GatewayProcess, metricValue, startGateway } from '../helpers/gateway.ts';
import { toneSpeech } from '../helpers/tones.ts';

const PRETEND = { ASR_MODEL: 'tone', VAD_MODEL: 'tone', TTS_MODEL: 'tone', ENGINE_WORKERS: '1' };
const FILES = 8;
const WORDS = 90;
const IS_ROOT = process.getuid?.() === 0;
/** Runs a program where what it mounts is its own. */
const APART = ['unshare', ...(IS_ROOT ? [] : ['-r']), '-m'];

interface View {
  readonly id: string;
  readonly state: string;
  readonly counts: Record<string, number>;
  readonly files: {
    readonly number: number;
    readonly state: string;
    readonly error: { readonly code: string } | null;
  }[];
}

let folder: string;
let holder: ChildProcess;
const gateways: GatewayProcess[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'trunkline-test-'));
});

afterEach(async () => {
  for (const gateway of gateways.splice(0)) await gateway.stop('SIGKILL');
  holder.kill('SIGKILL');
  rmSync(folder, { recursive: true });
});

/** Mounts a disk at `folder` for gateways and {@link inside} alone. @throws Error where nobody may */
async function mountDisk(options: string): Promise<void> {
  const script = `mount -t tmpfs -o ${options} none "$0" && echo mounted && exec sleep 1000`;
  const [program = '', ...words] = [...APART, 'sh', '-c', script, folder];
  holder = spawn(program, words, { stdio: ['ignore', 'pipe', 'pipe'] });
  const complaints: string[] = [];
  holder.stderr?.on('data', (chunk: Buffer) => complaints.push(chunk.toString()));
  const mounted = holder.stdout === null ? Promise.reject(new Error('no output')) : once(holder.stdout, 'data');
  const failed = once(holder, 'exit').then(() => {
    throw new Error(
      `a full disk needs unshare(1) and mount(8), as root or in a user namespace: ${complaints.join('')}`,
    );
  });
  await Promise.race([mounted, failed]);
  failed.catch(() => undefined);
}

/** Something on that disk, as seen from here. */
const inside = (...parts: string[]) => join(`/proc/${holder.pid}/root${folder}`, ...parts);

async function start(): Promise<GatewayProcess> {
  const environment = {
    BATCH_DIR: join(folder, 'batches'),
    UPLOAD_DIR: join(folder, 'uploads'),
    PROMPT_CACHE_DIR: join(folder, 'prompts'),
  };
  const through = ['nsenter', '-t', String(holder.pid), ...(IS_ROOT ? [] : ['-U', '--preserve-credentials']), '-m'];
  const gateway = await startGateway({ ...PRETEND, ...environment }, through);
  gateways.push(gateway);
  return gateway;
}

function untilFull(write: (number: number) => void): void {
  try {
    for (let number = 0; ; number++) write(number);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
  }
}

const fill = () => untilFull(() => appendFileSync(inside('filler'), Buffer.alloc(4096)));
const makeRoom = () => rmSync(inside('filler'));
const speech = () => new Blob([writeWav([toneSpeech(WORDS, 400)], 16_000) as Uint8Array<ArrayBuffer>]);

function form(count: number): FormData {
  const body = new FormData();
  for (let number = 0; number < count; number++) body.append('file', speech(), `${number}.wav`);
  return body;
}

async function post(gateway: GatewayProcess, path: string, count: number) {
  const response = await fetch(`${gateway.url}${path}`, { method: 'POST', body: form(count) });
  return { status: response.status, body: (await response.json()) as View & { error?: { code: string } } };
}

const viewOf = async (gateway: GatewayProcess, id: string) =>
  (await (await fetch(`${gateway.url}/v1/batches/${id}`)).json()) as View;
const logged = ({ logLines }: GatewayProcess, text: string) =>
  logLines.some((line) => JSON.stringify(line).includes(text));

describe('a full disk', () => {
  it('has a batch wait, over a restart too, and refuses what is new; when there is room all of it is done', async () => {
    await mountDisk('size=64m');
    const first = await start();
    const begun = await post(first, '/v1/batches', FILES);
    expect(begun.status).toBe(202);
    const { id } = begun.body;
    await expect
      .poll(async () => {
        fill();
        return (
          (await viewOf(first, id)).files.some(({ error }) => error?.code === 'disk_full') ||
          logged(first, 'disk I/O error')
        );
      })
      .toBe(true);
    expect(await viewOf(first, id)).toMatchObject({ state: 'running', counts: { failed: 0 } });
    expect(metricValue(await first.metrics(), 'trunkline_disk_waits')).toBeGreaterThan(0);
    expect(logged(first, 'batches wait for it')).toBe(true);
    for (const path of ['/v1/audio/transcriptions', '/v1/batches']) {
      expect(await post(first, path, 1)).toMatchObject({ status: 507, body: { error: { code: 'disk_full' } } });
    }
    const uploads = readdirSync(inside('uploads'), { recursive: true, encoding: 'utf8' });
    expect(uploads.filter((name) => /\/(?!owner\.)/.test(name))).toEqual([]);
    await first.stop('SIGKILL');

    const second = await start();
    expect(await viewOf(second, id)).toMatchObject({ state: 'running', counts: { failed: 0 } });
    makeRoom();
    await expect.poll(async () => (await viewOf(second, id)).state).toBe('done');
    expect((await viewOf(second, id)).counts['done']).toBe(FILES);
    const texts = await Promise.all(
      Array.from(
        { length: FILES },
        async (_, number) =>
          (await (await fetch(`${second.url}/v1/batches/${id}/files/${number}`)).json()) as { text: string },
      ),
    );
    expect(new Set(texts.map(({ text }) => text)).size).toBe(1);
    expect((await post(second, '/v1/audio/transcriptions', 1)).status).toBe(200);
  });

  it('does not keep a gateway from starting where not even an empty file fits', async () => {
    await mountDisk('size=16m,nr_inodes=200');
    const first = await start();
    const { id } = (await post(first, '/v1/batches', 1)).body;
    await expect.poll(async () => (await viewOf(first, id)).state).toBe('done');
    await first.stop();
    untilFull((number) => writeFileSync(inside(`filler-${number}`), ''));
    const second = await start();
    expect(logged(second, 'PROMPT_CACHE_DIR is not used until the next start')).toBe(true);
    const response = await fetch(`${second.url}/v1/batches/${id}`);
    expect([response.status, await response.json()]).toEqual([
      507,
      { error: expect.objectContaining({ code: 'disk_full' }) },
    ]);
    for (const name of readdirSync(inside())) if (name.startsWith('filler-')) rmSync(inside(name));
    await expect.poll(async () => (await viewOf(second, id)).state).toBe('done');
  });
});
