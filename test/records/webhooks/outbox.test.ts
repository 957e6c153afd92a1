import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Clock, systemClock } from '../../../src/foundation/clock.ts';
import { createLog } from '../../../src/foundation/log/log.ts';
import type { RecordsDatabase } from '../../../src/records/records-database.ts';
import { openSqliteRecords } from '../../../src/records/sqlite-records.ts';
import { openWebhooks } from '../../../src/records/webhooks/open-webhooks.ts';
import { eventually } from '../../helpers/eventually.ts';
import { whyNoPostgres } from '../../helpers/postgres.ts';
import { DATABASES } from '../databases.ts';
import { ended, openToldGateway, said, started } from '../told-calls.ts';
import { WebhookReceiver, webhookSettings } from './receiver.ts';

const DAY_MS = 86_400_000;
let receiver: WebhookReceiver;
let logged: Record<string, unknown>[];
let closes: (() => Promise<void>)[];
/** The time limit of an attempt. */
let hastyMs: number;
/** How far the clock of the outbox is ahead. */
let aheadMs: number;

beforeEach(async () => {
  receiver = new WebhookReceiver();
  await receiver.open();
  logged = [];
  closes = [];
  aheadMs = 0;
  hastyMs = 10_000;
});

afterEach(async () => {
  for (const close of closes) await close();
  await receiver.close();
});

const clock: Clock = {
  ...systemClock,
  wall: () => new Date(systemClock.wall().getTime() + aheadMs),
  // The time limit of an attempt comes at once.
  after: (delayMs, run, inBackground) => systemClock.after(delayMs === 10_000 ? hastyMs : delayMs, run, inBackground),
};

function open(database: RecordsDatabase, changes: Partial<Parameters<typeof openWebhooks>[0]> = {}) {
  const log = createLog('info', { write: (line: string) => void logged.push(JSON.parse(line)) });
  const gateway = openToldGateway(database, { log });
  const settings = webhookSettings(receiver.url, changes);
  const webhooks = openWebhooks(settings, gateway.records, { clock, log, metrics: gateway.metrics });
  if (webhooks === null) throw new Error('no webhooks');
  const { outbox, types } = webhooks;
  gateway.records.openOutbox(outbox, types);
  closes.push(() => outbox.close());
  const waiting = () => database.reader.selectFrom('outbox').selectAll().execute();
  return { ...gateway, outbox, waiting };
}

const call = (id: string) => [started(id), said(id, 1, 'I lost my card.'), ended(id)] as const;

