import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createLog } from '../../src/foundation/log/log.ts';
import { Metrics } from '../../src/foundation/metrics.ts';
import { readSettings } from '../../src/foundation/settings/config.ts';
import { Batches } from '../../src/jobs/batches.ts';
import { RecordingDisk } from '../../src/recordings/disk.ts';
import type { RecordingTask, RecordingTranscript } from '../../src/recordings/transcribe.ts';
import { Translator } from '../../src/recordings/translate.ts';
import { FakeClock } from '../fakes/clock.ts';

let folder: string;
let opened: Batches[];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'trunkline-test-'));
  opened = [];
});

afterEach(async () => {
  for (const batches of opened) await batches.close();
  rmSync(folder, { recursive: true });
});

/** Batches whose files are in work until they are stopped, and the disk that they are counted by: 100,000 bytes. */
function open(): { batches: Batches; disk: RecordingDisk } {
  const metrics = new Metrics();
  const disk = new RecordingDisk({ maxBytes: 100_000, metrics });
  const transcribe = ({ signal }: RecordingTask): Promise<RecordingTranscript> =>
    new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
  const settings = readSettings({ BATCH_DIR: join(folder, 'batches') });
  const batches = new Batches({
    settings,
    mayExpire: () => true,
    recordings: { transcribe, disk },
    translator: new Translator({ settings, clock: new FakeClock() }),
    clock: new FakeClock(),
    log: createLog('silent'),
    metrics,
  });
  opened.push(batches);
  return { batches, disk };
}

describe('the disk that batches take', () => {
  it('is counted among what all recordings may take, also after a restart, until they are removed', async () => {
    const first = open().batches;
    const draft = await first.draft('t');
    writeFileSync(join(draft.folder, '0'), Buffer.alloc(70_000));
    const { batch } = await first.begin(draft, {
      channels: 'mix',
      targetLanguage: '',
      idempotency: null,
      webhookUrl: null,
      files: [{ name: 'a.wav', source: { kind: 'upload' } }],
    });
    await first.close();
    const second = open();
    await second.batches.resume();
    const write = () =>
      pipeline(Readable.from([Buffer.alloc(50_000)]), second.disk.meter(join(folder, 'b')), new PassThrough().resume());
    await expect(write()).rejects.toMatchObject({ code: 'upload_disk_full' });
    await second.batches.cancel('t', batch.id);
    await write();
  });
});
