import { readFileSync } from 'node:fs';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { CallView } from '../../src/calls/call-view.ts';
import type { CaptionEvent } from '../../src/calls/feed/events.ts';
import type { Track } from '../../src/protocols/dialect.ts';
import { callView } from '../helpers/call-view.ts';
import { launchBrowser } from './chromium.ts';
import { StubGateway } from './stub-gateway.ts';

let browser: Browser;
let gateway: StubGateway;
let page: Page;
/** What went wrong inside the page: uncaught errors, refused assets, broken security policy. */
let complaints: string[];

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

async function openPage(options: BrowserContextOptions = {}): Promise<void> {
  const context = await browser.newContext({ viewport: { width: 1100, height: 700 }, ...options });
  page = await context.newPage();
  complaints = [];
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('console', (message) => {
    if (message.type() === 'error' && !/status of 401|ERR_CONNECTION|ERR_INCOMPLETE/.test(message.text()))
      complaints.push(message.text());
  });
  await page.goto(gateway.url);
}

function call(id: string, changes: Partial<CallView> = {}): CallView {
  return callView(id, {
    to: '+15550199',
    startedAt: '2026-01-01T12:00:00.000Z',
    tracks: ['inbound', 'outbound'],
    durationMs: 4000,
    ...changes,
  });
}

function caption(
  callId: string,
  utterance: number,
  words: { stable: string; tail?: string; final?: boolean; track?: Track },
): CaptionEvent {
  const { stable, tail = '', final = false, track = 'inbound' } = words;
  const startMs = utterance * 1000;
  const text = `${stable}${tail}`;
  return {
    type: 'caption',
    callId,
    track,
    utterance,
    stable,
    tail,
    text,
    final,
    startMs,
    endMs: startMs + 900,
    lagMs: 85,
  };
}

async function waitForReader(): Promise<void> {
  await expect.poll(() => gateway.readers).toBe(1);
}

/** Says `count` finals on call `CA1`, numbered from `first`. */
function sayFinals(first: number, count: number): void {
  for (let n = first; n < first + count; n++)
    gateway.publish(caption('CA1', n, { stable: `Sentence number ${n}.`, final: true }));
}

const finals = () => page.locator('#finals .caption');
/** A script that runs inside the page: it cannot be typed here, where there is no document. */
const FIND_FAINT_TEXTS = readFileSync(new URL('./faint-texts.js', import.meta.url), 'utf8');
const isAtEnd = () =>
  page.locator('#pane').evaluate((pane) => pane.scrollHeight - pane.scrollTop - pane.clientHeight < 2);

describe('the list of calls', () => {
  it('says what to do next while there is no call', async () => {
    await openPage();
    await page.getByText('No calls yet.').waitFor();
    expect(await page.locator('#welcome').innerText()).toContain('npm run demo');
    expect(await page.locator('#webhook').innerText()).toBe(`${gateway.url}twilio/voice`);
  });

  it('puts live calls first and opens the newest of them', async () => {
    gateway.calls = [
      call('CA1', {
        state: 'ended',
        endedAt: '2026-01-01T12:10:00.000Z',
        startedAt: '2026-01-01T12:09:00.000Z',
        to: 'ended',
      }),
      call('CA2', { to: 'older' }),
      call('CA3', { to: 'newer', startedAt: '2026-01-01T12:01:00.000Z' }),
    ];
    await openPage();
    await page.getByRole('heading', { name: '+15550100 → newer' }).waitFor();
    const rows = page.locator('#calls .parties');
    expect(await rows.allInnerTexts()).toEqual(['+15550100 → newer', '+15550100 → older', '+15550100 → ended']);
    expect(await page.locator('#calls [aria-current="true"]').innerText()).toContain('newer');
  });

  it('is worked with the keyboard alone and keeps the focus while it changes', async () => {
    gateway.calls = [
      call('CA1', { to: 'first' }),
      call('CA2', { to: 'second', startedAt: '2026-01-01T11:00:00.000Z' }),
    ];
    await openPage();
    await page.getByRole('button', { name: 'second' }).waitFor();
    for (let presses = 0; presses < 3; presses++) await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: '→ second' }).waitFor();
    gateway.calls = [
      call('CA0', { to: 'newest', startedAt: '2026-01-01T13:00:00.000Z' }),
      ...gateway.calls.toReversed(),
    ];
    await page.getByRole('button', { name: 'newest' }).waitFor();
    expect(await page.evaluate('document.activeElement.textContent')).toContain('second');
    expect(page.url()).toBe(`${gateway.url}#CA2`);
  });

  it('shows the lag of each call', async () => {
    gateway.calls = [call('CA1', { lagMs: 84.6 })];
    await openPage();
    await expect.poll(() => page.locator('#calls').innerText()).toContain('lag 85 ms');
  });
});

