import { describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { YamlDocument } from '../../src/foundation/yaml-document.ts';
import { parseYaml } from '../../src/foundation/yaml-text.ts';

describe('a YAML file of the operator', () => {
  it.each([
    ['a: 1\n[b, c]: 2\n', 'file.yaml:2:1: got a list as a key, expected a text'],
    ['a:\n  {b: c}: 2\n', 'file.yaml:2:3: got a mapping as a key, expected a text'],
  ])('is refused where a key is a collection, without a warning of the parser', (text, message) => {
    const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
    expect(() => parseYaml(text, 'file.yaml', z.unknown())).toThrow(message);
    expect(warn).not.toHaveBeenCalled();
    warn.mockRestore();
  });

  it.each(['[', '- ', '? ', '{a: ', '[\n'])(
    'is refused where %j is nested without end: it would end the process',
    (text) => {
      expect(() => parseYaml(text.repeat(20_000), 'file.yaml', z.unknown())).toThrow(
        /^file\.yaml:\d+:\d+: is nested deeper than 100 levels$/,
      );
    },
  );

  it.each([
    ['a: *\n', '1:4: a text that begins with * stands in quotes (Alias cannot be an empty string)'],
    [
      'a: Now: here\n',
      '1:4: a text with a colon and a space stands in quotes (Nested mappings are not allowed in compact mappings)',
    ],
    [
      'a: {name}, hello\n',
      '1:10: a text that begins with {, [ or a quote stands in quotes as a whole (Unexpected scalar at node end)',
    ],
    ['a: 1\na: 2\n', '2:1: the same key stands above'],
    ['a:\n\tb: 1\n', '2:1: lines are indented by spaces (Tabs are not allowed as indentation)'],
    ['a: 1\n---\nb: 2\n', '2:1: expected one document, without ---'],
    ['a: &x 1\nb: *x\n', '2:4: has aliases (*), expected none'],
  ])('says of %j what helps', (text, message) => {
    expect(() => parseYaml(text, 'file.yaml', z.unknown())).toThrow(`file.yaml:${message}`);
  });

  it.each([
    ['the same key over and over', 'a: 1\n'.repeat(50_000), 100],
    ['many keys', Array.from({ length: 50_000 }, (_, at) => `k${at}: 1\n`).join(''), 0],
  ])('reads %s without comparing each with each', (_, text, count) => {
    expect(new YamlDocument(text).problems).toHaveLength(count);
  });

  it('takes a key with and without quotes for the same', () => {
    expect(new YamlDocument('1: a\n"1": b\n').problems).toEqual([
      { line: 2, column: 1, message: 'the same key stands above' },
    ]);
  });

  it.each([
    ['a tab', 'a:\n\tb: 1\n  c: 2\nd: 3\n e: 4', '2:1: lines are indented by spaces'],
    ['a line that begins elsewhere', 'a:\n    b: 1\n   c: 2\n    d: 3', '3:1: All mapping items must start'],
  ])('tells of %s, and not what follows from it', (_what, text, first) => {
    const told = new YamlDocument(text).problems.map(({ line, column, message }) => `${line}:${column}: ${message}`);
    expect(told).toEqual([expect.stringContaining(first)]);
  });

  it('tells the first thing that the parser cannot read, and not what follows from it', () => {
    const { problems } = new YamlDocument(`a: {b}, c\n${'d: e\n'.repeat(50)}`);
    expect(problems.map(({ line, column }) => [line, column])).toEqual([[1, 7]]);
  });

  const schema = z.strictObject({
    name: z.string().min(1),
    kind: z.enum(['digits', 'text']).optional(),
    count: z.number().int().min(1).max(9).optional(),
    list: z.array(z.string()).min(1).optional(),
    prompt: z.union([z.string(), z.strictObject({ text: z.string() })]).optional(),
    keys: z.record(z.string().regex(/^\d$/, 'expected a digit'), z.string()).optional(),
  });
  it.each([
    ['name: 5', '1:7: name: got a number, expected a text in quotes'],
    ['kind: text', '1:1: name: is missing, expected a text'],
    ['name: ""', '1:7: name: got a text, expected a text that is not empty'],
    ['name: a\nnaem: b', '2:1: naem: is unknown, did you mean name? expected name, kind, count, list, prompt or keys'],
    ['name: a\nkind: digts', '2:7: kind: got a text, did you mean digits? expected digits or text'],
    ['name: a\ncount: 10', '2:8: count: got the number 10, expected at most 9'],
    ['name: a\ncount: 1.5', '2:8: count: got the number 1.5, expected a whole number'],
    ['name: a\nlist: []', '2:7: list: got a list, expected at least 1 entry'],
    ['name: a\nprompt: [b]', '2:9: prompt: got a list, expected a text or lines such as "text: …"'],
    ['name: a\nprompt: {txt: b}', '2:10: prompt.txt: is unknown, did you mean text? expected text'],
    ['name: a\nkeys: {a: b}', '2:8: keys.a: expected a digit'],
    ['- a', '1:1: the file: got a list, expected lines such as "name: …"'],
  ])('says of %j what came and what was expected', (text, message) => {
    expect(() => parseYaml(text, 'file.yaml', schema)).toThrow(`file.yaml:${message}`);
  });
});
