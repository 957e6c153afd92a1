import { once } from 'node:events';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import type { CaptionEvent } from '../../../src/calls/feed/events.ts';
import { FakePeople } from '../../fakes/people.ts';
import { eventually } from '../../helpers/eventually.ts';
import { listen, liveCall, startServer, type TestServer, upgradeStatus } from '../../http/test-server.ts';

interface Message {
  readonly type: string;
  readonly channel_index?: readonly number[];
  readonly is_final?: boolean;
  readonly from_finalize?: boolean;
  readonly channel?: unknown;
}

let testServer: TestServer;
let url: string;
let sockets: WebSocket[] = [];

beforeEach(async () => {
  const people = new FakePeople()
    .with('sue', 'supervisor', { kind: 'key' })
    .with('bob', 'agent', { kind: 'key', agent: 'bob' })
    .with('eve', 'agent', { kind: 'key', agent: 'eve' })
    .with('crm', 'app', { kind: 'key' });
  testServer = await startServer({}, undefined, people);
  url = await listen(testServer.app);
  testServer.calls.views.push({ ...liveCall('c1'), agent: 'bob', tracks: ['inbound', 'outbound'] });
});
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.terminate();
  await testServer.app.close();
});

async function follow(query: string, key = 'sues-key') {
  const headers = { authorization: `Token ${key}` };
  const socket = new WebSocket(`${url.replace(/^http/, 'ws')}/v1/listen?${query}`, { headers });
  sockets = [...sockets, socket];
  const messages: Message[] = [];
  const closed = once(socket, 'close');
  socket.on('message', (data: Buffer) => messages.push(JSON.parse(data.toString()) as Message));
  await once(socket, 'open');
  return { socket, messages, closed };
}

function caption(track: 'inbound' | 'outbound', text: string, final = true): CaptionEvent {
  const times = { startMs: 1000, endMs: 2000, lagMs: 10 };
  return { type: 'caption', callId: 'c1', track, utterance: 1, stable: text, tail: '', text, final, ...times };
}

describe('WS /v1/listen?call=', () => {
  it('shows the tracks of a live call as channels, and ends with it', async () => {
    const { messages, closed } = await follow('call=c1&interim_results=true&vad_events=true&punctuate=true');
    const { feed } = testServer;
    feed.publish({ type: 'speech.started', callId: 'c1', track: 'outbound', atMs: 1000 });
    feed.publish(caption('outbound', 'Hello', false));
    feed.publish({ type: 'speech.stopped', callId: 'c1', track: 'outbound', atMs: 2000 });
    feed.publish(caption('outbound', 'Hello.'));
    feed.publish({ ...caption('inbound', 'Of another call.'), callId: 'c2' });
    feed.publish(caption('inbound', 'Hi.'));
    feed.publish({ type: 'call.deleted', callId: 'c1' });
    expect((await closed)[0]).toBe(1000);
    const said = (transcript: string) => ({ alternatives: [{ transcript }] });
    expect(messages).toMatchObject([
      { type: 'SpeechStarted', channel: [1, 2], timestamp: 1 },
      { type: 'Results', channel_index: [1, 2], is_final: false, channel: said('Hello') },
      { type: 'Results', channel_index: [1, 2], is_final: true, speech_final: true, channel: said('Hello.') },
      { type: 'Results', channel_index: [0, 2], is_final: true, channel: said('Hi.') },
      { type: 'Metadata', channels: 2, created: expect.stringMatching(/^20\d\d-/) },
    ]);
  });

  it('waits a minute for a call that was lost with its gateway: it may go on', async () => {
    const { socket, messages, closed } = await follow('call=c1');
    const { feed, clock } = testServer;
    const lost = { type: 'call.ended', callId: 'c1', reason: 'server_lost', durationMs: 9, handoffData: null } as const;
    /** Beats come meanwhile, and are answered. */
    const wait = async (seconds: number): Promise<void> => {
      for (let second = 0; second < seconds; second++) {
        clock.advance(1000);
        for (let round = 0; second % 10 === 0 && round < 2; round++) {
          socket.ping();
          await once(socket, 'pong');
        }
      }
    };
    feed.publish(lost);
    await wait(59);
    feed.publish({ type: 'call.resumed', callId: 'c1', atMs: 60_000 });
    await wait(59);
    feed.publish(caption('inbound', 'Still here.'));
    await eventually(() => expect(messages).toHaveLength(1));
    expect(socket.readyState).toBe(WebSocket.OPEN);
    feed.publish(lost);
    await wait(59);
    clock.advance(1000);
    expect((await closed)[0]).toBe(1000);
  });

  it('answers Finalize for each channel, Configure with what it has not changed, and CloseStream with the end', async () => {
    const { socket, messages, closed } = await follow('call=c1');
    socket.send('{"type":"Finalize"}');
    socket.send('{"type":"Configure","keyterm":["Trunkline"]}');
    socket.send(Buffer.from('sound that nobody wants'));
    socket.send('{"type":"CloseStream"}');
    expect((await closed)[0]).toBe(1000);
    expect(messages).toMatchObject([
      { from_finalize: true },
      { from_finalize: true },
      { type: 'ConfigureFailure', description: expect.stringContaining('keyterm') },
      { type: 'Metadata' },
    ]);
  });

  it('tells UtteranceEnd by the clock, since no sound comes', async () => {
    const { messages } = await follow('call=c1&utterance_end_ms=1000');
    testServer.feed.publish({ type: 'speech.stopped', callId: 'c1', track: 'inbound', atMs: 2000 });
    testServer.feed.publish(caption('inbound', 'Hi.'));
    await eventually(() => expect(messages).toHaveLength(1));
    testServer.clock.advance(1500);
    await eventually(() => expect(messages.at(-1)).toMatchObject({ type: 'UtteranceEnd', last_word_end: 2 }));
  });

  it('counts as a reader of the feed, not as a listening session', async () => {
    const { socket, closed } = await follow('call=c1');
    const metric = (name: string) => testServer.metrics.registry.getSingleMetricAsString(name);
    expect(await metric('trunkline_feed_readers')).toContain('{kind="websocket"} 1');
    expect(await metric('trunkline_listeners')).toContain('{kind="deepgram"} 0');
    socket.close();
    await closed;
    await eventually(async () => expect(await metric('trunkline_feed_readers')).toContain('{kind="websocket"} 0'));
  });

  it.each([
    ['call=c1', 'bobs-key', 101],
    ['call=c1', 'eves-key', 404],
    ['encoding=mulaw', 'bobs-key', 400],
    ['call=nobody', 'sues-key', 404],
    ['call=c1', 'crms-key', 101],
  ])('is open to who may read the call: %s, %s → %i', async (query, key, status) => {
    expect(await upgradeStatus(`${url}/v1/listen?${query}`, { authorization: `Token ${key}` })).toBe(status);
  });

  it('closes when nobody can say whether the call still lasts', async () => {
    const { views } = testServer.calls;
    let asked = 0;
    testServer.calls.get = (id) => {
      asked++;
      if (asked > 1) throw new Error('the database is away');
      return views.find((view) => view.id === id);
    };
    expect((await (await follow('call=c1')).closed)[0]).toBe(1011);
  });

  it('has no calls that have ended', async () => {
    testServer.calls.views.push({ ...liveCall('c3'), state: 'ended' });
    const authorization = 'Token sues-key';
    expect(await upgradeStatus(`${url}/v1/listen?call=c3`, { authorization })).toBe(404);
  });
});
