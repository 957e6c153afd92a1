import { readFileSync } from 'node:fs';
import { packagePath } from '../../src/foundation/folders/paths.ts';

/**
 * The rows of the tables in docs/reference/`name`: a list of cells each, without code marks. Heads and rules are left
 * out.
 */
export function readTable(name: string): string[][] {
  const lines = readFileSync(packagePath('docs', 'reference', name), 'utf8').split('\n');
  const rows = lines.filter((line) => line.startsWith('| `'));
  return rows.map((row) =>
    row
      .slice(1, row.lastIndexOf('|'))
      .split('|')
      .map((cell) => cell.trim().replace(/^`(.*)`$/, '$1')),
  );
}
