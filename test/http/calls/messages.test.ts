/** The messages that callers left. */
import { afterAll, afterEach, beforeEach, expect, it } from 'vitest';
import type { TranscriptItem } from '../../../src/calls/feed/transcript.ts';
import { settle } from '../../fakes/clock.ts';
import { DATABASES } from '../../records/databases.ts';
import { started } from '../../records/told-calls.ts';
import { liveCall, startServer, type TestServer } from '../test-server.ts';

const databases = DATABASES[0].start();
afterAll(() => databases.end());

let server: TestServer;
beforeEach(async () => {
  const database = await databases.open();
  server = await startServer({}, undefined, undefined, null, database);
  const of = { callId: 'CA1', flow: 'shop', step: 'mail' };
  server.calls.views.push(liveCall('CA1'));
  for (const event of [
    started('CA1'),
    { type: 'flow.started', callId: 'CA1', flow: 'shop', version: '00000000', atMs: 0 } as const,
    { type: 'flow.message', ...of, message: 'message-1', startMs: 5000, endMs: 9000, atMs: 9000 } as const,
    { type: 'flow.message', ...of, message: 'message-2', startMs: 20_000, endMs: 24_000, atMs: 24_000 } as const,
  ])
    server.feed.publish(event);
});
afterEach(async () => {
  await server.app.close();
  if (server.kept !== null) await whileClockGoesOn(server.kept.records.close());
});

/** What is told is stored only when the test's clock goes on. */
async function whileClockGoesOn<T>(work: Promise<T>): Promise<T> {
  let isDone = false;
  void work.then(() => {
    isDone = true;
  });
  const look = async (): Promise<boolean> => {
    server.clock.advance(20);
    await settle();
    return isDone;
  };
  await expect.poll(look, { interval: 5 }).toBe(true);
  return work;
}

const get = (id: string) =>
  whileClockGoesOn(server.app.inject({ url: `/v1/calls/${id}/messages` }).then((answer) => answer));

const caption = (utterance: number, text: string, startMs: number): TranscriptItem => ({
  kind: 'caption',
  track: 'inbound',
  utterance,
  text,
  startMs,
  endMs: startMs + 900,
});

it('are told with the words of their stretches', async () => {
  server.calls.captions.set('CA1', [
    caption(1, 'Hello?', 1000),
    caption(2, 'Call me', 4900),
    caption(3, 'back.', 7000),
    { ...caption(1, 'We do.', 7500), track: 'outbound' } as TranscriptItem,
    caption(4, 'Thanks.', 21_000),
  ]);
  const answer = await get('CA1');
  expect(answer.statusCode).toBe(200);
  expect(answer.json()).toEqual({
    data: [
      { message: 'message-1', flow: 'shop', step: 'mail', startMs: 5000, endMs: 9000, text: 'Call me back.' },
      { message: 'message-2', flow: 'shop', step: 'mail', startMs: 20_000, endMs: 24_000, text: 'Thanks.' },
    ],
    next: null,
  });
});

it('are not told of a call that is not there', async () => {
  expect((await get('CA9')).statusCode).toBe(404);
});
