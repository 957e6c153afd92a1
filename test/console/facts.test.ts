/** Facts in what was said, as the console finds them. */
import { describe, expect, it } from 'vitest';
import { packagePath } from '../../src/foundation/folders/paths.ts';

interface Fact {
  kind: string;
  value: string;
  words: string;
}
interface PageFacts {
  factsOf(text: string): Fact[];
  uniqueFacts(facts: Iterable<Fact>): Fact[];
}

const { factsOf, uniqueFacts } = (await import(packagePath('src', 'console', 'page', 'call', 'facts.js'))) as PageFacts;

const found = (text: string) => factsOf(text).map(({ kind, value }) => `${kind} ${value}`);

describe('facts', () => {
  it('have the word before them where it says what they are', () => {
    expect(factsOf('The order number is 4711.')[0]?.words).toBe('order');
    expect(factsOf('You should get 100 megabits.')[0]?.words).toBe('');
  });

  it.each([
    ['Mail maria.k+1@example.co.uk, please.', ['email maria.k+1@example.co.uk']],
    ['It is Maria at example dot com.', ['email maria@example.com']],
    ['Call me at 415-555-0123 or +49 (30) 1234567.', ['phone 415-555-0123', 'phone +49 (30) 1234567']],
    ['My order number is 4711.', ['number 4711']],
    ['It is four seven double one, I think.', ['number 4711']],
    ['oh one five one two three four five six seven', ['phone 0151234567']],
    ['That is $1,299.50 or 20 euros.', ['amount $1,299.50', 'amount 20 euros']],
    ['On Tuesday at 3:30 pm, or 5 o’clock.', ['date Tuesday', 'time 3:30 pm', 'time 5 o’clock']],
    [
      'Born on March 3rd, 1980, or 2026-11-22, or 1/2/2026.',
      ['date March 3rd, 1980', 'date 2026-11-22', 'date 1/2/2026'],
    ],
    ['The 21st of November 2026 or tomorrow.', ['date 21st of November 2026', 'date tomorrow']],
    ['I have two cats and one dog. May I?', []],
    ['One two.', []],
    ['We met at the station dot', []],
  ])('of %j are %j', (text, facts) => {
    expect(found(text)).toEqual(facts);
  });

  it('say what a number is where a word before it does', () => {
    expect(factsOf('my order number is 4711 and the 55512')).toMatchObject([
      { value: '4711', words: 'order' },
      { value: '55512', words: '' },
    ]);
  });

  it('are listed once, with what says what they are', () => {
    const facts = ['4711 it is', 'order 4711', 'Mail A@b.de', 'mail a@B.de'].flatMap((text) => factsOf(text));
    expect(uniqueFacts(facts).map(({ value, words }) => [value, words])).toEqual([
      ['4711', 'order'],
      ['a@b.de', ''],
    ]);
  });

  it('of a long text without any are found in time', () => {
    const started = performance.now();
    for (const text of ['1 '.repeat(20_000), 'a.'.repeat(20_000), 'one '.repeat(20_000), 'a at b '.repeat(5000)])
      factsOf(text);
    expect(performance.now() - started).toBeLessThan(5000);
  });
});
