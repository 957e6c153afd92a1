/** Paths of files in the installed package, whether it runs from `src` (tests) or from `dist`. */
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

function findRoot(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, 'package.json'))) folder = dirname(folder);
  return folder;
}

const ROOT = findRoot();

/** Absolute path of a file or folder in the package, e.g. `packagePath('src', 'console', 'page')`. */
export function packagePath(...parts: string[]): string {
  return join(ROOT, ...parts);
}

const isCheckout = existsSync(join(ROOT, 'tsconfig.json'));

/** How people type the command, in a checkout or where a packed Trunkline is installed. */
export const COMMAND = isCheckout ? 'npm run trunkline --' : 'npx trunkline';

/** A file of the package as people type it: as it is called in a checkout, elsewhere with its whole path. */
export function typedPath(...parts: string[]): string {
  return isCheckout ? parts.join('/') : packagePath(...parts);
}