describe.each(DATABASES)('webhooks of calls with $name', ({ isThere, start }) => {
  const databases = start();
  afterAll(() => databases.end());
  const run = it.runIf(isThere);

  run('tell of the end of a call, signed, with the call and its transcript, once', async () => {
    const { tell, waiting, feed } = open(await databases.open());
    await tell(...call('CA1'));
    await eventually(async () => expect(await waiting()).toEqual([]));
    expect(receiver.forged).toBe(0);
    expect(receiver.taken).toHaveLength(1);
    const [{ id, body } = { id: '', body: null }] = receiver.taken;
    expect(id).toBe(`${feed.epoch}-3`);
    expect(body).toMatchObject({
      type: 'call.ended',
      timestamp: expect.stringMatching(/^\d{4}-.*Z$/),
      data: {
        event: { type: 'call.ended', callId: 'CA1', reason: 'hangup' },
        call: { id: 'CA1', state: 'ended', carrier: 'twilio' },
        transcript: [{ kind: 'caption', text: 'I lost my card.', speaker: 'Ada' }],
      },
    });
  });

  run('tell of other events, too', async () => {
    const { tell, waiting } = open(await databases.open(), { CALL_WEBHOOK_EVENTS: ['caption', 'note'] });
    await tell(...call('CA1'), { type: 'note', callId: 'CA1', note: 'n1', author: 'eve', text: 'calls back', at: '' });
    await eventually(async () => expect(await waiting()).toEqual([]));
    expect(receiver.taken.map(({ body }) => body.data).toSorted()).toEqual([
      { event: expect.objectContaining({ type: 'caption', text: 'I lost my card.' }) },
      { event: expect.objectContaining({ type: 'note', text: 'calls back' }) },
    ]);
  });

  run('are sent again until they are taken, as late as Retry-After says', async () => {
    const { tell, waiting, outbox } = open(await databases.open());
    receiver.answer = (response) => void response.writeHead(503, { 'retry-after': '600' }).end();
    await tell(...call('CA1'));
    await eventually(async () => expect(await waiting()).toMatchObject([{ attempts: 1 }]));
    const [row] = await waiting();
    expect((row?.due_ms ?? 0) - clock.wall().getTime()).toBeGreaterThan(590_000);
    expect(logged.map(({ msg }) => msg)).toContain(
      'a webhook of a call was not taken; it is sent again for three days',
    );
    expect(JSON.stringify(logged)).not.toContain('lost my card');
    receiver.answer = (response) => void response.writeHead(204).end();
    aheadMs += 601_000;
    outbox.wake();
    await eventually(async () => expect(await waiting()).toEqual([]));
    expect(receiver.taken.map(({ id }) => id)).toEqual([row?.id, row?.id]);
    await eventually(() => expect(logged.map(({ msg }) => msg)).toContain('webhooks are delivered again'));
  });

  run('follow no redirect, and are given up after three days, or at once when they are not wanted', async () => {
    const { tell, waiting, outbox } = open(await databases.open());
    receiver.answer = (response) => void response.writeHead(307, { location: receiver.url }).end();
    await tell(...call('CA1'));
    await eventually(async () => expect(await waiting()).toMatchObject([{ attempts: 1, state: 'waiting' }]));
    expect(receiver.requests).toBe(1);
    aheadMs += 3 * DAY_MS;
    outbox.wake();
    await eventually(async () => expect(await waiting()).toMatchObject([{ attempts: 2, state: 'failed' }]));
    receiver.answer = (response) => void response.writeHead(410).end();
    await tell(...call('CA2'));
    await eventually(async () =>
      expect(await waiting()).toMatchObject([{ state: 'failed' }, { attempts: 1, state: 'failed' }]),
    );
    expect(logged.filter(({ msg }) => msg === 'a webhook of a call was given up')).toHaveLength(2);
  });

  run('are sent again when there is no answer in time', async () => {
    const { tell, waiting } = open(await databases.open());
    receiver.answer = () => undefined;
    hastyMs = 50;
    await tell(...call('CA1'));
    await eventually(async () => expect(await waiting()).toMatchObject([{ attempts: 1, state: 'waiting' }]));
    await eventually(() => expect(logged).toContainEqual(expect.objectContaining({ answer: 'late' })));
  });

  run('do not go to a private network unless they may', async () => {
    const { tell, waiting } = open(await databases.open(), { OUTBOUND_ALLOW: [] });
    await tell(...call('CA1'));
    await eventually(async () => expect(await waiting()).toMatchObject([{ attempts: 1 }]));
    expect(receiver.requests).toBe(0);
    await eventually(() => expect(logged).toContainEqual(expect.objectContaining({ answer: 'private address' })));
  });

  run('go out four at a time', async () => {
    const { tell, waiting } = open(await databases.open());
    let open_ = 0;
    let most = 0;
    receiver.answer = (response) => {
      most = Math.max(most, ++open_);
      setTimeout(() => {
        open_--;
        response.writeHead(204).end();
      }, 20);
    };
    for (let index = 0; index < 20; index++) await tell(...call(`CA${index}`));
    await eventually(async () => expect(await waiting()).toEqual([]));
    expect(new Set(receiver.taken.map(({ id }) => id)).size).toBe(20);
    expect(most).toBeLessThanOrEqual(4);
  });

  run('are sent once where several gateways look for what is due', async () => {
    const database = await databases.open();
    const [one, two, three] = [open(database), open(database), open(database)];
    for (let index = 0; index < 34; index++) {
      await Promise.all([one, two, three].map(({ tell }, at) => tell(...call(`CA${at}-${index}`))));
      for (const { outbox } of [one, two, three]) outbox.wake();
    }
    await eventually(async () => expect(await one.waiting()).toEqual([]));
    expect(receiver.taken).toHaveLength(102);
    expect(new Set(receiver.taken.map(({ id }) => id)).size).toBe(102);
  });

  run('are gone with a call that is deleted', async () => {
    const database = await databases.open();
    const { tell, waiting } = open(database);
    receiver.answer = (response) => void response.writeHead(500).end();
    await tell(...call('CA1'));
    await eventually(async () => expect(await waiting()).toMatchObject([{ attempts: 1 }]));
    await database.db.deleteFrom('calls').execute();
    expect(await waiting()).toEqual([]);
  });
});

it.skipIf(whyNoPostgres !== '')(`are sent once by gateways whose clocks differ${whyNoPostgres}`, async () => {
  const databases = DATABASES[1].start();
  const database = await databases.open();
  const held: (() => void)[] = [];
  receiver.answer = (response) => void held.push(() => response.writeHead(204).end());
  aheadMs = -DAY_MS;
  const slow = open(database, { CLUSTER_KEY: 'a key' });
  await slow.tell(...call('CA1'));
  await eventually(() => expect(held).toHaveLength(1));
  aheadMs = 0;
  const right = open(database, { CLUSTER_KEY: 'a key' });
  right.outbox.wake();
  await right.tell(...call('CA2'));
  await eventually(() => expect(held).toHaveLength(2));
  for (const release of held) release();
  await eventually(async () => expect(await right.waiting()).toEqual([]));
  // Each once: the claim of the first is good for a minute whatever its gateway's clock says.
  expect(new Set(receiver.taken.map(({ id }) => id)).size).toBe(2);
  expect(receiver.requests).toBe(2);
  for (const close of closes.splice(0)) await close();
  await databases.end();
});

it('survive a gateway that is killed between the event and its delivery', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'trunkline-webhooks-'));
  const path = join(folder, 'records.sqlite');
  receiver.answer = () => undefined;
  const program = join(import.meta.dirname, 'killed-gateway.ts');
  const child = spawn(process.execPath, ['--import', 'tsx', program, path, receiver.url], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(child.stdout, 'data');
  await eventually(() => expect(receiver.requests).toBe(1));
  child.kill('SIGKILL');
  await once(child, 'exit');
  receiver.answer = (response) => void response.writeHead(204).end();
  rmSync(`${path}.lock`, { recursive: true, force: true });
  const database = await openSqliteRecords(path);
  // Its claim ends a minute after it was made.
  aheadMs = 61_000;
  const { waiting } = open(database);
  await eventually(async () => expect(await waiting()).toEqual([]));
  expect(receiver.taken.map(({ body }) => body.type)).toEqual(['call.ended']);
  await closes.pop()?.();
  await database.close();
  rmSync(folder, { recursive: true });
});

it('need records to wait in', () => {
  const settings = webhookSettings(receiver.url);
  const parts = { clock, log: createLog('silent'), metrics: {} as never };
  expect(() => openWebhooks(settings, null, parts)).toThrow('CALL_WEBHOOK_URL: webhooks wait in the records');
});
