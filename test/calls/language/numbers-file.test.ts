import { describe, expect, it } from 'vitest';
import { calledNumber, NumberBook, parseNumbers } from '../../../src/calls/language/numbers-file.ts';

const FILE = `
numbers:
  - number: "+49 30 123456"
    language: de
    hotWords: [Müller, Trunkline]
  - {number: "+49*", language: german}
  - {number: "+4930*", language: auto}
  - {number: "sip:support@example.com", language: pt-BR}
`;

describe('NUMBERS_FILE', () => {
  const book = new NumberBook(parseNumbers(FILE, 'numbers.yaml'));

  it.each([
    ['+4930123456', 'de'],
    ['4930123456', 'de'],
    ['tel:+49-30-123456', 'de'],
    ['sip:+4930123456@carrier.example;user=phone', 'de'],
    ['+4930999', 'auto'],
    ['+4989', 'german'],
    ['sip:Support@10.0.0.1', 'pt-BR'],
    ['+44', undefined],
    [null, undefined],
    ['', undefined],
  ])('knows of %s that %s is spoken', (told, language) => {
    expect(book.find(told)?.language).toBe(language);
  });

  it('has the words that are likely to be said', () => {
    expect(book.find('+4930123456')?.hotWords).toEqual(['Müller', 'Trunkline']);
    expect(book.find('+4989')?.hotWords).toEqual([]);
  });

  it.each([
    ['numbers:\n  - number: +4930123\n', 'n.yaml:2:13: numbers.0.number: got a number, expected a number in quotes'],
    [
      'numbers:\n  - {number: "1", langauge: de}\n',
      'n.yaml:2:19: numbers.0.langauge: is unknown, did you mean language?',
    ],
    [
      'numbers:\n  - {number: "1", language: "speaks German"}\n',
      'n.yaml:2:29: numbers.0.language: expected a language',
    ],
    ['numbers:\n  - {number: "+1"}\n  - {number: "1"}\n', 'n.yaml:3:14: numbers.1.number: stands above already'],
    ['numbers: 5\n', 'n.yaml:1:10: numbers: '],
    [`numbers:\n  - {number: "1", hotWords: [${'a'.repeat(65)}]}\n`, 'n.yaml:2:30: numbers.0.hotWords.0: '],
    ['numbers: [', 'n.yaml:1:11: '],
  ])('refuses %j', (text, message) => {
    expect(() => parseNumbers(text, 'n.yaml')).toThrow(message);
  });

  it('compares numbers however they are written', () => {
    expect(calledNumber('+49 (30) 12/34-56')).toBe('4930123456');
    expect(calledNumber('SIP:Anna@Example.com')).toBe('anna');
  });
});
