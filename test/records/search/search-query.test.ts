import { describe, expect, it } from 'vitest';
import { toFts5, toTsquery } from '../../../src/records/search/search-match.ts';
import { formatSearch, parseSearch } from '../../../src/records/search/search-query.ts';

describe('what is typed to search', () => {
  it.each([
    ['refund', '"refund"'],
    ['Refund  CARD', '"refund" "card"'],
    ['refund OR cancel card', '"refund" OR "cancel" "card"'],
    ['a OR b OR c', '"a" OR "b" OR "c"'],
    ['"very slow" internet', '"very slow" "internet"'],
    ['"very slow', '"very slow"'],
    ['inter*', '"inter"*'],
    ['"very slo"*', '"very slo"*'],
    ['red -light', '"red" -"light"'],
    ['red -"second light"', '"red" -"second light"'],
    ["don't", '"don t"'],
    ['well-known', '"well known"'],
    ['12.50 €', '"12 50"'],
    ['Café', '"cafe"'],
    ['OR refund OR', '"refund"'],
    ['or', '"or"'],
    ['- refund', '"refund"'],
    ['text:refund NEAR(a b)', '"text refund" "near a" "b"'],
    ['a AND b NOT c', '"a" "and" "b" "not" "c"'],
  ])('reads %s', (typed, meant) => {
    expect(formatSearch(parseSearch(typed))).toBe(meant);
  });

  it.each([
    ['', 'query.q: expected at least one word to look for, with letters or digits'],
    ['!?', 'query.q: expected at least one word to look for, with letters or digits'],
    ['-light', 'query.q: expected at least one word to look for, with letters or digits'],
    ['in*', 'query.q: got a beginning of 2 characters, expected at least 3 before the *'],
    ['x '.repeat(33), 'query.q: got 33 words, expected at most 32'],
    ['x'.repeat(501), 'query.q: got 501 characters, expected at most 500'],
  ])('refuses %j', (typed, message) => {
    expect(() => parseSearch(typed)).toThrow(expect.objectContaining({ code: 'invalid_request', message, param: 'q' }));
  });

  it('becomes an expression of FTS5 whose block stands first and whose exclusions stand outermost', () => {
    expect(toFts5(parseSearch('a OR "b c" def* -e'), 'b7')).toBe(
      '(blocks : "b7" AND text : ("a" OR "b c") AND text : ("def" *)) NOT text : ("e")',
    );
  });

  it('becomes a tsquery', () => {
    expect(toTsquery(parseSearch('a OR "b c" def* -e'))).toBe("(('a') | ('b' <-> 'c')) & (('def':*)) & !('e')");
  });
});
