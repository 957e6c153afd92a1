import { describe, expect, it } from 'vitest';
import { type AppFrame, type BridgeFrame, readAppFrame } from '../../../src/calls/app/frames.ts';
import type { Recording } from '../../../src/calls/app/recording.ts';
import { type AppRequest, readAppRequest } from '../../../src/calls/app/request.ts';
import { AppSession } from '../../../src/calls/app/session.ts';
import { readSettings } from '../../../src/config.ts';
import { TrunklineError } from '../../../src/errors.ts';
import { settle } from '../../fakes/clock.ts';
import { FakeVoice } from '../../fakes/voice.ts';

const URL = 'wss://app.example.com/';
const RECORDING: Recording = { samples: Int16Array.of(1, 2, 3), rateHz: 8000 };

/** A session with everything around it in the hand of the test. */
class Conversation {
  readonly voice = new FakeVoice();
  /** What the app was told. */
  readonly told: BridgeFrame[] = [];
  readonly ends: (string | null)[] = [];
  readonly failures: unknown[] = [];
  readonly fetches: { source: string; signal: AbortSignal; done: (recording: Recording) => void; fail: (error: unknown) => void }[] = [];
  fences = 0;
  reading = true;
  readonly session: AppSession;

  constructor(parameters: Record<string, string> = {}) {
    const request = readAppRequest(parameters, readSettings({ APP_URL: URL })) as AppRequest;
    this.session = new AppSession({
      request,
      voice: this.voice,
      way: {
        send: (frame) => this.told.push(frame),
        sendNow: (frame) => this.told.push(frame),
        fence: () => {
          this.fences += 1;
        },
        pause: () => {
          this.reading = false;
        },
        resume: () => {
          this.reading = true;
        },
      },
      fetchRecording: (source, signal) => new Promise((done, fail) => this.fetches.push({ source, signal, done, fail })),
      speaks: (language) => language.startsWith('en') || language.startsWith('de'),
      onEnd: (handoffData) => this.ends.push(handoffData),
      onFailure: (error) => this.failures.push(error),
    });
  }

  /** The app says something. */
  app(...frames: unknown[]): this {
    for (const frame of frames) this.session.receive(readAppFrame(JSON.stringify(frame)) as AppFrame);
    return this;
  }

  /** The app answers in tokens. */
  tokens(...tokens: string[]): this {
    return this.app(...tokens.map((token) => ({ type: 'text', token })));
  }

  last(token = ''): this {
    return this.app({ type: 'text', token, last: true });
  }

  caption(text: string, final = true): this {
    this.session.hear({ type: 'caption', utterance: 1, stable: text, tail: '', text, final, startMs: 0, endMs: 1, lagMs: 0 });
    return this;
  }

  speech(type: 'started' | 'stopped'): this {
    this.session.hear({ type: `speech.${type}`, atMs: 0 });
    return this;
  }

  get types(): string[] {
    return this.told.map(({ type }) => type);
  }

  get errors(): string[] {
    return this.told.flatMap((frame) => (frame.type === 'error' ? [frame.description] : []));
  }
}

const prompt = (voicePrompt: string, last = true) => ({ type: 'prompt', voicePrompt, lang: 'en-US', last });
const interrupt = (utteranceUntilInterrupt: string) => ({
  type: 'interrupt',
  utteranceUntilInterrupt,
  durationUntilInterruptMs: 20 * utteranceUntilInterrupt.length,
});

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
    expect(voice.asked[0]?.options).toEqual({ voice: 'slt', lang: 'de-DE', interruptible: 'dtmf', preemptible: true });
  });

  it('is otherwise said as the stream asked for', () => {
    const { voice } = new Conversation({ interruptible: 'none', preemptible: 'true', ttsLanguage: 'de-DE' }).last('Hallo.');
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
    conversation.session.press('5');
    expect(conversation.told).toEqual([{ type: 'dtmf', digit: '5' }]);
  });

  it('is not told for what is said into an answer without interrupting it', () => {
    const conversation = new Conversation().last('A long answer.');
    conversation.voice.begin();
    conversation.speech('started').caption('mm-hm').speech('stopped');
    conversation.session.press('1');
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
    conversation.session.press('1');
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
    conversation.session.press('1');
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
    const conversation = new Conversation({ welcomeGreeting: 'Hello!', welcomeGreetingInterruptible: 'none', voice: 'slt' });
    conversation.session.begin();
    expect(conversation.voice.asked).toMatchObject([{ text: 'Hello!', options: { interruptible: 'none', voice: 'slt' } }]);
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
    const conversation = new Conversation().app(play, { ...play, source: 'https://media.example.com/b.wav' }).last('Done.');
    conversation.fetches[0]?.done(RECORDING);
    await settle();
    conversation.fetches[1]?.done(RECORDING);
    await settle();
    expect(conversation.voice.texts).toEqual(['https://media.example.com/a.wav', 'https://media.example.com/b.wav', 'Done.']);
  });

  it('that cannot be had is answered with error, and what follows is said', async () => {
    const conversation = new Conversation().app(play).last('Anyway.');
    conversation.fetches[0]?.fail(new TrunklineError('invalid_request', 'the recording cannot be played: it is gone'));
    await settle();
    expect([conversation.errors, conversation.voice.texts]).toEqual([['the recording cannot be played: it is gone'], ['Anyway.']]);
  });

  it('that no resampler takes is a failure of ours, not of the process', async () => {
    const conversation = new Conversation().app(play);
    conversation.voice.refusal = new RangeError('rate');
    conversation.fetches[0]?.done(RECORDING);
    await settle();
    expect(conversation.failures).toEqual([new RangeError('rate')]);
  });

  it('is not waited for when the caller interrupts meanwhile, nor is what waits behind it', async () => {
    const conversation = new Conversation().last('Listen.').app(play, { type: 'sendDigits', digits: '1' }).tokens('And');
    conversation.voice.begin();
    conversation.voice.interrupt('Lis');
    expect(conversation.fetches[0]?.signal.aborted).toBe(true);
    conversation.fetches[0]?.fail(new Error('aborted'));
    await settle();
    conversation.tokens(' more').last().last('New.');
    expect([conversation.voice.texts, conversation.voice.digits, conversation.errors]).toEqual([['Listen.', 'New.'], [], []]);
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
    [{ transcriptionLanguage: 'sv-SE', ttsLanguage: 'de-DE' }, 'transcriptionLanguage: got sv-SE, only English is understood'],
  ])('refuses what it cannot do: %o', (languages, error) => {
    const conversation = new Conversation().app({ type: 'language', ...languages }).last('Hello.');
    expect(conversation.errors).toEqual([error]);
    expect(conversation.voice.asked[0]?.options).not.toHaveProperty('lang');
  });
});

describe('the end', () => {
  it('comes when everything before it was played, with what is to be handed over', async () => {
    const conversation = new Conversation().tokens('Good', 'bye.').app({ type: 'end', handoffData: '{"to":"a person"}' });
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
    const conversation = new Conversation().last('Bye.').app({ type: 'end' }).last('One more thing.').app({ type: 'end' });
    conversation.voice.finish();
    await settle();
    expect([conversation.voice.texts, conversation.ends]).toEqual([['Bye.'], [null]]);
  });

  it('waits for a recording that is being fetched', async () => {
    const conversation = new Conversation().app({ type: 'play', source: 'https://media.example.com/bye.wav' }, { type: 'end' });
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
});

describe('subscriptions', () => {
  it('tell who speaks', () => {
    const conversation = new Conversation({ events: 'speaker-events' }).speech('started').speech('stopped').last('Hello.');
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
