import assert from 'node:assert/strict';
import { TrunklineError } from '../../../src/foundation/errors.ts';
import { toFts5, toTsquery } from '../../../src/records/search/search-match.ts';
import { formatSearch, parseSearch, type SearchQuery } from '../../../src/records/search/search-query.ts';
import { snippetOf } from '../../../src/records/search/snippets.ts';
import type { FuzzTarget } from '../fuzz.ts';

const SEEDS = ['refund OR cancel card', '"very slow" inter* -light', "don't well-known 12.50", 'Ein "Café in" KÖLN*'];

/**
 * What people type to search is read or refused; what was read means the same when it is written out and read again,
 * nothing of it can be an operator of a database, and the parts of a snippet are its text.
 */
export const target: FuzzTarget = {
  name: 'search-query',
  seeds: SEEDS.map((seed) => Buffer.from(seed)),
  words: ['"', ' OR ', ' -', '*', '"*', ' NEAR(', ' AND ', ' NOT ', ':', "'", '\\', '\u0000', '&', '|', '!', '<->'],
  run(input) {
    const typed = Buffer.from(input).toString();
    let query: SearchQuery;
    try {
      query = parseSearch(typed);
    } catch (error) {
      assert(error instanceof TrunklineError && error.code === 'invalid_request', 'something else was thrown');
      return;
    }
    for (const phrase of [...query.required.flat(), ...query.excluded]) {
      assert(phrase.words.length > 0);
      for (const word of phrase.words) assert.match(word, /^[\p{L}\p{N}\p{M}ー]+$/u);
    }
    assert.deepEqual(parseSearch(formatSearch(query)), query);
    assert(!/["'\\]/.test(toFts5(query, 'b1').replace(/"[\p{L}\p{N}\p{M}ー ]+"/gu, '')), 'a quote is open');
    assert(!/["'\\]/.test(toTsquery(query).replace(/'[\p{L}\p{N}\p{M}ー]+'/gu, '')), 'a quote is open');
    const shown = snippetOf(typed, query);
    const text = shown.map((part) => part.text).join('');
    if (typed.length <= 240) assert.equal(text, typed);
  },
};
