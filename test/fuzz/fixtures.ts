import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The wire fixtures of one carrier whose names end in `ending`. */
export function wireFixtures(carrier: string, ending: string): Uint8Array[] {
  const folder = join(import.meta.dirname, '../../fixtures/wire', carrier);
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith(ending));
  return files.sort().map((file) => readFileSync(join(folder, file)));
}