describe('captions', () => {
  beforeEach(async () => {
    gateway.calls = [call('CA1')];
    gateway.finals.set('CA1', [
      { kind: 'caption', track: 'outbound', utterance: 1, text: 'How can I help you?', startMs: 200, endMs: 900 },
    ]);
    await openPage();
    await waitForReader();
    await finals().first().waitFor();
  });

  it('shows what was said before, then what is said now: stable words and a tail that is told apart', async () => {
    expect(await finals().first().innerText()).toMatch(/0:00\s+Outbound\s+How can I help you\?/);
    gateway.publish(caption('CA1', 1, { stable: 'However due', tail: ' to the slaw' }));
    const stable = page.locator('#pending .stable');
    const tail = page.locator('#pending .tail');
    await expect.poll(() => tail.textContent()).toBe(' to the slaw');
    gateway.publish(caption('CA1', 1, { stable: 'However due to the', tail: ' slow' }));
    await expect.poll(() => stable.textContent()).toBe('However due to the');
    const colour = (selector: string) => page.evaluate(`getComputedStyle(document.querySelector('${selector}')).color`);
    expect(await colour('.tail')).not.toBe(await colour('.stable'));
  });

  it('turns a final into a paragraph with its time and track, and announces finals only', async () => {
    gateway.publish(caption('CA1', 65, { stable: 'One', tail: ' tow' }));
    await page.locator('#pending .caption').waitFor();
    gateway.publish(caption('CA1', 65, { stable: 'One two.', final: true }));
    await expect.poll(() => finals().last().innerText()).toMatch(/1:05\s+Inbound\s+One two\./);
    expect(await page.locator('#pending .caption').count()).toBe(0);
    expect(await page.getByRole('log').getAttribute('aria-live')).toBe('polite');
    expect(await page.locator('#pending').getAttribute('aria-live')).toBe('off');
  });

  it('keeps two people who speak at once apart', async () => {
    gateway.publish(caption('CA1', 2, { stable: 'I was', tail: ' saying' }));
    gateway.publish(caption('CA1', 2, { stable: 'Yes', track: 'outbound' }));
    await expect.poll(() => page.locator('#pending .caption').count()).toBe(2);
    gateway.publish(caption('CA1', 2, { stable: 'Yes.', track: 'outbound', final: true }));
    await expect
      .poll(() => page.locator('#pending .caption').allInnerTexts())
      .toEqual([expect.stringContaining('I was saying')]);
  });

  it('ignores a partial that comes after its final, and a final that comes twice', async () => {
    sayFinals(1, 2);
    sayFinals(2, 1);
    gateway.publish(caption('CA1', 2, { stable: 'late' }));
    gateway.publish(caption('CA1', 3, { stable: 'now' }));
    await expect.poll(() => page.locator('#pending').innerText()).toContain('now');
    expect(await page.locator('#pending .caption').count()).toBe(1);
    expect(await finals().count()).toBe(3);
  });

  it('shows what was said as text, whatever it looks like', async () => {
    gateway.publish(caption('CA1', 1, { stable: '<img src=x onerror=alert(1)> <b>bold</b>', final: true }));
    await expect.poll(() => finals().last().innerText()).toContain('<b>bold</b>');
    expect(await page.locator('#finals img, #finals b').count()).toBe(0);
  });

  it('notes what has no caption, now or before the page came, once, and passes over events that it does not know', async () => {
    const gap = { track: 'inbound', startMs: 65_000, endMs: 69_500, reason: 'overload' } as const;
    gateway.publish({ type: 'gap', callId: 'CA1', ...gap });
    gateway.publish({ type: 'lag.started', callId: 'CA1', track: 'inbound', atMs: 70_000, lagMs: 1500 });
    gateway.publish({ type: 'something.new', callId: 'CA1', lagMs: 7 } as never);
    const notes = () => page.locator('.note').allInnerTexts();
    await expect.poll(notes).toEqual(['1:05 Inbound: not captioned until 1:09, the machine had too much to do']);
    await expect.poll(() => page.locator('#calls').innerText()).toContain('lag 1500 ms');
    gateway.finals.set('CA1', [
      { kind: 'gap', ...gap },
      { kind: 'gap', ...gap, startMs: 80_000, endMs: 81_000, reason: 'media' },
    ]);
    gateway.calls = [call('CA1', { state: 'ended', endedAt: '2026-01-01T12:01:00.000Z' })];
    gateway.publish({ type: 'call.ended', callId: 'CA1', reason: 'hangup', durationMs: 90_000, handoffData: null });
    await expect
      .poll(notes)
      .toEqual([
        '1:05 Inbound: not captioned until 1:09, the machine had too much to do',
        '1:20 Inbound: not captioned until 1:21, the sound was lost on the way',
        '1:30 The call ended: it was hung up.',
      ]);
  });

  it('notes pressed keys and why the call ended', async () => {
    gateway.publish({ type: 'dtmf', callId: 'CA1', digit: '5', atMs: 4100 });
    gateway.publish(caption('CA1', 7, { stable: 'unfinished' }));
    gateway.calls = [call('CA1', { state: 'ended', endedAt: '2026-01-01T12:01:00.000Z' })];
    gateway.publish({ type: 'call.ended', callId: 'CA1', reason: 'hangup', durationMs: 61_240, handoffData: null });
    await expect
      .poll(() => page.locator('.note').allInnerTexts())
      .toEqual(['0:04 Key 5 pressed', '1:01 The call ended: it was hung up.']);
    expect(await page.locator('#pending .caption').count()).toBe(0);
    await expect.poll(() => page.locator('#connection').innerText()).toBe('Connected');
  });

  it('shows what was said to the caller, and tells apart what an interruption cut off', async () => {
    const spoken = { type: 'spoken', callId: 'CA1', startMs: 4000, endMs: 5000, atMs: 5000 } as const;
    const text = 'Your order is ready. Goodbye.';
    gateway.publish({ ...spoken, utterance: 'u1', text, heardText: text, interrupted: false });
    gateway.publish({ ...spoken, utterance: 'u2', text, heardText: 'Your order', interrupted: true });
    const paragraphs = page.locator('[data-track="spoken"]');
    await expect
      .poll(() => paragraphs.allInnerTexts())
      .toEqual([
        expect.stringMatching(/0:05\s+Spoken\s+Your order is ready\. Goodbye\.$/),
        expect.stringMatching(/Your order is ready\. Goodbye\. \(interrupted\)$/),
      ]);
    expect(await paragraphs.locator('.said').allInnerTexts()).toEqual([text, 'Your order']);
    expect(await paragraphs.locator('del').allInnerTexts()).toEqual(['is ready. Goodbye.']);
  });

  it('offers the transcript as a file', async () => {
    const link = page.getByRole('link', { name: 'SRT' });
    expect(await link.getAttribute('href')).toBe('/v1/calls/CA1/transcript?format=srt');
    expect(await link.getAttribute('download')).toBe('CA1.srt');
  });

  it('follows the newest caption until the reader scrolls up, and again when told to', async () => {
    sayFinals(1, 60);
    await expect.poll(() => finals().count()).toBe(61);
    expect(await isAtEnd()).toBe(true);
    await page.locator('#pane').evaluate((pane) => pane.scrollTo(0, 0));
    const newest = page.locator('#newest');
    await newest.waitFor();
    sayFinals(61, 3);
    await expect.poll(() => newest.innerText()).toBe('3 new below');
    expect(await page.locator('#pane').evaluate((pane) => pane.scrollTop)).toBe(0);
    await newest.click();
    await newest.waitFor({ state: 'hidden' });
    expect(await isAtEnd()).toBe(true);
  });

  it('keeps the latest 500 paragraphs of a long call and points to the transcript for the rest', async () => {
    sayFinals(1, 600);
    await expect.poll(() => finals().last().innerText()).toContain('number 600.');
    expect(await finals().count()).toBe(500);
    expect(await finals().first().innerText()).toContain('number 101.');
    expect(await page.locator('#earlier a').getAttribute('href')).toBe('/v1/calls/CA1/transcript?format=text');
  });

  it('does not move the text under a reader while older paragraphs go', async () => {
    sayFinals(1, 500);
    await expect.poll(() => finals().last().innerText()).toContain('number 500.');
    const marked = page.getByText('Sentence number 300.', { exact: true });
    await marked.evaluate((element) => element.scrollIntoView({ block: 'start' }));
    await page.locator('#newest').waitFor();
    const top = () => marked.evaluate((element) => Math.round(element.getBoundingClientRect().top));
    const before = await top();
    sayFinals(501, 40);
    await expect.poll(() => page.locator('#newest').innerText()).toBe('40 new below');
    expect(Math.abs((await top()) - before)).toBeLessThanOrEqual(1);
  });
});

