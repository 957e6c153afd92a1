/** One call: what was said in it, and what is done with it. */
import type { BrowserContextOptions } from 'playwright-core';
import { beforeEach, describe, expect, it } from 'vitest';
import { call, caption, waitForReader } from './page-calls.ts';
import { gateway, openPage, page, usePage } from './page-test.ts';

usePage();

async function open(address: string, options: BrowserContextOptions = {}): Promise<void> {
  await openPage(address, options);
  await waitForReader(gateway);
}

/** Says `count` finals on call `CA1`, numbered from `first`. */
function sayFinals(first: number, count: number): void {
  for (let n = first; n < first + count; n++)
    gateway.publish(caption('CA1', n, { stable: `Sentence number ${n}.`, final: true }));
}

const finals = () => page.locator('#finals .caption');
const notes = async () => (await page.locator('.note').allInnerTexts()).map((text) => text.replace(/\s+/g, ' '));
const isAtEnd = () =>
  page.locator('#pane').evaluate((pane) => pane.scrollHeight - pane.scrollTop - pane.clientHeight < 2);

describe('captions', () => {
  beforeEach(async () => {
    gateway.calls = [call('CA1')];
    gateway.finals.set('CA1', [
      { kind: 'caption', track: 'outbound', utterance: 1, text: 'How can I help you?', startMs: 200, endMs: 900 },
    ]);
    await open('#/calls/CA1');
    await finals().first().waitFor();
  });

  it('shows what was said before, then what is said now: stable words and a tail that is told apart', async () => {
    expect(await finals().first().innerText()).toMatch(/0:00\s+Agent\s+How can I help you\?/);
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
    await expect.poll(() => finals().last().innerText()).toMatch(/1:05\s+Caller\s+One two\./);
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
    await expect.poll(notes).toEqual(['1:05 Caller not captioned until 1:09, the machine had too much to do']);
    await expect.poll(() => page.locator('#call-status').innerText()).toBe('captions 1.5 s late');
    gateway.finals.set('CA1', [
      { kind: 'gap', ...gap },
      { kind: 'gap', ...gap, startMs: 80_000, endMs: 81_000, reason: 'media' },
    ]);
    gateway.calls = [call('CA1', { state: 'ended', endedAt: '2026-01-01T12:01:00.000Z' })];
    gateway.publish({ type: 'call.ended', callId: 'CA1', reason: 'hangup', durationMs: 90_000, handoffData: null });
    await expect
      .poll(notes)
      .toEqual([
        '1:05 Caller not captioned until 1:09, the machine had too much to do',
        '1:20 Caller not captioned until 1:21, the sound was lost on the way',
        '1:30 The call ended: it was hung up.',
      ]);
  });

  it('notes pressed keys and why the call ended', async () => {
    gateway.publish({ type: 'dtmf', callId: 'CA1', digit: '5', atMs: 4100 });
    gateway.publish(caption('CA1', 7, { stable: 'unfinished' }));
    gateway.calls = [call('CA1', { state: 'ended', endReason: 'hangup', endedAt: '2026-01-01T12:01:00.000Z' })];
    gateway.publish({ type: 'call.ended', callId: 'CA1', reason: 'hangup', durationMs: 61_240, handoffData: null });
    await expect.poll(notes).toEqual(['0:04 Key 5 pressed', '1:01 The call ended: it was hung up.']);
    expect(await page.locator('#pending .caption').count()).toBe(0);
    await expect.poll(() => page.locator('#call-status').innerText()).toContain('hung up');
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
        expect.stringMatching(/0:04\s+Trunkline\s+Your order is ready\. Goodbye\.$/),
        expect.stringMatching(/Your order is ready\. Goodbye\. \(interrupted\)$/),
      ]);
    expect(await paragraphs.locator('.said').allInnerTexts()).toEqual([text, 'Your order']);
    expect(await paragraphs.locator('del').allInnerTexts()).toEqual(['is ready. Goodbye.']);
  });

  it('offers the transcript as a file', async () => {
    await page.getByText('Export ▾').click();
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
    await expect.poll(() => newest.innerText()).toBe('3 new below ↓');
    expect(await page.locator('#pane').evaluate((pane) => pane.scrollTop)).toBe(0);
    await newest.click();
    await newest.waitFor({ state: 'hidden' });
    expect(await isAtEnd()).toBe(true);
  });

  it('does not move the text under a reader while the call goes on', async () => {
    sayFinals(1, 500);
    await expect.poll(() => finals().last().innerText()).toContain('number 500.');
    const marked = page.getByText('Sentence number 300.', { exact: true });
    await marked.evaluate((element) => element.scrollIntoView({ block: 'start' }));
    await page.locator('#newest').waitFor();
    const top = () => marked.evaluate((element) => Math.round(element.getBoundingClientRect().top));
    const before = await top();
    sayFinals(501, 40);
    await expect.poll(() => page.locator('#newest').innerText()).toBe('40 new below ↓');
    expect(Math.abs((await top()) - before)).toBeLessThanOrEqual(1);
  });
});

