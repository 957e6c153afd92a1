/** What is around the views: addresses, the connection, the key, sizes and themes, the help. */
import { beforeEach, describe, expect, it } from 'vitest';
import { call, caption, waitForReader } from './page-calls.ts';
import { complaints, gateway, openBlank, openPage, page, usePage } from './page-test.ts';

usePage();

beforeEach(() => {
  gateway.calls = [call('CA1')];
});

const connection = () => page.locator('#connection').innerText();
const finals = () => page.locator('#finals .caption');

describe('addresses', () => {
  it.each([
    ['', 'Live'],
    ['#/live', 'Live'],
    ['#/phone', 'Phone'],
    ['#/nowhere', 'Live'],
  ])('%s opens the view %s and marks its tab', async (address, name) => {
    await openPage(address);
    await page.getByRole('heading', { level: 2, name, exact: true }).waitFor();
    expect(await page.locator('#tabs [aria-current]').innerText()).toBe(name);
  });

  it.each(['#CA1', '#/calls/CA1'])('%s opens the call, and going back leads to where one was', async (address) => {
    await openPage('#/live');
    await page.evaluate(`location.hash = '${address}'`);
    await page.getByRole('heading', { name: '+15550100 → +15550199' }).waitFor();
    await page.goBack();
    await page.getByRole('heading', { level: 2, name: 'Live', exact: true }).waitFor();
  });

  it('gives the focus to the heading of a view that was opened, and names it in the title', async () => {
    await openPage();
    await page.getByRole('link', { name: 'Phone', exact: true }).click();
    await expect.poll(() => page.evaluate('document.activeElement.textContent')).toBe('Phone');
    expect(await page.title()).toBe('Phone · Trunkline');
  });
});

describe('the connection', () => {
  it('takes the feed up after the last event it saw', async () => {
    await openPage('#/calls/CA1');
    await waitForReader(gateway);
    await expect.poll(connection).toBe('Connected');
    for (const n of [1, 2, 3]) gateway.publish(caption('CA1', n, { stable: `Sentence ${n}.`, final: true }));
    await expect.poll(() => finals().count()).toBe(3);
    gateway.cutFeeds();
    await expect.poll(() => gateway.resumedFrom).toEqual([null, 'stub-3']);
    await expect.poll(connection).toBe('Connected');
    gateway.publish(caption('CA1', 4, { stable: 'Sentence 4.', final: true }));
    await expect.poll(() => finals().count()).toBe(4);
  });

  it('says how old what it shows is while the gateway is away, and goes on by itself when it is back', async () => {
    await openPage('#/calls/CA1');
    await waitForReader(gateway);
    await gateway.close();
    await expect.poll(connection).toContain('Reconnecting');
    await expect.poll(() => page.locator('#lost').innerText()).toMatch(/no longer live\. It is \d+ seconds old\.$/);
    await gateway.listen();
    await expect.poll(connection).toBe('Connected');
    await expect.poll(() => page.locator('#lost').isVisible()).toBe(false);
    gateway.publish(caption('CA1', 1, { stable: 'Back.', final: true }));
    await expect.poll(() => finals().count()).toBe(1);
  });

  it("shows the gateway's own words when it refuses", async () => {
    gateway.failure = { status: 503, message: 'the server is draining' };
    await openPage();
    await expect.poll(() => page.locator('#problem').innerText()).toBe('the server is draining');
  });

  it('says that the server has too much to do when several calls are late', async () => {
    gateway.calls = ['CA1', 'CA2', 'CA3'].map((id) => call(id));
    await openPage();
    await waitForReader(gateway);
    for (const [n, { id }] of gateway.calls.entries())
      gateway.publish({ type: 'lag.started', callId: id, track: 'inbound', atMs: 1000, lagMs: 2000 + n * 1000 });
    await expect
      .poll(() => page.locator('#overload').innerText())
      .toBe('The server has too much to do: captions of 3 calls are up to 4.0 s late.');
  });

  it('keeps a note that somebody writes when the session ends or the server goes, and says that nothing was saved', async () => {
    await openPage('#/calls/CA1');
    await waitForReader(gateway);
    await page.keyboard.press('n');
    await page.keyboard.type('Half a no');
    gateway.key = 'right';
    gateway.cutFeeds();
    await page.getByLabel('Password or API key').fill('right');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: '+15550100 → +15550199' }).waitFor();
    expect(await page.locator('#note').inputValue()).toBe('Half a no');
    await gateway.close();
    await page.keyboard.press('n');
    await page.keyboard.press('Enter');
    await page.keyboard.press('Enter');
    await expect
      .poll(() => page.locator('.toast p').allInnerTexts())
      .toEqual(['The server does not answer. Try again in a moment.']);
    expect(await page.locator('#note').inputValue()).toBe('Half a no');
    await gateway.listen();
  });

  it('asks for the key once', async () => {
    gateway.key = 'right';
    await openPage('#/calls/CA1');
    const input = page.getByLabel('Password or API key');
    await input.waitFor();
    await page.keyboard.press('Tab');
    await page.keyboard.type('wrong');
    await page.keyboard.press('Enter');
    await page.getByText('This key is not valid.').waitFor();
    await page.keyboard.type('right');
    await page.keyboard.press('Enter');
    await waitForReader(gateway);
    await input.waitFor({ state: 'hidden' });
    await page.reload();
    await expect.poll(connection).toBe('Connected');
    expect(complaints).toEqual([]);
  });
});

