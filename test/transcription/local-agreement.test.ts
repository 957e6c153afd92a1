import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LocalAgreement } from '../../src/transcription/local-agreement.ts';
import { mergeWords, splitWords } from '../../src/transcription/words.ts';

/** Adds each text in turn, all reaching back to the start; returns `stable|tail` after each. */
function agreeOn(...texts: string[]): string[] {
  const agreement = new LocalAgreement();
  return texts.map((text) => {
    const { stable, tail } = agreement.add(text, true);
    return `${stable}|${tail}`;
  });
}

describe('LocalAgreement', () => {
  it('holds a first hypothesis to be volatile', () => {
    expect(agreeOn('However due to')).toEqual(['|However due to']);
  });

  it('makes stable what two consecutive hypotheses agree on', () => {
    expect(agreeOn('However due', 'However due to the', 'However due to the slow')).toEqual([
      '|However due',
      'However due| to the',
      'However due to the| slow',
    ]);
  });

  it('compares without case and punctuation and keeps what the newer one wrote', () => {
    expect(agreeOn('however due.', 'However, due to')).toEqual(['|however due.', 'However, due| to']);
  });

  it('never makes the last word stable, so the full stop of an early window does not stay', () => {
    expect(agreeOn('Four four.', 'Four four.', 'Four four five')).toEqual([
      '|Four four.',
      'Four| four.',
      'Four four| five',
    ]);
  });

  it('waits while hypotheses disagree', () => {
    expect(agreeOn('a b', 'a c d', 'a e d f', 'a e g')).toEqual(['|a b', 'a| c d', 'a| e d f', 'a e| g']);
  });

  it('keeps stable words that a later hypothesis denies, and takes what follows them', () => {
    expect(agreeOn('press one now', 'press one now please', 'press won now please hold')).toEqual([
      '|press one now',
      'press one now| please',
      'press one now please| hold',
    ]);
  });

  it('keeps stable words when the model falls silent', () => {
    expect(agreeOn('a b c', 'a b c', '')).toEqual(['|a b c', 'a b| c', 'a b|']);
  });

  it('takes characters for words where a script has no spaces', () => {
    expect(agreeOn('今天天气', '今天天气很好。')).toEqual(['|今天天气', '今天天气|很好。']);
  });

  it('mixes scripts without inventing or losing spaces', () => {
    expect(agreeOn('我用 iPhone 打电话', '我用 iPhone 打电话吗')).toEqual([
      '|我用 iPhone 打电话',
      '我用 iPhone 打电话|吗',
    ]);
  });

  it('joins a window that begins later at the longest run of common words', () => {
    const agreement = new LocalAgreement();
    agreement.add('the cat sat on the mat', true);
    expect(agreement.add('ton the mat and slept', false)).toMatchObject({ text: 'the cat sat on the mat and slept' });
    expect(agreement.add('mat and slept well', false)).toMatchObject({
      stable: 'the cat sat on the mat and slept',
      tail: ' well',
    });
  });

  it('appends a later window that has no word in common', () => {
    const agreement = new LocalAgreement();
    agreement.add('one two', true);
    expect(agreement.add('three four', false).text).toBe('one two three four');
  });

  it('ends with the final text, all of it stable when it begins with the stable words', () => {
    const agreement = new LocalAgreement();
    agreement.add('However due', true);
    agreement.add('However due to', true);
    const text = 'However due to the slow.';
    expect(agreement.finish(` ${text}`)).toEqual({ stable: text, tail: '', text });
  });

  it('ends with the final text beside unchanged stable words that it contradicts', () => {
    const agreement = new LocalAgreement();
    agreement.add('however due', true);
    agreement.add('however due to', true);
    expect(agreement.finish('However, do two.')).toEqual({ stable: 'however due', tail: '', text: 'However, do two.' });
  });

  it('only ever grows its stable text, and always shows stable and tail as one text', () => {
    const word = fc.constantFrom('a', 'b', 'B,', 'c.', '...', 'the', '天', '天气', 'é', '-');
    const gap = fc.constantFrom('', ' ', '  ');
    const text = fc.array(fc.tuple(word, gap), { maxLength: 8 }).map((parts) => parts.flat().join(''));
    fc.assert(
      fc.property(fc.array(fc.tuple(text, fc.boolean()), { maxLength: 12 }), text, (hypotheses, final) => {
        const agreement = new LocalAgreement();
        let before = '';
        for (const [hypothesis, reachesStart] of hypotheses) {
          const { stable, tail, text: whole } = agreement.add(hypothesis, reachesStart);
          expect(stable.startsWith(before)).toBe(true);
          expect(stable + tail).toBe(whole);
          before = stable;
        }
        expect(agreement.finish(final).stable.startsWith(before)).toBe(true);
      }),
      { numRuns: 500 },
    );
  });

  it('settles on words heard twice in whatever order they were doubted before', () => {
    const words = fc.array(fc.constantFrom('one', 'two', 'three', 'four'), { minLength: 1, maxLength: 10 });
    fc.assert(
      fc.property(words, (said) => {
        const agreement = new LocalAgreement();
        for (let length = 1; length <= said.length; length++) agreement.add(said.slice(0, length).join(' '), true);
        expect(agreement.current.text).toBe(said.join(' '));
      }),
    );
  });
});

describe('words', () => {
  it('leaves punctuation with the word before it, or with the first', () => {
    expect(splitWords('¿ Qué tal - bien ?').map(({ text, key }) => [text, key])).toEqual([
      ['¿ Qué', 'qué'],
      ['tal -', 'tal'],
      ['bien ?', 'bien'],
    ]);
  });

  it('finds no words in punctuation alone', () => {
    expect(splitWords(' ... - ')).toEqual([]);
  });

  it('merges at the latest of equally long runs', () => {
    const merged = mergeWords(splitWords('the a the b'), splitWords('x the c'));
    expect(merged.map(({ key }) => key)).toEqual(['the', 'a', 'the', 'c']);
  });
});
