import { once } from 'node:events';
import { afterEach, describe, expect, it } from 'vitest';
import { concat, silence, spoken } from '../../fakes/engine.ts';
import { eventually } from '../../helpers/eventually.ts';
import { listen, startServer, type TestServer } from '../../http/test-server.ts';
import { ChatServer } from './chat-server.ts';
import { RealtimeClient } from './realtime-client.ts';

let server: TestServer;
let client: RealtimeClient;
let chat: ChatServer | null = null;

afterEach(async () => {
  client.socket.terminate();
  await server.app.close();
  chat?.close();
  chat = null;
});

async function open(environment: Readonly<Record<string, string>>, session: object = {}): Promise<RealtimeClient> {
  server = await startServer(environment);
  client = new RealtimeClient(`${await listen(server.app)}/v1/realtime?model=any`);
  await once(client.socket, 'open');
  client.update({}, { type: 'realtime', ...session });
  return client;
}

async function openChat(session: object = {}): Promise<ChatServer> {
  chat = await ChatServer.start();
  await open({ LLM_BASE_URL: chat.url, LLM_MODEL: 'small' }, session);
  return chat;
}

function say(...words: number[]): void {
  client.speak(concat(spoken(words), silence(900)));
}

/** What the recogniser hears no words in. */
const NOISE = 9;

function hearNoise(level: number): void {
  const { engine } = server;
  const { hear } = engine;
  engine.hear = (request) => {
    const heard = hear(request);
    return heard.text.toLowerCase().includes(`w${level}`) ? { text: '' } : heard;
  };
}

const PLACE = ['event_id', 'response_id', 'item_id', 'output_index', 'content_index'];
/** The fields without which an event of an answer has no effect in OpenAI's agents SDKs. */
const REQUIRED: Readonly<Record<string, readonly string[]>> = {
  'response.created': ['event_id', 'response'],
  'response.done': ['event_id', 'response'],
  'response.output_item.added': ['event_id', 'response_id', 'output_index', 'item'],
  'response.output_item.done': ['event_id', 'response_id', 'output_index', 'item'],
  'response.content_part.added': [...PLACE, 'part'],
  'response.content_part.done': [...PLACE, 'part'],
  'response.output_audio.delta': [...PLACE, 'delta'],
  'response.output_audio.done': PLACE,
  'response.output_audio_transcript.delta': [...PLACE, 'delta'],
  'response.output_audio_transcript.done': [...PLACE, 'transcript'],
};

const TOOLS = [{ type: 'function', name: 'weather', description: 'd', parameters: { type: 'object' } }];

