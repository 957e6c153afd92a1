/** Webhooks of messages: what they say, and that a restart loses none. */
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { FeedEvent } from '../../../src/calls/feed/events.ts';
import { type Clock, systemClock } from '../../../src/foundation/clock.ts';
import { createLog } from '../../../src/foundation/log/log.ts';
import type { RecordsDatabase } from '../../../src/records/records-database.ts';
import { openWebhooks, type WebhookSettings } from '../../../src/records/webhooks/open-webhooks.ts';
import { eventually } from '../../helpers/eventually.ts';
import { DATABASES } from '../databases.ts';
import { openToldGateway, said, started } from '../told-calls.ts';
import { SECRET, WebhookReceiver, webhookSettings } from './receiver.ts';

const SETTLED_MS = 5000;
let receiver: WebhookReceiver;
let closes: (() => Promise<void>)[];
let aheadMs: number;
const clock: Clock = { ...systemClock, wall: () => new Date(systemClock.wall().getTime() + aheadMs) };

beforeEach(async () => {
  receiver = new WebhookReceiver();
  await receiver.open();
  closes = [];
  aheadMs = 0;
});

afterEach(async () => {
  for (const close of closes) await close();
  await receiver.close();
});

function open(database: RecordsDatabase, changes: Partial<WebhookSettings> = {}) {
  const log = createLog('silent');
  const gateway = openToldGateway(database, { log });
  const settings = webhookSettings('', { FLOWS_DIR: 'flows', ...changes });
  const webhooks = openWebhooks(settings, gateway.records, { clock, log, metrics: gateway.metrics });
  if (webhooks === null) throw new Error('no webhooks');
  gateway.records.openOutbox(webhooks.outbox, webhooks.types);
  closes.push(() => webhooks.outbox.close());
  const waiting = () => database.reader.selectFrom('outbox').selectAll().orderBy('id').execute();
  const leave = async (hasText = true): Promise<void> => {
    gateway.records.messageTargets.expect('CA1', 'message-1', { url: receiver.url, hasText });
    await gateway.tell(started('CA1'), MESSAGE, said('CA1', 5, 'Call me back.'), said('CA1', 9, 'Not any more.'));
  };
  return { ...gateway, outbox: webhooks.outbox, waiting, leave };
}

const MESSAGE: FeedEvent = {
  type: 'flow.message',
  callId: 'CA1',
  flow: 'shop',
  step: 'voicemail',
  message: 'message-1',
  startMs: 5000,
  endMs: 9000,
  atMs: 9000,
};

describe.each(DATABASES)('webhooks of messages with $name', ({ isThere, start }) => {
  const databases = start();
  afterAll(() => databases.end());
  const run = it.runIf(isThere);

  run('wait for the last words, and say them, signed', async () => {
    const { leave, waiting, outbox, feed } = open(await databases.open());
    await leave();
    expect(await waiting()).toMatchObject([{ state: 'waiting', attempts: 0 }]);
    aheadMs += SETTLED_MS;
    outbox.wake();
    await eventually(async () => expect(await waiting()).toEqual([]));
    expect([receiver.forged, receiver.taken.map(({ id }) => id)]).toEqual([0, [`msg_${feed.epoch}-2`]]);
    expect(receiver.taken[0]?.body).toEqual({
      type: 'flow.message',
      at: expect.stringMatching(/^\d{4}-.*Z$/),
      callId: 'CA1',
      flow: 'shop',
      step: 'voicemail',
      message: 'message-1',
      from: '+15550100',
      to: '+15550199',
      startMs: 5000,
      endMs: 9000,
      text: 'Call me back.',
      sound: '/v1/calls/CA1/messages/message-1/sound',
    });
  });

  run('survive a gateway that ends between the message and its delivery', async () => {
    const database = await databases.open();
    const first = open(database);
    await first.leave(false);
    await first.outbox.close();
    expect(receiver.requests).toBe(0);
    aheadMs += SETTLED_MS;
    const { waiting } = open(database, { FLOW_SIGNING_KEY: SECRET, WEBHOOK_SECRET: 'another' });
    await eventually(async () => expect(await waiting()).toEqual([]));
    expect(receiver.taken.map(({ body }) => body)).toMatchObject([{ message: 'message-1', text: null }]);
  });

  run('go beside those of calls, which wait where CALL_WEBHOOK_URL is not set', async () => {
    const database = await databases.open();
    const first = open(database, { CALL_WEBHOOK_URL: receiver.url, CALL_WEBHOOK_EVENTS: ['flow.message'] });
    receiver.answer = (response) => void response.writeHead(500).end();
    await first.leave();
    await eventually(async () => expect(await first.waiting()).toMatchObject([{ attempts: 1 }, { attempts: 0 }]));
    await first.outbox.close();
    receiver.answer = (response) => void response.writeHead(204).end();
    aheadMs += 60_000;
    const { waiting } = open(database);
    await eventually(async () => expect(await waiting()).toHaveLength(1));
    expect(receiver.taken.at(-1)?.body).toMatchObject({ text: 'Call me back.' });
    expect(await waiting()).toMatchObject([{ target: null }]);
  });

  run('are sent of messages that a flow wants told, and of no others', async () => {
    const { tell, waiting } = open(await databases.open());
    await tell(started('CA1'), MESSAGE);
    expect(await waiting()).toEqual([]);
  });

  run('do not go to a private network unless they may', async () => {
    const { leave, waiting, outbox } = open(await databases.open(), { OUTBOUND_ALLOW: [] });
    await leave();
    aheadMs += SETTLED_MS;
    outbox.wake();
    await eventually(async () => expect(await waiting()).toMatchObject([{ attempts: 1 }]));
    expect(receiver.requests).toBe(0);
  });
});
