/**
 * The page and a real gateway with its real models: a simulated call is placed and read in the browser.
 */
import { readFileSync } from 'node:fs';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { loadAudio } from '../../src/cli/audio-file.ts';
import { systemClock } from '../../src/foundation/clock.ts';
import { packagePath } from '../../src/foundation/folders/paths.ts';
import { MULAW_8K } from '../../src/foundation/units.ts';
import { type CallOptions, placeCall } from '../../src/simulator/twilio-caller.ts';
import { type GatewayProcess, startGateway } from '../helpers/gateway.ts';
import { launchBrowser } from './chromium.ts';

const KEY = 'a-key-for-the-browser';

/** What is said in the demo call. */
const { 'demo-caller': caller, 'demo-agent': agent } = JSON.parse(
  readFileSync(packagePath('fixtures', 'audio', 'texts.json'), 'utf8'),
) as Record<string, string[]>;
const SAID = [...(caller ?? []), ...(agent ?? [])].join(' ');

let gateway: GatewayProcess;
let browser: Browser;
let page: Page;

beforeAll(async () => {
  gateway = await startGateway({ API_KEYS: KEY });
  browser = await launchBrowser();
  page = await browser.newPage({ viewport: { width: 1180, height: 640 } });
});

afterAll(async () => {
  await browser?.close();
  await gateway?.stop();
});

async function recording(name: string): Promise<Int16Array> {
  const [samples = new Int16Array(0)] = await loadAudio(packagePath('fixtures', 'audio', name), MULAW_8K.rateHz, 'mix');
  return samples;
}

function wordsOf(text: string): string[] {
  return text.toLowerCase().match(/[a-z']+/g) ?? [];
}

/** Share of the words of `said` that are in `seen`. */
function shareFound(said: string, seen: string): number {
  const found = new Set(wordsOf(seen));
  const words = wordsOf(said);
  return words.filter((word) => found.has(word)).length / words.length;
}

function placeOn(url: string, options: Pick<CallOptions, 'tracks' | 'pace' | 'from' | 'to'>) {
  return placeCall({ url: `${url.replace(/^http/, 'ws')}/twilio/media`, clock: systemClock, ...options });
}

it('asks for the key, then shows a call and its words while they are said', async () => {
  await page.goto(gateway.url);
  await page.getByLabel('API key').fill(KEY);
  await page.keyboard.press('Enter');
  await page.getByText('No calls yet.').waitFor();

  const tracks = { inbound: await recording('demo-caller.wav'), outbound: await recording('demo-agent.wav') };
  const call = placeOn(gateway.url, { tracks, pace: 'realtime', from: '+15550100', to: '+15550199' });
  await page.getByRole('link', { name: '+15550100 → +15550199', exact: true }).click();
  await page.getByRole('heading', { name: '+15550100 → +15550199' }).waitFor();
  const finals = page.locator('#finals .caption');
  await page.locator('#pending .caption').first().waitFor({ timeout: 30_000 });
  await finals.first().waitFor({ timeout: 30_000 });
  expect(await finals.first().innerText()).toMatch(/\d:\d\d\s+(Caller|Agent)\s+\w+/);

  expect((await call).closeCode).toBe(1000);
  await page.getByText('The call ended: it was hung up.').waitFor();
  expect(shareFound(SAID, (await finals.allInnerTexts()).join(' '))).toBeGreaterThan(0.8);
});

it('shows the transcript of a call that is over', async () => {
  const report = await placeOn(gateway.url, { tracks: { inbound: await recording('short.wav') }, pace: 'fast' });
  await page.goto(`${gateway.url}/#${report.callSid}`);
  await page.reload();
  await page.locator('#finals').getByText('leave a message').waitFor({ timeout: 30_000 });
});

it('gets the page from the gateway with nothing refused and no error', async () => {
  const complaints: string[] = [];
  page.on('console', (message) => {
    // This gateway keeps no records, and says so with 501.
    if (message.type() === 'error' && !/status of 501/.test(message.text())) complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(error.message));
  await page.reload();
  await page.locator('#finals .caption').first().waitFor();
  expect(complaints).toEqual([]);
});
