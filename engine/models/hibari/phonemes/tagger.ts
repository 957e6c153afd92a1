/**
 * Parts of speech by an averaged perceptron: every feature of a word votes for tags with its weights.
 * https://explosion.ai/blog/part-of-speech-pos-tagger-in-python
 */
import { firstCharacter, isAlphabetic, isDigits, isLower, isUpper, lastCharacters } from './characters.ts';
import { findMembers, JsonIndex, readValue } from './json-index.ts';

const BEFORE_LINE = ['-START2-', '-START-'] as const;
const AFTER_LINE = ['-END-', '-END2-'];
/** For what no feature is known of. */
const USUAL_TAG = 'NN';
const YEAR_DIGITS = 4;
const SHAPE_CHARS = 4;

type Weights = Readonly<Record<string, number>>;

/** Tags of the Penn Treebank for the tokens of a line. */
export class Tagger {
  /** Where two tags have as many votes, the later one wins. */
  readonly #tags: readonly string[];
  readonly #places: ReadonlyMap<string, number>;
  readonly #usualTags: JsonIndex;
  readonly #vocabulary: JsonIndex;
  readonly #weights: JsonIndex;

  /** @throws Error naming what is missing in the model. */
  constructor(model: Buffer) {
    const members = findMembers(model);
    const placeOf = (name: string): number => {
      const place = members.get(name);
      if (place === undefined) throw new Error(`the tagger has no ${name}`);
      return place;
    };
    this.#usualTags = new JsonIndex(model, placeOf('tagdict'));
    this.#vocabulary = new JsonIndex(model, placeOf('vocab'));
    this.#weights = new JsonIndex(model, placeOf('weights'));
    const tags = readValue(model, placeOf('tags')) as string[];
    this.#tags = tags.sort((a, b) => (a < b ? -1 : 1));
    this.#places = new Map(this.#tags.map((tag, at) => [tag, at]));
  }

  /** One tag for each word. */
  tag(words: readonly string[]): string[] {
    const window = [...BEFORE_LINE, ...words.map((word) => this.#normalise(word)), ...AFTER_LINE];
    let [beforeLast, last]: readonly string[] = BEFORE_LINE;
    return words.map((word, at) => {
      const usual = this.#usualTags.get(word) as string | undefined;
      const tag = usual ?? this.#predict(featuresOf(word, { at, window, tags: [beforeLast ?? '', last ?? ''] }));
      [beforeLast, last] = [last, tag];
      return tag;
    });
  }

  #normalise(word: string): string {
    const common = commonForm(word);
    return this.#vocabulary.has(common) ? common : `<${shapeOf(word)}>`;
  }

  #predict(features: readonly string[]): string {
    const votes = new Float64Array(this.#tags.length);
    let isKnown = false;
    for (const feature of features) {
      const weights = this.#weights.get(feature) as Weights | undefined;
      if (weights === undefined) continue;
      for (const tag in weights) {
        isKnown = true;
        const place = this.#places.get(tag) ?? 0;
        votes[place] = (votes[place] ?? 0) + (weights[tag] ?? 0);
      }
    }
    if (!isKnown) return USUAL_TAG;
    let best = 0;
    for (let place = 1; place < votes.length; place++) if ((votes[place] ?? 0) >= (votes[best] ?? 0)) best = place;
    return this.#tags[best] ?? USUAL_TAG;
  }
}

interface Place {
  readonly at: number;
  /** Two words before the line, its words, and two behind. */
  readonly window: readonly string[];
  /** Of the word before the last, and of the last. */
  readonly tags: readonly [string, string];
}

function featuresOf(word: string, { at, window, tags: [beforeLast, last] }: Place): string[] {
  const wordAt = (offset: number): string => window[at + 2 + offset] ?? '';
  return [
    'b',
    `s3=${lastCharacters(word, 3)}`,
    `p1=${firstCharacter(word)}`,
    `w=${wordAt(0)}`,
    `sh=${shapeOf(word)}`,
    at === 0 ? 'i0' : 'i+',
    `t-1=${last}`,
    `t-2=${beforeLast}`,
    `t-12=${last},${beforeLast}`,
    `w-1=${wordAt(-1)}`,
    `s3-1=${lastCharacters(wordAt(-1), 3)}`,
    `w-2=${wordAt(-2)}`,
    `w+1=${wordAt(1)}`,
    `s3+1=${lastCharacters(wordAt(1), 3)}`,
    `w+2=${wordAt(2)}`,
  ];
}

function commonForm(word: string): string {
  if (word.indexOf('-') > 0) return '!HYPHEN';
  if (isDigits(word) && word.length === YEAR_DIGITS) return '!YEAR';
  return isDigits(firstCharacter(word)) ? '!DIGITS' : word.toLowerCase();
}

function shapeOf(word: string): string {
  if (isAlphabetic(word)) return shapeOfLetters(word);
  if (isDigits(word)) return 'd';
  return Array.from(word.slice(0, 2 * SHAPE_CHARS))
    .slice(0, SHAPE_CHARS)
    .map((character) => (isDigits(character) ? 'd' : isAlphabetic(character) ? 'x' : character))
    .join('');
}

function shapeOfLetters(word: string): string {
  const first = firstCharacter(word);
  const rest = word.slice(first.length);
  if (isLowerCased(word)) return 'x';
  if (isUpperCased(word)) return rest === '' ? 'X1' : 'XX';
  return isUpperCased(first) && isLowerCased(rest) ? 'Xx' : 'xX';
}

/** Whether it has small letters and no capitals: those of other scripts are neither. */
function isLowerCased(letters: string): boolean {
  return isLower(letters) && !isUpper(letters);
}

function isUpperCased(letters: string): boolean {
  return isUpper(letters) && !isLower(letters);
}
