/** How the page is styled. Class names are global in a page, so each belongs to one view. */
import { posix } from 'node:path';
import type { SourceFile } from './source.ts';

/** Where a class is styled that several views have. */
const SHARED = 'src/console/page/';

/**
 * Classes whose rules begin with them in the style sheets of two views, or of a view and of the whole page. A view may
 * style what is shared inside of its own: `.history .chip`.
 */
export function findSharedClasses(files: readonly SourceFile[]): string[] {
  const owners = new Map<string, Set<string>>();
  for (const { path, text } of files) {
    const owner = posix.join(posix.dirname(path), '/');
    for (const name of leadingClasses(text)) owners.set(name, (owners.get(name) ?? new Set()).add(owner));
  }
  return [...owners]
    .filter(([, folders]) => folders.size > 1)
    .map(([name, folders]) => `.${name} is styled in ${[...folders].map(nameFolder).toSorted().join(' and ')}`);
}

function nameFolder(folder: string): string {
  return folder === SHARED ? 'the whole page' : folder.slice(SHARED.length, -1);
}

/** Classes with which a selector begins. */
function leadingClasses(css: string): Set<string> {
  const selectors = css
    .replace(/\/\*[\s\S]*?\*\//g, '')
    .replace(/\([^()]*\)/g, '')
    .split('{')
    .flatMap((before) => (before.split(/[};]/).at(-1) ?? '').split(','));
  return new Set(selectors.flatMap((selector) => /^\s*\.([\w-]+)/.exec(selector)?.[1] ?? []));
}
