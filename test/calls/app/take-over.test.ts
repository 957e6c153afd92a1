/** A person takes a call over from its app, and gives it back. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { settle } from '../../fakes/clock.ts';
import { startApp, type TestApp } from '../../helpers/app.ts';
import { startWebhook } from '../../helpers/webhook.ts';
import { type Gateway, startCalls } from '../harness.ts';
import { Conversation, interrupt, prompt } from './conversation.ts';
import { passUntil } from './twiml/passing.ts';

describe('an app that is muted', () => {
  it('is cut off and told how far it came, and what it says is passed over', () => {
    const conversation = new Conversation().tokens('One. ', 'Two. ');
    conversation.voice.begin();
    conversation.session.mute(true);
    expect(conversation.told).toEqual([interrupt('')]);
    conversation.tokens('Three. ').last('Four.').last('A new answer.').app({ type: 'sendDigits', digits: '1' });
    expect(conversation.voice.texts).toEqual(['One. Two. ']);
    expect(conversation.voice.digits).toEqual([]);
  });

  it('hears nothing of the caller, not even later', () => {
    const conversation = new Conversation({ partialPrompts: 'true' }).utterance(1, 'before', true);
    conversation.told.length = 0;
    conversation.session.mute(true);
    expect(conversation.session.listens).toBe(false);
    conversation.utterance(2, 'for the person').turnEnded(2);
    conversation.session.onDtmf('1');
    conversation.session.mute(false);
    expect(conversation.told).toEqual([]);
    conversation.utterance(3, 'for the app').turnEnded(3);
    expect(conversation.told).toEqual([prompt('for the app')]);
  });

  it('goes on with the next answer when it is given the call back, not with the rest of one', () => {
    const conversation = new Conversation();
    conversation.session.mute(true);
    conversation.tokens('The first half ');
    conversation.session.mute(false);
    conversation.last('and the second.').last('I am back.');
    expect(conversation.voice.texts).toEqual(['I am back.']);
  });

  it('ends the call only when it is given back', async () => {
    const conversation = new Conversation();
    conversation.session.mute(true);
    conversation.app({ type: 'end', handoffData: 'x' });
    await settle();
    expect(conversation.ends).toEqual([]);
    conversation.session.mute(false);
    await settle();
    expect(conversation.ends).toEqual(['x']);
  });

  it('does not end the call with what it was saying', async () => {
    const conversation = new Conversation().last('Goodbye.').app({ type: 'end' });
    conversation.session.mute(true);
    await settle();
    expect(conversation.ends).toEqual([]);
    conversation.session.mute(false);
    await settle();
    expect(conversation.ends).toEqual([null]);
  });

  it('is told of it if it asked for such news', () => {
    const conversation = new Conversation({ events: 'speaker-events' });
    for (const isMuted of [true, true, false]) conversation.session.mute(isMuted);
    expect(conversation.told.map((frame) => (frame.type === 'info' ? frame.value : frame.type))).toEqual(['on', 'off']);
  });
});

describe('taking a call over', () => {
  let app: TestApp;
  let gateway: Gateway;
  beforeEach(async () => {
    app = await startApp();
  });
  afterEach(async () => {
    const drained = gateway.registry.drain(0);
    await gateway.clock.run(100);
    await drained;
    await app.close();
  });

  const ofApp = () => gateway.events.filter(({ type }) => type.startsWith('app.'));
  const ended = () => gateway.events.filter(({ type }) => type === 'call.ended');
  const arrive = async (holds: () => boolean): Promise<void> => {
    for (let turns = 0; !holds(); turns++) {
      if (turns > 20_000) throw new Error('it did not come');
      await new Promise(setImmediate);
    }
  };

  it('is told once with who did it, and shown in the call', async () => {
    gateway = startCalls({ APP_URL: app.url });
    gateway.dial().start();
    await arrive(() => app.frames.length > 0);
    for (const isMuted of [true, true]) expect(gateway.registry.muteApp('CA1', isMuted, 'anna')).toBe(true);
    expect(gateway.registry.get('CA1')?.appMuted).toBe(true);
    gateway.registry.muteApp('CA1', false, 'tom');
    expect(gateway.registry.get('CA1')?.appMuted).toBe(false);
    expect(ofApp()).toEqual([
      { type: 'app.muted', callId: 'CA1', by: 'anna', atMs: 0 },
      { type: 'app.unmuted', callId: 'CA1', by: 'tom', atMs: 0 },
    ]);
    expect(gateway.registry.muteApp('CA2', true, 'anna')).toBe(false);
  });

  it('needs an app', () => {
    gateway = startCalls();
    gateway.dial().start();
    expect(() => gateway.registry.muteApp('CA1', true, 'anna')).toThrow(
      expect.objectContaining({ code: 'invalid_request' }),
    );
  });

  it('outlasts an app that goes, which ends the call when it is given back', async () => {
    gateway = startCalls({ APP_URL: app.url, APP_GONE_TEXT: 'Sorry.', APP_RECONNECT_MS: '0' });
    gateway.dial().start();
    await arrive(() => app.frames.length > 0);
    gateway.registry.muteApp('CA1', true, 'anna');
    await app.close();
    await arrive(() => ofApp().length === 2);
    await gateway.clock.run(10_000);
    expect(ended()).toEqual([]);
    expect(ofApp().map(({ type }) => type)).toEqual(['app.muted', 'app.lost']);
    gateway.registry.muteApp('CA1', false, 'anna');
    await gateway.clock.run(5000);
    expect(ended()).toMatchObject([{ reason: 'app' }]);
  });

  it('tells when the connection to the app breaks and is back', async () => {
    gateway = startCalls({ APP_URL: app.url });
    gateway.dial().start();
    await arrive(() => app.frames.length > 0);
    app.socket.terminate();
    await arrive(() => ofApp().length > 0);
    expect(gateway.registry.get('CA1')?.appLost).toBe(true);
    await gateway.clock.run(1000);
    await arrive(() => ofApp().length > 1);
    expect(gateway.registry.get('CA1')?.appLost).toBe(false);
    expect(ofApp().map(({ type }) => type)).toEqual(['app.lost', 'app.back']);
  });

  it('stops the verbs of TwiML, which go on when it is given back', async () => {
    const webhook = await startWebhook();
    webhook.answers['/voice'] = '<Say loop="3">A long sentence.</Say><Say>Second.</Say>';
    gateway = startCalls({ APP_TWIML_URL: `${webhook.origin}/voice`, OUTBOUND_ALLOW: 'apps=127.0.0.0/8' });
    const caller = gateway.dial().start();
    const spoken = () => gateway.events.flatMap((event) => (event.type === 'spoken' ? [event] : []));
    await passUntil(gateway, caller, () => gateway.registry.voice('CA1')?.speaking === true);
    gateway.registry.muteApp('CA1', true, 'anna');
    await gateway.clock.run(5000);
    expect(spoken()).toMatchObject([{ text: 'A long sentence.', interrupted: true }]);
    expect(ended()).toEqual([]);
    gateway.registry.muteApp('CA1', false, 'anna');
    await passUntil(gateway, caller, () => ended().length > 0);
    expect(spoken().map(({ text }) => text)).toEqual(['A long sentence.', 'Second.']);
    await webhook.close();
  });
});
