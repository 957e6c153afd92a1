import { describe, expect, it } from 'vitest';
import { settle } from '../../fakes/clock.ts';
import { Conversation, interrupt, prompt } from './conversation.ts';

const FLUSH_MS = 1000;

describe('an app that falls silent in the midst of an answer', () => {
  it('has said what there is after a second without text, and no sooner', () => {
    const conversation = new Conversation().tokens('How can', ' I help? ');
    conversation.clock.advance(FLUSH_MS - 1);
    conversation.tokens('Please ');
    conversation.clock.advance(FLUSH_MS - 1);
    expect(conversation.voice.asked).toMatchObject([{ text: 'How can I help? Please ', ended: false }]);
    conversation.clock.advance(1);
    expect(conversation.voice.asked).toMatchObject([{ text: 'How can I help? Please ', ended: true }]);
  });

  it('is not put off by tokens without text', () => {
    const conversation = new Conversation().tokens('Hello. ');
    conversation.clock.advance(FLUSH_MS - 1);
    conversation.tokens('').clock.advance(1);
    expect(conversation.voice.asked[0]?.ended).toBe(true);
  });

  it('goes on in the same manner, as one cycle', () => {
    const conversation = new Conversation({ voice: 'slt' });
    conversation.app({ type: 'text', token: 'One moment. ', lang: 'en-GB', interruptible: 'dtmf', preemptible: true });
    conversation.clock.advance(FLUSH_MS);
    conversation.tokens('Here it ').last('is.');
    const style = { voice: 'slt', lang: 'en-GB', interruptible: 'dtmf', preemptible: true };
    expect(conversation.voice.asked).toMatchObject([
      { text: 'One moment. ', options: style },
      { text: 'Here it is.', options: { ...style, goesOn: true }, ended: true },
    ]);
    // The first part is preemptible and was not cut off by the second.
    conversation.voice.finish();
    conversation.voice.finish();
    expect(conversation.told).toEqual([]);
  });

  it('keeps the beginning of a word until its rest comes', () => {
    const conversation = new Conversation().tokens('Hello wor');
    conversation.clock.advance(FLUSH_MS);
    conversation.tokens('ld. ');
    expect(conversation.voice.texts).toEqual(['Hello ', 'world. ']);
  });

  it('has the last word said, too, when nothing follows it for another second', () => {
    const conversation = new Conversation().tokens('Hello world');
    conversation.clock.advance(2 * FLUSH_MS);
    expect(conversation.voice.asked).toMatchObject([
      { text: 'Hello ', ended: true },
      { text: 'world', ended: true },
    ]);
    expect(conversation.clock.pending).toBe(0);
  });

  it('has a single word said after two seconds', () => {
    const conversation = new Conversation().tokens('Hel');
    conversation.clock.advance(FLUSH_MS);
    expect(conversation.voice.asked[0]?.ended).toBe(false);
    conversation.tokens('lo').clock.advance(2 * FLUSH_MS);
    expect(conversation.voice.asked).toMatchObject([{ text: 'Hello', ended: true }]);
  });

  it.each(['last', 'lost', 'closed'])('has the word that was kept said at the end (%s)', (end) => {
    const conversation = new Conversation().tokens('Hello world');
    conversation.clock.advance(FLUSH_MS);
    if (end === 'last') conversation.last();
    else if (end === 'lost') conversation.session.onLost();
    else conversation.session.close();
    expect(conversation.voice.asked).toMatchObject([{ text: 'Hello ' }, { text: 'world', ended: true }]);
    expect(conversation.clock.pending).toBe(0);
  });

  it('ends after all of it was said', async () => {
    const conversation = new Conversation().tokens('Good bye');
    conversation.clock.advance(FLUSH_MS);
    conversation.app({ type: 'end' });
    conversation.voice.finish();
    await settle();
    expect(conversation.ends).toEqual([]);
    conversation.voice.finish();
    await settle();
    expect(conversation.ends).toEqual([null]);
  });
});

