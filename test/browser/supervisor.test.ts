/** A supervisor's job with the keyboard alone. */
import { expect, it } from 'vitest';
import { call, caption, waitForReader } from './page-calls.ts';
import { gateway, openPage, page, usePage } from './page-test.ts';

usePage();

const focused = () => page.evaluate<string>('document.activeElement.textContent');
const press = (key: string) => page.keyboard.press(key);

/** Goes on with Tab until the button is reached that a screen reader would read as `name`. */
async function tabTo(name: string): Promise<void> {
  for (let presses = 0; presses < 60; presses++) {
    if ((await focused()).trim().startsWith(name)) return;
    await press('Tab');
  }
  throw new Error(`Tab leads to no ${name}`);
}

it('finds the slow call, reads it, writes, says, hangs up and goes on, without a mouse', async () => {
  gateway.calls = Array.from({ length: 30 }, (_, n) =>
    call(`CA${n}`, {
      names: { inbound: `Caller ${n}`, outbound: 'Tom' },
      startedAt: `2026-01-01T12:00:${10 + n}.000Z`,
    }),
  );
  gateway.events.set('CA17', [caption('CA17', 2, { stable: 'I want to cancel my contract.', final: true })]);
  await openPage('', { viewport: { width: 1440, height: 900 } });
  await waitForReader(gateway);
  await page.locator('.card').nth(29).waitFor();
  gateway.publish({ type: 'lag.started', callId: 'CA17', track: 'inbound', atMs: 1, lagMs: 6000 });
  await page.getByRole('button', { name: '1 slow' }).waitFor();

  await press('n');
  expect(await focused()).toBe('Caller 17 → Tom');
  await press('Enter');
  await page.getByRole('heading', { name: 'Caller 17 → Tom' }).waitFor();

  await press('/');
  await page.keyboard.type('cancel');
  await expect.poll(() => page.locator('.find-count').innerText()).toBe('1 of 1');
  await press('Escape');
  expect(page.url()).toContain('#/calls/CA17');

  await press('n');
  await page.keyboard.type('Wants to leave; offer a month.');
  await press('Enter');
  await page.getByText('The note is saved.').waitFor();
  await press('Escape');
  await press('o');
  await page.keyboard.type('call back');
  await press('Escape');
  await press('s');
  await page.keyboard.type('I have a better offer for you.');
  await press('Enter');
  await page.getByText('It will be said.').waitFor();
  await press('Escape');
  await page.getByRole('heading', { name: 'Caller 17 → Tom' }).focus();
  await tabTo('Hang up');
  await press('Enter');
  expect(await focused()).toContain('Really hang up?');
  await press('Enter');
  await expect
    .poll(() => gateway.deeds.map(({ method, path, body }) => [method, path.split('/').at(-1), body]))
    .toEqual([
      ['POST', 'notes', { text: 'Wants to leave; offer a month.' }],
      ['PATCH', 'CA17', { outcome: 'call back' }],
      ['POST', 'say', { text: 'I have a better offer for you.' }],
      ['POST', 'hangup', null],
    ]);

  await press('Escape');
  await page.getByRole('heading', { name: 'Live', exact: true }).waitFor();
  await expect.poll(focused).toBe('Live');
  await press('2');
  await expect.poll(focused).toBe('History');
});
