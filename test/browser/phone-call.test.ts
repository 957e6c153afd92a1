/** A whole call from the phone in the page, with a real gateway and its models. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { readWav, writeWav } from '../../src/audio/wav.ts';
import { packagePath } from '../../src/foundation/folders/paths.ts';
import { msToSamples } from '../../src/foundation/units.ts';
import { type GatewayProcess, startGateway } from '../helpers/gateway.ts';
import { launchBrowser, microphoneOf } from './chromium.ts';

const KEY = 'a-key-for-the-phone';
const SILENCE_BEFORE_MS = 5000;

let browser: Browser;
let page: Page;
const complaints: string[] = [];

const press = (name: string) => page.locator('#phone').getByRole('button', { name, exact: true }).click();
const waitFor = (attribute: string, value: string) =>
  expect.poll(() => page.locator('#phone').getAttribute(attribute)).toBe(value);

let gateway: GatewayProcess;
let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'trunkline-phone-'));
  browser = await launchBrowser(microphoneOf(recordingAfterSilence(folder)));
  gateway = await startGateway({
    API_KEYS: KEY,
    TWILIO_AUTH_TOKEN: 'the door is locked to all but Twilio and this page',
  });
  const context = await browser.newContext({ viewport: { width: 1100, height: 700 } });
  page = await context.newPage();
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('console', (message) => {
    if (message.type() === 'error' && !/status of (401|404|501|503)/.test(message.text()))
      complaints.push(message.text());
  });
});

afterAll(async () => {
  await browser?.close();
  await gateway?.stop();
  rmSync(folder, { recursive: true, force: true });
});

/**
 * The microphone plays from when it is opened, the call hears from when its socket is: on a busy machine that is
 * later than a word.
 */
function recordingAfterSilence(into: string): string {
  const { channels, rateHz } = readWav(readFileSync(packagePath('fixtures', 'audio', 'short.wav')));
  const silence = msToSamples(SILENCE_BEFORE_MS, rateHz);
  const delayed = channels.map((samples) => {
    const longer = new Int16Array(silence + samples.length);
    longer.set(samples, silence);
    return longer;
  });
  const path = join(into, 'caller.wav');
  writeFileSync(path, writeWav(delayed, rateHz));
  return path;
}

it('the phone is heard, answers, hears keys, and hangs up', async () => {
  const captions = page.locator('#finals');
  await page.goto(`${gateway.url}/#/phone`);
  await page.getByLabel('API key').fill(KEY);
  await page.keyboard.press('Enter');
  await press('Call');
  await page.getByRole('heading', { name: 'browser → trunkline' }).waitFor();
  await expect.poll(() => captions.innerText()).toMatch(/message/);

  await page.getByLabel('Sentence to be spoken in this call').fill('Your order is ready.');
  await press('Say');
  await waitFor('data-speaking', 'true');
  await expect
    .poll(() => captions.locator('[data-track="spoken"]').innerText())
    .toMatch(/Trunkline\s+Your order is ready\.$/);
  await waitFor('data-speaking', 'false');

  await page.getByRole('button', { name: 'Keypad' }).click();
  await press('5');
  await captions.getByText('Key 5 pressed').waitFor();
  await press('Hang up');
  await captions.getByText('The call ended: it was hung up.').waitFor();
  expect(complaints).toEqual([]);
});
