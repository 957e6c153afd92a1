import { describe, expect, it } from 'vitest';
import { TrunklineError } from '../../../src/foundation/errors.ts';
import { settle } from '../../fakes/clock.ts';
import { Conversation, interrupt, RECORDING } from './conversation.ts';

describe('a recording', () => {
  const play = { type: 'play', source: 'https://media.example.com/a.wav?key=secret', loop: 2, interruptible: false };

  it('is fetched, then played in its turn', async () => {
    const conversation = new Conversation().tokens('Listen').app(play).last('That was it.');
    expect(conversation.voice.texts).toEqual(['Listen']);
    expect(conversation.reading).toBe(false);
    conversation.fetches[0]?.done(RECORDING);
    await settle();
    expect(conversation.voice.asked).toMatchObject([
      { text: 'Listen', ended: true },
      { text: 'https://media.example.com/a.wav', options: { loop: 2, interruptible: false, preemptible: false } },
      { text: 'That was it.', ended: true },
    ]);
    expect([conversation.fetches[0]?.source, conversation.reading]).toEqual([play.source, true]);
  });

  it('is followed by the next, in order', async () => {
    const conversation = new Conversation()
      .app(play, { ...play, source: 'https://media.example.com/b.wav' })
      .last('Done.');
    conversation.fetches[0]?.done(RECORDING);
    await settle();
    conversation.fetches[1]?.done(RECORDING);
    await settle();
    expect(conversation.voice.texts).toEqual([
      'https://media.example.com/a.wav',
      'https://media.example.com/b.wav',
      'Done.',
    ]);
  });

  it('that cannot be had is answered with error, and what follows is said', async () => {
    const conversation = new Conversation().app(play).last('Anyway.');
    conversation.fetches[0]?.fail(new TrunklineError('invalid_request', 'the recording cannot be played: it is gone'));
    await settle();
    expect([conversation.errors, conversation.voice.texts]).toEqual([
      ['the recording cannot be played: it is gone'],
      ['Anyway.'],
    ]);
  });

  it('that no resampler takes is a failure of ours, not of the process', async () => {
    const conversation = new Conversation().app(play);
    conversation.voice.refusal = new RangeError('rate');
    conversation.fetches[0]?.done(RECORDING);
    await settle();
    expect(conversation.failures).toEqual([new RangeError('rate')]);
  });

  it('is not waited for when the caller interrupts meanwhile, nor is what waits behind it', async () => {
    const conversation = new Conversation()
      .last('Listen.')
      .app(play, { type: 'sendDigits', digits: '1' })
      .tokens('And');
    conversation.voice.begin();
    conversation.voice.interrupt('Lis');
    expect(conversation.fetches[0]?.signal.aborted).toBe(true);
    conversation.fetches[0]?.fail(new Error('aborted'));
    await settle();
    conversation.tokens(' more').last().last('New.');
    expect([conversation.voice.texts, conversation.voice.digits, conversation.errors]).toEqual([
      ['Listen.', 'New.'],
      [],
      [],
    ]);
    expect(conversation.fences).toBe(1);
  });

  it('is not played in a call that is over', async () => {
    const conversation = new Conversation().app(play).last('Anyway.');
    conversation.session.close();
    conversation.fetches[0]?.done(RECORDING);
    await settle();
    expect(conversation.voice.asked).toEqual([]);
  });
});

describe('keys and languages', () => {
  it('sends digits after what was said before them', () => {
    const { voice } = new Conversation().tokens('Dialling').app({ type: 'sendDigits', digits: '12w#' });
    expect([voice.asked[0]?.ended, voice.digits]).toEqual([true, ['12w#']]);
  });

  it('speaks another language from then on', () => {
    const { voice } = new Conversation().app({ type: 'language', ttsLanguage: 'de-DE' }).last('Hallo.');
    expect(voice.asked[0]?.options).toMatchObject({ lang: 'de-DE' });
  });

  it.each([
    [{ ttsLanguage: 'sv-SE' }, 'ttsLanguage: got sv-SE, which no voice speaks'],
    [
      { transcriptionLanguage: 'sv-SE', ttsLanguage: 'de-DE' },
      'transcriptionLanguage: got "sv-SE", which is not understood here: the recogniser understands English; ' +
        'parakeet-tdt-0.6b-v3 (ASR_FINAL_MODEL) can be installed for it: trunkline models add parakeet-tdt-0.6b-v3',
    ],
  ])('refuses what it cannot do: %o', (languages, error) => {
    const conversation = new Conversation().app({ type: 'language', ...languages }).last('Hello.');
    expect(conversation.errors).toEqual([error]);
    expect(conversation.voice.asked[0]?.options).not.toHaveProperty('lang');
  });
});

