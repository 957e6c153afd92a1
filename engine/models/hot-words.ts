/**
 * Hot words: names and phrases that are likely to be said. A bonus makes the tokens of such a word more probable, and
 * what it changed is taken back where the word is not completed. So the text differs from that of the recogniser alone
 * only where a whole hot word stands. Nothing here knows a family of recognisers: tokens are numbers.
 */
import { LRUCache } from 'lru-cache';

/** How a recogniser writes text in tokens. */
export interface HotWordVocabulary {
  /** The tokens of `text` as the recogniser would say them, a leading space included; empty = it cannot be written. */
  encode(text: string): readonly number[];
  /** What a token writes, with a space before a word. */
  textOf(token: number): string;
}

/**
 * Added to the logit of a token that begins a hot word, and of one that goes on with it. A name's first token is a
 * common one, which a bonus would put in wrong places; further ones are hardly ever meant otherwise. Measured:
 * docs/internals/graphs.md.
 */
const BONUS_FIRST = 3;
const BONUS_NEXT = 8;

/**
 * The logits that a whole hot word may be below what the recogniser itself would have said. Of the names that were
 * found, 55 of 56 cost less; what was said for `pound` (Pemberton) and `audio` (Aurelio) more.
 */
const COST_MAX = 11;

/** Scripts that put no space before a word. */
const SPACELESS = /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u;
const ENDS_IN_WORD = /[\p{L}\p{N}]$/u;
const GOES_ON_WITH_WORD = /^[\p{L}\p{N}\p{M}]/u;

/**
 * Steps of all lists that are kept, some 30 MB, and how long one is kept that nobody asks for. A list of the longest
 * words has 10,000.
 */
const KEPT_STEPS = 100_000;
const KEPT_MS = 60_000;

/**
 * Tokens that may be taken back, beside one for each token of the text: each costs a run of the decoder, and a list of
 * long words that are nearly said could cost hundreds for each token.
 */
const TAKEN_BACK_SPARE = 64;

interface Node {
  readonly next: Map<number, Node>;
  /** Whether a hot word ends here. */
  isEnd: boolean;
}

/**
 * Hot words as one recogniser writes them. To find their tokens takes many times as long as to use them, and all jobs
 * of a call have the same: lists are kept for a while. One that was forgotten is made again, the same.
 */
export class HotWordLists {
  readonly #vocabulary: HotWordVocabulary;
  readonly #kept = new LRUCache<string, HotWords>({
    maxSize: KEPT_STEPS,
    sizeCalculation: ({ steps }) => steps + 1,
    ttl: KEPT_MS,
    ttlAutopurge: true,
    updateAgeOnGet: true,
  });

  constructor(vocabulary: HotWordVocabulary) {
    this.#vocabulary = vocabulary;
  }

  /** @param words as a job names them. Null = there are none, or none that can be written. */
  of(words: readonly string[]): HotWords | null {
    if (words.length === 0) return null;
    const key = JSON.stringify(words);
    const list = this.#kept.get(key) ?? new HotWords(words, this.#vocabulary);
    this.#kept.set(key, list);
    return list.isEmpty ? null : list;
  }
}

/** A list of hot words as a recogniser writes them. */
export class HotWords {
  /** Words with the space before them, and those of scripts that have none: they begin anywhere. */
  readonly #anywhere: Node = newNode();
  /** Words without a space: they begin where no word stands before. */
  readonly #unspaced: Node = newNode();
  readonly #vocabulary: HotWordVocabulary;
  #longest = 0;
  #steps = 0;

  /** @param words as the job names them; those that cannot be written in tokens are left out */
  constructor(words: readonly string[], vocabulary: HotWordVocabulary) {
    this.#vocabulary = vocabulary;
    for (const word of words) for (const written of variantsOf(word)) this.#add(written);
  }

  /** Whether no word can be written. */
  get isEmpty(): boolean {
    return this.#longest === 0;
  }

  /** Tokens of all words, those that they have in common counted once. */
  get steps(): number {
    return this.#steps;
  }

