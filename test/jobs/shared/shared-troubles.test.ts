import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { DatabaseAway } from '../../../src/foundation/database/trouble.ts';
import { createLog } from '../../../src/foundation/log/log.ts';
import { Metrics } from '../../../src/foundation/metrics.ts';
import type { BatchRequest } from '../../../src/jobs/batches.ts';
import type { BatchDatabase, BatchTablesOf } from '../../../src/jobs/shared/batch-rows.ts';
import type { JobQueue, QueuedJob } from '../../../src/jobs/shared/job-queue.ts';
import { SharedBatches } from '../../../src/jobs/shared/shared-batches.ts';
import { RecordingDisk } from '../../../src/recordings/disk.ts';
import { Translator } from '../../../src/recordings/translate.ts';
import { openPostgresRecords } from '../../../src/records/postgres-records.ts';
import type { RecordsDatabase } from '../../../src/records/records-database.ts';
import { FakeClock } from '../../fakes/clock.ts';
import { eventually } from '../../helpers/eventually.ts';
import { type SharedPostgres, sharedPostgres, whyNoPostgres } from '../../helpers/postgres.ts';
import { readSettings } from '../../helpers/settings.ts';
import { beginIn, TRANSCRIPT } from '../open-batches.ts';

const AWAY = new DatabaseAway('the database does not answer');
const UPKEEP_MS = 10_000;

/** Keeps the jobs that are added; `trouble` = what it fails with. */
class KeptJobs implements JobQueue {
  readonly added: QueuedJob[] = [];
  trouble: Error | null = null;

  async add(job: QueuedJob): Promise<void> {
    if (this.trouble !== null) throw this.trouble;
    this.added.push(job);
  }

  async begin(): Promise<void> {}
  async pause(): Promise<void> {}
  async close(): Promise<void> {}
}

