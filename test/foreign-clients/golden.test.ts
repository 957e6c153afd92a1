import { describe, expect, it } from 'vitest';
import { differences, mayBeLoad } from './golden.ts';

describe('a golden', () => {
  it('is met by the same JSON, and by nothing else', () => {
    const golden = { type: 'final', words: ['a', 'b'], more: { none: null } };
    expect(differences(structuredClone(golden), golden)).toEqual([]);
    expect(differences({ ...golden, type: 'partial' }, golden)).toEqual(['it.type: got "partial", expected "final"']);
    expect(differences({ ...golden, words: ['a'] }, golden)).toHaveLength(1);
    expect(differences({ ...golden, extra: 1 }, golden)).toEqual(['it.extra: got 1, expected nothing']);
    expect(differences({ type: 'final' }, golden)).toHaveLength(2);
  });

  it('may leave out what differs each time, but not that it is there', () => {
    expect(differences({ id: 'x', at: 3 }, { id: '*', at: '#' })).toEqual([]);
    expect(differences({ id: '', at: '3' }, { id: '*', at: '#' })).toHaveLength(2);
    expect(differences({}, { id: '*' })).toHaveLength(1);
  });

  it('takes a few other words for the same speech', () => {
    const golden = '~Please leave a message after the tone.';
    expect(differences('please leave a message after the tone', golden)).toEqual([]);
    expect(differences('Please leave a massage after the tone.', golden)).toEqual([]);
    expect(differences('Please leave the massage after that tone.', golden)).toHaveLength(1);
    expect(differences('', golden)).toHaveLength(1);
  });

  it('knows what a busy machine may leave out', () => {
    const early = differences({ turns: { eager: false } }, { turns: { eager: true } });
    expect(early.map(mayBeLoad)).toEqual([true]);
    const others = differences({ eager: null, text: false }, { eager: true, text: true });
    expect(others.map(mayBeLoad)).toEqual([false, false]);
  });
});
