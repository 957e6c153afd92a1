import { describe, expect, it } from 'vitest';
import { ANSWER_MAX_CHARS } from '../../../src/calls/app/answer-length.ts';
import { TrunklineError } from '../../../src/foundation/errors.ts';
import { settle } from '../../fakes/clock.ts';
import { Conversation, interrupt, prompt } from './conversation.ts';

describe('a talk cycle', () => {
  it('is one utterance, of all tokens as they are until the last', () => {
    const { voice } = new Conversation().tokens('Hel', 'lo, ', 'you').last('.').tokens('Next');
    expect(voice.asked.map(({ text, ended }) => ({ text, ended }))).toEqual([
      { text: 'Hello, you.', ended: true },
      { text: 'Next', ended: false },
    ]);
  });

  it('is not made of empty tokens', () => {
    const { voice } = new Conversation().tokens('').last('');
    expect(voice.asked).toEqual([]);
  });

  it('is said as its first token asks', () => {
    const { voice } = new Conversation({ voice: 'slt' }).app(
      { type: 'text', token: 'Hallo', lang: 'de-DE', interruptible: 'dtmf', preemptible: true },
      { type: 'text', token: '!', last: true, interruptible: false },
    );
    expect(voice.asked[0]?.options).toEqual({
      voice: 'slt',
      voiceIsWish: true,
      lang: 'de-DE',
      interruptible: 'dtmf',
      preemptible: true,
    });
  });

  it('is otherwise said as the stream asked for', () => {
    const { voice } = new Conversation({ interruptible: 'none', preemptible: 'true', ttsLanguage: 'de-DE' }).last(
      'Hallo.',
    );
    expect(voice.asked[0]?.options).toEqual({ lang: 'de-DE', interruptible: 'none', preemptible: true });
  });

  it('of which some cannot be said is answered with error and left out to its end', () => {
    const conversation = new Conversation();
    conversation.voice.refusal = new TrunklineError('speech_queue_full', 'too much waits');
    conversation.tokens('one');
    conversation.voice.refusal = null;
    conversation.tokens('two').last().last('Three.');
    expect(conversation.errors).toEqual(['too much waits']);
    expect(conversation.voice.texts).toEqual(['Three.']);
  });

  it('has a length, beyond which the app is told, the rest left out, and the next one spoken', () => {
    const conversation = new Conversation().tokens('x'.repeat(ANSWER_MAX_CHARS), 'y', 'z').last('z').last('Three.');
    expect(conversation.errors).toEqual([expect.stringContaining('answer_too_long')]);
    expect(conversation.voice.asked.map(({ text, ended }) => [text.length, ended])).toEqual([
      [ANSWER_MAX_CHARS, true],
      [6, true],
    ]);
    conversation.caption('Go on.');
    expect(conversation.types).toEqual(['error', 'prompt']);
  });

  it('has a length, however often the app falls silent in it', () => {
    const conversation = new Conversation();
    for (let n = 0; n < 3; n++) {
      conversation.tokens(`${'x '.repeat(ANSWER_MAX_CHARS / 4)}`);
      conversation.clock.advance(2000);
    }
    expect(conversation.errors).toHaveLength(1);
    expect(conversation.voice.asked).toHaveLength(2);
  });

  it('that is preempted is no interruption', () => {
    const conversation = new Conversation().app({ type: 'text', token: 'Old news.', last: true, preemptible: true });
    conversation.voice.begin();
    conversation.last('News.');
    expect(conversation.told).toEqual([]);
    expect(conversation.voice.texts).toEqual(['Old news.', 'News.']);
  });
});

describe('the caller', () => {
  it('is told in whole utterances', () => {
    const conversation = new Conversation().caption('Hello', false).caption('Hello there.').caption('');
    expect(conversation.told).toEqual([prompt('Hello there.')]);
  });

  it('is told while speaking where that is asked for', () => {
    const conversation = new Conversation({ partialPrompts: 'true' }).caption('Hello', false).caption('Hello there.');
    expect(conversation.told).toEqual([prompt('Hello', false), prompt('Hello there.')]);
  });

  it('is told with every key', () => {
    const conversation = new Conversation();
    conversation.session.onDtmf('5');
    expect(conversation.told).toEqual([{ type: 'dtmf', digit: '5' }]);
  });

  it('is not told for what is said into an answer without interrupting it', () => {
    const conversation = new Conversation().last('A long answer.');
    conversation.voice.begin();
    conversation.speech('started').caption('mm-hm').speech('stopped');
    conversation.session.onDtmf('1');
    expect(conversation.told).toEqual([]);
  });

  it.each([
    ['any', ['prompt', 'dtmf']],
    ['speech', ['prompt']],
    ['dtmf', ['dtmf']],
    ['none', []],
  ])('is told even for that with reportInputDuringAgentSpeech=%s', (reportInputDuringAgentSpeech, types) => {
    const conversation = new Conversation({ reportInputDuringAgentSpeech }).last('A long answer.');
    conversation.voice.begin();
    conversation.speech('started').caption('mm-hm').speech('stopped');
    conversation.session.onDtmf('1');
    expect(conversation.types).toEqual(types);
  });

  it('is told for what began in the last words of an answer', () => {
    const conversation = new Conversation().last('How can I help?');
    conversation.voice.begin();
    conversation.speech('started');
    conversation.voice.finish();
    conversation.caption('With my bill.');
    expect(conversation.told).toEqual([prompt('With my bill.')]);
  });

  it('is told for what was begun before the answer', () => {
    const conversation = new Conversation().speech('started').last('Too early.');
    conversation.voice.begin();
    conversation.caption('And another thing.');
    expect(conversation.told).toEqual([prompt('And another thing.')]);
  });

  it('is told for what interrupted, though the app already says the next thing', () => {
    const conversation = new Conversation().last('A long answer.');
    conversation.voice.begin();
    conversation.speech('started');
    conversation.voice.interrupt('A');
    conversation.last('Sorry, go on.');
    conversation.voice.begin();
    conversation.caption('Stop it.');
    expect(conversation.told).toEqual([interrupt('A'), prompt('Stop it.')]);
  });
});

