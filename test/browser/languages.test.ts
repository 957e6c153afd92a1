/** Captions in other languages and scripts, as people read them. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { CaptionEvent } from '../../src/calls/feed/events.ts';
import { answer, USUAL } from './console-answers.ts';
import { call, caption, waitForReader } from './page-calls.ts';
import { complaints, gateway, openBlank, page, usePage } from './page-test.ts';

usePage();

/** Pictures for people who want to look at them go here; unset = none are made. */
const PICTURES = process.env['TRUNKLINE_TEST_PICTURES'];

const SAID = [
  ['de', 'Guten Tag, hier spricht Müller, ich rufe wegen der Donaudampfschifffahrtsgesellschaftsrechnung an.'],
  ['ja', 'お電話ありがとうございます。本日は東京支店の田中が承ります。「データベース」に入れました。'],
  ['ar', 'مرحبا، كيف يمكنني مساعدتك اليوم؟ رقم الحساب ٥٥٥١٢٣٤ في Trunkline من فضلك.'],
  ['zh', '您好，请问有什么可以帮您？我想查询上个月的账单，账号是5551234，谢谢您的帮助。'],
  ['th', 'สวัสดีค่ะ ติดต่อเรื่องใบแจ้งหนี้ของเดือนที่แล้วค่ะ รบกวนตรวจสอบยอดเงินคงเหลือให้ด้วยนะคะ'],
] as const;

function said(callId: string, utterance: number): CaptionEvent {
  const [language, text] = SAID[utterance - 1] ?? ['', ''];
  const event = caption(callId, utterance, {
    stable: text,
    final: true,
    track: utterance === 2 ? 'outbound' : 'inbound',
  });
  return { ...event, language };
}

describe.each([
  [1440, 'dark'],
  [375, 'light'],
] as const)('at %i pixels, %s', (width, colorScheme) => {
  it('captions name their language, run in its direction and stay in their place', async () => {
    gateway.calls = [call('CA1'), call('CA2')];
    gateway.events.set('CA1', [
      { type: 'language', callId: 'CA1', track: 'inbound', language: 'de', atMs: 0, by: 'number' },
      said('CA1', 1),
      said('CA1', 2),
      { type: 'language', callId: 'CA1', track: 'inbound', language: 'ar', atMs: 2900, by: 'heard' },
      said('CA1', 3),
      said('CA1', 4),
      said('CA1', 5),
    ]);
    await openBlank({ viewport: { width, height: 800 }, colorScheme });
    await answer(page, { ...USUAL, '/v1/calls': () => ({ data: gateway.calls, next: null }) });
    await page.goto(`${gateway.url}#/calls/CA1`);
    await page.locator('#finals .caption').nth(4).waitFor();
    for (const [language, text] of SAID) {
      const line = page.locator(`#finals .said[lang="${language}"]`);
      expect(await line.textContent()).toBe(text);
      const direction = await line.evaluate((element) => element.matches(':dir(rtl)'));
      expect([language, direction]).toEqual([language, language === 'ar']);
    }
    await page.getByText('The language of the caller is Arabic').waitFor();
    const layout = await page.evaluate(`({
      isWide: document.documentElement.scrollWidth > innerWidth,
      cut: [...document.querySelectorAll('#finals .words')].filter((each) =>
        each.getBoundingClientRect().right > innerWidth + 1 || each.scrollWidth > each.clientWidth + 1).length,
    })`);
    expect(layout).toEqual({ isWide: false, cut: 0 });
    await picture(`call-${width}`);
    await page.goto(`${gateway.url}#/live`);
    await page.locator('.card').first().waitFor();
    await waitForReader(gateway);
    for (let utterance = 1; utterance <= SAID.length; utterance++) gateway.publish(said('CA2', utterance));
    await expect.poll(() => page.locator('.card .line-words').allTextContents()).toContain(SAID[4][1]);
    await picture(`live-${width}`);
    expect(complaints).toEqual([]);
  });
});

async function picture(name: string): Promise<void> {
  if (PICTURES === undefined) return;
  mkdirSync(PICTURES, { recursive: true });
  await page.screenshot({ path: join(PICTURES, `languages-${name}.png`) });
}
