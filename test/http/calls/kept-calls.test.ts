import { once } from 'node:events';
import type { Kysely } from 'kysely';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import type { FeedEvent } from '../../../src/calls/feed/events.ts';
import type { Tables } from '../../../src/records/tables.ts';
import { settle } from '../../fakes/clock.ts';
import { addCall, tagRow } from '../../helpers/record-rows.ts';
import { DATABASES } from '../../records/databases.ts';
import { said } from '../../records/told-calls.ts';
import { listen, liveCall, startServer, type TestServer } from '../test-server.ts';

const databases = DATABASES[0].start();
afterAll(() => databases.end());

let server: TestServer;
let db: Kysely<Tables>;
const published: FeedEvent[] = [];
beforeEach(async () => {
  const database = await databases.open();
  db = database.db;
  server = await startServer({}, undefined, undefined, null, database);
  published.length = 0;
  server.feed.subscribe({}, ({ event }) => published.push(event));
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

function inject(method: 'GET' | 'POST' | 'PATCH' | 'DELETE', url: string, payload?: object) {
  const request = { method, url, ...(payload !== undefined && { payload }) };
  return whileClockGoesOn(server.app.inject(request).then((answer) => answer));
}

const idsOf = (answer: { json(): { data: { id: string }[] } }) => answer.json().data.map(({ id }) => id);

describe('GET /v1/calls with records', () => {
  it('lists live calls first, then stored ones, page by page, each once', async () => {
    for (let seq = 1; seq <= 5; seq++) await addCall(db, seq, []);
    server.calls.views.push(liveCall('L1'), {
      ...liveCall('CA4'),
      state: 'ended',
      startedAt: '2026-01-01T00:04:00.000Z',
    });
    const pages: string[][] = [];
    let cursor = '';
    for (let turn = 0; turn < 4; turn++) {
      const answer = await inject('GET', `/v1/calls?limit=2&cursor=${cursor}`);
      pages.push(idsOf(answer));
      cursor = answer.json().next ?? '';
      if (cursor === '') break;
    }
    expect(pages).toEqual([
      ['L1', 'CA5'],
      ['CA4', 'CA3'],
      ['CA2', 'CA1'],
    ]);
  });

  it.each([
    ['party=%2B1555*', ['CA2']],
    ['party=*0002', ['CA2']],
    ['tag=vip', ['CA2']],
    ['hasGap=true', ['CA2']],
    ['hasGap=false', ['L1', 'CA3', 'CA1']],
    ['state=live', ['L1']],
    ['since=2026-01-01T00:02:00Z&until=2026-01-01T00:03:00Z', ['CA2']],
    ['outcome=solved&name=MAR', ['CA2']],
    ['agent=tom', ['L1']],
  ])('filters by %s', async (query, expected) => {
    await addCall(db, 1, []);
    await addCall(db, 2, [], { to_party: '+15550002', gaps: 1, outcome: 'solved', outbound_name: 'Maria' });
    await addCall(db, 3, []);
    await db.insertInto('call_tags').values(tagRow(2, 'vip')).execute();
    server.calls.views.push({ ...liveCall('L1'), agent: 'tom' });
    expect(idsOf(await inject('GET', `/v1/calls?${query}`))).toEqual(expected);
  });

  it('finds what was said, with marks, page by page', async () => {
    for (let seq = 1; seq <= 3; seq++) await addCall(db, seq, ['hello', `I want to CANCEL number ${seq}`]);
    const first = await inject('GET', '/v1/calls?q=cancel&limit=2');
    expect(idsOf(first)).toEqual(['CA3', 'CA2']);
    expect(first.json().data[0].found).toEqual([
      {
        track: 'inbound',
        startMs: 2000,
        parts: [
          { text: 'I want to ', marked: false },
          { text: 'CANCEL', marked: true },
          { text: ' number 3', marked: false },
        ],
      },
    ]);
    const second = await inject('GET', `/v1/calls?q=cancel&limit=2&cursor=${first.json().next}`);
    expect([idsOf(second), second.json().next]).toEqual([['CA1'], null]);
    expect((await inject('GET', '/v1/calls?q=in*')).json().error.param).toBe('q');
  });
});

describe('one stored call', () => {
  beforeEach(() => addCall(db, 1, ['Good morning.']));

  it('is answered as a live one is, and its events too', async () => {
    expect((await inject('GET', '/v1/calls/CA1')).json()).toMatchObject({ id: 'CA1', state: 'ended' });
    server.feed.publish(said('CA1', 2, 'Late words.'));
    const { data, next } = (await inject('GET', '/v1/calls/CA1/events')).json();
    expect([data.length, data[0].event.text, next]).toEqual([1, 'Late words.', null]);
    expect((await inject('GET', '/v1/calls/CA9')).statusCode).toBe(404);
  });

  it('gets notes, marks, an outcome and tags, which are events and are stored', async () => {
    expect((await inject('POST', '/v1/calls/CA1/notes', { text: ' Wants a refund. ' })).statusCode).toBe(201);
    expect((await inject('POST', '/v1/calls/CA1/marks', { label: 'here' })).json()).toEqual({ atMs: 60_000 });
    const changed = await inject('PATCH', '/v1/calls/CA1', { outcome: 'solved', tags: ['vip', 'vip'], retainDays: 3 });
    expect(changed.json()).toMatchObject({ outcome: 'solved', tags: ['vip'] });
    expect(published.map(({ type }) => type)).toEqual(['note', 'mark', 'call.updated']);
    expect(published[0]).toMatchObject({ author: expect.any(String), text: 'Wants a refund.' });
    await inject('PATCH', '/v1/calls/CA1', { outcome: null });
    expect((await inject('GET', '/v1/calls/CA1')).json()).toMatchObject({ outcome: null, tags: ['vip'] });
    expect(await db.selectFrom('calls').select('keep_until_ms').executeTakeFirst()).toEqual({
      keep_until_ms: expect.any(Number),
    });
  });

  it.each([
    ['POST', 'notes', { text: ' ' }],
    ['POST', 'notes', { text: 'x'.repeat(4001) }],
    ['POST', 'marks', { label: 'x', atMs: -1 }],
    ['PATCH', '', { tags: Array.from({ length: 21 }, (_, n) => `t${n}`) }],
    ['PATCH', '', { tags: ['<b>'] }],
    ['PATCH', '', { retainDays: 36_501 }],
    ['PATCH', '', { other: 1 }],
  ] as const)('refuses %s %s %j', async (method, path, body) => {
    expect((await inject(method, `/v1/calls/CA1${path === '' ? '' : `/${path}`}`, body)).statusCode).toBe(400);
  });

  it('takes 500 notes and marks, and no more', async () => {
    const notes = Array.from({ length: 500 }, (_, number) => ({
      epoch: 'old',
      number: number + 1,
      call_seq: 1,
      type: 'mark',
      at_ms: 0,
      content: '{}',
    }));
    await db.insertInto('events').values(notes).execute();
    const answer = await inject('POST', '/v1/calls/CA1/notes', { text: 'one more' });
    expect([answer.statusCode, answer.json().error.code]).toEqual([409, 'too_many_notes']);
  });

  it('is deleted, and a live one is not', async () => {
    expect((await inject('DELETE', '/v1/calls/CA1')).statusCode).toBe(204);
    expect((await inject('GET', '/v1/calls/CA1')).statusCode).toBe(404);
    expect((await inject('GET', '/v1/calls?q=morning')).json().data).toEqual([]);
    expect(published).toContainEqual({ type: 'call.deleted', callId: 'CA1' });
    server.calls.views.push(liveCall('L1'));
    const refused = await inject('DELETE', '/v1/calls/L1');
    expect([refused.statusCode, refused.json().error.code]).toEqual([409, 'call_not_ended']);
  });
});

describe('GET /v1/calls/export', () => {
  beforeEach(async () => {
    for (let seq = 1; seq <= 120; seq++) await addCall(db, seq, [`word ${seq}`], { inbound_name: '=Eve' });
    const content = JSON.stringify({ ...said('CA120', 1, 'Hello, "you".'), startMs: 1000, endMs: 2000 });
    await db
      .insertInto('events')
      .values({ epoch: 'e', number: 1, call_seq: 120, type: 'caption', at_ms: 0, content })
      .execute();
  });

  it('streams all calls of a search as lines of JSON', async () => {
    const answer = await inject('GET', '/v1/calls/export?q=word');
    expect(answer.headers['content-type']).toBe('application/jsonl; charset=utf-8');
    const lines = answer.body
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines.map(({ id }) => id)).toEqual(Array.from({ length: 120 }, (_, n) => `CA${120 - n}`));
    expect(lines[0].transcript[0]).toMatchObject({ text: 'Hello, "you".', speaker: expect.any(String) });
  });

  it('streams them as CSV and as text', async () => {
    const csv = (await inject('GET', '/v1/calls/export?format=csv&since=2026-01-01T02:00:00Z')).body.split('\r\n');
    expect(csv[0]).toMatch(/^callId,carrier,from,to,startedAt,/);
    expect(csv[1]).toContain('"Hello, ""you"".",,');
    expect(csv).toHaveLength(3);
    const text = (await inject('GET', '/v1/calls/export?format=text&since=2026-01-01T02:00:00Z')).body;
    expect(text).toMatch(
      /^# 2026-01-01T02:00:00.000Z CA120: =Eve → \+14155550199, 60 s, hangup\n\[00:01\.000\] .*Hello/,
    );
  });
});

describe('the audit log', () => {
  it('has who read, searched, exported, noted and deleted, without what was said', async () => {
    await addCall(db, 1, ['secret words']);
    await inject('GET', '/v1/calls/CA1');
    await inject('GET', '/v1/calls/CA1');
    await inject('GET', '/v1/calls?q=secret&carrier=twilio');
    await inject('GET', '/v1/calls/export?q=secret');
    await inject('POST', '/v1/calls/CA1/notes', { text: 'secret note' });
    await inject('PATCH', '/v1/calls/CA1', { outcome: 'secret' });
    await inject('DELETE', '/v1/calls/CA1');
    const { data } = (await inject('GET', '/v1/audit')).json();
    expect(data.map(({ action }: { action: string }) => action)).toEqual([
      'call.deleted',
      'call.changed',
      'call.noted',
      'calls.exported',
      'calls.searched',
      'call.read',
    ]);
    expect(JSON.stringify(data)).not.toContain('secret');
    expect(data[4]).toMatchObject({ callId: null, detail: { filters: 'carrier', calls: 1 } });
    const page = (await inject('GET', '/v1/audit?limit=1&call=CA1')).json();
    expect([page.data.length, page.data[0].action]).toEqual([1, 'call.deleted']);
    const next = (await inject('GET', `/v1/audit?limit=1&call=CA1&cursor=${page.next}`)).json();
    expect(next.data[0].action).toBe('call.changed');
  });

  it('has no line for each live call that somebody reads who has the feed of all', async () => {
    server.calls.views.push(liveCall('L1'), liveCall('L2'));
    for (const id of ['L1', 'L2']) server.calls.captions.set(id, []);
    await addCall(db, 1, []);
    await inject('GET', '/v1/calls/L1/transcript');
    const url = await listen(server.app);
    await (await fetch(`${url}/v1/captions`)).body?.cancel();
    await inject('GET', '/v1/calls/L2/transcript');
    await inject('GET', '/v1/calls/CA1');
    const { data } = (await inject('GET', '/v1/audit')).json();
    const lines = data.map(({ action, callId }: Record<string, string>) => `${action} ${callId}`);
    expect(lines).toEqual(['call.read CA1', 'feed.read null', 'transcript.read L1']);
  });

  it('has who read the feed, of all calls or of one, once in ten minutes', async () => {
    const url = await listen(server.app);
    for (const query of ['', 'call=CA1&after=start', '', 'call=CA1&after=e-1']) {
      const answer = await fetch(`${url}/v1/captions?${query}`);
      await answer.body?.cancel();
    }
    const socket = new WebSocket(`${url.replace(/^http/, 'ws')}/v1/captions?call=CA2`);
    await once(socket, 'open');
    socket.terminate();
    const { data } = (await inject('GET', '/v1/audit?action=feed.read')).json();
    expect(data.map(({ callId }: { callId: string | null }) => callId)).toEqual(['CA2', 'CA1', null]);
  });
});

describe('without records', () => {
  it.each(['/v1/calls?q=word', '/v1/audit', '/v1/calls/L1/events'])('refuses %s', async (url) => {
    const bare = await startServer();
    bare.calls.views.push(liveCall('L1'));
    const answer = await bare.app.inject(url);
    expect([answer.statusCode, answer.json().error.code]).toEqual([501, 'records_off']);
    expect((await bare.app.inject('/v1/calls?state=live')).json().data).toHaveLength(1);
    await bare.app.close();
  });
});
