/** The view of flows, above answers of a server that the tests make up. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { BrowserContextOptions } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { findBarriers } from './axe.ts';
import { type Answers, answer, refusal, USUAL } from './console-answers.ts';
import { FLOW_ANSWERS, FLOWS } from './flow-answers.ts';
import { call, caption } from './page-calls.ts';
import { complaints, gateway, openBlank, openPage, page, usePage } from './page-test.ts';

usePage();

/** Pictures for people who want to look at them go here; unset = none are made. */
const PICTURES = process.env['TRUNKLINE_TEST_PICTURES'];

const MAY = { name: 'anna', role: 'supervisor', agent: null, permissions: ['calls.read', 'calls.make', 'flows.read'] };

async function open(address: string, answers: Answers = {}, options: BrowserContextOptions = {}): Promise<void> {
  await openBlank({ viewport: { width: 1200, height: 900 }, reducedMotion: 'reduce', ...options });
  await answer(page, { ...USUAL, '/v1/session': MAY, ...FLOW_ANSWERS, ...answers });
  await page.goto(`${gateway.url}${address}`);
}

async function picture(name: string): Promise<void> {
  if (PICTURES === undefined) return;
  mkdirSync(PICTURES, { recursive: true });
  await page.screenshot({ path: join(PICTURES, `flows-${name}.png`) });
}

const step = (name: string) => page.locator('.flow-step', { has: page.getByRole('heading', { name, exact: true }) });

describe('the list of flows', () => {
  it('says of each whether calls can use it, and where its file is wrong', async () => {
    await open('#/flows');
    await page.locator('.flow-row').nth(2).waitFor();
    const rows = await page.locator('.flow-row').allInnerTexts();
    expect(rows[0]).toMatch(
      /appointment[\s\S]*the version before stays[\s\S]*58 calls[\s\S]*appointment\.yaml:31:13 steps/,
    );
    expect(rows[1]).toMatch(/order-status[\s\S]*cannot be used[\s\S]*no call yet[\s\S]*order-status\.yaml:22:11/);
    expect(rows[2]).toMatch(/shop[\s\S]*in use[\s\S]*3f9c01ab[\s\S]*437 calls/);
    expect(await page.locator('#tabs [aria-current]').innerText()).toBe('Flows');
    await picture('list');
    expect(complaints).toEqual([]);
  });

  it('follows files while somebody writes them', async () => {
    let data: readonly object[] = FLOWS.slice(1, 2);
    await openBlank();
    await page.clock.install();
    await answer(page, { ...USUAL, '/v1/session': MAY, '/v1/flows': () => ({ data, next: null }) });
    await page.goto(`${gateway.url}#/flows`);
    await page.getByText('cannot be used').waitFor();
    data = FLOWS.slice(2);
    await page.clock.runFor(4500);
    await page.getByText('in use').waitFor();
  });

  it('says how to make the first one', async () => {
    await open('#/flows', { '/v1/flows': { data: [], next: null } });
    await page.getByText('No flows yet.').waitFor();
    expect(await page.locator('.flows pre').first().innerText()).toContain('start: welcome');
    await picture('none');
    await page.getByRole('link', { name: 'the phone of this page' }).click();
    await page.getByRole('heading', { name: 'Phone' }).waitFor();
  });

  it('is not offered to agents', async () => {
    const person = { name: 'tom', role: 'agent', agent: 'tom', permissions: ['calls.read'] };
    await open('#/flows', { '/v1/session': person, '/v1/flows': refusal(403, 'role_refused', 'no') });
    await page.getByText('Flows are for supervisors and admins.').waitFor();
    expect(await page.locator('#tabs [data-view="flows"]').isVisible()).toBe(false);
  });
});