describe('an interruption', () => {
  it('tells what was heard, once, whatever waited behind it', () => {
    const conversation = new Conversation().last('One two three.').last('Four.').tokens('Five');
    conversation.voice.begin();
    conversation.voice.interrupt('One two');
    expect(conversation.told).toEqual([interrupt('One two')]);
  });

  it('tells again for the next one', async () => {
    const conversation = new Conversation().last('One.');
    conversation.voice.interrupt('One');
    await settle();
    conversation.last('Two.');
    conversation.voice.interrupt('Tw');
    expect(conversation.told).toEqual([interrupt('One'), interrupt('Tw')]);
  });

  it('drops tokens that come late, to the last of their cycle', () => {
    const conversation = new Conversation().tokens('One', ' two');
    conversation.voice.interrupt('One');
    conversation.tokens(' three').last(' four').last('Five.');
    expect(conversation.voice.texts).toEqual(['One two', 'Five.']);
    expect(conversation.fences).toBe(1);
  });

  it('drops tokens that come late until the caller has said something', () => {
    const conversation = new Conversation().tokens('One');
    conversation.voice.interrupt('One');
    conversation.tokens(' two').session.onFence();
    conversation.tokens(' three').caption('Stop.').tokens('Stopped.');
    expect(conversation.voice.texts).toEqual(['One', 'Stopped.']);
  });

  it('by a key drops what the app sent before it knew, and takes the answer to the key', () => {
    const conversation = new Conversation().tokens('Press one');
    conversation.voice.begin();
    conversation.voice.interrupt('Press');
    conversation.session.onDtmf('1');
    conversation.tokens(' or two');
    conversation.session.onFence();
    conversation.tokens('You pressed one.');
    expect(conversation.told).toEqual([interrupt('Press'), { type: 'dtmf', digit: '1' }]);
    expect(conversation.voice.texts).toEqual(['Press one', 'You pressed one.']);
  });

  it('of a finished cycle takes whatever comes next', () => {
    const conversation = new Conversation().last('All said.');
    conversation.voice.interrupt('All');
    conversation.last('New.');
    expect(conversation.voice.texts).toEqual(['All said.', 'New.']);
    expect(conversation.fences).toBe(0);
  });

  it('of what somebody else had said is none of the app', () => {
    const conversation = new Conversation();
    conversation.voice.say('An announcement over the API.');
    conversation.voice.begin();
    conversation.voice.interrupt('An');
    expect(conversation.told).toEqual([]);
  });

  it('of what somebody else had said tells that what waited behind it was not heard', () => {
    const conversation = new Conversation();
    conversation.voice.say('An announcement over the API.');
    conversation.last('An answer.');
    conversation.voice.begin();
    conversation.voice.interrupt('An');
    expect(conversation.told).toEqual([interrupt('')]);
  });
});

describe('a greeting', () => {
  it('is said at once, and may be interrupted as the stream asked for', () => {
    const conversation = new Conversation({
      welcomeGreeting: 'Hello!',
      welcomeGreetingInterruptible: 'none',
      voice: 'slt',
    });
    conversation.session.begin();
    expect(conversation.voice.asked).toMatchObject([
      { text: 'Hello!', options: { interruptible: 'none', voice: 'slt' } },
    ]);
  });

  it('is nothing unless it is asked for', () => {
    const conversation = new Conversation();
    conversation.session.begin();
    expect(conversation.voice.asked).toEqual([]);
  });

  it('that cannot be said is told', () => {
    const conversation = new Conversation({ welcomeGreeting: 'Hello!' });
    conversation.voice.refusal = new TrunklineError('invalid_request', 'no such voice');
    conversation.session.begin();
    expect(conversation.errors).toEqual(['no such voice']);
  });
});
