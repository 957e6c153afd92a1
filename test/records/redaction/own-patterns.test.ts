import { describe, expect, it } from 'vitest';
import { LinearPattern } from '../../../src/records/redaction/linear-pattern.ts';
import { readOwnPatterns } from '../../../src/records/redaction/own-patterns.ts';

describe('a pattern in linear time', () => {
  it.each([
    ['ab+c', 'xabbbc abc', ['abbbc', 'abc']],
    ['\\bpol-?\\d{3,5}\\b', 'POL-123 pol99 POL12345 POL123456', ['POL-123', 'POL12345']],
    ['(red|green) car', 'Green cars, blue car', ['Green car']],
    ['[^a-c\\s]{2}', 'ab xy', ['xy']],
    ['a(?:b|c)?d', 'ad abd acd abcd', ['ad', 'abd', 'acd']],
    ['\\p', null, []],
    ['x{2}', 'xxxx xx', ['xxxx', 'xx']],
    ['.\\.', 'a.b', ['a.']],
  ])('%s', (pattern, text, expected) => {
    if (text === null) {
      expect(() => new LinearPattern(pattern)).toThrow('\\p');
      return;
    }
    expect(new LinearPattern(pattern).find(text).map(({ from, to }) => text.slice(from, to))).toEqual(expected);
  });

  it.each([
    '(a+)+$',
    '(?=a)',
    '(a)\\1',
    'a**',
    'a*',
    '(',
    '[a',
    'a{2,1}',
    '((a{100}){100}){100}',
    '^a',
    '(?<n>a)',
    'b{999}',
  ])('refuses %s', (pattern) => {
    expect(() => new LinearPattern(pattern)).toThrow('got ');
  });

  it('cannot be made to hang by groups of nothing that repeat each other', () => {
    expect(new LinearPattern(`${'('.repeat(15)}${'){99}'.repeat(15)}a`).find('ba')).toEqual([{ from: 1, to: 2 }]);
  });

  it('cannot be made to hang', () => {
    const pattern = new LinearPattern('(a+)+(a|aa)+(a*)*b');
    const before = process.cpuUsage();
    expect(pattern.find('a'.repeat(20_000))).toEqual([]);
    expect(process.cpuUsage(before).user / 1000).toBeLessThan(2000);
  });

  it('agrees with RegExp on what is in a match', () => {
    for (const source of ['a(b|c)*d', '\\bab?\\b', '[ab]{2,3}c', 'a.c|bd?', '(ab|a)(bc|c)']) {
      const pattern = new LinearPattern(source);
      for (let number = 0; number < 3000; number++) {
        const text = number.toString(5).replace(/\d/g, (digit) => 'abcd '.charAt(Number(digit)));
        const whole = new RegExp(`^(?:${source})$`);
        const isIn = (at: number): boolean => {
          for (let from = 0; from <= at; from++)
            for (let to = at + 1; to <= text.length; to++)
              if (hasBoundaries(source, text, from, to) && whole.test(text.slice(from, to))) return true;
          return false;
        };
        const found = pattern.find(text);
        for (let at = 0; at < text.length; at++)
          expect(
            found.some(({ from, to }) => from <= at && at < to),
            `${source} in ${text} at ${at}`,
          ).toBe(isIn(at));
      }
    }
  });
});

/** A slice has boundaries of its own, which the text may not have. */
function hasBoundaries(source: string, text: string, from: number, to: number): boolean {
  if (!source.startsWith('\\b')) return true;
  return !/\w/.test(text[from - 1] ?? ' ') && !/\w/.test(text[to] ?? ' ');
}

describe('a file of patterns', () => {
  it('masks with the names, also what is said as words', () => {
    const { patterns, problems } = readOwnPatterns('# ours\n\npolicy number: \\bpolicy \\d{4}\\b\n');
    expect(problems).toEqual([]);
    const pieces = ['my policy four one two seven', 'and policy 4321'];
    expect(patterns.find(pieces)).toEqual([
      { label: 'policy number', spans: [{ piece: 1, from: 4, to: 15 }] },
      { label: 'policy number', spans: [{ piece: 0, from: 3, to: 28 }] },
      { label: 'policy number', spans: [{ piece: 1, from: 4, to: 15 }] },
    ]);
  });

  it('is refused by the line', () => {
    const { problems } = readOwnPatterns('fine: a\nbad\nworse: (a\nempty: b*\n');
    expect(problems).toEqual([
      'line 2: expected NAME: PATTERN',
      'line 3: got a ( without its ) at character 2',
      'line 4: got a pattern that matches an empty text',
    ]);
    const long = Array.from({ length: 30 }, () => 'n: [a-z]{99}').join('\n');
    expect(readOwnPatterns(long).problems).toEqual([expect.stringContaining('steps in all')]);
  });
});
