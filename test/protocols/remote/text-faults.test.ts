import { describe, expect, it } from 'vitest';
import { findTextFault } from '../../../src/protocols/remote/text-faults.ts';

const SECOND = 16_000;

describe('a text of another recogniser', () => {
  it.each(['', ' ', '...', '♪♪', '-', '[ ]'])('has no words: %j', (text) => {
    expect(findTextFault(text, SECOND)).toBe('empty');
  });

  it.each([
    'Thanks for watching!',
    'Thanks for watching! Please subscribe.',
    'THANK YOU FOR WATCHING. Thank you for watching!',
    'Subtitles by the Amara.org community',
    'Untertitel im Auftrag des ZDF für funk, 2017',
    'Untertitelung aufgrund der Amara.org-Community',
    'Sous-titres réalisés par la communauté d’Amara.org',
    '¡Gracias por ver el vídeo!',
    'Субтитры сделал DimaTorzok',
    'ご視聴ありがとうございました。',
    '시청해주셔서 감사합니다!',
    'Altyazı M.K.',
  ])('is one that models invent: %s', (text) => {
    expect(findTextFault(text, 3 * SECOND)).toBe('invented');
  });

  it.each([
    'Thank you.',
    'Thank you very much. Bye bye.',
    'You?',
    'Thanks for watching the house while we were away.',
    'I said thanks for watching!',
    'Please subscribe me to the newsletter.',
    'Danke schön, auf Wiederhören.',
    'ありがとうございました。',
    'See you next time.',
  ])('may be what a caller said: %s', (text) => {
    expect(findTextFault(text, 3 * SECOND)).toBeNull();
  });

  it('is of words that nobody can say so fast', () => {
    const twenty = 'and then we went to the shop to buy some bread and milk for her and the two boys';
    expect(findTextFault(twenty, 1.5 * SECOND)).toBe('too_fast');
    expect(findTextFault(twenty, 3 * SECOND)).toBeNull();
    expect(findTextFault('Donaudampfschifffahrtsgesellschaftskapitänspatentprüfung', 0.5 * SECOND)).toBe('too_fast');
    expect(findTextFault('我昨天在你们那里买的那台洗衣机今天早上突然不能转了', SECOND)).toBe('too_fast');
    expect(findTextFault('我昨天在你们那里买的那台洗衣机', SECOND)).toBeNull();
  });

  it('is not too fast for being short, or of digits that stand for words', () => {
    expect(findTextFault('Yes, this is she.', 0.3 * SECOND)).toBeNull();
    expect(findTextFault('0171 2345678', 3 * SECOND)).toBeNull();
  });
});
