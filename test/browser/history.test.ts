/** The history of the page, above answers of a server that the tests make up. */
import type { BrowserContextOptions } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { findBarriers } from './axe.ts';
import { type Answers, answer, CALLS, FOUND, refusal, USUAL } from './console-answers.ts';
import { complaints, gateway, openBlank, page, usePage } from './page-test.ts';

usePage();

async function open(hash: string, answers: Answers = {}, options: BrowserContextOptions = {}): Promise<void> {
  await openBlank({ viewport: { width: 1440, height: 900 }, ...options });
  await answer(page, { ...USUAL, ...answers });
  await page.goto(`${gateway.url}${hash}`);
}

const rows = () => page.locator('.found-call');
const row = (name: string) => rows().filter({ hasText: name });
const address = () => page.evaluate('location.hash');

/** What the page asks of `/v1/calls`, as it asks it. */
function asked(): { answers: Answers; queries: string[] } {
  const queries: string[] = [];
  const answers: Answers = {
    '/v1/calls': (url) => {
      // The page also keeps up the list of live calls.
      if (!url.searchParams.has('state')) queries.push(url.search.slice(1));
      return { data: url.searchParams.has('q') ? FOUND : CALLS, next: url.searchParams.has('cursor') ? null : 'c2' };
    },
  };
  return { answers, queries };
}

