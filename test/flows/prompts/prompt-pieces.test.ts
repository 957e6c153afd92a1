import { describe, expect, it } from 'vitest';
import { type PromptPiece, piecesOf } from '../../../src/flows/prompts/prompt-pieces.ts';

const SOUND = { samples: new Int16Array(8), rateHz: 8000 };
const VALUES: Readonly<Record<string, string>> = { order: 'one two three', state: 'ready. Or not', total: '12 euros' };

function said(text: string): PromptPiece[] {
  return piecesOf(
    { text },
    {
      language: 'en-US',
      recordings: { find: () => null },
      valueOf: (name) => VALUES[name] ?? null,
      sayValue: (value) => (value === null ? '' : String(value)),
    },
  );
}

/** Texts, those with values in brackets. */
function shown(text: string): string[] {
  return said(text).map((piece) =>
    piece.kind === 'pause'
      ? `${piece.ms} ms`
      : piece.kind === 'text' && piece.hasValue
        ? `[${piece.text}]`
        : piece.text,
  );
}

describe('a recording that there is not in the language', () => {
  const find = (_name: string, language: string) => (language === 'de' ? SOUND : null);
  const sources = { recordings: { find }, valueOf: () => null, sayValue: () => '', language: 'fr' };

  it.each([
    [undefined, 'de', ['recording']],
    ['Salut.', 'de', ['text']],
    [undefined, 'es', []],
    [undefined, null, []],
  ])('with the text %j in a flow in %s is %j', (text, flowLanguage, kinds) => {
    const prompt = { recording: 'hello', ...(text !== undefined && { text }) };
    expect(piecesOf(prompt, { ...sources, flowLanguage }).map(({ kind }) => kind)).toEqual(kinds);
  });
});

describe('a prompt in pieces', () => {
  it('is one piece without values, however many sentences it has', () => {
    expect(shown('Welcome, dear caller. Press one.')).toEqual(['Welcome, dear caller. Press one.']);
  });

  it('is cut at pauses', () => {
    expect(shown('Welcome.<break time="500ms"/> Press one.')).toEqual(['Welcome.', '500 ms', ' Press one.']);
  });

  it('has sentences with a value apart from the others', () => {
    expect(shown('Thank you. It is {state}. We open at nine. Goodbye.')).toEqual([
      'Thank you. ',
      '[It is ready. Or not. ]',
      'We open at nine. Goodbye.',
    ]);
  });

  it('is cut at the marks of clauses around values, and never in the middle of a clause', () => {
    expect(shown('Your order number is: {order}, and it leaves our house today.')).toEqual([
      'Your order number is: ',
      '[one two three, ]',
      'and it leaves our house today.',
    ]);
    expect(shown('The sum of {total} is due, which is {state}.')).toEqual([
      '[The sum of 12 euros is due, which is ready. Or not.]',
    ]);
  });

  it('has no pieces of single words', () => {
    expect(shown('Yes: {order}, sir.')).toEqual(['[Yes: one two three, sir.]']);
  });

  it('has none where there is nothing to say', () => {
    expect(said('{nobody}')).toEqual([]);
  });

  it('is a recording where there is one, and the text where not', () => {
    const find = (name: string) => (name === 'welcome' ? SOUND : null);
    const sources = { language: 'en-US', recordings: { find }, valueOf: () => null, sayValue: () => '' };
    expect(piecesOf({ text: 'Hello.', recording: 'welcome' }, sources)).toEqual([
      { kind: 'recording', sound: SOUND, text: 'Hello.' },
    ]);
    expect(piecesOf({ recording: 'welcome' }, sources)).toEqual([{ kind: 'recording', sound: SOUND, text: 'welcome' }]);
    expect(piecesOf({ text: 'Hello.', recording: 'missing' }, sources)).toEqual([
      { kind: 'text', text: 'Hello.', hasValue: false },
    ]);
  });
});
