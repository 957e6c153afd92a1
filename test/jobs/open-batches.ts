/** Batches whose recordings are transcribed by a function of the test. */
import { join } from 'node:path';
import { createLog } from '../../src/foundation/log/log.ts';
import { Metrics } from '../../src/foundation/metrics.ts';
import type { Batch } from '../../src/jobs/batch.ts';
import type { Draft } from '../../src/jobs/batch-index.ts';
import { Batches, type BatchRequest } from '../../src/jobs/batches.ts';
import { RecordingDisk } from '../../src/recordings/disk.ts';
import type { RecordingTask, RecordingTranscript } from '../../src/recordings/transcribe.ts';
import { Translator } from '../../src/recordings/translate.ts';
import type { FakeClock } from '../fakes/clock.ts';
import { readSettings } from '../helpers/settings.ts';

export const TRANSCRIPT: RecordingTranscript = {
  spokenLanguage: 'en',
  durationMs: 1200,
  segments: [{ channel: 0, text: 'Hello.', startMs: 0, endMs: 900, words: [], wordTimes: 'estimated' }],
};

interface OpenOptions {
  /** Holds BATCH_DIR unless the environment says otherwise. */
  readonly folder: string;
  readonly clock: FakeClock;
  readonly transcribe: (task: RecordingTask) => Promise<RecordingTranscript>;
  readonly environment?: Readonly<Record<string, string>>;
  /** Left out = they may; null = BATCH_DIR has to tell. */
  readonly mayExpire?: (() => boolean) | null;
}

/** The caller closes them. */
export function openBatches({ folder, clock, transcribe, environment, mayExpire = () => true }: OpenOptions): Batches {
  const settings = readSettings({ BATCH_DIR: join(folder, 'batches'), WEBHOOK_SECRET: 'secret', ...environment });
  const metrics = new Metrics();
  const disk = new RecordingDisk({ maxBytes: settings.UPLOAD_DISK_MAX_BYTES, metrics });
  return new Batches({
    settings,
    mayExpire,
    recordings: { transcribe, disk },
    translator: new Translator({ settings, clock }),
    clock,
    log: createLog('silent'),
    metrics,
  });
}

interface Beginning<Begun> {
  draft(tenant: string): Promise<Draft>;
  discard(draft: Draft): Promise<void>;
  begin(draft: Draft, request: BatchRequest): Promise<Begun>;
}

/** Begins a batch of one upload unless `request` names files. `prepare` may put uploads into the draft's folder. */
export async function beginIn<Begun>(
  batches: Beginning<Begun>,
  request: Partial<BatchRequest> = {},
  { tenant = 't', prepare }: { tenant?: string; prepare?: (draft: Draft) => void } = {},
): Promise<Begun> {
  const draft = await batches.draft(tenant);
  prepare?.(draft);
  try {
    return await batches.begin(draft, {
      channels: 'mix',
      targetLanguage: '',
      idempotency: null,
      webhookUrl: null,
      files: [{ name: 'a.wav', source: { kind: 'upload' } }],
      ...request,
    });
  } finally {
    await batches.discard(draft);
  }
}

/** As {@link beginIn}, for the batches of one gateway. */
export async function beginBatch(batches: Batches, request: Partial<BatchRequest> = {}, tenant = 't'): Promise<Batch> {
  return (await beginIn(batches, request, { tenant })).batch;
}
