/** What axe (https://github.com/dequelabs/axe-core) finds in a page as it is now: WCAG 2.2 AA and good practice. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
/** Named, because some rules run only when they are asked for. */
const TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

interface Violation {
  readonly id: string;
  readonly nodes: readonly { readonly target: readonly string[] }[];
}

/**
 * One line for each element in `selector` that breaks a rule: `rule: selector`. The policy of the page forbids scripts
 * in it, and axe comes past it.
 */
export async function findBarriers(page: Page, selector = 'html'): Promise<string[]> {
  await page.evaluate(AXE);
  const run = `axe.run('${selector}', { runOnly: ${JSON.stringify(TAGS)} })`;
  const { violations } = await page.evaluate<{ violations: readonly Violation[] }>(run);
  return violations.flatMap(({ id, nodes }) => nodes.map(({ target }) => `${id}: ${target.join(' ')}`));
}
