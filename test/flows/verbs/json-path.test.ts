import { describe, expect, it } from 'vitest';
import { readJsonPath, valueAt } from '../../../src/flows/verbs/json-path.ts';

const ORDER = { order: { status: 'shipped', 'due date': '2026-12-01', lines: [{ n: 1 }, { n: 2 }], "it's": true } };
const at = (path: string) => valueAt(ORDER, readJsonPath(path));

describe('a JSON path', () => {
  it.each([
    ['$', ORDER],
    ['$.order.status', 'shipped'],
    ["$['order']['due date']", '2026-12-01'],
    ['$["order"].lines[0].n', 1],
    ['$.order.lines[-1].n', 2],
    ['$ .order [ "status" ]', 'shipped'],
    [String.raw`$.order['it\'s']`, true],
    [String.raw`$["\u006frder"].status`, 'shipped'],
    ['$.order.lines[2].n', undefined],
    ['$.order.lines.n', undefined],
    ['$.order[0]', undefined],
    ['$.order.constructor', undefined],
    ['$.order.status.length', undefined],
  ])('%s finds what it names', (path, value) => {
    expect(at(path)).toEqual(value);
  });

  it.each(['', 'order', '$.', '$..status', '$.*', '$[*]', '$[0:2]', '$[?@.n>1]', '$[01]', "$['a'", '$.a b', '$[-0]'])(
    '%s is refused, with what is allowed',
    (path) => {
      expect(() => readJsonPath(path)).toThrow(/expected/);
    },
  );

  it('has a greatest length and number of names', () => {
    expect(() => readJsonPath(`$.${'a'.repeat(500)}`)).toThrow('500');
    expect(() => readJsonPath(`$${'.a'.repeat(51)}`)).toThrow('50');
  });
});
