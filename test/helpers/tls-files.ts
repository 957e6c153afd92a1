/** The certificates of fixtures/tls. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** The path of a file there. */
export function tlsPath(name: string): string {
  return fileURLToPath(new URL(`../../fixtures/tls/${name}`, import.meta.url));
}

/** The text of a file there. */
export function tlsText(name: string): string {
  return readFileSync(tlsPath(name), 'utf8');
}
