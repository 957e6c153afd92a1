/** Texts in scripts without spaces, and from right to left. */
import { describe, expect, it } from 'vitest';
import type { TimedWord } from '../../src/transcription/estimated-word-times.ts';
import { LocalAgreement } from '../../src/transcription/local-agreement.ts';
import { columnsOf, makeCues, wrapText } from '../../src/transcription/subtitles.ts';
import { joinWords, splitWords } from '../../src/transcription/words.ts';

const JAPANESE = 'お電話ありがとうございます。本日は東京支店の田中が承ります。「はい」とデータベースに入れました。';
const THAI = 'สวัสดีครับผมชื่อสมชายผมโทรมาเพื่อสอบถามเกี่ยวกับบัญชีของผม';
const ARABIC = 'مرحبا، كيف يمكنني مساعدتك اليوم؟ رقم الحساب ٥٥٥١٢٣٤ من فضلك.';

function timed(text: string): TimedWord[] {
  return splitWords(text).map((word, index) => ({ ...word, startMs: index * 120, endMs: index * 120 + 110 }));
}

describe('lines of scripts without spaces', () => {
  it('break between words, never before what begins no line, and have every letter once', () => {
    const lines = wrapText(JAPANESE, 20);
    expect(lines.join('')).toBe(JAPANESE);
    for (const line of lines) expect(columnsOf(line)).toBeLessThanOrEqual(20);
    for (const line of lines) expect(line).not.toMatch(/^[。、」ーゃっ]|「$/u);
    for (const word of ['電話', 'ありがとう', '東京', '田中', 'データベース'])
      expect(lines.some((line) => line.includes(word))).toBe(true);
  });

  it('break between Thai words, which are as narrow as Latin ones', () => {
    expect(columnsOf('สวัสดี')).toBe(4);
    const lines = wrapText(THAI, 20);
    expect(lines.join('')).toBe(THAI);
    for (const word of ['สวัสดี', 'สมชาย', 'บัญชี']) expect(lines.some((line) => line.includes(word))).toBe(true);
  });

  it('break inside a word that no line can hold', () => {
    expect(wrapText('データベースサーバー', 10).every((line) => columnsOf(line) <= 10)).toBe(true);
  });

  it('keep to the lines and the time of cues', () => {
    const cues = makeCues(timed(JAPANESE), { maxLineColumns: 26, maxCueMs: 7000 });
    expect(cues.flatMap(({ lines }) => lines).join('')).toBe(JAPANESE);
    for (const { lines } of cues) expect(lines.length).toBeLessThanOrEqual(2);
  });

  it('count half-width kana as narrow', () => {
    expect([columnsOf('カナ'), columnsOf('ｶﾅ'), columnsOf('漢字'), columnsOf('한글')]).toEqual([4, 2, 4, 4]);
  });
});

describe('lines from right to left', () => {
  it('are in the order in which they are said, with spaces between words', () => {
    const lines = wrapText(ARABIC, 24);
    expect(lines.join(' ')).toBe(ARABIC);
    expect(lines[0]).toMatch(/^مرحبا،/u);
  });
});

describe('words of scripts without spaces', () => {
  it('join to what they were split from', () => {
    for (const text of [JAPANESE, THAI, ARABIC, 'iPhone 15を使う']) expect(joinWords('', splitWords(text))).toBe(text);
  });

  it('are letters, with the marks that cling to them', () => {
    expect(splitWords('東京「はい」。').map(({ text }) => text)).toEqual(['東', '京', '「は', 'い」。']);
    expect(splitWords('says “no”').map(({ text }) => text)).toEqual(['says', '“no”']);
  });

  it('become stable letter by letter', () => {
    const agreement = new LocalAgreement();
    agreement.add('東京支', true);
    expect(agreement.add('東京支店の', true)).toMatchObject({ stable: '東京支', tail: '店の' });
    expect(agreement.finish('東京支店の田中').stable).toBe('東京支店の田中');
  });
});
