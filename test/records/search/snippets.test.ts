import { describe, expect, it } from 'vitest';
import { parseSearch } from '../../../src/records/search/search-query.ts';
import { snippetOf } from '../../../src/records/search/snippets.ts';

const marked = (text: string, typed: string): string =>
  snippetOf(text, parseSearch(typed))
    .map((part) => (part.marked ? `[${part.text}]` : part.text))
    .join('');

describe('the snippet of a text', () => {
  it.each([
    ['I want to CANCEL my order.', 'cancel', 'I want to [CANCEL] my order.'],
    ['I want to cancel, cancel!', 'cancel', 'I want to [cancel], [cancel]!'],
    ["Don't do that.", "don't", "[Don't] do that."],
    ['Do not. T is a letter.', "don't that OR letter", 'Do not. T is a [letter].'],
    ['the very slow, slow internet', '"very slow" inter*', 'the [very slow], slow [internet]'],
    ['Ein Café für alle', 'cafe OR fur', 'Ein [Café] [für] alle'],
    ['nothing here', 'other', 'nothing here'],
  ])('marks what was searched for: %s', (text, typed, expected) => {
    expect(marked(text, typed)).toBe(expected);
  });

  it('is cut at words around the first mark where the text is long', () => {
    const text = `${'one two '.repeat(100)}needle ${'three four '.repeat(100)}`;
    const found = marked(text, 'needle');
    expect(found).toMatch(/^…(one|two) .* \[needle\] three .*(three|four)…$/);
    expect(found.length).toBeLessThan(260);
  });
});