it('opens a call that is over at its beginning', async () => {
  gateway.calls = [call('CA1', { state: 'ended', endedAt: '2026-01-01T12:01:00.000Z', endReason: 'hangup' })];
  const said = Array.from({ length: 60 }, (_, n) => caption('CA1', n, { stable: `Sentence ${n}.`, final: true }));
  gateway.events.set('CA1', said);
  await open('#/calls/CA1');
  await finals().nth(59).waitFor({ state: 'attached' });
  await expect.poll(() => page.locator('#pane').evaluate((pane) => pane.scrollTop)).toBe(0);
  expect(await finals().first().innerText()).toContain('Sentence 0.');
});

describe('the record of a call', () => {
  const startedAt = '2026-01-01T12:00:00.000Z';

  beforeEach(() => {
    gateway.calls = [call('CA1', { names: { inbound: 'Maria K.', outbound: 'Tom' }, startedAt })];
    gateway.events.set('CA1', [
      { type: 'call.state', callId: 'CA1', state: 'queued', atMs: 0 },
      caption('CA1', 1, { stable: 'Please hold the line.', final: true, track: 'outbound' }),
      { type: 'call.state', callId: 'CA1', state: 'live', atMs: 2000 },
      caption('CA1', 3, { stable: 'How can I help?', final: true, track: 'outbound' }),
      caption('CA1', 4, { stable: 'My order is four seven double one, mail maria@example.com.', final: true }),
      { type: 'app.lost', callId: 'CA1', atMs: 5000 },
      { type: 'app.back', callId: 'CA1', atMs: 6000 },
      { type: 'note', callId: 'CA1', note: 'n1', author: 'anna', text: 'Second call', at: '2026-01-01T12:00:07.000Z' },
      { type: 'mark', callId: 'CA1', author: 'anna', label: 'look here', atMs: 8000 },
    ]);
  });

  it('has names, prompts told apart, states, the app, notes and marks in the order of their beginning', async () => {
    await open('#/calls/CA1');
    await page.getByRole('heading', { name: 'Maria K. → Tom' }).waitFor();
    const rows = page.locator('#finals .block > *');
    await expect
      .poll(async () => (await rows.allInnerTexts()).map((text) => text.replace(/\s+/g, ' ')))
      .toEqual([
        '0:00 Waits in the queue',
        '0:01 Prompt Please hold the line.',
        '0:02 Connected',
        '0:03 Tom How can I help?',
        '0:04 Maria K. My order is four seven double one, mail maria@example.com.',
        '0:05 The app is lost; its connection is being opened again',
        '0:06 The app is back',
        '0:07 anna Second call',
        '0:08 ⚑ look here (anna)',
      ]);
    await page.getByRole('checkbox', { name: 'Prompts' }).uncheck();
    expect(await page.getByText('Please hold the line.').isVisible()).toBe(false);
  });

  it('finds facts to be copied, shows hints by the events, and offers their words to be said', async () => {
    await open('#/calls/CA1');
    const facts = page.locator('.facts li');
    await expect.poll(() => facts.allInnerTexts()).toEqual(['e-mail\nmaria@example.com\nCopy', 'order\n4711\nCopy']);
    const hint = {
      source: 'card',
      title: 'Reset guide',
      text: 'Hold the button.',
      words: 'slow',
      track: null,
    } as const;
    gateway.publish({ type: 'hint', callId: 'CA1', hint: 'h1', link: 'javascript:alert(1)', atMs: 9000, ...hint });
    await page.locator('.hint-card').waitFor();
    expect(await page.locator('.hint-card a').count()).toBe(0);
    await page.getByRole('button', { name: 'Say: Reset guide' }).click();
    expect(await page.getByLabel('Sentence to be said').inputValue()).toBe('Hold the button.');
  });

  it('marks the first hit of words that were typed before anybody said them', async () => {
    await open('#/calls/CA1');
    await page.locator('[data-key]').first().waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('zebra');
    const count = page.locator('.find-count');
    await expect.poll(() => count.innerText()).toBe('not found');
    gateway.publish(caption('CA1', 40, { stable: 'Was that a zebra?', final: true }));
    await expect.poll(() => count.innerText()).toBe('1 of 1');
  });

  it('finds words with the keyboard, and links to a moment', async () => {
    gateway.events
      .get('CA1')
      ?.push(
        ...Array.from({ length: 300 }, (_, n) => caption('CA1', n + 20, { stable: `Row ${n} of many.`, final: true })),
      );
    await open('#/calls/CA1?at=4000');
    const here = page.locator('[data-here]');
    await expect.poll(() => here.innerText()).toContain('My order is');
    await page.keyboard.press('/');
    await page.keyboard.type('row 7');
    const count = page.locator('.find-count');
    await expect.poll(() => count.innerText()).toBe('1 of 11');
    expect(await here.innerText()).toContain('Row 7 of many.');
    await page.keyboard.press('Enter');
    await expect.poll(() => count.innerText()).toBe('2 of 11');
    await page.keyboard.press('Shift+Enter');
    await page.keyboard.press('Shift+Enter');
    await expect.poll(() => count.innerText()).toBe('11 of 11');
    await expect.poll(() => here.evaluate((row) => row.getBoundingClientRect().top)).toBeGreaterThan(100);
    await page.locator('[data-key="inbound 30"] .at').click();
    expect(page.url()).toContain('#/calls/CA1?at=30000');
  });

  it('saves notes, the outcome and tags, says, presses keys, takes over and hangs up', async () => {
    gateway.calls = [call('CA1', { app: 'wss://app.example', sound: 'recording', startedAt })];
    await open('#/calls/CA1');
    await page.getByRole('button', { name: 'Take over' }).click();
    gateway.publish({ type: 'app.muted', callId: 'CA1', by: 'anna', atMs: 9000 });
    await page.getByRole('button', { name: 'Give back to the app' }).waitFor();
    await page.getByRole('button', { name: 'Pause recording' }).click();
    await page.getByLabel('Note', { exact: true }).fill('She calls again.');
    await page.keyboard.press('Enter');
    await page.getByLabel('Outcome').fill('call back');
    await page.getByLabel('Tags').fill('vip, #slow');
    await page.keyboard.press('Tab');
    await page.getByLabel('Keys to be pressed').fill('10');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Hang up' }).click();
    await page.getByRole('button', { name: 'Really hang up?' }).click();
    await expect
      .poll(() => gateway.deeds.map(({ method, path, body }) => [method, path.split('/').at(-1), body]))
      .toEqual([
        ['POST', 'app', { muted: true }],
        ['POST', 'recording', { state: 'paused' }],
        ['POST', 'notes', { text: 'She calls again.' }],
        ['PATCH', 'CA1', { outcome: 'call back' }],
        ['PATCH', 'CA1', { tags: ['vip', 'slow'] }],
        ['POST', 'dtmf', { digits: '10' }],
        ['POST', 'hangup', null],
      ]);
  });

  it('takes what a call was told of at its end, and plays its sound in step', async () => {
    gateway.calls = [call('CA1', { state: 'ended', endReason: 'hangup', endedAt: startedAt, sound: 'recorded' })];
    gateway.sound = silentWav(12_000);
    await open('#/calls/CA1');
    const audio = page.locator('audio');
    await expect.poll(() => audio.evaluate((element) => Number(Reflect.get(element, 'duration')))).toBeCloseTo(12, 1);
    await audio.evaluate((element) => Object.assign(element, { currentTime: 3.2 }));
    await expect.poll(() => page.locator('[data-here]').innerText()).toContain('How can I help?');
    expect(await page.locator('.say-bar').isVisible()).toBe(false);
  });

  it('puts the work column beside what was said on wide screens, and in its place on narrow ones', async () => {
    await open('#/calls/CA1', { viewport: { width: 1100, height: 700 } });
    await page.locator('.work').waitFor();
    expect(await page.locator('#pane').isVisible()).toBe(true);
    await page.setViewportSize({ width: 375, height: 700 });
    expect(await page.locator('.work').isVisible()).toBe(false);
    await page.keyboard.press('n');
    await page.locator('.work').waitFor();
    expect(await page.locator('#pane').isVisible()).toBe(false);
    expect(await page.evaluate('document.activeElement.id')).toBe('note');
  });
});

/** 8 kHz, 8 bits, one channel. */
function silentWav(durationMs: number): Buffer {
  const samples = Buffer.alloc(durationMs * 8, 128);
  const header = Buffer.alloc(44);
  header.write('RIFF', 0);
  header.writeUInt32LE(36 + samples.length, 4);
  header.write('WAVEfmt ', 8);
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(1, 20);
  header.writeUInt16LE(1, 22);
  header.writeUInt32LE(8000, 24);
  header.writeUInt32LE(8000, 28);
  header.writeUInt16LE(1, 32);
  header.writeUInt16LE(8, 34);
  header.write('data', 36);
  header.writeUInt32LE(samples.length, 40);
  return Buffer.concat([header, samples]);
}
