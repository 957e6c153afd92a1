import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/foundation/clock.ts';
import { createLog } from '../../../src/foundation/log/log.ts';
import { Metrics } from '../../../src/foundation/metrics.ts';
import type { BatchNews } from '../../../src/jobs/batch-service.ts';
import type { BatchRequest } from '../../../src/jobs/batches.ts';
import type { BatchTablesOf } from '../../../src/jobs/shared/batch-rows.ts';
import { BullQueue } from '../../../src/jobs/shared/bull-queue.ts';
import { SharedBatches } from '../../../src/jobs/shared/shared-batches.ts';
import { RecordingDisk } from '../../../src/recordings/disk.ts';
import type { RecordingTask, RecordingTranscript } from '../../../src/recordings/transcribe.ts';
import { Translator } from '../../../src/recordings/translate.ts';
import { openPostgresRecords } from '../../../src/records/postgres-records.ts';
import type { RecordsDatabase } from '../../../src/records/records-database.ts';
import { eventually } from '../../helpers/eventually.ts';
import { startPostgres, type TestPostgres, whyNoPostgres } from '../../helpers/postgres.ts';
import { readSettings } from '../../helpers/settings.ts';
import { beginIn, TRANSCRIPT } from '../open-batches.ts';

/** A job of a gateway that died is taken again some 10 s later, by the real clock of the queue. */
const TAKEN_AGAIN_MS = 40_000;

interface OpenGateway {
  readonly batches: SharedBatches;
  /** The recordings that it began with, by file name. */
  readonly began: string[];
  transcribe: (task: RecordingTask) => Promise<RecordingTranscript>;
}

/** Work that goes on until it is stopped. */
function forever({ signal }: RecordingTask): Promise<never> {
  return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
}

