/** The file with which the page names carriers, made from the list of parts. */
import { PARTS } from '../src/gateway/parts.ts';
import { carriersOf } from '../src/parts/lists.ts';
import type { Part } from '../src/parts/part.ts';

/** The text of src/console/page/carriers.js. */
export function carriersFile(parts: readonly Part[] = PARTS): string {
  const rows = carriersOf(parts).map(({ id, name }) => `  ['${id}', '${name}'],\n`);
  return `/** Made by \`npm run docs\` from the list of parts (src/gateway/parts.ts). Do not edit it. */

/** What people call carriers, in the order of the guide. @type {ReadonlyMap<string, string>} */
export const CARRIER_NAMES = new Map([
${rows.join('')}]);
`;
}