describe('a Realtime session that a chat endpoint answers', () => {
  it('asks it when the user has spoken, and speaks what it writes', async () => {
    const endpoint = await openChat({ instructions: 'Be brief.' });
    endpoint.answers.push([{ role: 'assistant', content: 'Good ' }, { content: 'day. How are you?' }]);
    say(1, 2);
    await eventually(() => expect(client.statuses).toEqual(['completed']));
    expect(endpoint.asked).toMatchObject([
      {
        model: 'small',
        stream: true,
        messages: [
          { role: 'system', content: 'Be brief.' },
          { role: 'user', content: 'W1 w2.' },
        ],
      },
    ]);
    const types = client.types.slice(client.types.indexOf('response.created'));
    expect(types.filter((type, at) => type !== types[at - 1])).toEqual([
      'response.created',
      'response.output_item.added',
      'conversation.item.added',
      'response.content_part.added',
      'response.output_audio_transcript.delta',
      'response.output_audio.delta',
      'response.output_audio.done',
      'response.output_audio_transcript.done',
      'response.content_part.done',
      'response.output_item.done',
      'conversation.item.done',
      'response.done',
    ]);
    const sound = client.of('response.output_audio.delta').map(({ delta }) => Buffer.from(String(delta), 'base64'));
    // The fake voice takes 20 ms for each character.
    expect(Buffer.concat(sound).length / 48).toBeGreaterThan(20 * 20);
    expect(client.of('response.done')[0]).toMatchObject({
      response: {
        object: 'realtime.response',
        output: [
          {
            type: 'message',
            role: 'assistant',
            status: 'completed',
            content: [{ type: 'output_audio', transcript: 'Good day. How are you?' }],
          },
        ],
      },
    });
    expect(client.of('error')).toEqual([]);
  });

  it('sends every field that clients cannot do without', async () => {
    await openChat();
    say(1);
    await eventually(() => expect(client.statuses).toEqual(['completed']));
    expect(client.types).toEqual(expect.arrayContaining(Object.keys(REQUIRED)));
    const missing = client.events.flatMap((event) =>
      (REQUIRED[event.type] ?? [])
        .filter((field) => (event[field] ?? null) === null)
        .map((field) => [event.type, field]),
    );
    expect(missing).toEqual([]);
  });

  it('passes the client’s tools through, and what they answered back', async () => {
    const endpoint = await openChat({ tools: TOOLS, output_modalities: ['text'] });
    endpoint.answers.push(
      [
        { tool_calls: [{ index: 0, id: 'call_a', function: { name: 'weather', arguments: '{"in":' } }] },
        { tool_calls: [{ index: 0, function: { arguments: '"Bern"}' } }] },
      ],
      [{ content: 'It rains.' }],
    );
    client.send({
      type: 'conversation.item.create',
      item: { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Weather?' }] },
    });
    client.send({ type: 'response.create' });
    await eventually(() => expect(client.statuses).toEqual(['completed']));
    expect(client.of('response.function_call_arguments.done')).toMatchObject([
      { call_id: 'call_a', name: 'weather', arguments: '{"in":"Bern"}' },
    ]);
    expect(client.of('response.output_item.done')).toMatchObject([
      { item: { type: 'function_call', name: 'weather', call_id: 'call_a', arguments: '{"in":"Bern"}' } },
    ]);
    client.send({
      type: 'conversation.item.create',
      item: { type: 'function_call_output', call_id: 'call_a', output: 'rain' },
    });
    client.send({ type: 'response.create' });
    await eventually(() => expect(client.statuses).toEqual(['completed', 'completed']));
    expect(endpoint.asked[1]?.messages).toEqual([
      { role: 'user', content: 'Weather?' },
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'call_a', type: 'function', function: { name: 'weather', arguments: '{"in":"Bern"}' } }],
      },
      { role: 'tool', tool_call_id: 'call_a', content: 'rain' },
    ]);
    expect(client.of('response.output_text.done')).toMatchObject([{ text: 'It rains.' }]);
    expect(client.of('response.output_audio.delta')).toEqual([]);
  });

  it('stops where the user speaks into the answer, and asks with what was heard of it', async () => {
    const endpoint = await openChat();
    endpoint.answers.push(null, [{ content: 'Yes.' }]);
    say(1);
    await eventually(() => expect(client.types).toContain('response.output_audio.delta'));
    say(2);
    await eventually(() => expect(client.statuses).toEqual(['cancelled', 'completed']));
    expect(client.of('response.done')[0]).toMatchObject({
      response: { status_details: { type: 'cancelled', reason: 'turn_detected' } },
    });
  });

  it('asks again where a noise stopped the answer before its first word', async () => {
    const endpoint = await openChat();
    hearNoise(NOISE);
    endpoint.answers.push('nothing', [{ content: 'Yes.' }]);
    say(1);
    await eventually(() => expect(endpoint.asked).toHaveLength(1));
    say(NOISE);
    await eventually(() => expect(client.statuses).toEqual(['cancelled', 'completed']));
    expect(endpoint.asked[1]?.messages).toEqual(endpoint.asked[0]?.messages);
    expect(client.transcripts).toEqual(['W1.', '']);
  });

  it('asks nothing again after a noise where words were answered, or the client stopped the answer', async () => {
    const endpoint = await openChat();
    hearNoise(NOISE);
    endpoint.answers.push(null, 'nothing');
    say(1);
    await eventually(() => expect(client.types).toContain('response.output_audio.delta'));
    say(NOISE);
    await eventually(() => expect(client.transcripts).toEqual(['W1.', '']));
    say(2);
    await eventually(() => expect(endpoint.asked).toHaveLength(2));
    client.send({ type: 'response.cancel' });
    await eventually(() => expect(client.statuses).toEqual(['cancelled', 'cancelled']));
    say(NOISE);
    await eventually(() => expect(client.transcripts).toEqual(['W1.', '', 'W2.', '']));
    expect(endpoint.asked).toHaveLength(2);
  });

  it('stops when the client says so, and forgets what was not heard', async () => {
    const endpoint = await openChat();
    endpoint.answers.push(null, [{ content: 'Yes.' }]);
    say(1);
    await eventually(() => expect(client.types).toContain('response.output_audio.delta'));
    client.send({ type: 'response.cancel' });
    await eventually(() => expect(client.statuses).toEqual(['cancelled']));
    const itemId = client.of('response.content_part.added')[0]?.['item_id'];
    client.send({ type: 'conversation.item.truncate', item_id: itemId, content_index: 0, audio_end_ms: 100 });
    client.send({ type: 'conversation.item.retrieve', item_id: itemId });
    await eventually(() => expect(client.types).toContain('conversation.item.retrieved'));
    expect(client.of('conversation.item.retrieved')[0]).toMatchObject({
      item: { content: [{ type: 'output_audio', transcript: 'One' }] },
    });
    client.send({ type: 'response.cancel' });
    client.send({ type: 'response.create' });
    await eventually(() => expect(client.statuses).toEqual(['cancelled', 'completed']));
    expect(endpoint.asked[1]?.messages).toMatchObject([{ role: 'user' }, { role: 'assistant', content: 'One' }]);
    expect(client.of('error')).toEqual([]);
  });

  it('tells of an endpoint that fails, and goes on', async () => {
    const endpoint = await openChat();
    endpoint.status = 500;
    say(1);
    await eventually(() => expect(client.statuses).toEqual(['failed']));
    endpoint.status = 200;
    say(2);
    await eventually(() => expect(client.statuses).toEqual(['failed', 'completed']));
    endpoint.status = 500;
    say(3);
    await eventually(() => expect(client.statuses).toEqual(['failed', 'completed', 'failed']));
    expect(server.logLines.filter((line) => line.includes('the endpoint answered 500'))).toHaveLength(1);
    expect(server.logLines.join('')).not.toContain('W1');
  });

  it('needs no voice for an answer that says nothing', async () => {
    const endpoint = await openChat({ tools: TOOLS });
    // Where nobody waits for the voice, its refusal would end the process.
    server.engine.voices = [];
    server.engine.failure = 'unavailable';
    endpoint.answers.push([{ tool_calls: [{ index: 0, id: 'call_a', function: { name: 'weather' } }] }]);
    client.send({ type: 'response.create' });
    await eventually(() => expect(client.statuses).toEqual(['completed']));
    client.send({ type: 'response.create' });
    await eventually(() => expect(client.statuses).toEqual(['completed', 'failed']));
  });

  it('takes no more calls of functions in one answer than there may be functions', async () => {
    const endpoint = await openChat();
    endpoint.answers.push(Array.from({ length: 1000 }, (_, index) => ({ tool_calls: [{ index, id: `c${index}` }] })));
    say(1);
    await eventually(() => expect(client.statuses).toEqual(['failed']));
    expect(client.of('response.function_call_arguments.done').length).toBeLessThan(200);
  });

  it('answers nothing by itself where the client says so', async () => {
    const endpoint = await openChat();
    client.update({ turn_detection: { type: 'server_vad', create_response: false } }, { type: 'realtime' });
    say(1);
    await eventually(() => expect(client.transcripts).toEqual(['W1.']));
    expect(endpoint.asked).toEqual([]);
    client.send({ type: 'response.create' });
    await eventually(() => expect(client.statuses).toEqual(['completed']));
  });
});

describe('a Realtime session that nobody answers', () => {
  it('says so when an answer is asked for, and transcribes', async () => {
    await open({});
    client.send({ type: 'response.create' });
    say(1);
    await eventually(() => expect(client.transcripts).toEqual(['W1.']));
    expect(client.of('error')).toMatchObject([{ error: { code: 'no_app', type: 'invalid_request_error' } }]);
    expect(client.types).not.toContain('response.created');
  });
});