describe('one flow', () => {
  it('is drawn with what calls did in each step and where they went', async () => {
    await open('#/flows?name=shop');
    await step('menu').waitFor();
    expect(await page.locator('.flow-outcomes').innerText()).toMatch(/Calls\s+437[\s\S]*Came to the end\s+313/);
    const menu = await step('menu').innerText();
    expect(menu).toMatch(/406 calls · 93 %, 415 times[\s\S]*56 hung up here/);
    expect(menu).toMatch(/not understood 21 of/);
    expect(menu).toMatch(/tellHours\s+1 hours\s+185 · 45 %/);
    expect(menu).toMatch(/person\s+person 57, no answer 11, not understood 2\s+70 · 17 %/);
    expect(await step('holiday').innerText()).toContain('not reached');
    await picture('one');
    await step('menu').getByText('What fit nothing').click();
    expect(await step('menu').locator('.step-unmatched').innerText()).toMatch(
      /9 ×\s+.?Do you have bicycles[\s\S]*6 ×[\s\S]*4 ×\s+keys 7[\s\S]*\[number\]/,
    );
    await step('menu').scrollIntoViewIfNeeded();
    await picture('unmatched');
    expect(complaints).toEqual([]);
  });

  it('leads from step to step with the keyboard, and back to the list', async () => {
    await open('#/flows?name=shop');
    await step('menu').getByRole('button', { name: 'tellHours' }).focus();
    await page.keyboard.press('Enter');
    expect(await page.locator(':focus h4').innerText()).toBe('tellHours');
    await page.keyboard.press('Escape');
    await expect.poll(() => page.evaluate('location.hash')).toBe('#/flows');
    await page.getByRole('link', { name: 'shop' }).waitFor();
  });

  it('is counted for the period and the version that somebody chooses, and the address says so', async () => {
    const asked: string[] = [];
    const answers: Answers = {
      '/v1/flows/shop/statistics': (url, route) => {
        asked.push(url.search);
        const counted = FLOW_ANSWERS['/v1/flows/shop/statistics'];
        return typeof counted === 'function' ? counted(url, route) : {};
      },
    };
    await open('#/flows?name=shop', answers);
    await step('menu').waitFor();
    await page.locator('#flows-version').selectOption('77e0d21c');
    await expect.poll(() => page.locator('.flow-outcomes dd').first().innerText()).toBe('87');
    expect(await page.evaluate('location.hash')).toBe('#/flows?name=shop&version=77e0d21c');
    await page.locator('#flows-when').selectOption('today');
    await expect.poll(() => asked.at(-1)).toMatch(/^\?from=[^&]+$/);
    const calls = page.getByRole('link', { name: 'Calls', exact: true });
    await expect.poll(() => calls.getAttribute('href')).toBe('#/history?flow=shop&when=today');
  });

  it('has its steps where nothing is counted, and its figures where its file is gone', async () => {
    const off = refusal(501, 'records_off', 'nothing is kept');
    await open('#/flows?name=shop', { '/v1/flows/shop/statistics': off });
    await step('menu').waitFor();
    await page.getByText('Nothing is kept of calls').waitFor();
    expect(await step('menu').locator('.exit-count').count()).toBe(0);
    await page.context().close();
    await open('#/flows?name=shop', { '/v1/flows/shop': refusal(404, 'flow_not_found', 'none') });
    await page.getByText('its file is gone').waitFor();
    expect(await step('menu').innerText()).toContain('406 calls');
    await page.context().close();
    const none = refusal(404, 'flow_not_found', 'none');
    await open('#/flows?name=shop', { '/v1/flows/shop': none, '/v1/flows/shop/statistics': none });
    await page.getByText('There is no flow shop in FLOWS_DIR').waitFor();
  });

  it.each([
    ['at a desk, light', 1440, 'light'],
    ['at a desk, dark', 1440, 'dark'],
    ['on a phone, light', 375, 'light'],
    ['on a phone, dark', 375, 'dark'],
  ] as const)('has no barriers and fits its width %s', async (where, width, colorScheme) => {
    await open('#/flows?name=shop', {}, { viewport: { width, height: 800 }, colorScheme });
    await step('menu').getByText('What fit nothing').click();
    expect(await findBarriers(page, '#view')).toEqual([]);
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
    await picture(`one-${where.replace(/\W+/g, '-')}`);
    await page.goto(`${gateway.url}#/flows`);
    await page.locator('.flow-row').nth(2).waitFor();
    expect(await findBarriers(page, '#view')).toEqual([]);
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
    await picture(`list-${where.replace(/\W+/g, '-')}`);
  });
});

describe('a call that went through a flow', () => {
  it('has the steps among what was said, in few lines that can be left out', async () => {
    gateway.calls = [call('CA1', { flow: 'shop', flowVersion: '3f9c01ab' })];
    const at = { callId: 'CA1', flow: 'shop' } as const;
    const spoken = { interrupted: false, callId: 'CA1', type: 'spoken' } as const;
    const [hello, ask] = ['Welcome to the shop.', 'For our hours, press 1.'];
    gateway.events.set('CA1', [
      { type: 'flow.started', ...at, version: '3f9c01ab', atMs: 0 },
      { type: 'flow.step', ...at, step: 'hours', verb: 'hours', atMs: 10 },
      { type: 'flow.step', ...at, step: 'welcome', verb: 'say', atMs: 20 },
      { ...spoken, utterance: 'u1', text: hello, heardText: hello, startMs: 100, endMs: 1500, atMs: 1500 },
      { type: 'flow.step', ...at, step: 'menu', verb: 'menu', atMs: 1600 },
      { ...spoken, utterance: 'u2', text: ask, heardText: ask, startMs: 1700, endMs: 3500, atMs: 3500 },
      caption('CA1', 4, { stable: 'Do you have bicycles?', final: true }),
      {
        type: 'flow.input',
        ...at,
        step: 'menu',
        kind: 'speech',
        outcome: 'noMatch',
        text: 'Do you have bicycles?',
        value: null,
        atMs: 5200,
      },
      { type: 'dtmf', callId: 'CA1', digit: '1', atMs: 8000 },
      {
        type: 'flow.input',
        ...at,
        step: 'menu',
        kind: 'keys',
        outcome: 'match',
        text: '1',
        value: 'hours',
        atMs: 8000,
      },
      { type: 'flow.step', ...at, step: 'tellHours', verb: 'say', atMs: 8010 },
    ]);
    await openPage('#/calls/CA1', { viewport: { width: 1200, height: 700 }, reducedMotion: 'reduce' });
    const lines = page.locator('.note[data-side="steps"] .words');
    await expect
      .poll(() => lines.allInnerTexts())
      .toEqual([
        'Flow shop: hours → welcome → menu',
        'menu: “Do you have bicycles?” fits nothing',
        'menu: pressed 1, understood as hours',
        'tellHours',
      ]);
    expect(await page.locator('.about').innerText()).toMatch(/Flow\s+shop, version 3f9c01ab/);
    expect(await findBarriers(page, '#view')).toEqual([]);
    await picture('call');
    gateway.publish({ type: 'flow.ended', ...at, outcome: 'hangup', step: 'tellHours', reason: null, atMs: 9000 });
    await page.getByText('The call ended in the step tellHours').waitFor();
    await page.getByRole('checkbox', { name: 'Steps' }).uncheck();
    expect(await lines.first().isVisible()).toBe(false);
    expect(complaints).toEqual([]);
  });
});
