/** What axe (https://github.com/dequelabs/axe-core) finds in a page as it is now. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

interface Violation {
  readonly id: string;
  readonly nodes: readonly { readonly html: string }[];
}

/** One line for each rule that is broken in `selector`, with the first element that breaks it. */
export async function findBarriers(page: Page, selector = 'html'): Promise<string[]> {
  await page.evaluate(AXE);
  const violations = await page.evaluate(`axe.run('${selector}').then(({ violations }) => violations)`);
  return (violations as Violation[]).map(({ id, nodes }) => `${id}: ${nodes[0]?.html ?? ''}`);
}
