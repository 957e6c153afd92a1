/** What is said, with its numbers put together: "twenty three euros" is a number and a word. */
import { type Token, tokenise } from './fold.ts';
import type { LanguageWords } from './languages/language-words.ts';
import { PhraseTable, phraseSet } from './phrase-table.ts';

/** A number, as one said or wrote it. */
export interface NumberItem {
  readonly type: 'number';
  /** NaN where figures are no number: `14:30`. */
  readonly value: number;
  /** Each digit by itself: `007`, "twenty three" is 23. */
  readonly digits: string;
  /** Figures as they were written; empty = words. */
  readonly figures: string;
  readonly isOrdinal: boolean;
  readonly text: string;
}

/** A number, a word or a sign. `text` is folded. */
export type Item = NumberItem | { readonly type: 'word' | 'sign'; readonly text: string };

type Part =
  | { readonly type: 'small'; readonly value: number; readonly isOrdinal: boolean }
  | { readonly type: 'hundred' | 'hundreds' | 'scale'; readonly value: number };

/** Greater figures stand before no scale. */
const SCALED_MAX = 1_000_000;
/** Longer words are not taken apart. */
const COMPOUND_MAX_CHARS = 80;

/** Reads numbers in one language. */
export class ItemReader {
  readonly #words: LanguageWords;
  readonly #parts: PhraseTable<Part>;
  readonly #and: PhraseTable<true>;
  readonly #articles: PhraseTable<true>;
  readonly #ordinalEndings: PhraseTable<true>;
  readonly #compounds: ReadonlySet<string>;