describe('the connection', () => {
  beforeEach(() => {
    gateway.calls = [call('CA1')];
  });

  it('takes the feed up after the last event it saw', async () => {
    await openPage();
    await waitForReader();
    await expect.poll(() => page.locator('#connection').innerText()).toBe('Live');
    sayFinals(1, 3);
    await expect.poll(() => finals().count()).toBe(3);
    gateway.cutFeeds();
    await expect.poll(() => gateway.resumedFrom).toEqual([null, 'stub-3']);
    await expect.poll(() => page.locator('#connection').innerText()).toBe('Live');
    sayFinals(4, 1);
    await expect.poll(() => finals().count()).toBe(4);
  });

  it('says so while the gateway is away and goes on by itself when it is back', async () => {
    await openPage();
    await waitForReader();
    await gateway.close();
    await expect.poll(() => page.locator('#connection').innerText()).toContain('Reconnecting');
    await gateway.listen();
    await expect.poll(() => page.locator('#connection').innerText()).toBe('Live');
    sayFinals(1, 1);
    await expect.poll(() => finals().count()).toBe(1);
  });

  it("shows the gateway's own words when it refuses", async () => {
    gateway.failure = { status: 503, message: 'the server is draining' };
    await openPage();
    await expect.poll(() => page.getByRole('alert').first().innerText()).toBe('the server is draining');
  });

  it('asks for the key once', async () => {
    gateway.key = 'right';
    await openPage();
    const input = page.getByLabel('API key');
    await input.waitFor();
    await page.keyboard.type('wrong');
    await page.keyboard.press('Enter');
    await page.getByText('This key is not valid.').waitFor();
    await page.keyboard.type('right');
    await page.keyboard.press('Enter');
    await waitForReader();
    await input.waitFor({ state: 'hidden' });
    await page.reload();
    await expect.poll(() => page.locator('#connection').innerText()).toBe('Live');
    expect(complaints).toEqual([]);
  });
});

