import { beforeEach, describe, expect, it } from 'vitest';
import { Attempts } from '../../../src/http/access/attempts.ts';
import { FakeClock } from '../../fakes/clock.ts';

const STRANGER = { address: '192.0.2.1', isShared: false };
const OTHER = { address: '192.0.2.2', isShared: false };
/** A proxy that does not say for whom it asks. */
const PROXY = { address: '127.0.0.1', isShared: true };

let clock: FakeClock;
let attempts: Attempts;
beforeEach(() => {
  clock = new FakeClock();
  attempts = new Attempts({ clock });
});

const right = (client = STRANGER) => attempts.attempt(client, () => true);
const wrong = (client = STRANGER) => attempts.attempt(client, () => false);
const wrongs = (count: number, client = STRANGER) => Array.from({ length: count }, () => wrong(client));

describe('an address', () => {
  it('may offer ten wrong keys in a row; then none of its keys is looked at, but for one every six seconds', () => {
    expect(wrongs(11)).toEqual([...Array(10).fill('wrong'), 'refused']);
    let looks = 0;
    const look = () => {
      looks += 1;
      return true;
    };
    expect([attempts.attempt(STRANGER, look), looks]).toEqual(['refused', 0]);
    clock.advance(6000);
    expect([wrong(), wrong()]).toEqual(['wrong', 'refused']);
    clock.advance(6000);
    expect([attempts.attempt(STRANGER, look), looks]).toEqual(['right', 1]);
  });

  it('shuts no other out', () => {
    wrongs(11);
    expect(right(OTHER)).toBe('right');
  });

  it('begins a new row with each right key', () => {
    expect([...wrongs(9), right(), ...wrongs(9), right()]).not.toContain('refused');
  });

  it('from which a right key came before still gets in with one, while a guesser who shares it hears that it was too often', () => {
    right();
    expect(wrongs(12).slice(10)).toEqual(['refused', 'refused']);
    expect([right(), wrong()]).toEqual(['right', 'wrong']);
  });

  it('that several may share gets in with a right key, though none came before', () => {
    expect(wrongs(12, PROXY).slice(10)).toEqual(['refused', 'refused']);
    expect(right(PROXY)).toBe('right');
  });

  it.each([
    ['from which right keys come', STRANGER],
    ['that is shared', PROXY],
  ])('%s may not guess without end: after a hundred wrong keys ten a second are looked at', (_which, client) => {
    let looks = 0;
    const guess = () => {
      looks += 1;
      return false;
    };
    right(client);
    for (let i = 0; i < 1000; i++) {
      attempts.attempt(client, guess);
      if (i % 9 === 8 && i < 90) right(client);
    }
    expect(looks).toBe(100);
    expect(right(client)).toBe('refused');
    for (let second = 0; second < 60; second++) {
      clock.advance(1000);
      for (let i = 0; i < 1000; i++) attempts.attempt(client, guess);
    }
    expect(looks).toBe(700);
  });

  it('keeps its good name however many others guess', () => {
    right();
    for (let i = 0; i < 20_000; i++) wrong({ address: `10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`, isShared: false });
    wrongs(11);
    expect(right()).toBe('right');
  });
});
