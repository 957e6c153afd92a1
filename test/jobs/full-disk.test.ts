/** What a disk does that is full for a while: /dev/full says so of every write, and the store is made to say it. */

import { existsSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { DiskError } from '../../src/foundation/folders/disk.ts';
import { writeWhole } from '../../src/foundation/folders/whole-file.ts';
import { createLog } from '../../src/foundation/log/log.ts';
import { Metrics } from '../../src/foundation/metrics.ts';
import { readSettings } from '../../src/foundation/settings/config.ts';
import type { Batch } from '../../src/jobs/batch.ts';
import { Batches, type BatchRequest, type News } from '../../src/jobs/batches.ts';
import { Store } from '../../src/jobs/store.ts';
import { RecordingDisk } from '../../src/recordings/disk.ts';
import type { RecordingTask, RecordingTranscript } from '../../src/recordings/transcribe.ts';
import { Translator } from '../../src/recordings/translate.ts';
import { FakeClock } from '../fakes/clock.ts';
import { count } from '../helpers/engine-client.ts';
import { eventually } from '../helpers/eventually.ts';

const RECORDING: RecordingTranscript = { durationMs: 1200, spokenLanguage: 'en', segments: [] };
const HOURS_MS = 3_600_000;

let folder: string;
let clock: FakeClock;
let metrics: Metrics;
let logLines: string[];
let transcribe: (task: RecordingTask) => Promise<RecordingTranscript>;
const opened: Batches[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'trunkline-test-'));
  clock = new FakeClock();
  metrics = new Metrics();
  logLines = [];
  transcribe = async () => RECORDING;
});

afterEach(async () => {
  makeRoom();
  for (const batches of opened.splice(0)) await batches.close();
  rmSync(folder, { recursive: true });
});

const dataFolder = () => join(folder, 'batches');
/** The database cannot be written from now on. */
const fill = () => {
  for (const method of ['put', 'remove', 'load'] as const)
    vi.spyOn(Store.prototype, method).mockRejectedValue(new DiskError('the store failed: disk I/O error'));
};
const makeRoom = () => vi.restoreAllMocks();

function open(environment: Readonly<Record<string, string>> = {}): Batches {
  const settings = readSettings({
    BATCH_DIR: dataFolder(),
    BATCH_INPUT_DIR: folder,
    WEBHOOK_SECRET: 'secret',
    ...environment,
  });
  const disk = new RecordingDisk({ maxBytes: settings.UPLOAD_DISK_MAX_BYTES, metrics });
  const recordings = { transcribe: (task: RecordingTask) => transcribe(task), disk };
  const log = createLog('info', { write: (line: string) => void logLines.push(line) });
  const batches = new Batches({
    settings,
    mayExpire: () => true,
    recordings,
    translator: new Translator({ settings, clock }),
    clock,
    log,
    metrics,
  });
  opened.push(batches);
  return batches;
}

async function begin(batches: Batches, order: Partial<BatchRequest> = {}): Promise<Batch> {
  const draft = await batches.draft('t');
  writeFileSync(join(draft.folder, '0'), 'a recording');
  const files: BatchRequest['files'] = [{ name: 'a.wav', source: { kind: 'upload' } }];
  try {
    const wanted = {
      channels: 'mix',
      targetLanguage: '',
      idempotency: null,
      webhookUrl: null,
      files,
      ...order,
    } as const;
    return (await batches.begin(draft, wanted)).batch;
  } finally {
    await batches.discard(draft);
  }
}

const endOf = (batches: Batches, batch: Batch) =>
  new Promise<void>((resolve) => batches.watch(batch.id, ({ type }) => type === 'end' && resolve()));

/** A moment that lasts until the test ends it. */
function moment(): { readonly over: Promise<void>; end(): void } {
  let end = (): void => undefined;
  const over = new Promise<void>((resolve) => {
    end = resolve;
  });
  return { over, end };
}

/** The clock moves on until `check` holds. */
const later = (check: () => unknown, stepMs = 1000) =>
  eventually(async () => {
    clock.advance(stepMs);
    await check();
  });

