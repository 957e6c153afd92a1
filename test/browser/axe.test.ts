/** axe-core finds nothing in any view and state, light and dark, wide and narrow (WCAG 2.2 AA). */
import { describe, expect, it } from 'vitest';
import { findBarriers } from './axe.ts';
import { call, caption, waitForReader } from './page-calls.ts';
import { gateway, openPage, page, usePage } from './page-test.ts';

usePage();

describe.each([
  ['light', 1440],
  ['dark', 1440],
  ['light', 375],
  ['dark', 375],
] as const)('in %s at %i pixels', (colorScheme, width) => {
  async function open(address: string): Promise<void> {
    const options = { colorScheme, reducedMotion: 'reduce', viewport: { width, height: 800 } } as const;
    await openPage(address, options);
  }

  it('the wall, with every status, its dialogs and messages', async () => {
    gateway.calls = ['One', 'Two', 'Three', 'Four', 'Five'].map((id) => call(id, { queue: 'Sales', tags: ['vip'] }));
    await open('#/live');
    await waitForReader(gateway);
    await page.locator('.card').nth(4).waitFor();
    await page.getByLabel('⚑ Mark').fill('slow');
    gateway.publish(caption('One', 1, { stable: 'It is so slow.', final: true }));
    gateway.publish({ type: 'lag.started', callId: 'One', track: 'inbound', atMs: 1, lagMs: 6100 });
    gateway.publish({ type: 'call.state', callId: 'Two', state: 'held', atMs: 1 });
    gateway.publish({ type: 'app.lost', callId: 'Three', atMs: 1 });
    gateway.publish({ type: 'call.ended', callId: 'Four', reason: 'hangup', durationMs: 5000, handoffData: null });
    await page.locator('.chip[data-level="failed"]').waitFor();
    await page.getByRole('button', { name: 'Larger text' }).click();
    await page.locator('.toast').waitFor();
    expect(await findBarriers(page)).toEqual([]);
    await page.locator('.card').first().getByRole('button', { name: 'Say' }).click();
    expect(await findBarriers(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Keyboard shortcuts' }).click();
    expect(await findBarriers(page)).toEqual([]);
  });

  it('the page without calls, the phone, and the key', async () => {
    await open('');
    await page.getByText('No calls yet.').waitFor();
    expect(await findBarriers(page)).toEqual([]);
    await page.getByRole('link', { name: 'Phone', exact: true }).click();
    expect(await findBarriers(page)).toEqual([]);
    gateway.key = 'right';
    await page.reload();
    await page.getByLabel('API key').fill('wrong');
    await page.keyboard.press('Enter');
    await page.getByText('This key is not valid.').waitFor();
    expect(await findBarriers(page)).toEqual([]);
  });

  it('who has signed in, with the way out open', async () => {
    gateway.person = { name: 'kimberley.longname', role: 'supervisor', agent: null, session: true };
    await open('#/live');
    await page.locator('#account').click();
    await page.getByRole('button', { name: 'Sign out' }).waitFor();
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
    expect(await findBarriers(page)).toEqual([]);
  });

  it('one call, with all that it may hold', async () => {
    const names = { inbound: 'Maria K.', outbound: 'Tom' };
    gateway.calls = [call('CA1', { names, app: 'wss://app.example', sound: 'recording', handoffData: 'to sales' })];
    const spoken = { utterance: 'u1', text: 'One moment please.', heardText: 'One', interrupted: true };
    const hint = { hint: 'h1', source: 'model', title: 'Reset', text: 'Hold it.', words: 'slow', track: null } as const;
    gateway.events.set('CA1', [
      { type: 'call.state', callId: 'CA1', state: 'queued', atMs: 0 },
      caption('CA1', 1, { stable: 'Please hold.', final: true, track: 'outbound' }),
      caption('CA1', 4, { stable: 'My order is 4711.', final: true }),
      { type: 'spoken', callId: 'CA1', startMs: 5000, endMs: 6000, atMs: 6000, ...spoken },
      { type: 'gap', callId: 'CA1', track: 'inbound', startMs: 7000, endMs: 8000, reason: 'overload' },
      { type: 'note', callId: 'CA1', note: 'n1', author: 'anna', text: 'Again', at: '2026-01-01T12:00:07.000Z' },
      { type: 'hint', callId: 'CA1', link: 'https://example.com/', atMs: 9000, ...hint },
    ]);
    await open('#/calls/CA1?at=4000');
    await page.locator('[data-here]').waitFor();
    gateway.publish(caption('CA1', 11, { stable: 'the second', tail: ' one' }));
    await page.locator('#pending .tail').waitFor();
    expect(await findBarriers(page)).toEqual([]);
    await page.getByText('Export ▾').click();
    expect(await findBarriers(page)).toEqual([]);
    await page.keyboard.press('Escape');
    if (width === 375) await page.keyboard.press('n');
    expect(await findBarriers(page)).toEqual([]);
    await gateway.close();
    await page.locator('#lost').waitFor();
    expect(await findBarriers(page)).toEqual([]);
    await gateway.listen();
  });
});
