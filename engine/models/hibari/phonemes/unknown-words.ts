/**
 * Words that no lexicon has, by a small network over their letters. It gives one symbol or a blank for each of its
 * steps; repeats count once (CTC, https://distill.pub/2017/ctc/).
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openSession, tensorOf } from '../../../onnx.ts';
import { type InferenceSession, Tensor } from '../../../onnxruntime.ts';
import type { Accent } from '../../phoneme-symbols.ts';

/** Names are said again and again: so many are remembered. */
const REMEMBERED_WORDS = 2048;
const BLANK = 0;

/** The file beside the network. */
interface Symbols {
  /** Letters, the first one with id 1. */
  readonly in: readonly string[];
  /** Phonemes, the first one with id 1. */
  readonly out: readonly string[];
  /** Letters of a word that are read at most. */
  readonly maxlen: number;
}

/** Reads unknown words of an accent. */
export class UnknownWords {
  readonly #session: InferenceSession;
  readonly #symbols: Symbols;
  readonly #ids: ReadonlyMap<string, number>;
  readonly #remembered = new Map<string, string>();

  constructor(session: InferenceSession, symbols: Symbols) {
    this.#session = session;
    this.#symbols = symbols;
    this.#ids = new Map(symbols.in.map((letter, at) => [letter, at + 1]));
  }

  /** The phonemes of a word; empty when the network knows none of its letters. */
  async read(word: string): Promise<string> {
    const ids = Array.from(word, (letter) => this.#ids.get(letter) ?? BLANK)
      .filter((id) => id !== BLANK)
      .slice(0, this.#symbols.maxlen);
    if (ids.length === 0) return '';
    const known = this.#remembered.get(word);
    if (known !== undefined) return known;
    const chars = new Tensor('int64', BigInt64Array.from(ids, BigInt), [1, ids.length]);
    const { data } = tensorOf(await this.#session.run({ chars }), 'ids');
    const phonemes = collapse(Array.from(data as BigInt64Array, Number))
      .map((id) => this.#symbols.out[id - 1] ?? '')
      .join('');
    this.#remember(word, phonemes);
    return phonemes;
  }

  #remember(word: string, phonemes: string): void {
    const [oldest] = this.#remembered.keys();
    if (this.#remembered.size >= REMEMBERED_WORDS && oldest !== undefined) this.#remembered.delete(oldest);
    this.#remembered.set(word, phonemes);
  }
}

/** Repeats once, blanks left out. */
function collapse(ids: readonly number[]): number[] {
  return ids.filter((id, at) => id !== BLANK && id !== ids[at - 1]);
}

/**
 * Opens the network of an accent.
 * @throws Refusal `model_missing`; whatever onnxruntime throws for a file that it cannot read.
 */
export async function openUnknownWords(folder: string, accent: Accent): Promise<UnknownWords> {
  const name = accent === 'us' ? 'oov' : 'oov_gb';
  const [session, symbols] = await Promise.all([
    openSession(join(folder, `${name}.onnx`), { device: { provider: 'cpu' }, threads: 1 }),
    readFile(join(folder, `${name}.json`), 'utf8'),
  ]);
  return new UnknownWords(session, JSON.parse(symbols) as Symbols);
}
