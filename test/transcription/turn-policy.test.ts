import { describe, expect, it } from 'vitest';
import { type TurnEvidence, turnLimit } from '../../src/transcription/turn-policy.ts';
import { readSettings } from '../helpers/settings.ts';

const settings = readSettings({ ENDPOINT_MS: '400', TURN_HOLD_MS: '900', TURN_DIGITS_MS: '1600' });
const eager = readSettings({ TURN_EARLY_ABOVE: '0.95' });

function limit(evidence: Partial<TurnEvidence>, using = settings) {
  return turnLimit({ probability: null, text: '', language: 'en', expected: null, ...evidence }, using);
}

const AT_ENDPOINT = { silenceMs: 400, by: 'endpoint' };
const HELD = { silenceMs: 900, by: 'held' };

describe('the silence that ends a turn', () => {
  it('is that of an utterance when the turn model says nothing, unless nobody ends with the words', () => {
    expect(limit({ text: 'My name' })).toEqual(AT_ENDPOINT);
    expect(limit({ text: 'Yes, it is' })).toEqual(AT_ENDPOINT);
    expect(limit({ text: 'My name is' })).toEqual(HELD);
  });

  it.each([
    [0.19, HELD],
    [0.2, AT_ENDPOINT],
    [1, AT_ENDPOINT],
  ])('is what the model says: %s', (probability, expected) => {
    expect(limit({ probability })).toEqual(expected);
  });

  it('is none when the model is sure, if that is wanted', () => {
    expect(limit({ probability: 0.96 }, eager)).toEqual({ silenceMs: 0, by: 'early' });
    expect(limit({ probability: 0.95 }, eager)).toEqual(AT_ENDPOINT);
    expect(limit({ probability: 0.96, text: 'My name is' }, eager)).toEqual(HELD);
  });

  it('is longer after words that nobody ends with', () => {
    expect(limit({ probability: 0.98, text: 'My account number is.' })).toEqual(HELD);
    expect(limit({ probability: 0.4, text: 'That is my account.' })).toEqual(AT_ENDPOINT);
    expect(limit({ probability: 0.4, text: 'Das ist der', language: 'de' })).toEqual(AT_ENDPOINT);
  });

  it('is longer after words that few end with, unless the model hears an end', () => {
    expect(limit({ probability: 0.4, text: 'The one I came with.' })).toEqual(HELD);
    expect(limit({ probability: 0.6, text: 'I know where it is.' })).toEqual(AT_ENDPOINT);
  });

  it('is never shorter than the endpoint', () => {
    const slow = readSettings({ ENDPOINT_MS: '2000' });
    expect(limit({ probability: 0.1 }, slow)).toEqual({ silenceMs: 2000, by: 'held' });
    expect(limit({ text: '4', expected: {} }, slow)).toEqual({ silenceMs: 2000, by: 'digits' });
  });

  it('holds nothing where that is turned off', () => {
    const never = readSettings({ TURN_HOLD_BELOW: '0' });
    expect(limit({ probability: 0, text: 'and' }, never)).toEqual({ silenceMs: 400, by: 'endpoint' });
  });
});

describe('where digits are expected', () => {
  it.each([
    ['four one five', {}, 1600],
    ['My number is', {}, 1600],
    ['four one five', { max: 10 }, 1600],
    ['four one five', { min: 4, max: 6 }, 1600],
    ['four one five six', { min: 4, max: 6 }, 900],
    ['four one five six', { min: 4 }, 900],
    ['four one five six', { max: 3 }, 900],
    ['four one five six', { max: 4 }, 0],
    ['415 555 0123', { min: 10, max: 10 }, 0],
  ])('%j with %o waits for %s ms', (text, expected, silenceMs) => {
    expect(limit({ text, expected, probability: 0.9 })).toEqual({ silenceMs, by: 'digits' });
  });

  it('other answers end as they always do', () => {
    expect(limit({ text: 'I do not have it', expected: { max: 4 } })).toEqual(AT_ENDPOINT);
    expect(limit({ text: 'I have to look for', expected: {}, probability: 0.1 })).toEqual(HELD);
    expect(limit({ text: '', expected: {} })).toEqual(AT_ENDPOINT);
  });
});
