import { describe, expect, it } from 'vitest';
import { Conversation, prompt } from './conversation.ts';

describe('a turn of several utterances', () => {
  it('is one prompt with all its words, when it is over', () => {
    const conversation = new Conversation().utterance(1, 'My number is').utterance(2, 'four five six.');
    expect(conversation.told).toEqual([]);
    conversation.turnEnded(2);
    expect(conversation.told).toEqual([prompt('My number is four five six.')]);
  });

  it('shows all of it while it goes on', () => {
    const { told } = new Conversation({ partialPrompts: 'true' })
      .utterance(1, 'My number', false)
      .utterance(1, 'My number is')
      .utterance(2, 'four', false)
      .utterance(2, 'four five.')
      .turnEnded(2);
    expect(told).toEqual([
      prompt('My number', false),
      prompt('My number is four', false),
      prompt('My number is four five.'),
    ]);
  });

  it('has the texts of revisions that came before its end', () => {
    const { told } = new Conversation()
      .utterance(1, 'However,,')
      .utterance(2, 'Did do the slow channels.')
      .revision(1, 2, 'However,')
      .revision(2, 2, 'due to the slow channels.')
      .turnEnded(2)
      .revision(2, 3, 'too late');
    expect(told).toEqual([prompt('However, due to the slow channels.')]);
  });

  it('has nothing of what was said into an answer without interrupting it', () => {
    const conversation = new Conversation().last('Hello there.');
    conversation.voice.begin();
    conversation.speech('started').utterance(1, 'Mm-hm.').speech('stopped').turnEnded(1);
    conversation.clock.advance(1100);
    conversation.voice.finish();
    conversation.speech('started').utterance(2, 'I would like').revision(1, 2, 'Mm.').utterance(3, 'a taxi.');
    conversation.turnEnded(3);
    expect(conversation.told).toEqual([prompt('I would like a taxi.')]);
  });

  it('without words is no prompt', () => {
    expect(new Conversation().utterance(1, '').turnEnded(1).turnEnded(2).told).toEqual([]);
  });
});

describe('a word of agreement into the end of what the app says', () => {
  function agreeing(text: string, laterMs: number): Conversation {
    const conversation = new Conversation().last('It is at noon. Is that right?');
    conversation.voice.begin();
    conversation.speech('started').utterance(1, text).speech('stopped').turnEnded(1);
    conversation.clock.advance(laterMs);
    return conversation;
  }

  it('answers it, once it has been heard', () => {
    const conversation = agreeing('Yes.', 900);
    expect(conversation.told).toEqual([]);
    conversation.voice.finish();
    conversation.last('Good.');
    conversation.voice.finish();
    expect(conversation.told).toEqual([prompt('Yes.')]);
  });

  it('is no answer when more is said after it', () => {
    const conversation = agreeing('Yes.', 900).last('And another thing.');
    conversation.voice.finish();
    conversation.clock.advance(1000);
    conversation.voice.finish();
    expect(conversation.told).toEqual([]);
  });

  it.each([
    ['Yes.', 1100],
    ['It is late.', 0],
  ])('is not told: %j %s ms before', (text, laterMs) => {
    const conversation = agreeing(text, laterMs);
    conversation.voice.finish();
    expect(conversation.told).toEqual([]);
  });

  it('begins the turn that goes on after it', () => {
    const conversation = new Conversation().last('Is that right?');
    conversation.voice.begin();
    conversation.speech('started').utterance(1, 'Yeah, sure.').speech('stopped');
    conversation.voice.finish();
    conversation.speech('started').utterance(2, 'but not today.').turnEnded(2);
    expect(conversation.told).toEqual([prompt('Yeah, sure. but not today.')]);
  });
});

describe('a turn that is held', () => {
  it('is told before the key that is pressed then, once', () => {
    const conversation = new Conversation().speech('started').utterance(1, 'My number is').speech('stopped');
    conversation.session.onDtmf('4');
    conversation.turnEnded(1);
    expect(conversation.told).toEqual([prompt('My number is'), { type: 'dtmf', digit: '4' }]);
  });

  it('goes on when the key is pressed while the caller speaks', () => {
    const conversation = new Conversation().utterance(1, 'My number is').speech('started');
    conversation.session.onDtmf('4');
    conversation.utterance(2, 'five.').speech('stopped').turnEnded(2);
    expect(conversation.told).toEqual([{ type: 'dtmf', digit: '4' }, prompt('My number is five.')]);
  });

  it('is told when the call ends, once', () => {
    const conversation = new Conversation().utterance(1, 'Never mind, and');
    conversation.session.close();
    conversation.turnEnded(1);
    conversation.session.close();
    expect(conversation.told).toEqual([prompt('Never mind, and')]);
  });

  it('is not told to an app that has ended the session', () => {
    const conversation = new Conversation().last('Bye.').app({ type: 'end' }).utterance(1, 'Wait, I');
    conversation.session.close();
    expect(conversation.told).toEqual([]);
  });

  it('lasts over a lost connection', () => {
    const conversation = new Conversation().utterance(1, 'My number is');
    conversation.session.onLost();
    conversation.utterance(2, 'four.').turnEnded(2);
    expect(conversation.told).toEqual([prompt('My number is four.')]);
  });
});

describe('an answer of digits that is asked for', () => {
  it('is named with the talk cycle or the recording', () => {
    const digits = { min: 4, max: 6 };
    const { voice } = new Conversation()
      .app({ type: 'text', token: 'Your PIN, please.', last: true, expects: { digits } })
      .last('Thanks.');
    expect(voice.asked.map(({ options }) => options.expectsDigits)).toEqual([digits, undefined]);
  });
});
