/** What a flow says, in its page, above answers of a server that the tests make up. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { BrowserContextOptions, FileChooser } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { writeWav } from '../../src/audio/wav.ts';
import { findBarriers } from './axe.ts';
import { type Answers, answer, refusal, USUAL } from './console-answers.ts';
import { FLOW_ANSWERS, RECORDED, SPOKEN } from './flow-answers.ts';
import { complaints, gateway, openBlank, page, usePage } from './page-test.ts';

usePage();

/** Pictures for people who want to look at them go here; unset = none are made. */
const PICTURES = process.env['TRUNKLINE_TEST_PICTURES'];

const ADMIN = ['calls.read', 'flows.read', 'prompts.read', 'prompts'];
const may = (...permissions: string[]) => ({ name: 'anna', role: 'admin', agent: null, permissions });
const PROMPTS: Answers = {
  '/v1/flow-prompts': (url) => {
    // Two pages, as of a server with many flows.
    const isFirst = url.searchParams.get('cursor') === null;
    return isFirst ? { data: SPOKEN.slice(0, 2), next: 'more' } : { data: SPOKEN.slice(2), next: null };
  },
  '/v1/flow-recordings': { data: RECORDED, next: null },
};

async function open(answers: Answers = {}, options: BrowserContextOptions = {}): Promise<void> {
  await openBlank({ viewport: { width: 1200, height: 900 }, reducedMotion: 'reduce', ...options });
  await answer(page, { ...USUAL, '/v1/session': may(...ADMIN), ...FLOW_ANSWERS, ...PROMPTS, ...answers });
  await page.goto(`${gateway.url}#/flows?name=shop`);
  await page.locator('.flow-step').first().waitFor();
}

async function unfold(): Promise<void> {
  await page.locator('.flow-prompts summary').focus();
  await page.keyboard.press('Enter');
  await rows().first().waitFor();
}

const rows = () => page.locator('.flow-prompts li');
const note = () => page.locator('.prompts-note').innerText();
const button = (name: string) => page.getByRole('button', { name, exact: true });

/** Presses a button that asks for a file, and gives it one. */
async function choose(name: string): Promise<void> {
  const asked: Promise<FileChooser> = page.waitForEvent('filechooser');
  await button(name).press('Enter');
  await (await asked).setFiles({ name: 'new.wav', mimeType: 'audio/wav', buffer: Buffer.from('RIFF') });
}

