import { describe, expect, it } from 'vitest';
import {
  agreedTerms,
  answerHeaders,
  answerTerms,
  readTimerHeaders,
  requestHeaders,
  type TimerHeaders,
} from '../../../../src/carriers/sip/wire/session-timer.ts';

const headers = (values: Readonly<Record<string, string | readonly string[]>>): TimerHeaders =>
  readTimerHeaders((name) => [values[name] ?? []].flat());

const NOTHING = { supported: false, expires: null, minimumS: 90 };

describe('the headers of session timers', () => {
  it.each([
    [{}, NOTHING],
    [{ supported: '100rel, Timer' }, { ...NOTHING, supported: true }],
    [{ supported: ['100rel', 'timer'] }, { ...NOTHING, supported: true }],
    [{ require: 'timer' }, { ...NOTHING, supported: true }],
    [{ supported: 'timers, xtimer' }, NOTHING],
    [{ 'session-expires': '1800' }, { ...NOTHING, expires: { intervalS: 1800, refresher: null } }],
    [
      { 'session-expires': ' 1800 ; Refresher = UAS;x=1' },
      { ...NOTHING, expires: { intervalS: 1800, refresher: 'uas' } },
    ],
    [{ 'session-expires': '1800;refresher=proxy' }, { ...NOTHING, expires: { intervalS: 1800, refresher: null } }],
    [{ 'session-expires': '0' }, NOTHING],
    [{ 'session-expires': '-5' }, NOTHING],
    [{ 'session-expires': '99999999999' }, NOTHING],
    [{ 'min-se': '300' }, { ...NOTHING, minimumS: 300 }],
    [{ 'min-se': '30;x' }, NOTHING],
    [{ 'min-se': 'soon' }, NOTHING],
  ])('%j are read as %j', (values, expected) => {
    expect(headers(values)).toEqual(expected);
  });
});

describe('the answer to a request', () => {
  const asked = (expires: string | null, more: Readonly<Record<string, string>> = {}): TimerHeaders =>
    headers({ supported: 'timer', ...(expires === null ? {} : { 'session-expires': expires }), ...more });

  it.each([
    ['nothing is asked for, and we want nothing', asked(null), 0, null],
    ['nothing is asked for, and we want one', asked(null), 1800, { intervalS: 1800, refresher: 'uas' }],
    ['the peer does not know timers, and a proxy asks', headers({ 'session-expires': '600' }), 1800, null],
    ['the peer wants less than we do', asked('600'), 1800, { intervalS: 600, refresher: 'uac' }],
    ['the peer wants more than we do', asked('3600'), 1800, { intervalS: 1800, refresher: 'uac' }],
    ['the peer wants one, and we none', asked('3600'), 0, { intervalS: 3600, refresher: 'uac' }],
    ['the peer leaves the refreshing to us', asked('3600;refresher=uas'), 1800, { intervalS: 1800, refresher: 'uas' }],
    ['the peer does it itself', asked('3600;refresher=uac'), 1800, { intervalS: 1800, refresher: 'uac' }],
    [
      'the peer may not go below its minimum',
      asked('3600', { 'min-se': '2400' }),
      1800,
      { intervalS: 2400, refresher: 'uac' },
    ],
    [
      'nothing is asked for, and the minimum is above what we want',
      asked(null, { 'min-se': '2400' }),
      1800,
      { intervalS: 2400, refresher: 'uas' },
    ],
    ['the peer wants years', asked('4000000000'), 0, { intervalS: 86_400, refresher: 'uac' }],
    ['the shortest', asked('90'), 1800, { intervalS: 90, refresher: 'uac' }],
    [
      'the shortest beyond it',
      headers({ supported: 'timer', 'session-expires': '100', 'min-se': '200' }),
      1800,
      { intervalS: 100, refresher: 'uac' },
    ],
    [
      'the shortest beyond what we wish',
      headers({ supported: 'timer', 'session-expires': '900', 'min-se': '200' }),
      120,
      { intervalS: 200, refresher: 'uac' },
    ],
    ['one below the shortest', asked('89'), 1800, 'too-small'],
  ] as const)('where %s', (_what, request, wantedS, expected) => {
    expect(answerTerms(request, wantedS)).toEqual(expected);
  });

  it('demands of a peer that refreshes that it does so', () => {
    expect(answerHeaders({ intervalS: 600, refresher: 'uac' })).toEqual([
      'Session-Expires: 600;refresher=uac',
      'Require: timer',
    ]);
    expect(answerHeaders({ intervalS: 600, refresher: 'uas' })).toEqual(['Session-Expires: 600;refresher=uas']);
    expect(answerHeaders(null)).toEqual([]);
  });
});

describe('a request of ours', () => {
  it('asks for an interval, and repeats a minimum that it was told', () => {
    expect(requestHeaders(1800, null, 90)).toEqual(['Session-Expires: 1800']);
    expect(requestHeaders(600, 'uac', 600)).toEqual(['Session-Expires: 600;refresher=uac', 'Min-SE: 600']);
  });

  it('is agreed to as its answer says', () => {
    expect(agreedTerms(headers({}))).toBeNull();
    expect(agreedTerms(headers({ 'session-expires': '600;refresher=uas' }))).toEqual({
      intervalS: 600,
      refresher: 'uas',
    });
    expect(agreedTerms(headers({ 'session-expires': '600' }))).toEqual({ intervalS: 600, refresher: 'uac' });
    expect(agreedTerms(headers({ 'session-expires': '3;refresher=uac' }))).toEqual({ intervalS: 90, refresher: 'uac' });
  });
});
