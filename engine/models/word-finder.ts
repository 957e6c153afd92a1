/** Finds an operator's words and phrases in a text. */

/** Words begin and end where none of these stands beside them. */
const WORD_CHARACTER = /[\p{L}\p{N}\p{M}_]/u;
const FIRST_WORD = /[\p{L}\p{N}\p{M}_]+/u;
const WORDS = /(?<![\p{L}\p{N}\p{M}_])[\p{L}\p{N}\p{M}_]+/gu;
/** Our normaliser has written capitals apart by the time an engine sees them. */
const INITIALISM = /^[A-Z]{2,6}$/;

/** A stretch of a text: a found word with what belongs to it, or what is between two of them. */
export interface Stretch<T> {
  readonly text: string;
  /** Undefined between words. */
  readonly value: T | undefined;
}

interface Entry<T> {
  readonly words: string;
  readonly value: T;
  /** Whether upper and lower case are the same. */
  readonly anyCase: boolean;
}

/**
 * A list of words and phrases. One without capitals is found in every case, one with capitals only as it is written:
 * `us` is not `US`. `SQL` is also found as `S Q L`. Of two that begin at one place the longer is found.
 */
export class WordFinder<T> {
  /** By their first word in small letters. */
  readonly #entries = new Map<string, Entry<T>[]>();

  constructor(words: ReadonlyMap<string, T>) {
    for (const [written, value] of words) {
      this.#add(written, value);
      const spelt = Array.from(written).join(' ');
      if (INITIALISM.test(written) && !words.has(spelt)) this.#add(spelt, value);
    }
    for (const entries of this.#entries.values()) entries.sort(byPrecedence);
  }

  /** The text in stretches; joined they are the text. */
  split(text: string): Stretch<T>[] {
    const stretches: Stretch<T>[] = [];
    let done = 0;
    for (const { 0: word, index } of this.#entries.size === 0 ? [] : text.matchAll(WORDS)) {
      const entry =
        index < done ? undefined : this.#entries.get(word.toLowerCase())?.find((one) => stands(one, text, index));
      if (entry === undefined) continue;
      if (index > done) stretches.push({ text: text.slice(done, index), value: undefined });
      done = index + entry.words.length;
      stretches.push({ text: text.slice(index, done), value: entry.value });
    }
    if (done < text.length) stretches.push({ text: text.slice(done), value: undefined });
    return stretches;
  }

  #add(words: string, value: T): void {
    const first = FIRST_WORD.exec(words)?.[0].toLowerCase() ?? '';
    const entry = { words, value, anyCase: words === words.toLowerCase() };
    const same = this.#entries.get(first);
    if (same === undefined) this.#entries.set(first, [entry]);
    else same.push(entry);
  }
}

/** Longer ones first, and `US` before `us`. */
function byPrecedence<T>(a: Entry<T>, b: Entry<T>): number {
  return b.words.length - a.words.length || Number(a.anyCase) - Number(b.anyCase);
}

function stands<T>({ words, anyCase }: Entry<T>, text: string, at: number): boolean {
  const end = at + words.length;
  const found = text.slice(at, end).replaceAll('’', "'");
  const behind = text.codePointAt(end);
  if (behind !== undefined && WORD_CHARACTER.test(String.fromCodePoint(behind))) return false;
  return found === words || (anyCase && found.toLowerCase() === words);
}
