/**
 * `npm run pictures`: plays a day and takes the pictures of the console that README and guide show. With
 * `--all <folder>` it takes every view, light and dark, wide and narrow, as PNG into that folder, to be looked at.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command } from 'commander';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { systemClock } from '../../src/foundation/clock.ts';
import { packagePath } from '../../src/foundation/folders/paths.ts';
import { launchBrowser } from '../browser/chromium.ts';
import { type Day, openDay } from './gateway.ts';

/** So much was said in a live call that is on a picture. */
const FINALS = { least: 5, most: 7 };
const LOOK_MS = 250;
/** What the clocks on the pictures show, whenever they are taken. */
const SHOWN_HOUR = 16;
const SIZES = [
  ['', { viewport: { width: 1440, height: 900 } }],
  ['-phone', { viewport: { width: 375, height: 720 }, deviceScaleFactor: 2 }],
] as const;
const WEBP_QUALITY = 0.82;
const WIDE_ALONE = ['call-live', 'flows'];

interface Shot {
  readonly name: string;
  address(): Promise<string>;
  /** What is done on the page before the picture. */
  prepare(page: Page): Promise<void>;
}

const write = (line: string): void => void process.stdout.write(`${line}\n`);
const program = new Command('npm run pictures --')
  .description('the pictures of the console in docs/images, of a day that is played')
  .option('--all <folder>', 'instead every view in every colour and width, as PNG into this folder');
program.parse();
const { all } = program.opts<{ all?: string }>();

const folder = mkdtempSync(join(tmpdir(), 'trunkline-pictures-'));
const day = await openDay({ folder, port: 0, calls: 2000, live: 12, spoken: 8, seed: 1, tell: write });
const browser = await launchBrowser();
try {
  if (all === undefined) await takeForDocuments(browser, day);
  else await takeAll(browser, day, all);
} finally {
  await browser.close();
  await day.close();
  rmSync(folder, { recursive: true, force: true });
}

async function takeForDocuments(browser: Browser, day: Day): Promise<void> {
  for (const shot of shotsOf(day)) {
    for (const [suffix, size] of SIZES) {
      // A call that is over shows on a phone what a live one does, and steps of a flow are the same list.
      if (WIDE_ALONE.includes(shot.name) && suffix !== '') continue;
      const png = await take(browser, shot, { ...size, colorScheme: 'light' });
      const webp = await toWebp(browser, png);
      writeFileSync(packagePath('docs', 'images', `${shot.name}${suffix}.webp`), webp);
      write(`${shot.name}${suffix}: ${Math.round(webp.length / 1000)} kB`);
    }
  }
}

async function takeAll(browser: Browser, day: Day, into: string): Promise<void> {
  mkdirSync(into, { recursive: true });
  for (const shot of shotsOf(day)) {
    for (const colorScheme of ['light', 'dark'] as const) {
      for (const width of [1440, 375]) {
        const png = await take(browser, shot, { colorScheme, viewport: { width, height: 900 } });
        writeFileSync(join(into, `${shot.name}-${width}-${colorScheme}.png`), png);
      }
    }
  }
}

function shotsOf(day: Day): Shot[] {
  const { url, spokenIds } = day;
  const at = (hash: string) => async () => `${url}/#/${hash}`;
  const rests = async (): Promise<void> => undefined;
  const looksOut = async (page: Page): Promise<void> => {
    await page.getByLabel('⚑ Mark').fill('cancel*, refund, slow');
    await page.keyboard.press('Enter');
    await page.keyboard.press('Escape');
  };
  return [
    { name: 'call-live', address: async () => `${url}/#/calls/${await talkedId(day)}`, prepare: rests },
    { name: 'system', address: at('system'), prepare: rests },
    { name: 'live', address: at('live'), prepare: looksOut },
    { name: 'call', address: at(`calls/${spokenIds[0] ?? ''}`), prepare: rests },
    { name: 'flows', address: at('flows?name=shop'), prepare: rests },
    { name: 'history', address: at('history?q=cancel*+OR+refund'), prepare: rests },
  ];
}

/** The id of a recorded call in which something was said and that goes on for a while. */
async function talkedId({ parts }: Day): Promise<string> {
  for (;;) {
    const live = parts.registry.list().filter(({ state, sound }) => state === 'live' && sound === 'recording');
    const talked = live.find(({ counts }) => counts.finals >= FINALS.least && counts.finals <= FINALS.most);
    if (talked !== undefined) return talked.id;
    if (live.length === 0) throw new Error('no recorded call goes on: expected one to take a picture of');
    await new Promise<void>((resolve) => systemClock.after(LOOK_MS, resolve));
  }
}

async function take(browser: Browser, shot: Shot, options: BrowserContextOptions): Promise<Buffer> {
  const context = await browser.newContext({ timezoneId: timezoneNow(), reducedMotion: 'reduce', ...options });
  const page = await context.newPage();
  await page.goto(await shot.address());
  await page.locator('#connection[data-state="live"]').waitFor();
  await shot.prepare(page);
  await page.waitForTimeout(2500);
  const png = await page.screenshot();
  await context.close();
  return png;
}

/** A time zone in which it is about {@link SHOWN_HOUR} now. */
function timezoneNow(): string {
  const ahead = ((SHOWN_HOUR - systemClock.wall().getUTCHours() + 36) % 24) - 12;
  // These names count westwards.
  return ahead === 0 ? 'UTC' : `Etc/GMT${ahead > 0 ? '-' : '+'}${Math.abs(ahead)}`;
}

/** The browser has the encoder that this repository does not need otherwise. */
async function toWebp(browser: Browser, png: Buffer): Promise<Buffer> {
  const page = await browser.newPage();
  const source = `data:image/png;base64,${png.toString('base64')}`;
  const webp = await page.evaluate<string>(`(async () => {
    const image = new Image();
    image.src = ${JSON.stringify(source)};
    await image.decode();
    const canvas = document.createElement('canvas');
    [canvas.width, canvas.height] = [image.width, image.height];
    canvas.getContext('2d').drawImage(image, 0, 0);
    return canvas.toDataURL('image/webp', ${WEBP_QUALITY});
  })()`);
  await page.close();
  return Buffer.from(webp.replace(/^data:image\/webp;base64,/, ''), 'base64');
}