  constructor(words: LanguageWords) {
    const { numbers, spoken } = words;
    this.#words = words;
    this.#parts = new PhraseTable<Part>([
      ...Array.from({ length: 100 }, (_, value) => [spoken.cardinal(value), small(value, false)] as const),
      ...numbers.smalls.map(([phrases, value]) => [phrases, small(value, false)] as const),
      ...numbers.ordinals.map(([phrases, value]) => [phrases, small(value, true)] as const),
      [numbers.hundred, { type: 'hundred', value: 100 }],
      ...numbers.hundreds.map(([phrases, value]) => [phrases, { type: 'hundreds', value }] as const),
      ...numbers.scales.map(([phrases, value]) => [phrases, { type: 'scale', value }] as const),
    ]);
    this.#and = phraseSet(numbers.and);
    this.#articles = phraseSet(numbers.articles);
    this.#ordinalEndings = phraseSet(numbers.ordinalEndings);
    this.#compounds = numbers.compounds
      ? new Set([...this.#parts.firstWords, ...this.#and.firstWords, ...this.#articles.firstWords])
      : new Set();
  }

  /** The items of `text`. With `asDigits`, "eight hundred five five" is 800, 5, 5, because digits go on. */
  read(text: string, asDigits = false): Item[] {
    const tokens = tokenise(text).flatMap((token) => this.#split(token));
    const items: Item[] = [];
    for (let at = 0; at < tokens.length; ) {
      const token = tokens[at];
      if (token === undefined) break;
      const number = token.type === 'figures' ? this.#written(tokens, at) : this.#spoken(tokens, at, asDigits);
      if (number !== null) items.push(number.item);
      else items.push({ type: token.type === 'sign' ? 'sign' : 'word', text: token.text });
      at += number?.length ?? 1;
    }
    return items;
  }

  #written(tokens: readonly Token[], at: number): { item: NumberItem; length: number } {
    const figures = tokens[at]?.text ?? '';
    const value = readFigures(figures, this.#words.numbers.decimalMark);
    const digits = figures.replace(/\D/g, '');
    const behind = this.#parts.find(tokens, at + 1);
    if (
      behind !== null &&
      (behind.value.type === 'hundred' || behind.value.type === 'scale') &&
      value > 0 &&
      value < SCALED_MAX
    ) {
      const scaled = Math.round(value * behind.value.value * 100) / 100;
      const text = `${figures} ${tokens[at + 1]?.text}`;
      const item = {
        value: scaled,
        digits: String(scaled).replace('.', ''),
        figures: '',
        isOrdinal: false,
        text,
      } as const;
      return { item: { type: 'number', ...item }, length: 1 + behind.length };
    }
    const isOrdinal = tokens[at + 1]?.glued === true && this.#ordinalEndings.find(tokens, at + 1) !== null;
    return {
      item: { type: 'number', value, digits, figures, isOrdinal, text: figures },
      length: isOrdinal ? 2 : 1,
    };
  }

  #spoken(tokens: readonly Token[], from: number, asDigits: boolean): { item: NumberItem; length: number } | null {
    let at = from;
    const sum = new NumberSum();
    let isOrdinal = false;
    if (this.#articles.find(tokens, at) !== null && this.#isMultiplier(tokens, at + 1)) at++;
    for (;;) {
      const and = at > from && sum.takesAnd ? (this.#and.find(tokens, at)?.length ?? 0) : 0;
      const found = this.#parts.find(tokens, at + and);
      if (found === null) break;
      if (asDigits && sum.takesAnd && and === 0 && this.#isDigitRow(tokens, at)) break;
      if (!sum.add(found.value)) break;
      at += and + found.length;
      isOrdinal = found.value.type === 'small' && found.value.isOrdinal;
      if (isOrdinal) break;
    }
    if (sum.isEmpty) return null;
    const text = tokens
      .slice(from, at)
      .map((token) => token.text)
      .join(' ');
    const value = sum.value;
    return {
      item: { type: 'number', value, digits: String(value), figures: '', isOrdinal, text },
      length: at - from,
    };
  }

  #isMultiplier(tokens: readonly Token[], at: number): boolean {
    const type = this.#parts.find(tokens, at)?.value.type;
    return type === 'hundred' || type === 'scale';
  }

  /** Whether two single digits or more stand at `at`. */
  #isDigitRow(tokens: readonly Token[], at: number): boolean {
    const first = this.#parts.find(tokens, at);
    const second = first === null ? null : this.#parts.find(tokens, at + first.length);
    return [first, second].every((found) => found?.value.type === 'small' && found.value.value < 10);
  }

  /** The parts of a number that is one word, as words; every other token as it is. */
  #split(token: Token): readonly Token[] {
    if (token.type !== 'word' || token.text.length > COMPOUND_MAX_CHARS) return [token];
    if (this.#compounds.size === 0 || this.#compounds.has(token.text)) return [token];
    const words = this.#takeApart(token.text);
    return words?.map((text, index) => ({ type: 'word', text, glued: index > 0 || token.glued })) ?? [token];
  }

  /** The fewest known words that `text` is made of. */
  #takeApart(text: string): string[] | null {
    const best: (string[] | null)[] = [[]];
    for (let end = 1; end <= text.length; end++) {
      best[end] = null;
      for (let from = 0; from < end; from++) {
        const before = best[from];
        const word = text.slice(from, end);
        if (before === null || before === undefined || !this.#compounds.has(word)) continue;
        if ((best[end]?.length ?? Number.POSITIVE_INFINITY) > before.length + 1) best[end] = [...before, word];
      }
    }
    return best[text.length] ?? null;
  }
}

/** A number that is put together of what is said one after the other. */
class NumberSum {
  #total = 0;
  #group: number | null = null;
  #hasHundred = false;
  #lastScale = Number.POSITIVE_INFINITY;
  #parts = 0;

  get isEmpty(): boolean {
    return this.#parts === 0;
  }

  get value(): number {
    return this.#total + (this.#group ?? 0);
  }

  /** Whether something smaller can follow. */
  get takesAnd(): boolean {
    return this.#group === null ? this.#total > 0 : this.#hasHundred && this.#group % 100 === 0;
  }

  /** False when `part` belongs to another number. */
  add(part: Part): boolean {
    const isTaken = this.#take(part);
    if (isTaken) this.#parts++;
    return isTaken;
  }

  #take(part: Part): boolean {
    const group = this.#group;
    if (part.type === 'small') {
      if (group === null) this.#group = part.value;
      else if (this.takesAnd && part.value > 0) this.#group = group + part.value;
      else return false;
      return group !== null || this.#total === 0 || part.value > 0;
    }
    if (part.type === 'hundreds') {
      if (group !== null) return false;
      this.#group = part.value;
      this.#hasHundred = true;
      return true;
    }
    if (part.type === 'hundred') {
      if (this.#hasHundred || group === 0) return false;
      this.#group = (group ?? 1) * part.value;
      this.#hasHundred = true;
      return true;
    }
    if (group === 0) return false;
    if (part.value >= this.#lastScale) return this.#multiply(part.value);
    this.#total += (group ?? 1) * part.value;
    this.#endGroup(part.value);
    return true;
  }

  /** "Five thousand million": a greater scale behind a smaller one counts those. */
  #multiply(scale: number): boolean {
    const { value } = this;
    if (scale <= this.#lastScale || value >= scale) return false;
    this.#total = value * scale;
    this.#endGroup(scale);
    return true;
  }

  #endGroup(scale: number): void {
    this.#group = null;
    this.#hasHundred = false;
    this.#lastScale = scale;
  }
}

/** `1,200.50` by the marks of a language; where it can be nothing else also by those of others. NaN = no number. */
export function readFigures(figures: string, decimalMark: '.' | ','): number {
  if (/^\d+$/.test(figures)) return Number(figures);
  const own = decimalMark === '.' ? figures.replaceAll(',', '_') : figures.replaceAll('.', '_').replace(',', '.');
  if (/^\d{1,3}(?:_\d{3})+(?:\.\d+)?$|^\d+\.\d+$/.test(own)) return Number(own.replaceAll('_', ''));
  const other = decimalMark === ',' ? figures.replaceAll(',', '_') : figures.replaceAll('.', '_').replace(',', '.');
  if (/^\d{1,3}(?:_\d{3})*\.\d{1,2}$|^\d+\.\d{1,2}$/.test(other)) return Number(other.replaceAll('_', ''));
  return Number.NaN;
}

function small(value: number, isOrdinal: boolean): Part {
  return { type: 'small', value, isOrdinal };
}
