import { once } from 'node:events';
import { afterEach, describe, expect, it } from 'vitest';
import { ANSWER_MAX_CHARS } from '../../../src/calls/app/answer-length.ts';
import { concat, silence, spoken } from '../../fakes/engine.ts';
import { startApp, type TestApp } from '../../helpers/app.ts';
import { eventually } from '../../helpers/eventually.ts';
import { listen, startServer, type TestServer } from '../../http/test-server.ts';
import { RealtimeClient } from './realtime-client.ts';

let server: TestServer;
let client: RealtimeClient;
let app: TestApp;

afterEach(async () => {
  client.socket.terminate();
  await server.app.close();
  await app.close();
});

async function openApp(session: object = {}, environment: Readonly<Record<string, string>> = {}): Promise<TestApp> {
  app = await startApp();
  server = await startServer({ REALTIME_APP_URL: app.url, ...environment });
  client = new RealtimeClient(`${await listen(server.app)}/v1/realtime?model=any`);
  await once(client.socket, 'open');
  client.update({}, { type: 'realtime', ...session });
  return app;
}

function say(...words: number[]): void {
  client.speak(concat(spoken(words), silence(900)));
}

describe('a Realtime session that an app answers', () => {
  it('is a call to it: prompts, and text that is spoken', async () => {
    const brain = await openApp({ instructions: 'Be brief.', audio: { output: { voice: 'slt' } } });
    await brain.until(({ frames }) => frames.length > 0);
    expect(brain.frames[0]).toMatchObject({
      type: 'setup',
      callType: 'CLIENT',
      customParameters: { model: 'any', voice: 'slt', instructions: 'Be brief.' },
    });
    brain.say({ type: 'text', token: 'Hello there.', last: true });
    await eventually(() => expect(client.statuses).toEqual(['completed']));
    client.update({}, { type: 'realtime' });
    say(1, 2);
    await brain.until((each) => each.of('prompt').length > 0);
    expect(brain.of('prompt')).toMatchObject([{ voicePrompt: 'W1 w2.', last: true }]);
    brain.say({ type: 'text', token: 'Good ' }, { type: 'text', token: 'day.', last: true });
    await eventually(() => expect(client.statuses).toEqual(['completed', 'completed']));
    expect(client.of('response.output_audio_transcript.done').map(({ transcript }) => transcript)).toEqual([
      'Hello there.',
      'Good day.',
    ]);
  });

  it('sends a long sentence no faster than its client reads', async () => {
    const brain = await openApp();
    await brain.until(({ frames }) => frames.length > 0);
    // From the cache two minutes come at once: 7.7 MB of events, more than the system and SEND_BUFFER_MAX_BYTES take.
    server.engine.utter = () => new Int16Array(120 * 16_000);
    for (let n = 1; n <= 2; n++) {
      brain.say({ type: 'text', token: 'It is long.', last: true });
      await eventually(() => expect(client.statuses).toHaveLength(n));
    }
    expect([client.statuses, server.engine.spoken.length]).toEqual([['completed', 'completed'], 1]);
    const sound = client.of('response.output_audio.delta').map(({ delta }) => Buffer.from(String(delta), 'base64'));
    expect(Buffer.concat(sound).length).toBeGreaterThanOrEqual(2 * 120 * 48_000);
  });

  it('takes what it says while an answer is still spoken into that answer', async () => {
    const brain = await openApp();
    await brain.until(({ frames }) => frames.length > 0);
    server.engine.speakMs = 1000;
    brain.say({ type: 'text', token: 'One moment.', last: true });
    await eventually(() => expect(server.engine.spoken).toHaveLength(1));
    brain.say({ type: 'text', token: 'Here ' }, { type: 'text', token: 'it is.', last: true });
    await brain.exchanged();
    await eventually(() => {
      server.clock.advance(1000);
      expect(client.statuses).toEqual(['completed']);
    });
    expect(server.engine.spoken.map(({ text }) => text)).toEqual(['One moment.', 'Here it is.']);
    expect(client.of('response.output_audio_transcript.done')).toMatchObject([
      { transcript: 'One moment. Here it is.' },
    ]);
    expect(client.types.at(-1)).toBe('response.done');
  });

  it('tells it what was heard before it was interrupted', async () => {
    const brain = await openApp();
    await brain.until(({ frames }) => frames.length > 0);
    brain.say({ type: 'text', token: 'One two three. ' }, { type: 'text', token: 'And more' });
    await eventually(() => expect(client.types).toContain('response.output_audio.delta'));
    client.send({ type: 'response.cancel' });
    const itemId = client.of('response.content_part.added')[0]?.['item_id'];
    client.send({ type: 'conversation.item.truncate', item_id: itemId, content_index: 0, audio_end_ms: 200 });
    await brain.until((each) => each.of('interrupt').length > 0);
    expect(brain.of('interrupt')).toMatchObject([
      { utteranceUntilInterrupt: 'One two', durationUntilInterruptMs: 200 },
    ]);
    brain.say({ type: 'text', token: ' that is late.', last: true });
    say(1);
    await brain.until((each) => each.of('prompt').length > 0);
    brain.say({ type: 'text', token: 'Yes.', last: true });
    await eventually(() => expect(client.statuses).toEqual(['cancelled', 'completed']));
    expect(client.of('response.output_audio_transcript.done').at(-1)).toMatchObject({ transcript: 'Yes.' });
  });

  it('does not speak what the client stopped before its first word, and answers again', async () => {
    const brain = await openApp();
    say(1);
    await brain.until((each) => each.of('prompt').length > 0);
    client.send({ type: 'response.cancel' });
    await brain.until((each) => each.of('interrupt').length > 0);
    expect(brain.of('interrupt')).toMatchObject([{ utteranceUntilInterrupt: '', durationUntilInterruptMs: 0 }]);
    brain.say({ type: 'text', token: 'Too late. ' }, { type: 'text', token: 'And more.' });
    await brain.exchanged();
    say(2);
    await brain.until((each) => each.of('prompt').length > 1);
    brain.say({ type: 'text', token: 'Yes.', last: true });
    await eventually(() => expect(client.statuses).toEqual(['cancelled', 'completed']));
    expect(client.of('response.output_audio_transcript.done')).toMatchObject([{ transcript: 'Yes.' }]);
    expect(client.of('response.done')[0]).toMatchObject({
      response: { status_details: { reason: 'client_cancelled' }, output: [] },
    });
  });

  it('is told in order of what was asked and stopped before it was there', async () => {
    const brain = await openApp({ output_modalities: ['text'] });
    for (const text of ['One?', 'Two?']) {
      const content = [{ type: 'input_text', text }];
      client.send({ type: 'conversation.item.create', item: { type: 'message', role: 'user', content } });
      client.send({ type: 'response.create' });
      if (text === 'One?') client.send({ type: 'response.cancel' });
    }
    await brain.until((each) => each.of('prompt').length > 1);
    expect(brain.frames.map(({ type }) => type)).toEqual(['setup', 'prompt', 'interrupt', 'prompt']);
    await brain.exchanged();
    brain.say({ type: 'text', token: 'To two.', last: true });
    await eventually(() => expect(client.statuses).toEqual(['cancelled', 'completed']));
    expect(client.of('response.output_text.done')).toMatchObject([{ text: 'To two.' }]);
  });

  it('fails an answer whose question was lost with the connection, and goes on with the next one', async () => {
    const brain = await openApp({ output_modalities: ['text'] });
    say(1);
    await brain.until((each) => each.of('prompt').length > 0);
    brain.socket.terminate();
    await eventually(() => expect(client.statuses).toEqual(['failed']));
    server.clock.advance(1000);
    await brain.until((each) => each.of('setup').length > 1);
    say(2);
    await brain.until((each) => each.of('prompt').length > 1);
    brain.say({ type: 'text', token: 'Yes.', last: true });
    await eventually(() => expect(client.statuses).toEqual(['failed', 'completed']));
  });

  it('fails answers of an app that cannot be reached, and the log alone says why', async () => {
    const brain = await openApp({ output_modalities: ['text'] }, { APP_RECONNECT_MS: '1000' });
    await brain.until(({ frames }) => frames.length > 0);
    await brain.close();
    say(1);
    await eventually(() => {
      server.clock.advance(300);
      expect(client.statuses).toContain('failed');
      expect(server.logLines.join('')).toContain('ECONNREFUSED');
    });
    expect(JSON.stringify(client.of('response.done'))).toContain('the app cannot be reached');
    expect(JSON.stringify(client.events)).not.toContain('ECONNREFUSED');
  });

  it('leaves out what its answer has too much, tells it, and goes on', async () => {
    // The whole text is told several times at the end.
    const brain = await openApp({ output_modalities: ['text'] }, { SEND_BUFFER_MAX_BYTES: '16777216' });
    await brain.until(({ frames }) => frames.length > 0);
    const part = 'x'.repeat(ANSWER_MAX_CHARS / 8);
    for (let n = 0; n < 8; n++) brain.say({ type: 'text', token: part });
    brain.say({ type: 'text', token: 'y' }, { type: 'text', token: 'z', last: true });
    await brain.until((each) => each.of('error').length > 0);
    brain.say({ type: 'text', token: 'Yes.', last: true });
    await eventually(() => expect(client.statuses).toEqual(['completed', 'completed']));
    const texts = client.of('response.output_text.done').map(({ text }) => String(text));
    expect([texts[0]?.length, texts[1]]).toEqual([ANSWER_MAX_CHARS, 'Yes.']);
    expect(brain.of('error')).toEqual([{ type: 'error', description: expect.stringContaining('answer_too_long') }]);
  });

  it('ends with it', async () => {
    const brain = await openApp();
    await brain.until(({ frames }) => frames.length > 0);
    const closed = once(client.socket, 'close');
    brain.say({ type: 'end' });
    expect((await closed)[0]).toBe(1000);
  });

  it('ends with it when all that it said has been sent', async () => {
    const brain = await openApp();
    await brain.until(({ frames }) => frames.length > 0);
    server.engine.speakMs = 1000;
    const closed = once(client.socket, 'close');
    brain.say({ type: 'text', token: 'Good bye.' }, { type: 'end' }, { type: 'text', token: 'More.', last: true });
    await eventually(() => expect(server.engine.spoken).toHaveLength(1));
    server.clock.advance(1000);
    expect((await closed)[0]).toBe(1000);
    expect(client.statuses).toEqual(['completed']);
    expect(client.of('response.output_audio_transcript.done')).toMatchObject([{ transcript: 'Good bye.' }]);
    expect(client.types).toContain('response.output_audio.delta');
  });
});
