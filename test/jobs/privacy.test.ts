import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createLog } from '../../src/foundation/log/log.ts';
import { Metrics } from '../../src/foundation/metrics.ts';
import { readSettings } from '../../src/foundation/settings/config.ts';
import { Batches } from '../../src/jobs/batches.ts';
import { RecordingDisk } from '../../src/recordings/disk.ts';
import { Translator } from '../../src/recordings/translate.ts';
import { FakeClock } from '../fakes/clock.ts';

let folder: string;
let umask: number;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'trunkline-test-'));
  umask = process.umask(0);
});
afterEach(() => {
  process.umask(umask);
  rmSync(folder, { recursive: true });
});

const modeOf = (path: string) => statSync(path).mode & 0o777;

/** Has batches begin one in `home`; returns the folder in which its recordings and transcripts would lie. */
async function draftIn(dataFolder: string): Promise<string> {
  const settings = readSettings({ BATCH_DIR: dataFolder });
  const metrics = new Metrics();
  const disk = new RecordingDisk({ maxBytes: settings.UPLOAD_DISK_MAX_BYTES, metrics });
  const recordings = { transcribe: () => Promise.reject(new Error('nothing is transcribed')), disk };
  const batches = new Batches({
    settings,
    mayExpire: () => true,
    recordings,
    translator: new Translator({ settings, clock: new FakeClock() }),
    clock: new FakeClock(),
    log: createLog('silent'),
    metrics,
  });
  const draft = await batches.draft('t');
  await batches.close();
  return draft.folder;
}

it('keeps batches where nobody else can enter, and twice if need be', async () => {
  const dataFolder = join(folder, 'batches');
  const batch = await draftIn(dataFolder);
  expect([dataFolder, batch, join(dataFolder, 'batches.sqlite')].map(modeOf)).toEqual([0o700, 0o700, 0o600]);
  chmodSync(dataFolder, 0o755);
  chmodSync(join(dataFolder, 'batches.sqlite'), 0o644);
  await draftIn(dataFolder);
  expect([dataFolder, join(dataFolder, 'batches.sqlite')].map(modeOf)).toEqual([0o700, 0o600]);
});

it('keeps batches to itself in a folder that is there for others too', async () => {
  const dataFolder = join(folder, 'shared');
  mkdirSync(join(dataFolder, 'theirs'), { recursive: true });
  const batch = await draftIn(dataFolder);
  expect([dataFolder, batch, join(dataFolder, 'batches.sqlite')].map(modeOf)).toEqual([0o777, 0o700, 0o600]);
});