/** Stores, and tells that the database is away: as when the connection breaks before the answer comes. */
function unanswered(db: BatchDatabase): BatchDatabase {
  return new Proxy(db, {
    get(target, name) {
      if (name === 'transaction')
        return () => ({
          execute: async (work: Parameters<ReturnType<BatchDatabase['transaction']>['execute']>[0]) => {
            await target.transaction().execute(work);
            throw AWAY;
          },
        });
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

describe.skipIf(whyNoPostgres !== '')(`troubles of shared batches${whyNoPostgres}`, () => {
  let postgres: SharedPostgres;
  let database: RecordsDatabase;
  let db: BatchDatabase;
  let folder: string;
  let clock: FakeClock;
  let queue: KeptJobs;
  let disk: RecordingDisk;
  let metrics: Metrics;
  let opened: SharedBatches[];

  beforeAll(async () => {
    postgres = await sharedPostgres();
  });

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'trunkline-test-'));
    clock = new FakeClock();
    queue = new KeptJobs();
    const url = await postgres.createDatabase();
    database = await openPostgresRecords(url, { clock, log: createLog('silent'), isShared: true });
    db = database.db.withTables<BatchTablesOf>();
    opened = [];
  });

  afterEach(async () => {
    for (const batches of opened) await batches.close();
    await database.close();
    rmSync(folder, { recursive: true });
  });

  async function open(given = db, environment: Readonly<Record<string, string>> = {}): Promise<SharedBatches> {
    const settings = readSettings({ BATCH_DIR: join(folder, 'here'), WEBHOOK_SECRET: 'secret', ...environment });
    metrics = new Metrics();
    const common = { settings, clock, log: createLog('silent'), metrics };
    disk = new RecordingDisk({ maxBytes: settings.UPLOAD_DISK_MAX_BYTES, metrics: common.metrics });
    const batches = new SharedBatches({
      ...common,
      db: given,
      queue,
      address: 'http://here.example:8080',
      placesOfGateway: 4,
      recordings: { transcribe: async () => TRANSCRIPT, disk },
      translator: new Translator(common),
    });
    opened.push(batches);
    await batches.open();
    return batches;
  }

  const begin = (batches: SharedBatches, request: Partial<BatchRequest> = {}) =>
    beginIn(batches, request, { prepare: ({ folder: of }) => writeFileSync(join(of, '0'), 'x') });

  const upkept = (check: () => unknown): Promise<unknown> =>
    eventually(async () => {
      clock.advance(UPKEEP_MS);
      await check();
    });

  it('a batch of which nothing comes to its end is seen to wait', async () => {
    const waited = async (): Promise<unknown> =>
      (await metrics.registry.getSingleMetric('trunkline_batch_wait_seconds')?.get())?.values[0]?.value;
    const batches = await open();
    expect(await waited()).toBe(0);
    const source = { kind: 'url', location: 'http://a.example/a.wav' } as const;
    const { batch } = await begin(batches, { files: [{ name: 'a.wav', source }] });
    await upkept(async () => expect(await waited()).toBeGreaterThan(0));
    clock.advance(600_000);
    expect(await waited()).toBeGreaterThanOrEqual(600);
    await batches.cancel('t', batch.id);
    await upkept(async () => expect(await waited()).toBe(0));
  });

  it('a batch that is stored is taken, also where the queue is not there yet', async () => {
    const batches = await open();
    queue.trouble = AWAY;
    const { batch } = await begin(batches, { webhookUrl: 'http://a.example/' });
    expect(batch).toMatchObject({ state: 'running' });
    expect(await batches.cancel('t', batch.id)).toMatchObject({ state: 'cancelled' });
    queue.trouble = null;
    await upkept(() => expect(queue.added).toContainEqual({ kind: 'webhook', batchId: batch.id }));
  });

  it('files that the queue did not get are queued later', async () => {
    const batches = await open();
    queue.trouble = AWAY;
    const files: BatchRequest['files'] = [{ name: 'a', source: { kind: 'url', location: 'http://a.example/' } }];
    const { batch } = await begin(batches, { files });
    queue.trouble = null;
    await upkept(() => expect(queue.added).toContainEqual({ kind: 'file', batchId: batch.id, number: 0 }));
  });

  it('a batch of which nobody knows whether it was stored keeps its uploads', async () => {
    const batches = await open(unanswered(db));
    await expect(begin(batches)).rejects.toBe(AWAY);
    const [row] = await db.selectFrom('batches').select(['id', 'state']).execute();
    expect(row).toMatchObject({ state: 'running' });
    expect(existsSync(join(folder, 'here', row?.id ?? '', '0'))).toBe(true);
  });

  it('no path keeps the recordings of a gateway that is gone from being told as lost', async () => {
    const batches = await open(db, { BATCH_INPUT_DIR: folder });
    const { batch } = await begin(batches, {
      files: [
        { name: 'a\ud800', source: { kind: 'path', location: 'a\ud800\0"kind":"url"' } },
        { name: 'b', source: { kind: 'url', location: 'http://a.example/' } },
      ],
    });
    await upkept(async () =>
      expect((await batches.get('t', batch.id)).files).toMatchObject([
        { state: 'failed', error: { code: 'recording_lost' } },
        { state: 'waiting' },
      ]),
    );
  });

  it('names and addresses with characters that PostgreSQL does not take are stored', async () => {
    const batches = await open();
    const files: BatchRequest['files'] = [{ name: 'a\0b.wav', source: { kind: 'upload' } }];
    const { batch } = await begin(batches, { files, webhookUrl: 'http://a.example/\0' });
    expect((await batches.get('t', batch.id)).files).toMatchObject([{ name: 'a\ufffdb.wav' }]);
  });

  it('drafts that are asked for at the same time count for BATCHES_MAX', async () => {
    const batches = await open(db, { BATCHES_MAX: '3' });
    const asked = await Promise.allSettled(Array.from({ length: 10 }, () => batches.draft('t')));
    expect(asked.filter(({ status }) => status === 'fulfilled')).toHaveLength(3);
  });

  it('a draft that becomes a batch while strays are removed keeps its uploads', async () => {
    const batches = await open();
    const draft = await batches.draft('t');
    writeFileSync(join(draft.folder, '0'), 'x');
    // Many, so that one of them comes before the draft.
    for (let n = 0; n < 50; n++)
      mkdirSync(join(folder, 'here', `00000000-0000-0000-0000-${String(n).padStart(12, '0')}`));
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const removeFolder = disk.removeFolder.bind(disk);
    let removed = 0;
    disk.removeFolder = async (path) => {
      removed++;
      await held;
      await removeFolder(path);
    };
    await upkept(() => expect(removed).toBe(1));
    const files: BatchRequest['files'] = [{ name: 'a.wav', source: { kind: 'upload' } }];
    const options = { channels: 'mix', targetLanguage: '', idempotency: null, webhookUrl: null, files } as const;
    const { batch } = await batches.begin(draft, options);
    release();
    await eventually(() => expect(removed).toBe(50));
    expect(existsSync(join(folder, 'here', batch.id, '0'))).toBe(true);
  });

  it('a slow database is asked for one upkeep at a time', async () => {
    const batches = await open();
    await begin(batches, { files: [{ name: 'a', source: { kind: 'url', location: 'http://a.example/' } }] });
    let adding = 0;
    let release = (): void => undefined;
    queue.add = () => {
      adding++;
      return new Promise((resolve) => {
        release = resolve;
      });
    };
    await upkept(() => expect(adding).toBe(1));
    clock.advance(10 * UPKEEP_MS);
    await batches.list('t');
    expect(adding).toBe(1);
    release();
  });

  it('the same request at two gateways at once is one batch', async () => {
    const batches = await open();
    const twice = { idempotency: { key: 'k', hash: 'h' } };
    const all = await Promise.all(Array.from({ length: 6 }, () => begin(batches, twice)));
    expect(new Set(all.map(({ batch }) => batch.id)).size).toBe(1);
    expect(all.filter(({ isNew }) => isNew)).toHaveLength(1);
  });
});
