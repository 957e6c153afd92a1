/**
 * Reads regular expressions of a subset that is matched in linear time: characters, classes, groups, `|`, `*`, `+`,
 * `?`, `{m,n}`, `\b`. Look-around and back-references are refused.
 */

/** What a character must be. */
export type CharacterTest = (character: string) => boolean;

/** A pattern as a tree. */
export type PatternNode =
  | { readonly type: 'character'; readonly test: CharacterTest }
  | { readonly type: 'boundary'; readonly isNegated: boolean }
  | { readonly type: 'sequence' | 'choice'; readonly parts: readonly PatternNode[] }
  | { readonly type: 'repeat'; readonly part: PatternNode; readonly min: number; readonly max: number };

/** A pattern cannot be used. The message says where and why. */
export class PatternError extends Error {}

const REPEATS_MAX = 100;
const DEPTH_MAX = 20;
const DIGIT = /^\p{Nd}$/u;
const WORD = /^[\p{L}\p{M}\p{N}_]$/u;
const SPACE = /^\s$/u;
const CLASSES: Readonly<Record<string, CharacterTest>> = {
  d: (character) => DIGIT.test(character),
  w: isWordCharacter,
  s: (character) => SPACE.test(character),
};
const COUNT = /^\{(\d{1,3})(,(\d{1,3})?)?\}/;

/** Whether `\w` matches `character`: a letter, mark or number of any script, or `_`. */
export function isWordCharacter(character: string): boolean {
  return WORD.test(character);
}

/** The case that `character` is compared in. */
export function foldCase(character: string): string {
  const lower = character.toLowerCase();
  return lower.length === character.length ? lower : character;
}

/** Reads `pattern`. Case does not matter. @throws PatternError */
export function readPattern(pattern: string): PatternNode {
  const reader = new PatternReader([...pattern]);
  return reader.readWhole();
}

class PatternReader {
  readonly #characters: readonly string[];
  #at = 0;
  #depth = 0;

  constructor(characters: readonly string[]) {
    this.#characters = characters;
  }

  readWhole(): PatternNode {
    const node = this.#readChoice();
    if (this.#at < this.#characters.length) this.#fail('a ) without its (');
    return node;
  }

  #readChoice(): PatternNode {
    if (++this.#depth > DEPTH_MAX) this.#fail(`groups more than ${DEPTH_MAX} deep`);
    const parts = [this.#readSequence()];
    while (this.#take('|')) parts.push(this.#readSequence());
    this.#depth--;
    return { type: 'choice', parts };
  }

  #readSequence(): PatternNode {
    const parts: PatternNode[] = [];
    while (this.#at < this.#characters.length && this.#next !== '|' && this.#next !== ')')
      parts.push(this.#readRepeats(this.#readAtom()));
    return { type: 'sequence', parts };
  }

  #readRepeats(part: PatternNode): PatternNode {
    const bounds = this.#readBounds();
    if (bounds === null) return part;
    if (['?', '+', '*'].includes(this.#next)) this.#fail('a second quantifier');
    return { type: 'repeat', part, min: bounds[0], max: bounds[1] };
  }

  #readBounds(): readonly [number, number] | null {
    if (this.#take('*')) return [0, Number.POSITIVE_INFINITY];
    if (this.#take('+')) return [1, Number.POSITIVE_INFINITY];
    if (this.#take('?')) return [0, 1];
    if (this.#next !== '{') return null;
    const [whole, least, comma, most] = COUNT.exec(this.#characters.slice(this.#at, this.#at + 9).join('')) ?? [];
    if (whole === undefined) this.#fail('a { that is no {m,n}');
    const min = Number(least);
    const max = comma === undefined ? min : most === undefined ? Number.POSITIVE_INFINITY : Number(most);
    if (min > max || min > REPEATS_MAX || (max !== Number.POSITIVE_INFINITY && max > REPEATS_MAX))
      this.#fail(`a repetition, expected at most ${REPEATS_MAX} times`);
    this.#at += whole?.length ?? 0;
    return [min, max];
  }

  #readAtom(): PatternNode {
    const character = this.#advance();
    switch (character) {
      case '(':
        return this.#readGroup();
      case '[':
        return { type: 'character', test: this.#readClass() };
      case '.':
        return { type: 'character', test: (other) => other !== '\n' };
      case '\\':
        return this.#readEscape();
      case '^':
      case '$':
        return this.#fail(`${character}: where a caption begins and ends is chance`);
      case '*':
      case '+':
      case '?':
      case '{':
        return this.#fail(`${character} with nothing before it`);
      default:
        return literal(character);
    }
  }

  #readGroup(): PatternNode {
    if (this.#take('?') && !this.#take(':')) this.#fail('(?, of which only (?: may be used');
    const node = this.#readChoice();
    if (!this.#take(')')) this.#fail('a ( without its )');
    return node;
  }

  #readEscape(): PatternNode {
    const character = this.#advance();
    if (character === 'b' || character === 'B') return { type: 'boundary', isNegated: character === 'B' };
    return { type: 'character', test: this.#testOfEscape(character) };
  }

  #testOfEscape(character: string): CharacterTest {
    const positive = CLASSES[character];
    if (positive !== undefined) return positive;
    const negative = CLASSES[character.toLowerCase()];
    if (negative !== undefined) return (other) => !negative(other);
    if (/^[a-z0-9]$/i.test(character)) this.#fail(`\\${character}, which is not among \\d \\w \\s \\D \\W \\S \\b \\B`);
    return isSame(character);
  }

  #readClass(): CharacterTest {
    const isNegated = this.#take('^');
    const tests: CharacterTest[] = [];
    while (this.#next !== ']') {
      if (this.#at >= this.#characters.length) this.#fail('a [ without its ]');
      tests.push(this.#readClassItem());
    }
    this.#at++;
    return (character) => tests.some((test) => test(character)) !== isNegated;
  }

  #readClassItem(): CharacterTest {
    const first = this.#advance();
    if (first === '\\') return this.#testOfEscape(this.#advance());
    if (this.#next !== '-' || this.#characters[this.#at + 1] === ']') return isSame(first);
    this.#at++;
    const last = this.#advance();
    const [low, high] = [first.codePointAt(0) ?? 0, last.codePointAt(0) ?? 0];
    if (last === '\\' || low > high) this.#fail(`the range ${first}-${last}`);
    return (character) => isBetween(character, low, high) || isBetween(character.toUpperCase(), low, high);
  }

  get #next(): string {
    return this.#characters[this.#at] ?? '';
  }

  #take(character: string): boolean {
    if (this.#next !== character) return false;
    this.#at++;
    return true;
  }

  #advance(): string {
    const character = this.#characters[this.#at];
    if (character === undefined) this.#fail('the end after a \\ or [');
    this.#at++;
    return character ?? '';
  }

  #fail(what: string): never {
    throw new PatternError(`got ${what} at character ${Math.min(this.#at + 1, this.#characters.length)}`);
  }
}

function literal(character: string): PatternNode {
  return { type: 'character', test: isSame(character) };
}

/** Tests are asked with characters in {@link foldCase}. */
function isSame(character: string): CharacterTest {
  const folded = foldCase(character);
  return (other) => other === folded;
}

function isBetween(character: string, low: number, high: number): boolean {
  const code = character.codePointAt(0) ?? 0;
  return code >= low && code <= high;
}
