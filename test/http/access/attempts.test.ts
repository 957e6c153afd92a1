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

describe('an IPv6 site', () => {
  const from = (network: number, site = '2001:db8:7') => ({ address: `${site}:${network}`, isShared: false });

  it('may offer a hundred wrong keys from all of its networks, then a hundred a minute', () => {
    const guesses = Array.from({ length: 300 }, (_, network) => wrong(from(network)));
    expect(guesses.filter((outcome) => outcome === 'wrong')).toHaveLength(100);
    clock.advance(60_000);
    const later = Array.from({ length: 300 }, (_, network) => wrong(from(1000 + network)));
    expect(later.filter((outcome) => outcome === 'wrong')).toHaveLength(100);
  });

  it('shuts out neither another site nor whoever was right before', () => {
    right(from(1));
    for (let network = 2; network < 300; network++) wrong(from(network));
    expect([right(from(2)), right(from(1)), right(from(1, '2001:db8:8'))]).toEqual(['refused', 'right', 'right']);
  });
});

describe('a name', () => {
  const guess = (at: number, isKnownBrowser = false) =>
    attempts.begin({ address: `192.0.2.${at}`, isShared: false }, { name: 'bob', isKnownBrowser });

  it('gets in with a browser that it has signed in with, while strangers guess from everywhere', () => {
    for (let at = 0; at < 10; at++) expect(guess(at)?.isKnown).toBe(false);
    expect(guess(10)).toBeNull();
    expect(guess(11, true)?.isKnown).toBe(true);
  });

  it('may not be guessed without end in such a browser', () => {
    const known = Array.from({ length: 30 }, () => guess(1, true));
    expect(known.filter((attempt) => attempt !== null)).toHaveLength(10);
  });
});