describe('a transcript that the disk has no room for', () => {
  it('waits, and is written when there is room, without being made again', async () => {
    let made = 0;
    transcribe = async ({ path }) => {
      made++;
      symlinkSync('/dev/full', `${path}.json.part`);
      return RECORDING;
    };
    const batches = open();
    const batch = await begin(batches);
    const news: News['type'][] = [];
    batches.watch(batch.id, ({ type }) => news.push(type));
    await eventually(() => expect(batches.viewFiles(batch)[0]?.error?.code).toBe('disk_full'));
    expect(batches.view(batch)).toMatchObject({ state: 'running', counts: { failed: 0 } });
    expect(await count(metrics, 'trunkline_disk_waits')).toBe(1);
    expect(logLines.filter((line) => line.includes('ENOSPC'))).toHaveLength(1);
    expect(existsSync(join(dataFolder(), batch.id, '0.json.part'))).toBe(false);
    await later(() => expect(news.at(-1)).toBe('end'));
    expect(batch.files[0]).toMatchObject({ state: 'done', error: null });
    expect(await batches.result('t', batch.id, 0)).toEqual(RECORDING);
    expect([made, news, await count(metrics, 'trunkline_disk_waits')]).toEqual([1, ['progress', 'file', 'end'], 0]);
  });

  it('leaves no draft', async () => {
    const draft = join(folder, 'draft');
    symlinkSync('/dev/full', draft);
    await expect(writeWhole(join(folder, 'text'), 'text', draft)).rejects.toMatchObject({ code: 'ENOSPC' });
    expect(readdirSync(folder)).toEqual([]);
  });
});

describe('a download that the disk has no room for', () => {
  it('is made again later', async () => {
    const server = createServer((_request, response) => void response.end('a recording'));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const location = `http://127.0.0.1:${(server.address() as AddressInfo).port}/a.wav`;
    const batches = open({ OUTBOUND_ALLOW: 'batches=127.0.0.0/8' });
    const draft = await batches.draft('t');
    symlinkSync('/dev/full', join(draft.folder, '0'));
    const files: BatchRequest['files'] = [{ name: 'a.wav', source: { kind: 'url', location } }];
    const { batch } = await batches.begin(draft, {
      channels: 'mix',
      targetLanguage: '',
      idempotency: null,
      webhookUrl: null,
      files,
    });
    await eventually(() => expect(batch.files[0]?.error?.code).toBe('disk_full'));
    expect(readdirSync(draft.folder)).toEqual([]);
    await later(() => expect(batch.files[0]?.state).toBe('done'));
    await new Promise((resolve) => server.close(resolve));
  });
});