/** Has a recording at each path, and keeps what is posted. */
async function startSite(): Promise<{ readonly server: Server; readonly url: string; readonly posted: unknown[] }> {
  const posted: unknown[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    if (request.method === 'POST') posted.push(JSON.parse(Buffer.concat(chunks).toString()));
    response.end('x');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/a.wav`, posted };
}

describe.skipIf(whyNoPostgres !== '')(`batches of several gateways${whyNoPostgres}`, () => {
  let postgres: TestPostgres;
  let database: RecordsDatabase;
  let url: string;
  let folder: string;
  let opened: SharedBatches[];
  let site: Awaited<ReturnType<typeof startSite>>;

  beforeAll(async () => {
    postgres = await startPostgres();
  });

  afterAll(() => postgres.remove());

  beforeEach(async () => {
    url = await postgres.createDatabase();
    folder = mkdtempSync(join(tmpdir(), 'trunkline-test-'));
    writeFileSync(join(folder, 'a.wav'), 'x');
    database = await openPostgresRecords(url, { clock: systemClock, log: createLog('silent'), isShared: true });
    opened = [];
    site = await startSite();
  });

  afterEach(async () => {
    for (const batches of opened) await batches.close();
    await database.close();
    site.server.close();
    rmSync(folder, { recursive: true });
  });

  async function open(name: string, environment: Readonly<Record<string, string>> = {}): Promise<OpenGateway> {
    const address = `http://${name}.example:8080`;
    const settings = readSettings({
      BATCH_DIR: join(folder, name),
      BATCH_INPUT_DIR: folder,
      OUTBOUND_ALLOW: 'batches=127.0.0.0/8',
      WEBHOOK_SECRET: 'secret',
      ...environment,
    });
    const common = { settings, clock: systemClock, log: createLog('silent'), metrics: new Metrics() };
    const began: string[] = [];
    const gateway = { began, transcribe: async () => TRANSCRIPT } as unknown as OpenGateway;
    const batches = new SharedBatches({
      ...common,
      db: database.db.withTables<BatchTablesOf>(),
      queue: await BullQueue.open({ ...common, url, address, jobsMax: 4 }),
      address,
      placesOfGateway: 4,
      recordings: {
        transcribe: (task) => {
          began.push(task.path.slice(folder.length + 1));
          return gateway.transcribe(task);
        },
        disk: new RecordingDisk({ maxBytes: settings.UPLOAD_DISK_MAX_BYTES, metrics: common.metrics }),
      },
      translator: new Translator(common),
    });
    opened.push(batches);
    await batches.open();
    await markAlive(address);
    return Object.assign(gateway, { batches });
  }

  /** As the heartbeat of a gateway does; `agoMs` = it has been silent since. */
  async function markAlive(address: string, agoMs = 0): Promise<void> {
    const seen = { live: 0, max_calls: 1, firm_load: 0, started_ms: 0, seen_ms: Date.now() - agoMs };
    const row = { id: address, name: 'host', address, state: 'serving', ...seen };
    await database.db
      .withTables<{ gateways: Record<string, string | number> }>()
      .insertInto('gateways')
      .values(row)
      .onConflict((conflict) => conflict.column('id').doUpdateSet({ seen_ms: seen.seen_ms }))
      .execute();
  }

  function begin({ batches }: OpenGateway, request: Partial<BatchRequest> = {}, tenant = 't') {
    const files = request.files ?? [{ source: { kind: 'upload' } }];
    const prepare = ({ folder: of }: { readonly folder: string }): void => {
      for (const [number, { source }] of files.entries())
        if (source.kind === 'upload') writeFileSync(join(of, String(number)), 'x');
    };
    return beginIn(batches, request, { tenant, prepare });
  }

  const paths = (count: number): BatchRequest['files'] =>
    Array.from({ length: count }, () => ({ name: 'a.wav', source: { kind: 'path', location: 'a.wav' } }));

  const ended = (gateway: OpenGateway, id: string, tenant = 't'): Promise<unknown> =>
    eventually(async () => expect((await gateway.batches.get(tenant, id)).batch.state).not.toBe('running'));

  it('are the same wherever they are asked for, and nobody else’s to see', async () => {
    const [one, other] = [await open('one'), await open('other')];
    const { batch } = await begin(one);
    await ended(other, batch.id);
    const counts = { done: 1, total: 1 };
    expect(await other.batches.list('t')).toMatchObject([{ id: batch.id, state: 'done', counts }]);
    expect(await other.batches.result('t', batch.id, 0, false)).toMatchObject({ transcript: TRANSCRIPT });
    await expect(other.batches.get('u', batch.id)).rejects.toMatchObject({ code: 'batch_not_found' });
    expect(await other.batches.list('u')).toEqual([]);
  });

  it('have uploads done where they lie, and leave nothing on disk', async () => {
    const [one, other] = [await open('one'), await open('other')];
    const { batch } = await begin(one);
    await ended(other, batch.id);
    expect([one.began, other.began]).toEqual([[`one/${batch.id}/0`], []]);
    await eventually(() => expect(readdirSync(join(folder, 'one', batch.id))).toEqual([]));
  });

  it('have all places of their gateway where a tenant is alone, and equal parts where tenants share', async () => {
    const one = await open('one');
    const held: (() => void)[] = [];
    one.transcribe = () => new Promise((resolve) => held.push(() => resolve(TRANSCRIPT)));
    const { batch: first } = await begin(one, { files: paths(30) });
    await eventually(() => expect(held).toHaveLength(4));
    const { batch: second } = await begin(one, { files: paths(30) }, 'u');
    for (let ended = 0; ended < 4; ended++) held[ended]?.();
    await eventually(() => expect(held).toHaveLength(8));
    const inWork = async (tenant: string, id: string) => (await one.batches.get(tenant, id)).batch.counts.running;
    expect([await inWork('t', first.id), await inWork('u', second.id)]).toEqual([2, 2]);
    await one.batches.cancel('u', second.id);
  });

  it('have the places of all gateways where recordings are by URL', async () => {
    const [one, other] = [await open('one'), await open('other')];
    one.transcribe = forever;
    other.transcribe = forever;
    const file: BatchRequest['files'][number] = { name: 'a', source: { kind: 'url', location: site.url } };
    const files = Array.from({ length: 30 }, () => file);
    await begin(one, { files });
    await eventually(() => expect([one.began.length, other.began.length]).toEqual([4, 4]));
  });

  it('give all their transcripts in order, from a file on', async () => {
    const one = await open('one');
    const { batch } = await begin(one, { files: paths(45) });
    await ended(one, batch.id);
    const numbersFrom = async (from: number): Promise<(number | string)[]> => {
      const { lines } = await one.batches.results('t', batch.id, { from, asSpoken: false });
      const found: (number | string)[] = [];
      for await (const { file, transcript } of lines) found.push(transcript === null ? file.state : file.number);
      return found;
    };
    expect(await numbersFrom(0)).toEqual(Array.from({ length: 45 }, (_, at) => at));
    expect(await numbersFrom(43)).toEqual([43, 44]);
  });

  it('are handed over at once when a gateway ends', async () => {
    const [one, other] = [await open('one'), await open('other')];
    one.transcribe = forever;
    other.transcribe = forever;
    const { batch } = await begin(one, { files: [{ name: 'a', source: { kind: 'url', location: site.url } }] });
    await eventually(() => expect(one.began.length + other.began.length).toBe(1));
    const [worker, rest] = one.began.length === 1 ? [one, other] : [other, one];
    rest.transcribe = async () => TRANSCRIPT;
    await worker.batches.close();
    await ended(rest, batch.id);
    expect(await rest.batches.get('t', batch.id)).toMatchObject({ files: [{ state: 'done' }] });
  });

  it('fail recordings on the disk of a gateway that is gone, and no others', async () => {
    const [one, other] = [await open('one'), await open('other')];
    one.transcribe = forever;
    const { batch } = await begin(one);
    await eventually(() => expect(one.began).toHaveLength(1));
    await one.batches.close();
    const again = await open('third');
    expect((await again.batches.get('t', batch.id)).batch.state).toBe('running');
    await markAlive('http://one.example:8080', 121_000);
    await open('fourth');
    await ended(other, batch.id);
    expect((await other.batches.get('t', batch.id)).files).toMatchObject([
      { state: 'failed', error: { code: 'recording_lost' } },
    ]);
  });

  it('go on where they were when their gateway comes back in time', async () => {
    const one = await open('one');
    one.transcribe = forever;
    const { batch } = await begin(one);
    await eventually(() => expect(one.began).toHaveLength(1));
    await one.batches.close();
    const again = await open('one');
    await ended(again, batch.id);
    expect((await again.batches.get('t', batch.id)).files).toMatchObject([{ state: 'done' }]);
  });

  it('are the same one when their request is repeated at another gateway', async () => {
    const [one, other] = [await open('one'), await open('other')];
    const first = await begin(one, { idempotency: { key: 'k', hash: 'h' } });
    const repeated = await begin(other, { idempotency: { key: 'k', hash: 'h' } });
    expect(repeated).toMatchObject({ isNew: false, batch: { id: first.batch.id } });
    await expect(begin(other, { idempotency: { key: 'k', hash: 'x' } })).rejects.toMatchObject({
      code: 'idempotency_conflict',
    });
  });

  it('are at most BATCHES_MAX of a tenant, over all gateways', async () => {
    const [one, other] = [await open('one', { BATCHES_MAX: '1' }), await open('other', { BATCHES_MAX: '1' })];
    one.transcribe = forever;
    const { batch } = await begin(one);
    await expect(begin(other)).rejects.toMatchObject({ code: 'too_many_batches' });
    await begin(other, {}, 'u');
    await other.batches.cancel('t', batch.id);
    await begin(other);
  });

  it('are cancelled at any gateway, and the work on them is stopped', async () => {
    const [one, other] = [await open('one'), await open('other')];
    let stopped = 0;
    one.transcribe = (task) =>
      new Promise((_resolve, reject) => {
        task.signal.addEventListener('abort', () => {
          stopped++;
          reject(task.signal.reason);
        });
        const timer = setInterval(() => task.onProgress?.({ share: 0.5 } as never), 50);
        task.signal.addEventListener('abort', () => clearInterval(timer));
      });
    const { batch } = await begin(one, { files: paths(3) });
    await eventually(() => expect(one.began.length).toBeGreaterThan(0));
    expect(await other.batches.cancel('t', batch.id)).toMatchObject({ state: 'cancelled', counts: { cancelled: 3 } });
    await eventually(() => expect(stopped).toBe(one.began.length));
    await other.batches.cancel('t', batch.id);
    await expect(one.batches.get('t', batch.id)).rejects.toMatchObject({ code: 'batch_not_found' });
  });

  it('tell a reader at another gateway what happens', async () => {
    const [one, other] = [await open('one'), await open('other')];
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    one.transcribe = async (task) => {
      task.onProgress?.({ share: 0.5 } as never);
      await held;
      return TRANSCRIPT;
    };
    const { batch } = await begin(one);
    const news: BatchNews[] = [];
    const stop = await other.batches.watch(batch.id, (item) => void news.push(item));
    await eventually(async () =>
      expect((await other.batches.get('t', batch.id)).files).toMatchObject([{ state: 'running', progress: 0.5 }]),
    );
    release();
    await eventually(() => expect(news.at(-1)).toMatchObject({ type: 'end', batch: { state: 'done' } }));
    expect(news.at(-2)).toMatchObject({ type: 'file', file: { state: 'done' } });
    stop();
  });

  it('tell the end by one webhook', async () => {
    const [one, other] = [await open('one'), await open('other')];
    const { batch } = await begin(one, { webhookUrl: site.url, files: paths(2) });
    await eventually(async () =>
      expect((await other.batches.get('t', batch.id)).batch.webhook).toEqual({ state: 'delivered', attempts: 1 }),
    );
    expect(site.posted).toMatchObject([{ type: 'batch.ended', batch: { id: batch.id, state: 'done' } }]);
  });

  it(
    'outlive a crash of the database',
    async () => {
      const one = await open('one');
      let isHeld = true;
      one.transcribe = async (task) => (isHeld ? forever(task) : TRANSCRIPT);
      const { batch } = await begin(one, { files: paths(4) });
      await eventually(() => expect(one.began.length).toBeGreaterThan(0));
      await postgres.stop('crash');
      await expect(one.batches.list('t')).rejects.toThrow('the database');
      isHeld = false;
      await postgres.start();
      await one.batches.close();
      const again = await open('one');
      await ended(again, batch.id);
      expect((await again.batches.get('t', batch.id)).batch.counts).toMatchObject({ done: 4, failed: 0 });
    },
    TAKEN_AGAIN_MS,
  );
});
