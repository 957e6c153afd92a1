import { startsSpaced } from './words.ts';

interface Reading {
  readonly version: number;
  readonly text: string;
}

interface LaterReading extends Reading {
  readonly utterance: number;
  /** The first of the utterances that were read together. */
  readonly first: number;
}

/** Utterances without words are remembered so far back: a reading of them together with others may find some. */
const WORDLESS_KEPT = 8;

/**
 * The words of a turn: of each of its utterances the latest version, joined. The utterance that is being spoken has
 * its text so far.
 */
export class TurnText {
  /** By number, in the order in which the finals came. */
  readonly #finals = new Map<number, Reading>();
  /** The last utterance that was taken out. */
  #taken = 0;
  #running: { readonly utterance: number; readonly text: string } | null = null;

  /** Everything so far. */
  get text(): string {
    return join([...this.#finals.values()].map(({ text }) => text).concat(this.#running?.text ?? ''));
  }

  /** What is certain of it. */
  get finalText(): string {
    return join([...this.#finals.values()].map(({ text }) => text));
  }

  /** A caption of an utterance: its text so far, or its final one, version 1. */
  add({
    utterance,
    text,
    final,
  }: {
    readonly utterance: number;
    readonly text: string;
    readonly final: boolean;
  }): void {
    if (!final) {
      this.#running = { utterance, text };
      return;
    }
    this.drop(utterance);
    this.#finals.set(utterance, { version: 1, text });
  }

  /**
   * A later version of a final text. Ignored for an utterance that is not in the turn, and where the reading began with
   * one that was taken out: a word that moved between them would be lost or there twice. None moves into one that had
   * no words.
   */
  revise({ utterance, first, version, text }: LaterReading): void {
    const known = this.#finals.get(utterance);
    if (known === undefined || version <= known.version) return;
    if (first > this.#taken || known.text === '') this.#finals.set(utterance, { version, text });
  }

  /** The text so far of an utterance does not count: its final has none, or is not told. */
  drop(utterance: number): void {
    if (this.#running?.utterance === utterance) this.#running = null;
  }

  /** Takes out the final texts of the utterances up to number `last`. One without words may get some later. */
  take(last: number): string {
    const taken = [...this.#finals].filter(([utterance]) => utterance <= last);
    const latest = taken.at(-1)?.[0] ?? 0;
    for (const [utterance, { text }] of taken) {
      if (text === '' && utterance > latest - WORDLESS_KEPT) continue;
      this.#finals.delete(utterance);
      this.#taken = Math.max(this.#taken, utterance);
    }
    if (this.#running !== null && this.#running.utterance <= last) this.#running = null;
    return join(taken.map(([, { text }]) => text));
  }
}

function join(texts: readonly string[]): string {
  return texts.reduce((whole, text) => {
    if (whole === '' || text === '') return whole + text;
    return whole + (startsSpaced(text) ? ' ' : '') + text;
  }, '');
}