describe('who has signed in', () => {
  const kim = { name: 'kim', role: 'supervisor', agent: null, session: true, permissions: ['calls.read'] };

  it('is told, and signs out by keyboard: nothing that was shown is left', async () => {
    gateway.key = 'right';
    gateway.person = kim;
    await openPage('#/calls/CA1');
    await page.getByLabel('Password or API key').fill('right');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: '+15550100 → +15550199' }).waitFor();
    await page.getByRole('button', { name: 'kim · supervisor' }).focus();
    await page.keyboard.press('Enter');
    await page.getByText('Signed in as kim · supervisor').waitFor();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.getByLabel('Password or API key').waitFor();
    expect(await page.getByText('+15550100').count()).toBe(0);
    expect(new URL(page.url()).hash).toBe('');
    expect(complaints).toEqual([]);
  });

  it('is only told where nobody signs in', async () => {
    gateway.person = { ...kim, name: 'local', session: false };
    await openPage();
    await page.locator('#person').getByText('local · supervisor').waitFor();
    expect(await page.getByRole('button', { name: 'local' }).count()).toBe(0);
  });
});

describe('how somebody likes to work', () => {
  it('remembers the theme and the size of the text', async () => {
    await openPage();
    const size = () => page.evaluate('getComputedStyle(document.documentElement).fontSize');
    expect(await size()).toBe('16px');
    await page.getByRole('button', { name: 'Larger text' }).click();
    await page.getByRole('button', { name: /^Theme/ }).click();
    await page.getByRole('button', { name: /^Theme/ }).click();
    await page.reload();
    await page.getByRole('button', { name: 'Theme: dark' }).waitFor();
    expect(await size()).toBe('18.4px');
    expect(await page.evaluate('getComputedStyle(document.documentElement).colorScheme')).toBe('dark');
  });

  it('works where the browser forbids storage', async () => {
    await openBlank();
    await page.addInitScript(
      "Object.defineProperty(globalThis, 'localStorage', { get() { throw new Error('forbidden'); } })",
    );
    await page.goto(gateway.url);
    await page.getByRole('button', { name: 'Larger text' }).click();
    await page.getByText('Text size 115 %').waitFor();
    expect(complaints).toEqual([]);
  });

  it('leaves Enter to the button or link that has the focus', async () => {
    await openPage('#/live');
    await page.locator('.card').waitFor();
    await page.getByRole('button', { name: 'Keyboard shortcuts' }).press('Enter');
    await page.getByRole('dialog').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('link', { name: 'History', exact: true }).press('Enter');
    await page.getByRole('heading', { level: 2, name: 'History' }).waitFor();
  });

  it('lists the keys of the view, which do nothing while somebody types', async () => {
    await openPage();
    await waitForReader(gateway);
    await page.getByLabel('Filter by words').fill('?3');
    await expect.poll(() => page.url()).toContain('#/live?q=');
    await page.getByRole('heading', { level: 2, name: 'Live', exact: true }).focus();
    await page.keyboard.press('?');
    const help = page.getByRole('dialog', { name: 'Keyboard' });
    await help.getByText('Next call that is slow or failed').waitFor();
    await page.keyboard.press('Escape');
    await help.waitFor({ state: 'hidden' });
    await page.keyboard.press('3');
    await page.getByRole('heading', { level: 2, name: 'Phone' }).waitFor();
  });

  it('loads nothing from elsewhere and breaks no security policy', async () => {
    await openPage();
    const hosts = new Set<string>();
    page.on('request', (request) => hosts.add(new URL(request.url()).host));
    await page.reload();
    await waitForReader(gateway);
    expect([...hosts]).toEqual([new URL(gateway.url).host]);
    expect(complaints).toEqual([]);
  });
});
