/** The Markdown files of the repository, as the tests of the documents read them. */
import { readdirSync, readFileSync } from 'node:fs';
import { packagePath } from '../../src/foundation/folders/paths.ts';

/** Folders whose Markdown is somebody else's, or not in the repository. */
const FOREIGN_FOLDERS = /^(?:node_modules|dist|coverage|shared|\.(?!github\/).*?)\//;

/** Paths of all our Markdown files from the package's root, with `/` between their parts. */
export function markdownFiles(): string[] {
  return listFolder('').filter((path) => path.endsWith('.md'));
}

function listFolder(folder: string): string[] {
  return readdirSync(packagePath(folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}${entry.name}`;
    if (!entry.isDirectory()) return [path];
    return FOREIGN_FOLDERS.test(`${path}/`) ? [] : listFolder(`${path}/`);
  });
}

/** The text of the file at `path` from the package's root. */
export function readText(path: string): string {
  return readFileSync(packagePath(...path.split('/')), 'utf8');
}

/** `markdown` without its fenced code. */
export function withoutCode(markdown: string): string {
  return markdown.replace(/^( *)```.*?^\1```/gms, '');
}

/**
 * The anchors of `markdown`, as GitHub makes them of its headings: lower case, only letters, digits, `_`, `-` and
 * spaces, spaces as `-`, and a number for each repetition.
 */
export function anchorsOf(markdown: string): string[] {
  const counts = new Map<string, number>();
  return [...withoutCode(markdown).matchAll(/^#{1,6} +(.+?) *$/gm)].map(([, heading = '']) => {
    const anchor = heading
      .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .toLowerCase()
      .replace(/[^\p{L}\p{N}_\- ]/gu, '')
      .replaceAll(' ', '-');
    const count = counts.get(anchor) ?? 0;
    counts.set(anchor, count + 1);
    return count === 0 ? anchor : `${anchor}-${count}`;
  });
}

/** The rows of the tables in `markdown`, a list of cells each; heads and rules are left out. */
export function tableRows(markdown: string): string[][] {
  const lines = markdown.split('\n');
  const isRule = (line: string | undefined) => /^ *\|[ :|-]+\|$/.test(line ?? '');
  return lines
    .filter((line, index) => line.startsWith('|') && !isRule(line) && !isRule(lines[index + 1]))
    .map((line) =>
      line
        .slice(1, line.lastIndexOf('|'))
        .split('|')
        .map((cell) => cell.trim()),
    );
}

/** {@link tableRows} with the code marks around whole cells taken off. */
export function plainRows(markdown: string): string[][] {
  return tableRows(markdown).map((cells) => cells.map((cell) => cell.replace(/^`(.*)`$/, '$1')));
}

/**
 * What stands below the heading `heading` in `markdown`, up to the next one of its rank. Throws where it is missing.
 */
export function sectionOf(markdown: string, heading: string): string {
  const from = markdown.indexOf(`\n${heading}\n`);
  if (from < 0) throw new Error(`there is no heading "${heading}"`);
  const rank = heading.indexOf(' ');
  const below = markdown.slice(from + heading.length + 2);
  return below.split(new RegExp(`^#{1,${rank}} `, 'm'))[0] ?? '';
}
