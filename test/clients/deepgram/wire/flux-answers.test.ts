import { describe, expect, it } from 'vitest';
import { FluxAnswers, type FluxMessage } from '../../../../src/clients/deepgram/wire/flux-answers.ts';
import type { SaidText } from '../../../../src/clients/deepgram/wire/messages.ts';

function said(text: string, startMs: number, endMs: number, final = false): SaidText {
  return { text, final, startMs, endMs, words: text === '' ? [] : [{ text, startMs, endMs }] };
}

function open(eagerThreshold: number | null = 0.4): FluxAnswers {
  return new FluxAnswers({ requestId: 'id-1', eagerThreshold, threshold: 0.7, isMultilingual: false });
}

function events(messages: readonly FluxMessage[]): (readonly [string, string])[] {
  return messages.map((message) => (message.type === 'TurnInfo' ? [message.event, message.transcript] : ['', '']));
}

describe('the turns of /v2/listen', () => {
  it('begin with the connection, and go on in one sequence', () => {
    const turns = open();
    expect(turns.open()).toEqual({ type: 'Connected', request_id: 'id-1', sequence_id: 0 });
    expect(turns.onSaid(said('Hello', 300, 900), 1)).toEqual([
      {
        type: 'TurnInfo',
        request_id: 'id-1',
        sequence_id: 1,
        event: 'StartOfTurn',
        turn_index: 0,
        audio_window_start: 0.3,
        audio_window_end: 0.9,
        transcript: 'Hello',
        words: [{ word: 'hello', confidence: 0.9, start: 0.3, end: 0.9 }],
        end_of_turn_confidence: 0.05,
      },
    ]);
    expect(turns.onSaid(said('Hello there', 300, 1200), 1)).toMatchObject([{ sequence_id: 2, event: 'Update' }]);
  });

  it('are told as probably over in a pause, and as resumed', () => {
    const turns = open();
    turns.onSaid(said('I would', 0, 900), 1);
    expect(events(turns.onPaused(said('I would like', 0, 1000), 1))).toEqual([['EagerEndOfTurn', 'I would like']]);
    expect(events(turns.onPaused(said('I would like', 0, 1000), 1))).toEqual([]);
    expect(events(turns.onResumed())).toEqual([['TurnResumed', 'I would like']]);
    expect(events(turns.onResumed())).toEqual([]);
    expect(events(turns.onPaused(said('I would like tea.', 0, 2000), 1))).toEqual([
      ['EagerEndOfTurn', 'I would like tea.'],
    ]);
    expect(events(turns.onSaid(said('I would like tea.', 0, 2000, true), 1))).toEqual([]);
    expect(turns.onTurnEnded()).toMatchObject([{ event: 'EndOfTurn', transcript: 'I would like tea.', turn_index: 0 }]);
    expect(turns.onSaid(said('And', 3000, 3300), 1)).toMatchObject([{ event: 'StartOfTurn', turn_index: 1 }]);
  });

  it('join the utterances of a turn', () => {
    const turns = open();
    turns.onSaid(said('It is', 0, 900, true), 1);
    turns.onSaid(said('four', 2000, 2300), 1);
    turns.onSaid(said('', 2000, 2300, true), 1);
    turns.onSaid(said('four two.', 3000, 3300, true), 1);
    expect(turns.onTurnEnded()).toMatchObject([{ transcript: 'It is four two.', words: [{}, {}] }]);
    expect(turns.onTurnEnded()).toEqual([]);
  });

  it('are told as probably over only to who asked for that, and where it is sure enough', () => {
    expect(events(open(null).onPaused(said('Yes.', 0, 500), 1))).toEqual([['StartOfTurn', 'Yes.']]);
    expect(events(open(0.8).onPaused(said('Yes.', 0, 500), 1))).toEqual([['StartOfTurn', 'Yes.']]);
    const turns = open(null);
    turns.setEagerThreshold(0.4);
    expect(events(turns.onPaused(said('Yes.', 0, 500), 1))).toEqual([
      ['StartOfTurn', 'Yes.'],
      ['EagerEndOfTurn', 'Yes.'],
    ]);
  });

  it('keep what was said in the next turn before the end of the last one was known', () => {
    const turns = open();
    turns.onSaid(said('Yes', 0, 500), 1);
    turns.onSaid(said('Yes.', 0, 500, true), 1);
    turns.onSaid(said('But', 2000, 2300), 2);
    expect(turns.onTurnEnded(1)).toMatchObject([
      { event: 'EndOfTurn', transcript: 'Yes.', turn_index: 0 },
      { event: 'StartOfTurn', transcript: 'But', turn_index: 1, audio_window_start: 2 },
    ]);
    expect(turns.onTurnEnded(1)).toEqual([]);
    expect(turns.onSaid(said('But so', 2000, 2600), 2)).toMatchObject([{ event: 'Update', turn_index: 1 }]);
  });

  it('are none without words', () => {
    const turns = open();
    expect(turns.onSaid(said('', 0, 500, true), 1)).toEqual([]);
    expect(turns.onPaused(said('', 0, 500), 1)).toEqual([]);
    expect(turns.onResumed()).toEqual([]);
    expect(turns.onTurnEnded()).toEqual([]);
  });

  it('have as much confidence at their end as was asked for', () => {
    const turns = new FluxAnswers({ requestId: 'id-1', eagerThreshold: null, threshold: 0.95, isMultilingual: true });
    turns.onSaid(said('Yes.', 0, 500, true), 1);
    expect(turns.onTurnEnded()).toMatchObject([{ end_of_turn_confidence: 0.95 }]);
  });

  it('say the languages of a turn where the model is for several, and what ended it', () => {
    const turns = new FluxAnswers({ requestId: 'id-1', eagerThreshold: null, threshold: 0.7, isMultilingual: true });
    const [first] = turns.onSaid(said('Hi.', 0, 500, true), 1);
    expect(first).not.toHaveProperty('languages');
    turns.onSaid({ ...said('Si.', 600, 900, true), language: 'it' }, 2);
    turns.onSaid({ ...said('Yes.', 1000, 1300, true), language: 'en' }, 3);
    turns.onSaid({ ...said('No.', 1400, 1700, true), language: 'en' }, 4);
    expect(turns.onTurnEnded(undefined, 'manual')).toMatchObject([{ languages: ['en', 'it'], trigger: 'manual' }]);
  });
});
