/** Temporary batches whose folder somebody has tidied away. */

import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createLog } from '../../src/foundation/log/log.ts';
import { Metrics } from '../../src/foundation/metrics.ts';
import { readSettings } from '../../src/foundation/settings/config.ts';
import type { Batch } from '../../src/jobs/batch.ts';
import { Batches } from '../../src/jobs/batches.ts';
import { RecordingDisk } from '../../src/recordings/disk.ts';
import { Translator } from '../../src/recordings/translate.ts';
import { FakeClock } from '../fakes/clock.ts';
import { eventually } from '../helpers/eventually.ts';

let folder: string;
let batches: Batches;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'trunkline-test-'));
  vi.stubEnv('TMPDIR', folder);
  const settings = readSettings({});
  const metrics = new Metrics();
  const disk = new RecordingDisk({ maxBytes: settings.UPLOAD_DISK_MAX_BYTES, metrics });
  const recordings = { transcribe: async () => ({ durationMs: 1200, spokenLanguage: 'en', segments: [] }), disk };
  batches = new Batches({
    settings,
    mayExpire: () => true,
    recordings,
    translator: new Translator({ settings, clock: new FakeClock() }),
    clock: new FakeClock(),
    log: createLog('silent'),
    metrics,
  });
});

afterEach(async () => {
  await batches.close();
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true });
});

async function begin(): Promise<Batch> {
  const draft = await batches.draft('t');
  writeFileSync(join(draft.folder, '0'), 'a recording');
  const files = [{ name: 'a.wav', source: { kind: 'upload' } }] as const;
  return (
    await batches.begin(draft, { channels: 'mix', targetLanguage: '', idempotency: null, webhookUrl: null, files })
  ).batch;
}

it('are done and read like those before', async () => {
  for (let times = 0; times < 2; times++) {
    const batch = await begin();
    await eventually(() => expect(batch.endedMs).not.toBeNull());
    expect(await batches.result('t', batch.id, 0)).toMatchObject({ durationMs: 1200 });
    for (const name of readdirSync(folder)) rmSync(join(folder, name), { recursive: true });
  }
});

it('are not put into what somebody else has made of that name', async () => {
  await begin();
  const [name = ''] = readdirSync(folder);
  rmSync(join(folder, name), { recursive: true });
  writeFileSync(join(folder, name), '');
  await expect(batches.draft('t')).rejects.toThrow('belongs to another user now');
});
