/** Two things that happen to a batch at once. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { DiskError } from '../../src/foundation/folders/disk.ts';
import { createLog } from '../../src/foundation/log/log.ts';
import { Metrics } from '../../src/foundation/metrics.ts';
import { readSettings } from '../../src/foundation/settings/config.ts';
import type { Batch } from '../../src/jobs/batch.ts';
import { BatchIndex } from '../../src/jobs/batch-index.ts';
import { Batches, type BatchRequest } from '../../src/jobs/batches.ts';
import { Store } from '../../src/jobs/store.ts';
import { RecordingDisk } from '../../src/recordings/disk.ts';
import type { RecordingTask } from '../../src/recordings/transcribe.ts';
import { Translator } from '../../src/recordings/translate.ts';
import { FakeClock } from '../fakes/clock.ts';

/** How long a busy machine may take. */
const PATIENCE_MS = 20_000;

let folder: string;
const opened: Batches[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'trunkline-test-'));
});

afterEach(async () => {
  vi.restoreAllMocks();
  for (const batches of opened.splice(0)) await batches.close();
  rmSync(folder, { recursive: true });
});

/** Batches whose files are never done. */
function open(): Batches {
  const settings = readSettings({ BATCH_DIR: join(folder, 'batches') });
  const metrics = new Metrics();
  const transcribe = ({ signal }: RecordingTask): Promise<never> =>
    new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
  const recordings = { transcribe, disk: new RecordingDisk({ maxBytes: settings.UPLOAD_DISK_MAX_BYTES, metrics }) };
  const batches = new Batches({
    settings,
    mayExpire: () => true,
    recordings,
    translator: new Translator({ settings, clock: new FakeClock() }),
    clock: new FakeClock(),
    log: createLog('silent'),
    metrics,
  });
  opened.push(batches);
  return batches;
}

async function begin(batches: Batches, idempotency: BatchRequest['idempotency'] = null): Promise<Batch> {
  const draft = await batches.draft('t');
  const files: BatchRequest['files'] = [{ name: 'a.wav', source: { kind: 'upload' } }];
  try {
    return (await batches.begin(draft, { channels: 'mix', targetLanguage: '', webhookUrl: null, idempotency, files }))
      .batch;
  } finally {
    await batches.discard(draft);
  }
}

it('a batch that is removed while it is being cancelled is not there after a restart', async () => {
  const first = open();
  const { id } = await begin(first);
  let cancelled: Promise<unknown> = Promise.resolve();
  const { remove } = Store.prototype;
  vi.spyOn(Store.prototype, 'remove').mockImplementation(async function (this: Store, removed) {
    await remove.call(this, removed);
    await cancelled;
  });
  cancelled = first.cancel('t', id);
  await first.cancel('t', id);
  await first.close();
  const second = open();
  await second.resume();
  expect(second.list('t')).toEqual([]);
});

it('a repeated request is promised nothing before the first one is on disk', async () => {
  const batches = open();
  let fail: (error: Error) => void = () => undefined;
  const failed = new Promise<never>((_resolve, reject) => {
    fail = reject;
  });
  const put = vi.spyOn(Store.prototype, 'put').mockReturnValue(failed);
  const first = begin(batches, { key: 'k', hash: 'h' });
  await vi.waitFor(() => expect(put).toHaveBeenCalled(), PATIENCE_MS);
  const find = vi.spyOn(BatchIndex.prototype, 'list');
  const repeated = begin(batches, { key: 'k', hash: 'h' });
  // Once for its room, once for its key.
  await vi.waitFor(() => expect(find).toHaveBeenCalledTimes(2), PATIENCE_MS);
  fail(new DiskError('the store failed: disk I/O error'));
  expect((await Promise.allSettled([first, repeated])).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
});