describe('the end', () => {
  it('comes when everything before it was played, with what is to be handed over', async () => {
    const conversation = new Conversation()
      .tokens('Good', 'bye.')
      .app({ type: 'end', handoffData: '{"to":"a person"}' });
    await settle();
    expect(conversation.ends).toEqual([]);
    conversation.voice.finish();
    await settle();
    expect(conversation.ends).toEqual(['{"to":"a person"}']);
  });

  it('comes at once when nothing is left to be played', async () => {
    const conversation = new Conversation().app({ type: 'end' });
    await settle();
    expect(conversation.ends).toEqual([null]);
  });

  it('is not put off by anything that is said after it', async () => {
    const conversation = new Conversation()
      .last('Bye.')
      .app({ type: 'end' })
      .last('One more thing.')
      .app({ type: 'end' });
    conversation.voice.finish();
    await settle();
    expect([conversation.voice.texts, conversation.ends]).toEqual([['Bye.'], [null]]);
  });

  it('waits for a recording that is being fetched', async () => {
    const conversation = new Conversation().app(
      { type: 'play', source: 'https://media.example.com/bye.wav' },
      { type: 'end' },
    );
    await settle();
    expect(conversation.ends).toEqual([]);
    conversation.fetches[0]?.done(RECORDING);
    await settle();
    conversation.voice.finish();
    await settle();
    expect(conversation.ends).toEqual([null]);
  });

  it('does not come in a call that is over', async () => {
    const conversation = new Conversation().last('Bye.').app({ type: 'end' });
    conversation.session.close();
    conversation.voice.interrupt();
    await settle();
    expect([conversation.ends, conversation.told]).toEqual([[], []]);
  });
});

describe('an app that is lost', () => {
  it('has what it said so far said, and begins anew when it is back', () => {
    const conversation = new Conversation().tokens('Half a');
    conversation.voice.interrupt('Half');
    conversation.tokens(' sent');
    conversation.session.onLost();
    conversation.tokens('New');
    conversation.session.onLost();
    expect(conversation.voice.asked).toMatchObject([{ text: 'Half a' }, { text: 'New', ended: true }]);
  });

  it('has what waited for a recording said, and does not wait for the rest of it', async () => {
    const conversation = new Conversation()
      .app({ type: 'play', source: 'http://example.com/a.wav' })
      .tokens('Half a sentence');
    conversation.session.onLost();
    conversation.fetches[0]?.done(RECORDING);
    await settle();
    expect(conversation.voice.asked.at(-1)).toMatchObject({ text: 'Half a sentence', ended: true });
  });

  it('while a recording is fetched and the caller interrupts is heard again when it is back', async () => {
    const conversation = new Conversation()
      .last('Listen:')
      .app({ type: 'play', source: 'http://example.com/a.wav' })
      .tokens('Half a');
    conversation.session.onLost();
    conversation.voice.begin();
    conversation.voice.interrupt();
    conversation.fetches[0]?.fail(new Error('aborted'));
    await settle();
    conversation.caption('What?').tokens('New');
    expect(conversation.voice.asked.at(-1)).toMatchObject({ text: 'New' });
  });
});

describe('subscriptions', () => {
  it('tell who speaks', () => {
    const conversation = new Conversation({ events: 'speaker-events' })
      .speech('started')
      .speech('stopped')
      .last('Hello.');
    conversation.voice.finish();
    expect(conversation.told).toEqual([
      { type: 'info', name: 'clientSpeaking', value: 'on' },
      { type: 'info', name: 'clientSpeaking', value: 'off' },
      { type: 'info', name: 'agentSpeaking', value: 'on' },
      { type: 'info', name: 'agentSpeaking', value: 'off' },
    ]);
  });

  it('tell what was played, and after an interruption what of it', () => {
    const conversation = new Conversation({ events: 'tokens-played' }).last('Hello.');
    conversation.voice.finish();
    conversation.last('How are you?');
    conversation.voice.begin();
    conversation.voice.interrupt('How');
    expect(conversation.told).toEqual([
      { type: 'info', name: 'tokensPlayed', value: 'Hello.' },
      interrupt('How'),
      { type: 'info', name: 'tokensPlayed', value: 'How' },
    ]);
  });
});