describe('what a flow says', () => {
  it('is listed when it is unfolded: where, in which language, and how it comes about', async () => {
    await open();
    expect(await rows().count()).toBe(0);
    await unfold();
    expect(await note()).toBe('4 prompts, 1 recorded');
    const texts = await rows().allInnerTexts();
    expect(texts[0]).toMatch(/welcome · en-US\s+Welcome to Miller's Bicycles\.\s+recorded: en\/welcome\.wav, 1\.9 s/);
    expect(texts[1]).toMatch(/menu · en-US\s+For our opening hours, press 1\.\s+synthesized/);
    expect(texts[2]).toMatch(
      /synthesized until goodbye is recorded, its values in each call\s+en\/goodbye\.wav is not used: it is text/,
    );
    expect(texts[3]).toMatch(/voicemail · en-US\s+not recorded: nothing is heard/);
    expect(await rows().nth(1).getByRole('button').count()).toBe(1);
    expect(await page.getByLabel('A prompt with a recording').innerText()).toBe(
      'text: "For our opening hours, press 1."\nrecording: menu',
    );
    expect(await button('Play “recording jingle”').isDisabled()).toBe(true);
    expect(complaints).toEqual([]);
  });

  it('can be listened to, one prompt at a time', async () => {
    await open();
    const sound = Buffer.from(writeWav([new Int16Array(8000 * 60)], 8000));
    await page.route('**/v1/flow-prompts/*/sound', (route) => route.fulfill({ contentType: 'audio/wav', body: sound }));
    await unfold();
    const [first, second] = [button("Play “Welcome to Miller's Bicycles.”"), button('Play “Goodbye, {name}.”')];
    const asked = page.waitForRequest(`**/v1/flow-prompts/${'a'.repeat(32)}/sound`);
    await first.click();
    await asked;
    expect(await first.getAttribute('aria-pressed')).toBe('true');
    await second.click();
    expect(await first.getAttribute('aria-pressed')).toBe('false');
    expect(await second.getAttribute('aria-pressed')).toBe('true');
    await second.click();
    expect(await second.getAttribute('aria-pressed')).toBe('false');
  });

  it('says when a prompt cannot be played', async () => {
    await open({ [`/v1/flow-prompts/${'a'.repeat(32)}/sound`]: refusal(404, 'prompt_not_found', 'no') });
    await unfold();
    await button("Play “Welcome to Miller's Bicycles.”").click();
    await page.getByText('This prompt cannot be played now.').waitFor();
    expect(await button("Play “Welcome to Miller's Bicycles.”").getAttribute('aria-pressed')).toBe('false');
  });

  it('takes a recording where none is, and asks before one takes the place of another', async () => {
    const sent: string[] = [];
    const warning = { line: 9, column: 5, message: 'there is no recording jingle in prompts/' };
    await open({
      '/v1/flows/shop': () => ({
        ...(FLOW_ANSWERS['/v1/flows/shop'] as object),
        warnings: sent.length === 0 ? [warning] : [],
      }),
      '/v1/flow-recordings': (_url, route) => {
        if (route.request().method() !== 'POST') return { data: RECORDED, next: null };
        sent.push(route.request().postData() ?? '');
        return { ...RECORDED[1], path: 'en-US/jingle.wav' };
      },
    });
    await unfold();
    await page.getByText(warning.message).waitFor();
    await choose('Upload recording jingle, en-US');
    await page.getByText('Calls hear en-US/jingle.wav from now on.').waitFor();
    await expect.poll(() => page.getByText(warning.message).count()).toBe(0);
    expect(sent[0]).toMatch(/name="name"\s+jingle\s[\s\S]*name="language"\s+en-US\s[\s\S]*filename="new\.wav"/);
    await expect.poll(note).toBe('4 prompts, 1 recorded');
    expect(await page.locator(':focus').getAttribute('aria-label')).toBe('Upload recording jingle, en-US');
    await choose('Replace recording welcome, en');
    await page.getByRole('dialog').getByText('new.wav takes the place of en/welcome.wav').waitFor();
    expect(sent).toHaveLength(1);
    await button('Replace').click();
    await expect.poll(() => sent[1]).toMatch(/name="name"\s+welcome\s[\s\S]*name="language"\s+en\s/);
  });

  it('has no place for a file that is no sound, and says why', async () => {
    const answers = (_url: URL, route: { request(): { method(): string } }) =>
      route.request().method() === 'POST'
        ? refusal(400, 'audio_unreadable', 'it is text, expected WAV, MP3, FLAC or Ogg')
        : { data: RECORDED, next: null };
    await open({ '/v1/flow-recordings': answers });
    await unfold();
    await choose('Upload recording jingle, en-US');
    await page.getByRole('alert').getByText('expected WAV, MP3').waitFor();
    await expect.poll(note).toBe('4 prompts, 1 recorded');
  });

  it('is synthesized again once its recording is deleted', async () => {
    let recordings: readonly object[] = RECORDED;
    const prompts = () => ({
      data: SPOKEN.map((each) => (recordings === RECORDED ? each : { ...each, source: 'made' })),
      next: null,
    });
    await open({
      '/v1/flow-prompts': prompts,
      '/v1/flow-recordings': () => ({ data: recordings, next: null }),
      '/v1/flow-recordings/en/welcome': () => {
        recordings = [];
        return {};
      },
    });
    await unfold();
    await button('Delete recording welcome, en').press('Enter');
    await button('Delete').click();
    await button('Upload recording welcome, en-US').waitFor();
    expect(await rows().first().innerText()).toContain('synthesized until welcome is recorded');
    // The button that was pressed is gone: the focus stays with its prompt.
    expect(await page.locator('.prompt-list li:first-child :focus').count()).toBe(1);
  });

  it('is read, not changed, by who may not, and is not shown to others', async () => {
    await open({ '/v1/session': may('calls.read', 'flows.read', 'prompts.read') });
    await unfold();
    expect(await page.locator('.flow-prompts li button').count()).toBe(4);
    expect(await page.locator('.flow-prompts .hint').innerText()).toBe('');
    await page.context().close();
    await open({ '/v1/session': may('calls.read', 'flows.read') });
    expect(await page.locator('.flow-prompts').isVisible()).toBe(false);
  });

  it.each([
    ['desk-light', 1440, 'light'],
    ['phone-dark', 375, 'dark'],
  ] as const)('has no barriers and fits its width: %s', async (where, width, colorScheme) => {
    await open({}, { viewport: { width, height: 900 }, colorScheme });
    await unfold();
    expect(await findBarriers(page, '#view')).toEqual([]);
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
    if (PICTURES === undefined) return;
    mkdirSync(PICTURES, { recursive: true });
    await page.screenshot({ path: join(PICTURES, `flow-prompts-${where}.png`) });
  });
});
