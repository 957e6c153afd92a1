/**
 * What the tests of the page share: one browser for a file, and for each test a gateway that says what the test wants
 * and a page on it. What is exported here is that of the test which runs.
 */
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import { launchBrowser } from './chromium.ts';
import { StubGateway } from './stub-gateway.ts';

export let gateway: StubGateway;
export let page: Page;
/** Everything that went wrong inside the page: uncaught errors, refused assets, broken policy. */
export let complaints: string[];

let browser: Browser;

/** Answers and connections that tests bring about. */
const EXPECTED = /status of (401|404)|ERR_CONNECTION|ERR_INCOMPLETE/;

/** Starts and ends browser, gateway and page around the tests of a file. */
export function usePage(): void {
  beforeAll(async () => {
    browser = await launchBrowser();
  });
  afterAll(() => browser?.close());
  beforeEach(async () => {
    gateway = new StubGateway();
    await gateway.listen();
  });
  afterEach(async () => {
    await page?.context().close();
    await gateway.close();
  });
}

/** A page that shows nothing yet. */
export async function openBlank(options: BrowserContextOptions = {}): Promise<void> {
  const context = await browser.newContext({ viewport: { width: 1100, height: 700 }, ...options });
  page = await context.newPage();
  const told: string[] = [];
  complaints = told;
  page.on('pageerror', (error) => told.push(error.message));
  page.on('console', (message) => {
    if (message.type() === 'error' && !EXPECTED.test(message.text())) told.push(message.text());
  });
}

/** A page of the gateway at `address`, such as `#/live`. */
export async function openPage(address = '', options: BrowserContextOptions = {}): Promise<void> {
  await openBlank(options);
  await page.goto(`${gateway.url}${address}`);
}
