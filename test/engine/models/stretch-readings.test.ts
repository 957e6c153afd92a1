import { describe, expect, it } from 'vitest';
import type { Recognition } from '../../../engine/models/model.ts';
import { joinReadings } from '../../../engine/models/stretch-readings.ts';

const reading = (text: string, more: Partial<Recognition> = {}) => ({
  from: 0,
  recognition: { text, tokens: [1], logprobs: Float32Array.of(-1), looped: false, ...more },
});

describe('stretches that are put together', () => {
  it.each([
    [['Hello there.', 'Good bye.'], 'Hello there. Good bye.'],
    [['', 'Hello', '', 'you', ''], 'Hello you'],
    [['你好。', '再见。'], '你好。再见。'],
    [['我叫', '小明'], '我叫小明'],
    [['こんにちは', 'コーヒー', 'です'], 'こんにちはコーヒーです'],
    [['「はい」', '次'], '「はい」次'],
    [['สวัสดี', 'ครับ'], 'สวัสดีครับ'],
    [['안녕하세요', '감사합니다'], '안녕하세요 감사합니다'],
    [['Привет', 'мир'], 'Привет мир'],
  ])('have spaces where their script has them: %j', (texts, whole) => {
    expect(joinReadings(texts.map((text) => reading(text))).text).toBe(whole);
  });

  it('are in the language of the first one that has text', () => {
    const silence = reading('', { language: 'en' });
    expect(joinReadings([silence, reading('Hallo', { language: 'de' })]).language).toBe('de');
    expect(joinReadings([silence, reading('x')]).language).toBe('en');
    expect(joinReadings([reading('x')])).not.toHaveProperty('language');
  });

  it('have pieces, but no tokens or words, where one of them is a loop', () => {
    const parts = { pieces: [Uint8Array.of(97)], words: [{ text: 'a', startMs: 0, endMs: 10 }] };
    const looped = reading('no', { ...parts, looped: true });
    expect(joinReadings([reading('a', parts), looped])).toEqual({
      text: 'a no',
      tokens: [],
      logprobs: new Float32Array(0),
      looped: true,
      pieces: [],
    });
    expect(joinReadings([reading('a', parts), { ...reading('b', parts), from: 16_000 }])).toMatchObject({
      tokens: [1, 1],
      words: [{ startMs: 0 }, { startMs: 1000 }],
    });
  });
});
