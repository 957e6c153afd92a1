/** What agents see of stored calls, and of numbers that carriers tell as names. */
import { afterAll, afterEach, beforeEach, expect, it } from 'vitest';
import type { FeedEvent } from '../../../src/calls/feed/events.ts';
import type { RecordsDatabase } from '../../../src/records/records-database.ts';
import { addCall } from '../../helpers/record-rows.ts';
import { DATABASES } from '../../records/databases.ts';
import { said, started } from '../../records/told-calls.ts';
import { listen, liveCall, startServer, type TestServer } from '../test-server.ts';
import { team } from './team.ts';

const NUMBER = '+14155550100';

const databases = DATABASES[0].start();
afterAll(() => databases.end());

let server: TestServer;
let database: RecordsDatabase;
let bob: { cookie: string };
beforeEach(async () => {
  database = await databases.open();
  server = await startServer({}, undefined, team(), null, database);
  const payload = { name: 'bob', password: 'bobs-password' };
  const answer = await server.app.inject({ method: 'POST', url: '/v1/session', payload });
  bob = { cookie: String(answer.headers['set-cookie']).split(';')[0] ?? '' };
});
afterEach(() => server.app.close());

const get = (url: string) => server.app.inject({ url, headers: bob });

/** Stores events of an earlier server, after this one has looked who has which call. */
async function store(...events: readonly (readonly [seq: number, event: FeedEvent])[]): Promise<void> {
  const rows = events.map(([call_seq, event], index) => ({
    epoch: 'old',
    number: index + 1,
    call_seq,
    type: event.type,
    at_ms: index,
    content: JSON.stringify(event),
  }));
  await database.db.insertInto('events').values(rows).execute();
}

it('an agent who goes on with the feed in the middle of old calls gets their own, and no others', async () => {
  await addCall(database.db, 1, [], { agent: 'bob' });
  await addCall(database.db, 2, [], { agent: 'eve' });
  await store([1, said('CA1', 1, 'before')], [2, said('CA2', 1, 'foreign')], [1, said('CA1', 2, 'behind')]);
  const url = await listen(server.app);
  const response = await fetch(`${url}/v1/captions?after=old-1`, { headers: bob });
  const reader = response.body?.getReader();
  let text = '';
  while (!text.includes('behind')) text += new TextDecoder().decode((await reader?.read())?.value);
  await reader?.cancel();
  expect(text).not.toMatch(/foreign|before/);
});

it('a number that a carrier tells as a name is masked for agents, in lists, transcripts and events', async () => {
  const view = { ...liveCall('L1'), agent: 'bob', names: { inbound: NUMBER, outbound: 'Ada' } };
  server.calls.views.push(view);
  const item = { kind: 'caption', track: 'inbound', utterance: 1, text: 'Hello.', startMs: 0, endMs: 1 } as const;
  server.calls.captions.set('L1', [item]);
  await addCall(database.db, 1, [], { agent: 'bob', inbound_name: NUMBER });
  await store([1, started('CA1', { from: NUMBER, agent: 'bob', names: { inbound: NUMBER, outbound: null } })]);
  const paths = ['/v1/calls', '/v1/calls/L1', '/v1/calls/L1/transcript', '/v1/calls/L1/transcript?format=text'];
  for (const path of [...paths, '/v1/calls/CA1', '/v1/calls/CA1/events']) {
    const { statusCode, body } = await get(path);
    expect([path, statusCode, body.includes('555')]).toEqual([path, 200, false]);
    expect(body).toContain('•100');
  }
});

it('an agent cannot find a number out by asking for parts of a name', async () => {
  expect((await get('/v1/calls?name=1415')).statusCode).toBe(400);
  expect((await get('/v1/calls?name=ada')).statusCode).toBe(200);
});

it('an agent sees a call from when it is theirs until it is given on', async () => {
  await addCall(database.db, 1, [], { agent: 'bob' });
  await store(
    [1, started('CA1', { agent: null })],
    [1, said('CA1', 1, 'before')],
    [1, assigned('CA1', 'bob')],
    [1, said('CA1', 2, 'mine')],
    [1, assigned('CA1', 'eve')],
    [1, said('CA1', 3, 'theirs')],
    [1, assigned('CA1', 'bob')],
    [1, said('CA1', 4, 'again')],
  );
  const url = await listen(server.app);
  const response = await fetch(`${url}/v1/captions?after=old-1`, { headers: bob });
  const reader = response.body?.getReader();
  let text = '';
  while (!text.includes('again')) text += new TextDecoder().decode((await reader?.read())?.value);
  await reader?.cancel();
  expect(text).toContain('mine');
  expect(text).toContain('"outbound":"••••••••234"');
  expect(text).not.toContain('theirs');
});

function assigned(callId: string, agent: string): FeedEvent {
  return {
    type: 'call.assigned',
    callId,
    agent,
    queue: null,
    names: { inbound: null, outbound: '01234561234' },
    atMs: 1,
  };
}
