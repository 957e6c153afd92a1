import { describe, expect, it } from 'vitest';
import { type BranchingText, ExpectedWords } from '../../../engine/models/expected-words.ts';
import { finish } from '../speech.ts';

const PIECES = ['<unk>', '<s>', '</s>', '\u2581', ...'foursixteny,.?-FST'];
PIECES.push('\u2581four', '\u2581six', '\u2581Four', 'ty', 'six', 'teen', '\u2581for');
const [START, END] = [1, 2];
/** The longest piece that comes next, again and again. */
function encode(text: string): number[] {
  const left = text.replaceAll(' ', '\u2581');
  if (left === '') return [];
  const [piece = ''] = PIECES.filter((each) => left.startsWith(each)).sort((a, b) => b.length - a.length);
  return [PIECES.indexOf(piece), ...encode(left.slice(piece.length))];
}
const vocabulary = {
  encode,
  textOf: (token: number) => (PIECES[token] ?? '').replaceAll('\u2581', ' '),
};
const textOf = (tokens: readonly number[]) => tokens.map(vocabulary.textOf).join('').trim();

/** A recogniser that has heard `logits`: by the text so far, of pieces; all others are 20 below. */
class HeardText implements BranchingText {
  static branches = 0;
  readonly #heard: Readonly<Record<string, Readonly<Record<string, number>>>>;
  readonly #tokens: number[] = [];

  constructor(heard: Readonly<Record<string, Readonly<Record<string, number>>>>, tokens: readonly number[] = []) {
    this.#heard = heard;
    this.#tokens.push(...tokens);
  }

  get length(): number {
    return this.#tokens.length;
  }

  add(tokens: readonly number[]): Promise<Float32Array> {
    this.#tokens.push(...tokens);
    const next = this.#heard[textOf(this.#tokens.slice(1))] ?? { '</s>': 0 };
    const logits = new Float32Array(PIECES.length).fill(-20);
    for (const [piece, logit] of Object.entries(next)) logits[PIECES.indexOf(piece.replace(' ', '\u2581'))] = logit;
    return Promise.resolve(logits);
  }

  keep(count: number): void {
    this.#tokens.length = count;
  }

  branch(): BranchingText {
    HeardText.branches++;
    return new HeardText(this.#heard, this.#tokens);
  }
}

const shape = { startToken: START, endToken: END, vocabularySize: PIECES.length };
const read = async (
  words: readonly string[],
  heard: Readonly<Record<string, Readonly<Record<string, number>>>>,
  ownLogprob = 0,
) => {
  const speech = { text: new HeardText(heard), words, maxTokens: 8, ownLogprob };
  const { result } = await finish(new ExpectedWords(vocabulary, shape).read(speech, textOf));
  return result.map(({ text, behind }) => [text, Math.round(behind * 10) / 10]);
};

describe('readings by expected words', () => {
  it('are of these words alone, whatever is likelier', async () => {
    expect(await read(['four'], { '': { ' for': 0, ' four': -2 } })).toEqual([['four', 2.1]]);
  });

  it('are whole words: "four" is not "fourteen"', async () => {
    const heard = { '': { ' four': 0 }, four: { teen: 0, '</s>': -1 } };
    expect(await read(['four', 'fourteen'], heard)).toEqual([
      ['fourteen', 0.3],
      ['four', 1.3],
    ]);
    expect(await read(['fourteen'], { '': { ' four': 0 } })).toEqual([]);
  });

  it('are rows of words, with capitals, marks and hyphens between them', async () => {
    const heard = { '': { ' Four': 0 }, Four: { ',': 0 }, 'Four,': { ' six': 0 }, 'Four, six': { ty: 0 } };
    const more = { 'Four, sixty': { '-': 0 }, 'Four, sixty-': { six: 0 }, 'Four, sixty-six': { '.': 0 } };
    expect(await read(['four', 'six', 'sixty'], { ...heard, ...more })).toEqual([['Four, sixty-six.', 0]]);
  });

  it('end behind a word or a mark, and are never empty', async () => {
    expect(await read(['sixty'], { '': { '</s>': 0, ' six': -1 }, six: { '</s>': 0, ty: -1 } })).toEqual([
      ['sixty', 2.6],
    ]);
  });

  it('are not searched for far from what was heard', async () => {
    HeardText.branches = 0;
    expect(await read(['four'], { '': { ' for': 0, ' four': -13 } })).toEqual([]);
    expect(HeardText.branches).toBe(0);
  });

  it('that are far behind the best one are left out', async () => {
    const heard = { '': { ' four': 0, ' six': -5 }, six: { ty: 0 } };
    expect(await read(['four', 'sixty'], heard)).toEqual([['four', 0]]);
    expect(await read(['sixty'], heard)).toEqual([['sixty', 5]]);
  });
});