  /**
   * The bonus in logits of each token that begins or goes on with a hot word behind `prefix`, the tokens so far. The
   * same prefix always gives the same.
   */
  bias(prefix: readonly number[]): ReadonlyMap<number, number> {
    const bonuses = new Map<number, number>();
    for (let start = Math.max(0, prefix.length - this.#longest); start <= prefix.length; start++) {
      const bonus = start === prefix.length ? BONUS_FIRST : BONUS_NEXT;
      for (const node of this.#nodesAfter(prefix, start)) {
        for (const token of node.next.keys()) bonuses.set(token, Math.max(bonus, bonuses.get(token) ?? 0));
      }
    }
    return bonuses;
  }

  /** Where the longest hot word begins that is not complete at the end of `tokens`, or just is; -1 = there is none. */
  startOf(tokens: readonly number[]): number {
    for (let start = Math.max(0, tokens.length - this.#longest); start < tokens.length; start++) {
      if (this.#nodesAfter(tokens, start).length > 0) return start;
    }
    return -1;
  }

  /** How far the tokens from `start` have come with a hot word. */
  progress(tokens: readonly number[], start: number): 'broken' | 'begun' | 'complete' {
    const nodes = this.#nodesAfter(tokens, start);
    if (nodes.length === 0) return 'broken';
    return nodes.some(({ isEnd }) => isEnd) ? 'complete' : 'begun';
  }

  /** Whether a token goes on with the word before it: `Mark` is not said where `Market` is. */
  goesOnWithWord(token: number): boolean {
    const text = this.#vocabulary.textOf(token);
    return GOES_ON_WITH_WORD.test(text) && !SPACELESS.test(text);
  }

  #add(written: string): void {
    const isAnywhere = written.startsWith(' ') || SPACELESS.test(written);
    const tokens = this.#vocabulary.encode(written);
    let node = isAnywhere ? this.#anywhere : this.#unspaced;
    for (const token of tokens) {
      const known = node.next.get(token);
      const next = known ?? newNode();
      if (known === undefined) this.#steps++;
      node.next.set(token, next);
      node = next;
    }
    if (tokens.length > 0) node.isEnd = true;
    this.#longest = Math.max(this.#longest, tokens.length);
  }

  /** Where the tokens from `start` on lead, in the words that may begin there. */
  #nodesAfter(tokens: readonly number[], start: number): Node[] {
    const anywhere = follow(this.#anywhere, tokens, start);
    const unspaced = follow(this.#unspaced, tokens, start);
    const found = anywhere === null ? [] : [anywhere];
    return unspaced === null || this.#isInWord(tokens[start - 1]) ? found : [...found, unspaced];
  }

  #isInWord(before: number | undefined): boolean {
    return before !== undefined && ENDS_IN_WORD.test(this.#vocabulary.textOf(before));
  }
}

/** The node that tokens from `start` on lead to; null = they leave the words. */
function follow(root: Node, tokens: readonly number[], start: number): Node | null {
  let node: Node | undefined = root;
  for (let at = start; node !== undefined && at < tokens.length; at++) node = node.next.get(tokens[at] ?? -1);
  return node ?? null;
}

function newNode(): Node {
  return { next: new Map(), isEnd: false };
}

/** As it is written and with a capital, each with and without a space before it. */
function variantsOf(word: string): string[] {
  const written = word.trim().replaceAll(/\s+/g, ' ');
  if (written === '') return [];
  const [first = ''] = written;
  const forms = new Set([written, first.toUpperCase() + written.slice(first.length)]);
  return [...forms].flatMap((form) => (SPACELESS.test(form) ? [form] : [form, ` ${form}`]));
}

/** What to do with a token that was chosen. */
export interface Choice {
  readonly token: number;
  /** So many tokens remain before it. Fewer than there were = a hot word was not completed, and is taken back. */
  readonly kept: number;
}

/** Where a hot word was begun or gone on with against the recogniser's own choice. */
interface Venture {
  /** Where the hot word begins. */
  readonly start: number;
  /** The first token that the recogniser alone would not have chosen, and what it would have. */
  readonly at: number;
  readonly likeliest: number;
  /** See {@link COST_MAX}: of its tokens so far. */
  cost: number;
  /** Whether a whole hot word stands there. It is one only if the word ends with it. */
  isWhole: boolean;
}

/** Greedy decoding with hot words: chooses one token after the other. */
export class HotWordSearch {
  readonly #words: HotWords;
  readonly #tokens: number[] = [];
  /** Positions at which a hot word was tried and taken back: the recogniser's own choice stands there. */
  readonly #decided = new Set<number>();
  #venture: Venture | null = null;
  #takenBack = 0;

  constructor(words: HotWords) {
    this.#words = words;
  }

  /** The tokens chosen so far. */
  get tokens(): readonly number[] {
    return this.#tokens;
  }

  /**
   * Chooses the token behind {@link tokens}.
   * @param likeliest the recogniser's own choice
   * @param logitOf a token's logit; only differences count
   */
  choose(likeliest: number, logitOf: (token: number) => number): Choice {
    const token = this.#preferred(likeliest, logitOf);
    this.#tokens.push(token);
    const at = this.#tokens.length - 1;
    if (this.#venture !== null && this.#words.progress(this.#tokens, this.#venture.start) === 'broken') {
      if (!this.#venture.isWhole || this.#words.goesOnWithWord(token)) return this.#takeBack(this.#venture);
      this.#venture = null;
    }
    if (this.#venture === null && token !== likeliest)
      this.#venture = { start: this.#words.startOf(this.#tokens), at, likeliest, cost: 0, isWhole: false };
    if (this.#venture !== null) this.#venture.cost += logitOf(likeliest) - logitOf(token);
    if (this.#venture !== null && this.#words.progress(this.#tokens, this.#venture.start) === 'complete')
      this.#venture.isWhole = true;
    return { token, kept: at };
  }

  /** Ends the text: how many of {@link tokens} remain, without a hot word that is not complete. */
  end(): number {
    return this.#venture === null || this.#venture.isWhole ? this.#tokens.length : this.#venture.at;
  }

  #preferred(likeliest: number, logitOf: (token: number) => number): number {
    const isTooDear = this.#takenBack > TAKEN_BACK_SPARE + this.#tokens.length;
    if (isTooDear || this.#decided.has(this.#tokens.length)) return likeliest;
    const bonuses = this.#words.bias(this.#tokens);
    const leastLogit = logitOf(likeliest) - COST_MAX + (this.#venture?.cost ?? 0);
    let best = likeliest;
    let most = logitOf(likeliest) + (bonuses.get(likeliest) ?? 0);
    for (const [token, bonus] of bonuses) {
      const logit = logitOf(token);
      if (logit >= leastLogit && logit + bonus > most) [best, most] = [token, logit + bonus];
    }
    return best;
  }

  #takeBack({ at, likeliest }: Venture): Choice {
    this.#decided.add(at);
    this.#venture = null;
    this.#takenBack += this.#tokens.length - at;
    this.#tokens.length = at;
    this.#tokens.push(likeliest);
    return { token: likeliest, kept: at };
  }
}