describe('the look', () => {
  async function openFullPage(options: BrowserContextOptions): Promise<void> {
    gateway.calls = [call('CA1', { lagMs: 85 }), call('CA2', { state: 'ended', endedAt: '2026-01-01T12:00:30.000Z' })];
    await openPage(options);
    await waitForReader();
    sayFinals(1, 30);
    gateway.publish(caption('CA1', 31, { stable: 'However due', tail: ' to the slow' }));
    gateway.publish(caption('CA1', 31, { stable: 'Well', tail: ' then', track: 'outbound' }));
    await expect.poll(() => page.locator('#pending .caption').count()).toBe(2);
    await page.locator('#pane').evaluate((pane) => pane.scrollTo(0, 0));
    await page.locator('#newest').waitFor();
  }

  it.each(['light', 'dark'] as const)('has no text too faint to read in %s', async (colorScheme) => {
    await openFullPage({ colorScheme });
    expect(await page.evaluate(FIND_FAINT_TEXTS)).toEqual([]);
  });

  it.each([390, 320])('fits a screen of %i pixels without scrolling sideways', async (width) => {
    await openFullPage({ viewport: { width, height: 760 } });
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width);
    expect(await page.locator('#pane').evaluate((pane) => pane.clientHeight)).toBeGreaterThan(250);
  });

  it('loads nothing from elsewhere and breaks no security policy', async () => {
    const hosts = new Set<string>();
    await openFullPage({});
    page.on('request', (request) => hosts.add(new URL(request.url()).host));
    await page.reload();
    await waitForReader();
    expect([...hosts]).toEqual([new URL(gateway.url).host]);
    expect(complaints).toEqual([]);
  });
});
