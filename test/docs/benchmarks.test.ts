import { existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { packagePath } from '../../src/foundation/folders/paths.ts';
import { plainRows, readText } from './markdown.ts';

const ROWS = plainRows(readText('docs/internals/benchmarks/README.md'));
const NAMES = [...readText('test/bench/main.ts').matchAll(/\bbench\(\s*'([\w-]+)'/g)].map(([, name = '']) => name);

describe('docs/internals/benchmarks/README.md', () => {
  it('has a row for each benchmark, by name', () => {
    expect(ROWS.map(([name]) => name)).toEqual(NAMES.toSorted());
  });

  it.each(ROWS)('says of %s whether a page is kept', (name = '', _, kept = '') => {
    const page = packagePath('docs', 'internals', 'benchmarks', `${name}.md`);
    expect(existsSync(page)).toBe(!kept.startsWith('not yet'));
  });
});
