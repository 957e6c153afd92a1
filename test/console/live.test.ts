/** What the wall needs no browser for: the order of cards, words to look out for, addresses. */
import { describe, expect, it } from 'vitest';
import { packagePath } from '../../src/foundation/folders/paths.ts';

const load = (...path: string[]) => import(packagePath('src', 'console', 'page', ...path));

interface Ordered {
  id: string;
  level: string;
  startedAt: string;
}
const { CardOrder } = (await load('live', 'card-order.js')) as {
  CardOrder: new () => { arrange(calls: readonly Ordered[], nowMs: number): string[] };
};
const { patternOf, splitMarked, endOf } = (await load('live', 'highlight.js')) as {
  patternOf(list: string): RegExp | null;
  splitMarked(text: string, pattern: RegExp | null): { text: string; marked: boolean }[];
  endOf(text: string, chars: number): string;
};
const { parseRoute, addressOf } = (await load('router.js')) as {
  parseRoute(hash: string): { view: string; params: Record<string, string> };
  addressOf(view: string, params?: Record<string, string>): string;
};

describe('the order of cards', () => {
  const calls = (...levels: string[]) => levels.map((level, at) => ({ id: `${at}`, level, startedAt: `2026-0${at}` }));

  it('moves a call up when it is bad for a second, and down when it was good for fifteen', () => {
    const order = new CardOrder();
    expect(order.arrange(calls('ok', 'ok', 'ok'), 0)).toEqual(['0', '1', '2']);
    expect(order.arrange(calls('ok', 'ok', 'slow'), 100)).toEqual(['0', '1', '2']);
    expect(order.arrange(calls('ok', 'ok', 'slow'), 1100)).toEqual(['2', '0', '1']);
    expect(order.arrange(calls('ok', 'ok', 'ok'), 2000)).toEqual(['2', '0', '1']);
    expect(order.arrange(calls('ok', 'failed', 'slow'), 9000)).toEqual(['2', '0', '1']);
    expect(order.arrange(calls('ok', 'failed', 'ok'), 10_500)).toEqual(['1', '2', '0']);
    expect(order.arrange(calls('ok', 'failed', 'ok'), 25_400)).toEqual(['1', '2', '0']);
    expect(order.arrange(calls('ok', 'failed', 'ok'), 25_600)).toEqual(['1', '0', '2']);
  });

  it('has calls that begin badly on top at once, and held ones among the rest', () => {
    expect(new CardOrder().arrange(calls('ok', 'held', 'slow', 'failed'), 0)).toEqual(['3', '2', '0', '1']);
  });
});

describe('words to look out for', () => {
  it.each([
    ['cancel*, refund', 'I cancelled it. Refund! refunds', ['cancelled', 'Refund']],
    ['red light', 'the red  light, redlight', ['red  light']],
    ['über', 'Über alles, darüber', ['Über']],
    ['(a+)+', 'aaaa (a+)+', ['(a+)+']],
    [' , ;', 'nothing', []],
  ])('%j in %j are %j', (list, text, marked) => {
    const pieces = splitMarked(text, patternOf(list));
    expect(pieces.filter((piece) => piece.marked).map((piece) => piece.text)).toEqual(marked);
    expect(pieces.map((piece) => piece.text).join('')).toBe(text);
  });

  it('lets the end of a text begin with a whole word', () => {
    expect(endOf('one two three', 9)).toBe('… three');
    expect(endOf('short', 9)).toBe('short');
  });
});

describe('addresses', () => {
  it.each([
    ['#/live', 'live', {}],
    ['#/live?q=a%20b', 'live', { q: 'a b' }],
    ['#/calls/CA%2F1?at=12000', 'calls', { id: 'CA/1', at: '12000' }],
    ['#/history?q=refund&tag=vip', 'history', { q: 'refund', tag: 'vip' }],
    ['#CA1', 'calls', { id: 'CA1' }],
    ['#%zz', 'calls', { id: '%zz' }],
    ['', 'live', {}],
    ['#/calls', 'live', {}],
    ['#/what', 'live', {}],
  ])('%s is the view %s', (hash, view, params) => {
    expect(parseRoute(hash)).toEqual({ view, params });
  });

  it('leave out what is empty, and lead back to the same route', () => {
    expect(addressOf('live', { q: '', queue: '' })).toBe('#/live');
    expect(parseRoute(addressOf('calls', { id: 'a/b ?#', at: '5' }))).toEqual({
      view: 'calls',
      params: { id: 'a/b ?#', at: '5' },
    });
  });
});
