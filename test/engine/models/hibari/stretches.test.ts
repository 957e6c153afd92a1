import { describe, expect, it } from 'vitest';
import { maxPhonemesOf, planStretches } from '../../../../engine/models/hibari/stretches.ts';

const clauses = (...phonemes: string[]) => phonemes.map((each) => ({ text: '', phonemes: each }));
const plan = (...phonemes: string[]) => planStretches(clauses(...phonemes)).map((stretch) => stretch.phonemes);

describe('the runs of a line', () => {
  it('are one for a short line', () => {
    expect(plan('wˈʌn, ', 'tˈu, ', 'θɹˈi.')).toEqual(['wˈʌn, tˈu, θɹˈi.']);
  });

  it('are a short first one, then as few as their length allows', () => {
    const clause = 'a'.repeat(18);
    const parts = plan(...Array<string>(6).fill(`${clause}, `), `${clause}.`);
    expect(parts.map((part) => part.length)).toEqual([19, 59, 59]);
    expect(parts.join(' ')).toBe(`${`${clause}, `.repeat(6)}${clause}.`);
  });

  it('never begin or end with a word or two', () => {
    const long = 'a'.repeat(70);
    expect(plan('nˈO, ', `${long}.`)).toEqual([`nˈO, ${long}.`]);
    expect(plan(`${long}, `, 'nˈO.')).toEqual([`${long}, nˈO.`]);
  });

  it('pause as long as the voice does where it reads over a clause', () => {
    const long = 'a'.repeat(40);
    const pauses = planStretches(clauses(`${long}, `, `${long}; `, `${long}? `, `${long} `, long)).map(
      ({ pauseMs }) => pauseMs,
    );
    expect(pauses).toEqual([270, 200, 360, 60, 60]);
  });

  it('are of shorter clauses where speech is slow', () => {
    expect([0.25, 0.5, 0.8, 1, 4].map(maxPhonemesOf)).toEqual([60, 60, 80, 100, 100]);
  });

  it('are none where there is nothing to say', () => {
    expect(plan()).toEqual([]);
    expect(plan('…')).toEqual([]);
  });
});
