/** The wall of live calls. */
import type { BrowserContextOptions } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { call, caption, waitForReader } from './page-calls.ts';
import { gateway, openPage, page, usePage } from './page-test.ts';

usePage();

async function open(address = '', options: BrowserContextOptions = {}): Promise<void> {
  await openPage(address, options);
  await waitForReader(gateway);
}

const names = () => page.locator('.card:visible .card-name').allInnerTexts();
const card = (name: string) => page.locator('.card', { has: page.getByRole('link', { name, exact: true }) });
/** Begun one after the other, each called by its name. */
const named = (...ids: string[]) =>
  ids.map((id, at) => call(id, { names: { inbound: id, outbound: 'Tom' }, startedAt: `2026-01-01T12:0${at}:00.000Z` }));

describe('without a call', () => {
  it('says what to do next, and places a demo call', async () => {
    await open();
    await page.getByText('No calls yet.').waitFor();
    expect(await page.locator('#webhook').innerText()).toBe(`${gateway.url}twilio/voice`);
    await page.getByRole('button', { name: 'Place a demo call' }).click();
    await page.getByText('The demo call is placed.').waitFor();
    expect(gateway.deeds).toEqual([{ method: 'POST', path: '/v1/demo-call', body: {} }]);
  });
});

describe('a card', () => {
  it('has the names of both sides, what they said last, who speaks, and how long it lasts', async () => {
    gateway.calls = named('Maria');
    await open();
    gateway.publish(caption('Maria', 1, { stable: 'The red light', tail: ' is on' }));
    gateway.publish(caption('Maria', 1, { stable: 'Please wait.', final: true, track: 'outbound' }));
    gateway.publish({ type: 'speech.started', callId: 'Maria', track: 'inbound', atMs: 1000 });
    const lines = card('Maria → Tom').locator('.line');
    await expect.poll(() => lines.allInnerTexts()).toEqual(['Maria\nThe red light is on', 'Tom\nPlease wait.']);
    await expect.poll(() => lines.first().getAttribute('data-speaks')).toBe('true');
    await expect.poll(() => card('Maria → Tom').locator('.card-time').innerText()).toMatch(/^0:0[4-9]$/);
    gateway.publish({ type: 'speech.stopped', callId: 'Maria', track: 'inbound', atMs: 2000 });
    await expect.poll(() => lines.first().getAttribute('data-speaks')).toBe('false');
  });

  it('has what was said before the page came, shows keys, what was spoken, and texts as texts', async () => {
    gateway.calls = [call('CA1', { app: 'wss://app.example', counts: { finals: 1, spoken: 0, keys: 0, gaps: 0 } })];
    gateway.finals.set('CA1', [
      { kind: 'caption', track: 'inbound', utterance: 1, text: 'Hello?', startMs: 200, endMs: 900 },
    ]);
    await open();
    const lines = page.locator('.line');
    await expect.poll(() => lines.first().innerText()).toBe('Caller\nHello?');
    gateway.publish({ type: 'dtmf', callId: 'CA1', digit: '5', atMs: 4100 });
    const spoken = { text: '<b>Your order</b>', heardText: '<b>Your', interrupted: true };
    gateway.publish({ type: 'spoken', callId: 'CA1', utterance: 'u1', ...spoken, startMs: 1, endMs: 2, atMs: 2 });
    await expect.poll(() => lines.allInnerTexts()).toEqual(['Caller\n⌨ 5', 'App\n<b>Your']);
    expect(await page.locator('.card b').count()).toBe(0);
  });

  it('says in a chip whether it is late, held, has lost its app or has ended badly', async () => {
    gateway.calls = named('One', 'Two', 'Three', 'Four');
    await open();
    gateway.publish({ type: 'lag.started', callId: 'One', track: 'inbound', atMs: 1, lagMs: 6100 });
    gateway.publish({ type: 'call.state', callId: 'Two', state: 'held', atMs: 1 });
    gateway.calls = gateway.calls.map((view) => ({ ...view, appLost: view.id === 'Three' }));
    gateway.publish({ type: 'app.lost', callId: 'Three', atMs: 1 });
    gateway.publish({ type: 'call.ended', callId: 'Four', reason: 'lost', durationMs: 5000, handoffData: null });
    const chip = (name: string) => card(`${name} → Tom`).locator('.chip').innerText();
    await expect.poll(() => chip('One')).toBe('6.1 s late');
    await expect.poll(() => chip('Two')).toBe('held');
    await expect.poll(() => chip('Three')).toBe('app lost');
    await expect.poll(() => chip('Four')).toBe('stream lost');
    expect(await page.locator('.counts').innerText()).toMatch(/3 live\s*1 slow\s*2 failed/);
    expect(await page.title()).toBe('3 live, 3 to look at · Trunkline');
    gateway.publish({ type: 'lag.ended', callId: 'One', track: 'inbound', atMs: 1, lagMs: 6100 });
    gateway.calls = gateway.calls.map((view) => ({ ...view, appLost: false }));
    gateway.publish({ type: 'app.back', callId: 'Three', atMs: 1 });
    await expect.poll(() => page.locator('.counts').innerText()).toMatch(/3 live\s*1 failed/);
  });

  it('has short names beside the words, and tells prompts of the queue from what the agent says', async () => {
    const names = { inbound: 'Maria Keller', outbound: 'Tom Byrne' };
    gateway.calls = [call('CA1', { names, agent: 'tom', queue: 'Sales', phase: 'queued' })];
    await open();
    const lines = card('Maria Keller → Tom Byrne').locator('.line');
    gateway.publish(caption('CA1', 1, { stable: 'Please hold the line.', final: true, track: 'outbound' }));
    await expect.poll(() => lines.allInnerTexts()).toEqual(['Maria', 'Prompt\nPlease hold the line.']);
    expect(await page.locator('.card .chip').innerText()).toBe('in queue');
    gateway.publish({ type: 'call.state', callId: 'CA1', state: 'live', atMs: 9000 });
    await expect.poll(() => page.locator('.card .chip').isVisible()).toBe(false);
    expect(await lines.nth(1).innerText()).toBe('Prompt\nPlease hold the line.');
    gateway.publish(caption('CA1', 2, { stable: 'Hello!', final: true, track: 'outbound' }));
    await expect.poll(() => lines.nth(1).innerText()).toBe('Tom\nHello!');
    expect(await page.locator('.card-facts').innerText()).toBe('queue Sales');
  });

  it('says that the app is away to whoever comes later, too', async () => {
    const counts = { finals: 0, spoken: 1, keys: 0, gaps: 0 };
    gateway.calls = [call('CA1', { app: 'wss://app.example', appLost: true, counts })];
    const spoken = { text: 'Welcome.', heardText: 'Welcome.', interrupted: false, utterance: 'u1' };
    gateway.finals.set('CA1', [{ kind: 'spoken', track: 'outbound', startMs: 200, endMs: 900, ...spoken }]);
    await open();
    await expect.poll(() => page.locator('.card .chip').innerText()).toBe('app lost');
    await expect.poll(() => page.locator('.line').allInnerTexts()).toEqual(['Caller', 'App\nWelcome.']);
  });

  it('marks the words to look out for and remembers them', async () => {
    gateway.calls = named('Maria');
    await open();
    await page.getByLabel('⚑ Mark').fill('cancel*, red light');
    await page.keyboard.press('Enter');
    gateway.publish(caption('Maria', 1, { stable: 'I want to CANCELLED it, the red light.', final: true }));
    await expect.poll(() => page.locator('.card mark').allInnerTexts()).toEqual(['CANCELLED', 'red light']);
    expect(await page.locator('.card-facts').innerText()).toContain('⚑ cancelled · ⚑ red light');
    await page.reload();
    expect(await page.getByLabel('⚑ Mark').inputValue()).toBe('cancel*, red light');
  });

  it('has a sentence said, and hangs up when it is asked twice', async () => {
    gateway.calls = named('Maria');
    await open();
    await card('Maria → Tom').getByRole('button', { name: 'Say' }).click();
    await page.getByRole('dialog').getByRole('textbox').fill('One moment please.');
    await page.keyboard.press('Enter');
    await page.getByText('It will be said.').waitFor();
    const hangUp = card('Maria → Tom').getByRole('button', { name: /Hang up|Really/ });
    await hangUp.click();
    expect(gateway.deeds).toHaveLength(1);
    await hangUp.click();
    await expect
      .poll(() => gateway.deeds)
      .toEqual([
        { method: 'POST', path: '/v1/calls/Maria/say', body: { text: 'One moment please.' } },
        { method: 'POST', path: '/v1/calls/Maria/hangup', body: null },
      ]);
  });

  it('offers nothing more when the call is over, and leaves who hung up with the keyboard on the card', async () => {
    gateway.calls = named('Maria');
    await open();
    const hangUp = card('Maria → Tom').getByRole('button', { name: /Hang up|Really/ });
    await hangUp.press('Enter');
    await hangUp.press('Enter');
    gateway.publish({ type: 'call.ended', callId: 'Maria', reason: 'api', durationMs: 5000, handoffData: null });
    await expect.poll(() => hangUp.count()).toBe(0);
    expect(await card('Maria → Tom').getByRole('button').count()).toBe(0);
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Maria → Tom');
  });

  it('offers only what somebody may do', async () => {
    gateway.person = { name: 'Kim', role: 'agent', agent: 'kim', permissions: ['calls.read'] };
    gateway.calls = named('Maria');
    await open();
    await card('Maria → Tom').waitFor();
    expect(await card('Maria → Tom').getByRole('button').count()).toBe(0);
    expect(await page.locator('#person').innerText()).toBe('Kim · agent');
  });
});

