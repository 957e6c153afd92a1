/**
 * History and system above a real gateway with its real models: a demo call is placed on the page, found by what was
 * said in it, and deleted.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { packagePath } from '../../src/foundation/folders/paths.ts';
import { type GatewayProcess, startGateway } from '../helpers/gateway.ts';
import { findBarriers } from './axe.ts';
import { launchBrowser } from './chromium.ts';

let browser: Browser;
let gateway: GatewayProcess;
let page: Page;
let folder: string;
const complaints: string[] = [];

beforeAll(async () => {
  browser = await launchBrowser();
  folder = mkdtempSync(join(tmpdir(), 'console-'));
  gateway = await startGateway({ DATA_DIR: folder, PROMPT_CACHE_DIR: join(folder, 'prompts'), ENGINE_WORKERS: '1' });
  page = await (await browser.newContext({ viewport: { width: 1440, height: 900 } })).newPage();
  page.on('pageerror', (error) => complaints.push(error.message));
});

afterAll(async () => {
  await browser?.close();
  await gateway?.stop();
  rmSync(folder, { recursive: true, force: true });
});

const panel = (name: string) => page.getByRole('region', { name });
async function stateOfFirst(): Promise<string | undefined> {
  const answer = await fetch(`${gateway.url}/v1/calls`);
  return ((await answer.json()) as { data: { state: string }[] }).data[0]?.state;
}

const rows = () => page.locator('.found-call');

describe('the console above a real gateway', () => {
  it('places a demo call from the empty history, which is found by what was said in it', async () => {
    await expect.poll(async () => (await fetch(`${gateway.url}/ready`)).status).toBe(200);
    await page.goto(`${gateway.url}/#/history`);
    await page.getByRole('button', { name: 'Place a demo call' }).last().click();
    await expect.poll(() => page.evaluate('location.hash')).toMatch(/^#\/calls\/demo-/);
    await page.goto(`${gateway.url}/#/history?q=modem`);
    await expect
      .poll(
        async () => {
          await page.reload();
          await page.waitForTimeout(700);
          return rows().count();
        },
        { timeout: 90_000, interval: 500 },
      )
      .toBe(1);
    expect(await rows().innerText()).toContain('Maria Keller → Tom');
    expect((await page.locator('.found-call mark').first().innerText()).toLowerCase()).toBe('modem');
    expect(await findBarriers(page, '#view')).toEqual([]);
  });

  it('says how the gateway is', async () => {
    await page.goto(`${gateway.url}/#/system`);
    await page.locator('.summary-state').getByText('Ready').waitFor();
    expect(await panel('Engines').innerText()).toMatch(/1\s*ready/);
    // Calls are counted anew once a minute.
    await expect.poll(() => panel('Records and disk').innerText()).toMatch(/[01] calls? in SQLite, kept for 30 days/);
    expect(await panel('Refused').innerText()).toContain('Nothing was refused');
    await panel('Settings in effect').getByText('Show them').click();
    await panel('Settings in effect').getByText(`DATA_DIR=${folder}`).waitFor();
    await panel('Doctor').getByRole('button').click();
    await panel('Doctor').getByText('cores').waitFor();
    expect(await findBarriers(page, '#view')).toEqual([]);
  });

  it('puts a recording in the place of a sentence', async () => {
    const file = packagePath('fixtures', 'audio', 'short.wav');
    await page.getByText('Upload a recording').click();
    await page.getByLabel('Text that is said').fill('Please hold the line.');
    await page.getByLabel('WAV').setInputFiles({ name: 'x.wav', mimeType: 'audio/wav', buffer: readFileSync(file) });
    await page.getByRole('button', { name: 'Upload' }).click();
    await panel('Prompts').locator('li[data-source="recorded"]').getByText('Please hold the line.').waitFor();
    await page.getByRole('button', { name: 'Play “Please hold the line.”' }).click();
    await expect.poll(() => page.locator('[data-play][aria-pressed="true"]').count()).toBe(1);
    await page.getByRole('button', { name: 'Forget “Please hold the line.”' }).click();
    await page.getByRole('button', { name: 'Delete', exact: true }).click();
    await expect.poll(() => panel('Prompts').locator('li[data-source="recorded"]').count()).toBe(0);
  });

  it('deletes the call when it is over', async () => {
    await page.goto(`${gateway.url}/#/history`);
    await expect.poll(() => stateOfFirst(), { timeout: 90_000 }).toBe('ended');
    await page.reload();
    await rows().first().hover();
    await page.getByRole('button', { name: /^Delete the call/ }).click();
    await page.getByRole('button', { name: 'Delete', exact: true }).click();
    await expect.poll(() => rows().count()).toBe(0);
    expect(complaints).toEqual([]);
  });
});