describe('an answer without an end', () => {
  it('talks no more once it was heard: what the caller says then is a prompt', () => {
    const conversation = new Conversation({ events: 'speaker-events tokens-played' }).tokens('How can I help? ');
    conversation.clock.advance(FLUSH_MS);
    conversation.voice.finish();
    conversation.speech('started').caption('I am lost.');
    const info = (name: string, value: string) => ({ type: 'info', name, value });
    expect(conversation.told).toEqual([
      info('agentSpeaking', 'on'),
      info('tokensPlayed', 'How can I help? '),
      info('agentSpeaking', 'off'),
      info('clientSpeaking', 'on'),
      prompt('I am lost.'),
    ]);
  });

  it('is over with the next prompt: the answer to that has a manner of its own', () => {
    const conversation = new Conversation().app({ type: 'text', token: 'Welcome. ', interruptible: false });
    conversation.clock.advance(FLUSH_MS);
    conversation.voice.finish();
    conversation.caption('Hello.').tokens('Good morning. ');
    expect(conversation.voice.asked[1]).toMatchObject({ text: 'Good morning. ', options: { preemptible: false } });
    expect(conversation.voice.asked[1]?.options).not.toHaveProperty('interruptible');
  });

  it('is over with a key as well', () => {
    const conversation = new Conversation().app({ type: 'text', token: 'Press one. ', interruptible: false });
    conversation.clock.advance(FLUSH_MS);
    conversation.voice.finish();
    conversation.session.onDtmf('1');
    conversation.tokens('Sales. ');
    expect(conversation.voice.asked[1]?.options).not.toHaveProperty('interruptible');
  });

  it('may still go on after that, and its last does no harm', () => {
    const conversation = new Conversation().tokens('One moment. ');
    conversation.clock.advance(FLUSH_MS);
    conversation.voice.finish();
    conversation.caption('Are you there?').tokens('Here it is. ').last().last('Yes, I am.');
    expect(conversation.voice.asked).toMatchObject([
      { text: 'One moment. ' },
      { text: 'Here it is. ', ended: true },
      { text: 'Yes, I am.', ended: true },
    ]);
    expect(conversation.fences).toBe(0);
  });

  it('is interrupted like any other while it sounds, and the rest of it is late', () => {
    const conversation = new Conversation().tokens('I can tell you a lot about wor');
    conversation.clock.advance(FLUSH_MS);
    conversation.voice.begin();
    conversation.voice.interrupt('I can');
    conversation.tokens('ms. ').clock.advance(3 * FLUSH_MS);
    expect(conversation.told).toEqual([interrupt('I can')]);
    expect(conversation.voice.texts).toEqual(['I can tell you a lot about ']);
    conversation.session.onFence();
    conversation.caption('Stop.').tokens('Fine. ');
    expect(conversation.voice.texts.at(-1)).toBe('Fine. ');
  });

  it('is told as heard from its beginning when a later part of it is interrupted', () => {
    const conversation = new Conversation().tokens('One moment. ');
    conversation.clock.advance(FLUSH_MS);
    conversation.voice.finish();
    conversation.last('Here it is.');
    conversation.voice.begin();
    conversation.voice.interrupt('Here it');
    expect(conversation.told).toEqual([interrupt('One moment. Here it')]);
  });

  it('goes on in another utterance when the first could not be said to its end', () => {
    const conversation = new Conversation().tokens('One. ');
    conversation.voice.finish();
    conversation.tokens('Two. ');
    expect(conversation.voice.texts).toEqual(['One. ', 'Two. ']);
  });
});

describe('a voice that is not there', () => {
  it('is told the app once', () => {
    const conversation = new Conversation({ voice: 'Charlie-flash_v2_5' }).last('Hello.');
    conversation.voice.missVoice('Charlie-flash_v2_5');
    conversation.voice.missVoice('Charlie-flash_v2_5');
    expect(conversation.errors).toEqual([
      'voice: got "Charlie-flash_v2_5", which is not there; rms speaks in its place',
    ]);
  });
});