describe('the order of the cards', () => {
  it('is that of their beginning, slow and failed ones first, and back only after a while', async () => {
    gateway.calls = named('One', 'Two', 'Three').toReversed();
    await open();
    await expect.poll(names).toEqual(['One → Tom', 'Two → Tom', 'Three → Tom']);
    gateway.publish({ type: 'lag.started', callId: 'Three', track: 'inbound', atMs: 1, lagMs: 2000 });
    await expect.poll(names).toEqual(['Three → Tom', 'One → Tom', 'Two → Tom']);
    gateway.publish({ type: 'lag.ended', callId: 'Three', track: 'inbound', atMs: 1, lagMs: 2000 });
    await expect.poll(() => page.locator('.counts').innerText()).not.toContain('slow');
    expect(await names()).toEqual(['Three → Tom', 'One → Tom', 'Two → Tom']);
  });

  it('changes neither under the pointer nor under the focus, and new calls come last', async () => {
    gateway.calls = named('One', 'Two');
    await open();
    await card('Two → Tom').hover();
    const before = await card('Two → Tom').boundingBox();
    gateway.publish({ type: 'lag.started', callId: 'Two', track: 'inbound', atMs: 1, lagMs: 2000 });
    gateway.publish({ type: 'call.ended', callId: 'One', reason: 'hangup', durationMs: 5000, handoffData: null });
    gateway.calls = [...named('One', 'Two', 'Three').slice(1)];
    await page.evaluate("document.dispatchEvent(new Event('visibilitychange'))");
    await expect.poll(names).toEqual(['One → Tom', 'Two → Tom', 'Three → Tom']);
    await page.waitForTimeout(2500);
    expect(await card('Two → Tom').boundingBox()).toEqual(before);
    await card('Two → Tom').getByRole('link', { name: 'Two → Tom', exact: true }).focus();
    await page.mouse.move(5, 5);
    await page.waitForTimeout(1500);
    expect(await names()).toEqual(['One → Tom', 'Two → Tom', 'Three → Tom']);
    await page.getByRole('heading', { name: 'Live', exact: true }).focus();
    await expect.poll(names).toEqual(['Two → Tom', 'One → Tom', 'Three → Tom']);
  });

  it('lets arrow keys go from card to card, and n to the next that is slow', async () => {
    gateway.calls = named('One', 'Two', 'Three', 'Four', 'Five');
    await open('', { viewport: { width: 1100, height: 900 } });
    await expect.poll(names).toHaveLength(5);
    const focused = () => page.evaluate('document.activeElement.textContent');
    await page.keyboard.press('ArrowLeft');
    expect(await focused()).toBe('One → Tom');
    for (const [key, name] of [
      ['ArrowRight', 'Two'],
      ['ArrowDown', 'Five'],
      ['ArrowUp', 'Two'],
      ['End', 'Five'],
      ['Home', 'One'],
    ] as const) {
      await page.keyboard.press(key);
      expect(await focused()).toBe(`${name} → Tom`);
    }
    gateway.publish({ type: 'lag.started', callId: 'Four', track: 'inbound', atMs: 1, lagMs: 2000 });
    await expect.poll(() => page.locator('.counts').innerText()).toContain('1 slow');
    await page.keyboard.press('n');
    expect(await focused()).toBe('Four → Tom');
    await page.keyboard.press('Enter');
    await expect.poll(() => page.url()).toContain('#/calls/Four');
  });
});

describe('the filters', () => {
  it('look at names, numbers and words, and are in the address', async () => {
    gateway.calls = named('One', 'Two').map((view, at) => ({ ...view, queue: at === 0 ? 'Sales' : 'Support' }));
    await open();
    gateway.publish(caption('Two', 1, { stable: 'My router is broken.', final: true }));
    await page.getByLabel('Filter by words').fill('router');
    await expect.poll(names).toEqual(['Two → Tom']);
    expect(page.url()).toContain('#/live?q=router');
    await page.getByLabel('Queue').selectOption('Sales');
    await page.getByText('No live call is like that.').waitFor();
    await page.getByLabel('Filter by words').fill('');
    await expect.poll(names).toEqual(['One → Tom']);
    await page.reload();
    await expect.poll(names).toEqual(['One → Tom']);
  });
});