describe('a batch whose end the disk has no room for', () => {
  it('ends when there is room, and tells of that then', async () => {
    const received: unknown[] = [];
    const server = createServer(async (request, response) => {
      let body = '';
      for await (const chunk of request) body += String(chunk);
      received.push((JSON.parse(body) as { batch: { counts: unknown } }).batch.counts);
      response.end();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const webhookUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    transcribe = async () => {
      fill();
      return RECORDING;
    };
    const batches = open({ OUTBOUND_ALLOW: 'batches=127.0.0.0/8' });
    const batch = await begin(batches, { webhookUrl });
    const news: News['type'][] = [];
    batches.watch(batch.id, ({ type }) => news.push(type));
    await later(async () => expect(await count(metrics, 'trunkline_disk_refusals_total')).toBeGreaterThan(2));
    expect([news, received]).toEqual([[], []]);
    expect(logLines.filter((line) => /disk I\/O error/.test(line))).toHaveLength(1);
    // What is transcribed makes room by itself.
    expect(readdirSync(join(dataFolder(), batch.id))).toEqual(['0.json']);
    makeRoom();
    await later(() => expect(received).toEqual([expect.objectContaining({ done: 1 })]));
    expect([batch.state, news]).toEqual(['done', ['file', 'end']]);
    await new Promise((resolve) => server.close(resolve));
    await eventually(() => expect(batch.webhook?.state).toBe('delivered'));
    await batches.close();
    const store = await Store.open(dataFolder());
    expect(await store.load()).toMatchObject([{ state: 'done', files: [{ state: 'done' }] }]);
    await store.close();
  });

  it('is told of after twelve hours all the same, and kept when there is room', async () => {
    transcribe = async () => {
      fill();
      return RECORDING;
    };
    const batches = open({ RESULT_TTL_MS: String(300 * HOURS_MS) });
    const batch = await begin(batches);
    const news: News['type'][] = [];
    batches.watch(batch.id, ({ type }) => news.push(type));
    await later(() => expect(news).toEqual(['file', 'end']), 60_000);
    expect(clock.nowMs()).toBeGreaterThanOrEqual(12 * HOURS_MS);
    expect(await batches.result('t', batch.id, 0)).toEqual(RECORDING);
    makeRoom();
    const kept = async () => {
      const store = await Store.open(dataFolder());
      const [found] = await store.load();
      await store.close();
      return found?.state;
    };
    clock.advance(60_000);
    await batches.close();
    expect(await kept()).toBe('done');
  });

  it('may be cancelled meanwhile', async () => {
    const begun = moment();
    transcribe = ({ signal }) => {
      begun.end();
      return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    };
    const batches = open();
    const batch = await begin(batches);
    await begun.over;
    fill();
    await batches.cancel('t', batch.id);
    expect(batch).toMatchObject({ state: 'cancelled', files: [{ state: 'cancelled' }] });
    expect(batch.endedMs).not.toBeNull();
    makeRoom();
    clock.advance(60_000);
    await batches.close();
    const store = await Store.open(dataFolder());
    expect(await store.load()).toMatchObject([{ state: 'cancelled' }]);
    await store.close();
  });
});

describe('a full disk', () => {
  it('refuses a new batch and keeps nothing of it', async () => {
    const batches = open();
    await batches.resume();
    fill();
    await expect(begin(batches)).rejects.toThrow(/disk I\/O error/);
    expect(batches.list('t')).toEqual([]);
    expect(
      readdirSync(dataFolder(), { withFileTypes: true }).filter(
        (entry) => entry.isDirectory() && entry.name !== 'batches.sqlite.lock',
      ),
    ).toEqual([]);
    makeRoom();
    const batch = await begin(batches);
    await eventually(() => expect(batch.state).toBe('done'));
  });

  it('gets room by the batches that are removed from it', async () => {
    const batches = open({ RESULT_TTL_MS: '120000' });
    const batch = await begin(batches);
    await endOf(batches, batch);
    fill();
    await expect(batches.cancel('t', batch.id)).rejects.toThrow(/the store failed/);
    expect(existsSync(join(dataFolder(), batch.id))).toBe(false);
    await expect(batches.result('t', batch.id, 0)).rejects.toMatchObject({ code: 'batch_not_found' });
    makeRoom();
    await later(() => expect(batches.list('t')).toEqual([]), 60_000);
  });

  it('does not stop a start: batches go on when there is room, and until then it is said why they are not there', async () => {
    transcribe = ({ signal }) =>
      new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    const first = open();
    const { id } = await begin(first);
    await first.close();
    transcribe = async () => RECORDING;
    fill();
    const second = open();
    await second.resume();
    expect(() => second.list('t')).toThrow(expect.objectContaining({ code: 'disk_full' }));
    expect(() => second.get('t', id)).toThrow(expect.objectContaining({ code: 'disk_full' }));
    await expect(second.draft('t')).rejects.toMatchObject({ code: 'disk_full' });
    makeRoom();
    await later(() => expect(second.get('t', id).state).toBe('done'));
  });

  it('may kill a gateway between its last file and the end of its batch: the next one ends it', async () => {
    const first = open();
    const batch = await begin(first);
    await endOf(first, batch);
    await first.close();
    const store = await Store.open(dataFolder());
    await store.put({ ...batch, state: 'running', endedMs: null }, batch.files);
    await store.close();
    const second = open();
    await second.resume();
    await eventually(() => expect(second.get('t', batch.id).endedMs).not.toBeNull());
    expect(second.get('t', batch.id).state).toBe('done');
  });
});
