import { describe, expect, it } from 'vitest';
import { type AnswerOptions, ListenAnswers } from '../../../../src/clients/deepgram/wire/listen-answers.ts';
import type { SaidText } from '../../../../src/clients/deepgram/wire/messages.ts';

const FACTS = {
  requestId: 'id-1',
  model: { name: 'moonshine-tiny', version: '1', arch: 'moonshine' },
  channels: 1,
  isPunctuated: true,
};

function answers(options: Partial<AnswerOptions> = {}): ListenAnswers {
  const defaults = { interimResults: true, vadEvents: true, endpointMs: 400, utteranceEndMs: null };
  return new ListenAnswers({ facts: FACTS, ...defaults, ...options });
}

function said(text: string, startMs: number, endMs: number, final = true): SaidText {
  return { text, final, startMs, endMs, words: text === '' ? [] : [{ text, startMs, endMs }], confidence: 0.8 };
}

const results = (transcript: string, marks: object) => ({
  type: 'Results',
  channel: { alternatives: [{ transcript }] },
  ...marks,
});

describe('the answers of /v1/listen', () => {
  it('tell a sentence from its beginning to its end', () => {
    const stream = answers();
    expect(stream.onSpeechStarted(0, 320)).toEqual([{ type: 'SpeechStarted', channel: [0, 1], timestamp: 0.32 }]);
    expect(stream.onSaid(0, said('Hello', 320, 900, false))).toMatchObject([
      results('Hello', { is_final: false, speech_final: false, from_finalize: false, start: 0.32, duration: 0.58 }),
    ]);
    stream.onSpeechStopped(0, 1500);
    expect(stream.onSaid(0, said('Hello there.', 320, 1500))).toMatchObject([
      results('Hello there.', { is_final: true, speech_final: true, from_finalize: false, duration: 1.18 }),
    ]);
  });

  it('hold back interim results and voice events where nobody asked for them', () => {
    const stream = answers({ interimResults: false, vadEvents: false });
    expect(stream.onSpeechStarted(0, 320)).toEqual([]);
    expect(stream.onSaid(0, said('Hello', 320, 900, false))).toEqual([]);
  });

  it('say of a cut that speech goes on', () => {
    const stream = answers();
    stream.onSpeechStarted(0, 0);
    expect(stream.onSaid(0, said('Long', 0, 11_500))).toMatchObject([{ is_final: true, speech_final: false }]);
    stream.onSpeechStopped(0, 14_000);
    expect(stream.onSaid(0, said('speech.', 11_500, 14_000))).toMatchObject([{ is_final: true, speech_final: true }]);
  });

  it('keep a cut and the end behind it apart although both are late', () => {
    const stream = answers();
    stream.onSpeechStarted(0, 0);
    stream.onSpeechStopped(0, 14_000);
    expect(stream.onSaid(0, said('Long', 0, 11_500))).toMatchObject([{ speech_final: false }]);
    expect(stream.onSaid(0, said('speech.', 11_500, 14_000))).toMatchObject([{ speech_final: true }]);
  });

  it('never say speech_final where silence ends nothing', () => {
    const stream = answers({ endpointMs: false });
    stream.onSpeechStarted(0, 0);
    stream.onSpeechStopped(0, 2000);
    expect(stream.onSaid(0, said('Yes.', 0, 2000))).toMatchObject([{ is_final: true, speech_final: false }]);
    expect(stream.advance(60_000)).toEqual([]);
  });

  it('answer each Finalize, also one with nothing to tell', () => {
    const stream = answers();
    expect(stream.onFlushed(1000)).toMatchObject([
      results('', { is_final: true, speech_final: false, from_finalize: true, start: 0, duration: 1 }),
    ]);
    expect(stream.onFlushed(1500)).toHaveLength(1);
  });

  it('mark the last final before a Finalize, and no other', () => {
    const stream = answers();
    stream.onSpeechStarted(0, 0);
    stream.onSpeechStopped(0, 900);
    expect(stream.onSaid(0, said('One.', 0, 900), true)).toEqual([]);
    expect(stream.onSaid(0, said('Two.', 1300, 2000), true)).toMatchObject([results('One.', { from_finalize: false })]);
    expect(stream.onFlushed(2100)).toMatchObject([
      results('Two.', { is_final: true, from_finalize: true, speech_final: false }),
    ]);
  });

  it('tell the end of speech behind a Finalize when silence has lasted', () => {
    const stream = answers();
    stream.onSpeechStarted(0, 0);
    stream.onSpeechStopped(0, 900);
    stream.onSaid(0, said('One.', 0, 900), true);
    stream.onFlushed(900);
    expect(stream.advance(2000)).toEqual([]);
    expect(stream.advance(2300)).toMatchObject([results('', { is_final: true, speech_final: true })]);
    expect(stream.advance(9000)).toEqual([]);
  });

  it('end a noise that was told as the beginning of speech', () => {
    const stream = answers();
    stream.onSpeechStarted(0, 0);
    stream.onSpeechStopped(0, 300);
    expect(stream.advance(1700)).toMatchObject([results('', { is_final: true, speech_final: true, start: 0 })]);
  });

  it('answer a Finalize of one channel for that one', () => {
    const stream = answers({ facts: { ...FACTS, channels: 2 } });
    stream.onSaid(0, said('One.', 0, 900), true);
    expect(stream.onFlushed(900, 1)).toMatchObject([
      { channel_index: [0, 2], from_finalize: false },
      { channel_index: [1, 2], from_finalize: true },
    ]);
  });

  it('tell UtteranceEnd once, a while after the last word', () => {
    const stream = answers({ utteranceEndMs: 1000 });
    stream.onSpeechStarted(0, 0);
    stream.onSaid(0, said('One', 0, 800, false));
    stream.onSpeechStopped(0, 900);
    expect(stream.advance(2000)).toEqual([]);
    stream.onSaid(0, said('One.', 0, 900));
    expect(stream.advance(1890)).toEqual([]);
    expect(stream.advance(1910)).toEqual([{ type: 'UtteranceEnd', channel: [0, 1], last_word_end: 0.9 }]);
    expect(stream.advance(5000)).toEqual([]);
    stream.onSpeechStarted(0, 5100);
    stream.onSpeechStopped(0, 6000);
    stream.onSaid(0, said('Two.', 5100, 6000));
    expect(stream.advance(7010)).toMatchObject([{ last_word_end: 6 }]);
  });

  it('tell UtteranceEnd later through a noise, and not while somebody speaks', () => {
    const stream = answers({ utteranceEndMs: 1000 });
    stream.onSpeechStarted(0, 0);
    stream.onSpeechStopped(0, 900);
    stream.onSaid(0, said('One.', 0, 900));
    stream.onSpeechStarted(0, 1300);
    expect(stream.advance(4800)).toEqual([]);
    expect(stream.advance(5000)).toMatchObject([{ type: 'UtteranceEnd' }]);
  });

  it('judge UtteranceEnd by interim words where silence ends nothing', () => {
    const stream = answers({ utteranceEndMs: 1000, endpointMs: false });
    stream.onSpeechStarted(0, 0);
    stream.onSaid(0, said('One', 0, 900, false));
    expect(stream.advance(1800)).toEqual([]);
    expect(stream.advance(1900)).toMatchObject([{ type: 'UtteranceEnd', last_word_end: 0.9 }]);
  });

  it('tell at the end what was held back', () => {
    const stream = answers();
    stream.onSaid(0, said('Bye.', 0, 900), true);
    expect(stream.end()).toMatchObject([results('Bye.', { is_final: true, speech_final: true, from_finalize: false })]);
    expect(stream.end()).toEqual([]);
  });

  it('pass over channels that there are not', () => {
    expect(answers().onSaid(1, said('One.', 0, 900))).toEqual([]);
    expect(answers().onSpeechStarted(1, 0)).toEqual([]);
  });
});
