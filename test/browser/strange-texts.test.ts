/** Whatever strangers write into names, notes, tags and hints stays text, in its place, in every view. */
import { describe, expect, it } from 'vitest';
import type { CallView } from '../../src/calls/call-view.ts';
import type { FeedEvent } from '../../src/calls/feed/events.ts';
import { answer, CALLS, PROMPTS, SYSTEM, USUAL } from './console-answers.ts';
import { call, caption } from './page-calls.ts';
import { complaints, gateway, openBlank, page, usePage } from './page-test.ts';

usePage();

const TEXTS = [
  ['markup', '<img src=x onerror="window.hacked = 1">'],
  ['a word without end', 'W'.repeat(128)],
  ['letters from right to left, and a mark that turns the direction', '\u202eדנה לוי ليلى حداد'],
] as const;

/** A call in which `text` stands wherever a text may. */
function strangeCall(id: string, text: string): CallView {
  return call(id, {
    names: { inbound: text, outbound: text },
    from: text,
    to: text,
    agent: text,
    queue: text,
    carrier: text,
    tags: [text, `${text}2`],
    outcome: text,
    app: `wss://${text}`,
    handoffData: text,
  });
}

function strangeEvents(text: string): FeedEvent[] {
  const callId = 'CA1';
  const spoken = { utterance: 'u', text: `${text} more`, heardText: text, interrupted: true };
  const hint = { hint: 'h', source: 'card', title: text, text, words: text, track: null } as const;
  return [
    caption(callId, 1, { stable: text, final: true }),
    { type: 'hint', callId, link: 'javascript:window.hacked=2', atMs: 100, ...hint },
    { type: 'note', callId, note: 'n1', author: text, text, at: '2026-01-01T12:00:07.000Z' },
    { type: 'mark', callId, author: text, label: text, atMs: 2000 },
    { type: 'dtmf', callId, digit: text, atMs: 2500 },
    { type: 'app.muted', callId, by: text, atMs: 2600 },
    { type: 'spoken', callId, startMs: 3000, endMs: 4000, atMs: 4000, ...spoken },
  ];
}

/** What the views get from a server that has such a call. */
function strangeAnswers(text: string) {
  const ended = { ...CALLS[1], ...strangeCall('CA9', text), state: 'ended', endReason: text };
  const found = { ...ended, found: [{ track: 'inbound', startMs: 1, parts: [{ text, marked: true }] }] };
  const prompts = { data: PROMPTS.data.map((prompt) => ({ ...prompt, text, voice: text })), next: null };
  const refused = [{ code: text, count: 1, refuses: 'calls', remedy: text }];
  const apps = [{ app: text, isOwn: true, reachedAt: null, trouble: null }];
  return {
    ...USUAL,
    '/v1/calls': (url: URL) => {
      if (url.searchParams.has('state'))
        return { data: url.searchParams.get('state') === 'live' ? gateway.calls : [], next: null };
      return { data: url.searchParams.has('q') ? [found] : [ended, ...CALLS], next: null };
    },
    '/v1/system': { ...SYSTEM, apps, refused },
    '/v1/prompts': prompts,
  };
}

async function isSound(): Promise<void> {
  const script = `({
    hacked: window.hacked ?? null,
    images: document.querySelectorAll('img').length,
    scripts: [...document.querySelectorAll('a')].filter(({ href }) => /^javascript:/i.test(href)).length,
    isWide: document.documentElement.scrollWidth > innerWidth,
    cut: [...document.querySelectorAll('.work *')].filter((each) => each.checkVisibility() &&
      each.getBoundingClientRect().right > innerWidth + 1).length,
  })`;
  expect(await page.evaluate(script)).toEqual({ hacked: null, images: 0, scripts: 0, isWide: false, cut: 0 });
  expect(complaints).toEqual([]);
}

describe.each([1440, 375])('at %i pixels', (width) => {
  it.each(TEXTS)('%s is a text like any other', async (_what, text) => {
    gateway.calls = [strangeCall('CA1', text), strangeCall('CA2', text)];
    gateway.events.set('CA1', strangeEvents(text));
    await openBlank({ viewport: { width, height: 800 } });
    await answer(page, strangeAnswers(text));
    await page.goto(`${gateway.url}#/live`);
    await page.locator('.card').first().waitFor();
    await page.getByLabel('⚑ Mark').fill(text);
    await page.keyboard.press('Enter');
    gateway.publish(caption('CA1', 9, { stable: text, final: true }));
    await page.locator('.card .line-words:not(:empty)').first().waitFor();
    await isSound();
    await page.goto(`${gateway.url}#/calls/CA1`);
    await page.locator('#finals .caption').first().waitFor();
    await isSound();
    await page.keyboard.press('n');
    await page.locator('.hint-card').waitFor();
    await isSound();
    await page.goto(`${gateway.url}#/history`);
    await page.locator('.found-call').first().waitFor();
    await isSound();
    await page.goto(`${gateway.url}#/history?q=x&tag=${encodeURIComponent(text)}`);
    await page.locator('.found-call mark').waitFor();
    await isSound();
    await page.goto(`${gateway.url}#/system`);
    await page.getByRole('region', { name: 'Refused' }).waitFor();
    await isSound();
  });
});