describe('the history', () => {
  it('has a line of 44 px for each call: when, who, how long, why it ended, what marks it', async () => {
    await open('#/history');
    await expect.poll(() => rows().count()).toBe(CALLS.length);
    const lines = await rows().allInnerTexts();
    expect(lines[1]).toMatch(/Maria Keller → Tom[\s\S]*3:12[\s\S]*hung up[\s\S]*call back[\s\S]*refund/);
    expect(lines[2]).toMatch(/\+14155550296 → 102[\s\S]*stream lost[\s\S]*1 hole/);
    const heights = await rows().evaluateAll((all) => all.map((each) => each.querySelector('a')?.offsetHeight));
    expect(new Set(heights)).toEqual(new Set([44]));
    expect(await page.locator('.keeping').innerText()).toBe('kept 30 days · numbers redacted');
    expect(complaints).toEqual([]);
  });

  it('searches while somebody types, marks the words, and says it in the address', async () => {
    const { answers, queries } = asked();
    await open('#/history', answers);
    await rows().first().waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('cancel OR refund');
    await expect.poll(() => rows().count()).toBe(1);
    expect(await page.locator('.found-call mark').allInnerTexts()).toEqual(['CANCEL', 'cancel']);
    expect(await row('Maria').innerText()).toContain('Maria Keller: …I really want to CANCEL');
    expect(queries.at(-1)).toContain('q=cancel+OR+refund');
    expect(await address()).toBe('#/history?q=cancel+OR+refund');
    expect(await row('Maria').locator('a').getAttribute('href')).toBe('#/calls/CA1?at=14000');
  });

  it('filters, shows what filters there are, and takes them away again', async () => {
    const { answers, queries } = asked();
    await open('#/history', answers);
    await page.getByLabel('Ended').selectOption('lost');
    await page.getByRole('button', { name: 'With holes' }).click();
    await page.locator('#history-more').selectOption('agent');
    await page.getByLabel('Value of the filter').fill('tom');
    await page.keyboard.press('Enter');
    await expect.poll(() => queries.at(-1)).toBe('endReason=lost&agent=tom&hasGap=true&limit=50');
    await page.getByRole('button', { name: 'Remove the filter Agent tom' }).click();
    await expect.poll(() => queries.at(-1)).toBe('endReason=lost&hasGap=true&limit=50');
    await page.goBack();
    await expect.poll(() => queries.at(-1)).toContain('agent=tom');
  });

  it('opens from its address alone, with all of the search', async () => {
    const { answers, queries } = asked();
    await open('#/history?q=cancel&when=2026-01-01..2026-01-31&carrier=sip&hole=1', answers);
    await expect.poll(() => queries.length).toBeGreaterThan(0);
    const query = new URLSearchParams(queries[0]);
    expect(Object.fromEntries(query)).toMatchObject({ q: 'cancel', carrier: 'sip', hasGap: 'true', limit: '50' });
    expect(new Date(query.get('until') ?? '').getTime() - new Date(query.get('since') ?? '').getTime()).toBe(
      31 * 86_400_000,
    );
    expect(await page.locator('#history-q').inputValue()).toBe('cancel');
    expect(await page.locator('#history-when').inputValue()).toBe('days');
  });

  it('is worked with the keyboard alone: search, rows, pages, open', async () => {
    const { answers, queries } = asked();
    await open('#/history', answers);
    await expect.poll(() => rows().count()).toBe(CALLS.length);
    await page.keyboard.press('/');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    expect(await page.locator(':focus').getAttribute('data-id')).toBe('CA1');
    await page.keyboard.press('End');
    expect(await page.locator(':focus').getAttribute('data-id')).toBe('CA6');
    await page.keyboard.press('n');
    await expect.poll(() => queries.at(-1)).toContain('cursor=c2');
    await expect.poll(() => page.locator('.page-number').innerText()).toBe('Page 2');
    await page.keyboard.press('p');
    await expect.poll(() => queries.at(-1)).not.toContain('cursor');
    await page.keyboard.press('Home');
    await page.keyboard.press('Enter');
    await expect.poll(address).toBe('#/calls/CA0');
  });

  it('is as it was when somebody comes back from a call: its search, and the row that was opened', async () => {
    const { answers } = asked();
    await open('#/history?q=cancel&agent=tom', { ...answers, '/v1/calls/CA1': FOUND[0] as object });
    await row('Maria').locator('a').click();
    await page.getByRole('heading', { name: 'Maria Keller → Tom' }).waitFor();
    expect(await page.locator('#tabs [aria-current]').innerText()).toBe('History');
    expect(await page.locator('.back').innerText()).toBe('‹ History');
    await page.keyboard.press('Escape');
    await expect.poll(() => page.locator(':focus').getAttribute('data-id')).toBe('CA1');
    expect(await address()).toBe('#/history?q=cancel&agent=tom');
  });

  it('offers the whole search for download', async () => {
    await open('#/history?q=cancel&agent=tom');
    await page.getByText('Export', { exact: true }).click();
    const link = page.getByRole('link', { name: 'CSV, for spreadsheets' });
    expect(await link.getAttribute('href')).toBe('/v1/calls/export?q=cancel&agent=tom&format=csv');
  });

  it('deletes a call after it was asked for twice', async () => {
    const deleted: string[] = [];
    const answers: Answers = {
      '/v1/calls/CA1': (_url, route) => {
        if (route.request().method() === 'DELETE') deleted.push('CA1');
        return {};
      },
    };
    await open('#/history', answers);
    await row('Maria').locator('a').focus();
    await page.keyboard.press('Delete');
    await page.getByRole('button', { name: 'Keep' }).click();
    expect(deleted).toEqual([]);
    expect(await page.locator(':focus').count()).toBe(1);
    await row('Maria').hover();
    await page.getByRole('button', { name: 'Delete the call Maria Keller → Tom' }).click();
    await page.getByRole('button', { name: 'Delete', exact: true }).click();
    await expect.poll(() => deleted).toEqual(['CA1']);
    await page.getByText('The call was deleted.').waitFor();
  });

  it('says what to do where nothing is found, and where nothing is kept', async () => {
    await open('#/history?agent=nobody', { '/v1/calls': { data: [], next: null } });
    await page.getByText('No call is like that.').waitFor();
    await page.getByRole('button', { name: 'Show all calls' }).click();
    await page.getByRole('button', { name: 'Place a demo call' }).waitFor();
    expect(await address()).toBe('#/history');
    await page.context().close();
    const off = refusal(501, 'records_off', 'nothing is kept: set DATA_DIR to search');
    await open('#/history?q=cancel', {
      '/v1/calls': (url) => (url.searchParams.has('q') ? off : { data: [], next: null }),
    });
    await page.getByText('nothing is kept: set DATA_DIR to search').waitFor();
  });

  it('says what is wrong with a search in the words of the server', async () => {
    const wrong = refusal(400, 'invalid_request', 'q: expected at least one word to look for');
    await open('#/history?q=-', {
      '/v1/calls': (url) => (url.searchParams.has('q') ? wrong : { data: [], next: null }),
    });
    await expect.poll(() => page.locator('#history-problem').innerText()).toContain('expected at least one word');
  });

  it('offers an agent neither export nor deletion', async () => {
    const person = { name: 'tom', role: 'agent', agent: 'tom', permissions: ['calls.read'] };
    await open('#/history', { '/v1/session': person });
    await expect.poll(() => rows().count()).toBe(CALLS.length);
    expect(await page.getByText('Export', { exact: true }).isVisible()).toBe(false);
    expect(await page.locator('.erase').count()).toBe(0);
    expect(await page.locator('.keeping').innerText()).toBe('numbers masked');
  });

  it.each([
    ['at a desk, light', 1440, 'light'],
    ['at a desk, dark', 1440, 'dark'],
    ['on a phone, light', 375, 'light'],
    ['on a phone, dark', 375, 'dark'],
  ] as const)('has no barriers and fits its width %s', async (_where, width, colorScheme) => {
    await open('#/history?q=cancel&agent=tom', {}, { viewport: { width, height: 800 }, colorScheme });
    await expect.poll(() => rows().count()).toBe(1);
    expect(await findBarriers(page, '#view')).toEqual([]);
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
    expect(complaints).toEqual([]);
  });
});
