import { describe, expect, it } from 'vitest';
import { TurnText } from '../../src/transcription/turn-text.ts';

const said = (utterance: number, text: string, final = true) => ({ utterance, text, final });

describe('the words of a turn', () => {
  it('are those of all its utterances, the running one with its text so far', () => {
    const turn = new TurnText();
    turn.add(said(1, 'My number'));
    turn.add(said(2, 'is four', false));
    expect(turn.text).toBe('My number is four');
    turn.add(said(2, 'is four one.'));
    expect([turn.text, turn.take(2), turn.text]).toEqual(['My number is four one.', 'My number is four one.', '']);
  });

  it('are the latest version of each, whatever the order in which they came', () => {
    const turn = new TurnText();
    turn.add(said(1, 'Ever tried.'));
    turn.add(said(2, 'Have a failed.'));
    turn.revise({ utterance: 2, first: 1, version: 3, text: 'ever failed.' });
    turn.revise({ utterance: 2, first: 1, version: 2, text: 'have failed.' });
    turn.revise({ utterance: 1, first: 1, version: 2, text: 'Ever tried,' });
    turn.revise({ utterance: 7, first: 1, version: 2, text: 'Not of this turn' });
    expect(turn.take(2)).toBe('Ever tried, ever failed.');
  });

  it('lose what a revision empties, and what is left out', () => {
    const turn = new TurnText();
    turn.add(said(1, 'Hm.'));
    turn.revise({ utterance: 1, first: 1, version: 2, text: '' });
    turn.add(said(2, 'our own echo', false));
    turn.drop(2);
    expect([turn.text, turn.take(2)]).toEqual(['', '']);
  });

  it('stay when they are of a later turn', () => {
    const turn = new TurnText();
    turn.add(said(1, 'Yes.'));
    turn.add(said(2, 'And'));
    turn.add(said(3, 'then', false));
    expect([turn.take(1), turn.text]).toEqual(['Yes.', 'And then']);
  });

  it('stay as they were when a word has moved from or to a turn that is told', () => {
    const turn = new TurnText();
    turn.add(said(1, 'One two.'));
    turn.take(1);
    turn.add(said(2, 'Three.'));
    turn.revise({ utterance: 1, first: 1, version: 2, text: 'One' });
    turn.revise({ utterance: 2, first: 1, version: 2, text: 'two three.' });
    expect(turn.take(2)).toBe('Three.');
  });

  it('have no spaces where their script has none', () => {
    const turn = new TurnText();
    turn.add(said(1, '我的号码'));
    turn.add(said(2, '是一二三'));
    expect(turn.take(2)).toBe('我的号码是一二三');
  });
});
