/**
 * Reads speech as words and phrases out of a list: for answers of which it is known what they may be. What a recogniser
 * alone writes of one short word is often another word; which of the expected ones is the likeliest it mostly knows.
 */
import { LRUCache } from 'lru-cache';
import type { ExpectedReading } from '../expected-reading.ts';
import type { Steps } from '../scheduler.ts';
import type { LogitsText } from './greedy.ts';
import type { HotWordVocabulary } from './hot-words.ts';
import { logprobOf, mostLikely } from './logits.ts';

/** Readings that are gone on with at once. Figures: docs/internals/decisions. */
const WIDTH = 4;
/** What is so far below the likeliest reading, or the recogniser's own text, changes nothing. In logarithms. */
const SPREAD = 4;
const BEHIND_MAX = 12;
/** May stand behind a word; the hyphen stands between two. */
const MARKS = [',', '.', '?'] as const;
const HYPHEN = '-';
/** Lists that are kept: each call of a flow asks a few questions. */
const LISTS_MAX = 50;

/** A text that can go on in several ways. */
export interface BranchingText extends LogitsText {
  /** The same text once more; what is added to one is not in the other. */
  branch(): BranchingText;
}

interface Node {
  readonly next: Map<number, Node>;
  isEnd: boolean;
}

/** Words as a recogniser writes them: behind a space, and behind a hyphen. */
class WordTree {
  readonly spaced: Node = newNode();
  readonly unspaced: Node = newNode();
  readonly marks: readonly number[];
  readonly hyphen: number | undefined;

  constructor(words: readonly string[], vocabulary: HotWordVocabulary) {
    this.marks = MARKS.flatMap((mark) => vocabulary.encode(mark));
    [this.hyphen] = vocabulary.encode(HYPHEN);
    for (const word of words) {
      const [first = ''] = word;
      this.#add(this.spaced, vocabulary.encode(` ${word}`));
      this.#add(this.spaced, vocabulary.encode(` ${first.toUpperCase()}${word.slice(first.length)}`));
      this.#add(this.unspaced, vocabulary.encode(word));
    }
  }

  #add(root: Node, tokens: readonly number[]): void {
    let node = root;
    for (const token of tokens) {
      const next = node.next.get(token) ?? newNode();
      node.next.set(token, next);
      node = next;
    }
    node.isEnd = tokens.length > 0;
  }
}

function newNode(): Node {
  return { next: new Map(), isEnd: false };
}

/** Where a reading stands: in a word, or behind a mark. */
interface Place {
  readonly node: Node;
  readonly isBehindMark: boolean;
}

interface Reading extends Place {
  readonly tokens: readonly number[];
  readonly logprob: number;
  readonly text: BranchingText;
  readonly logits: Float32Array;
}

/** How a reading goes on; null = it ends. */
interface Continuation {
  readonly of: Reading;
  readonly logprob: number;
  readonly to: { readonly token: number; readonly place: Place } | null;
}

/** How a recogniser's texts begin and end. */
export interface TextShape {
  readonly startToken: number;
  readonly endToken: number;
  readonly vocabularySize: number;
}

/** What is to be read. */
export interface ExpectedSpeech {
  /** The text, with nothing in it. */
  readonly text: BranchingText;
  readonly words: readonly string[];
  readonly maxTokens: number;
  /** The logarithm of the probability of the recogniser's own text, its end included. */
  readonly ownLogprob: number;
}

/** Reads speech by lists of words, and keeps how the recogniser writes them. */
export class ExpectedWords {
  readonly #vocabulary: HotWordVocabulary;
  readonly #shape: TextShape;
  readonly #trees = new LRUCache<string, WordTree>({ max: LISTS_MAX });

  constructor(vocabulary: HotWordVocabulary, shape: TextShape) {
    this.#vocabulary = vocabulary;
    this.#shape = shape;
  }

  /** The likeliest readings of `words` alone, the best first; none where all are far from what was heard. */
  async *read(
    { text, words, maxTokens, ownLogprob }: ExpectedSpeech,
    textOf: (tokens: readonly number[]) => string,
  ): Steps<ExpectedReading[]> {
    const key = JSON.stringify(words);
    const tree = this.#trees.get(key) ?? new WordTree(words, this.#vocabulary);
    this.#trees.set(key, tree);
    const found: { text: string; behind: number }[] = [];
    const logits = await text.add([this.#shape.startToken]);
    let open: Reading[] = [{ tokens: [], logprob: 0, node: tree.spaced, isBehindMark: true, text, logits }];
    for (let length = 0; length <= maxTokens && open.length > 0; length++) {
      const ways = open.flatMap((reading) => this.#waysOn(reading, tree)).sort((a, b) => b.logprob - a.logprob);
      const least = Math.max(
        ownLogprob - BEHIND_MAX,
        -SPREAD - Math.min(...found.map(({ behind }) => behind)) + ownLogprob,
      );
      const kept: Continuation[] = [];
      for (const way of ways) {
        if (way.logprob < least || kept.length >= WIDTH) break;
        if (way.to === null) found.push({ text: textOf(way.of.tokens), behind: ownLogprob - way.logprob });
        else kept.push(way);
      }
      open = [];
      for (const way of kept) {
        yield;
        open.push(await follow(way));
      }
    }
    return found.sort((a, b) => a.behind - b.behind).slice(0, WIDTH);
  }

  #waysOn(reading: Reading, tree: WordTree): Continuation[] {
    const { node, isBehindMark, logits, logprob } = reading;
    const at = {
      row: 0,
      count: this.#shape.vocabularySize,
      likeliest: mostLikely(logits, 0, this.#shape.vocabularySize),
    };
    const sure = logprobOf(logits, at, at.likeliest);
    const most = logits[at.likeliest] ?? Number.NaN;
    const of = (token: number) => logprob + sure + (logits[token] ?? Number.NaN) - most;
    const ways: Continuation[] = [];
    const goOn = (token: number, place: Place) => ways.push({ of: reading, logprob: of(token), to: { token, place } });
    const isWhole = node.isEnd || (isBehindMark && reading.tokens.length > 0);
    for (const [token, next] of node.next) goOn(token, { node: next, isBehindMark: false });
    if (node.isEnd) {
      for (const [token, next] of tree.spaced.next) goOn(token, { node: next, isBehindMark: false });
      for (const mark of tree.marks) goOn(mark, { node: tree.spaced, isBehindMark: true });
      if (tree.hyphen !== undefined) goOn(tree.hyphen, { node: tree.unspaced, isBehindMark: false });
    }
    if (isWhole) ways.push({ of: reading, logprob: of(this.#shape.endToken), to: null });
    return ways;
  }
}

async function follow({ of, logprob, to }: Continuation): Promise<Reading> {
  if (to === null) return of;
  const text = of.text.branch();
  const logits = await text.add([to.token]);
  return { tokens: [...of.tokens, to.token], logprob, ...to.place, text, logits };
}
