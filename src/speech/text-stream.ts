import { SentenceSplitter } from './sentences.ts';

/** The splitter gets text in portions, so that a book that comes at once does not delay other work. */
const PORTION_CHARS = 1000;

const WORD_MAX_CHARS = 64;
const INSIDE_WORDS = "[\\p{L}\\p{N}\\p{M}\\p{Cs}'’_-]";
/** The possible beginning of a word at the end of a text. A longer run of characters is no word. */
const UNFINISHED_WORD = new RegExp(`(?<!${INSIDE_WORDS})${INSIDE_WORDS}{1,${WORD_MAX_CHARS}}$`, 'u');

/** A text that comes in pieces of any size, and its sentences as soon as they are certain. */
export class TextStream {
  readonly #splitter = new SentenceSplitter();
  readonly #sentences: string[] = [];
  #text = '';
  /** The text that the splitter does not have yet. */
  #unsplit = '';
  #ended = false;
  #flushed = false;
  #wake: (() => void) | null = null;

  /** A text that has come whole. */
  static of(text: string): TextStream {
    const stream = new TextStream();
    stream.write(text);
    stream.end();
    return stream;
  }

  /** Everything written so far. */
  get text(): string {
    return this.#text;
  }

  /** Appends text as it is. Ignored after {@link end}. */
  write(piece: string): void {
    if (this.#ended) return;
    this.#text += piece;
    this.#unsplit += piece;
    this.#wake?.();
  }

  /** No more text. */
  end(): void {
    this.#ended = true;
    this.#wake?.();
  }

  /** The whole text, where all of it is there and no sentence was taken; otherwise null. */
  get untouched(): string | null {
    return this.#ended && this.#sentences.length === 0 && this.#unsplit === this.#text ? this.#text : null;
  }

  /** Takes what is there as if it were one sentence. */
  takeAll(): string {
    this.#unsplit = '';
    this.#flushed = true;
    return this.#text;
  }

  /**
   * {@link end}s the text after its last whole word, and returns the rest, which may be the beginning of a word.
   * Returns null and does not end the text when there is no whole word.
   */
  cut(): string | null {
    const held = this.#splitter.held + this.#unsplit.slice(-WORD_MAX_CHARS - 1);
    const [rest = ''] = UNFINISHED_WORD.exec(held.slice(-WORD_MAX_CHARS - 1)) ?? [];
    const whole = this.#text.slice(0, this.#text.length - rest.length);
    if (whole.trim() === '') return null;
    const unsplit = Math.min(rest.length, this.#unsplit.length);
    this.#unsplit = this.#unsplit.slice(0, this.#unsplit.length - unsplit);
    this.#splitter.takeBack(rest.length - unsplit);
    this.#text = whole;
    this.end();
    return rest;
  }

  /** Waits for the next sentence; null at the end of the text, or when `signal` aborts. One call at a time. */
  async next(signal: AbortSignal): Promise<string | null> {
    while (!signal.aborted) {
      const sentence = this.#sentences.shift();
      if (sentence !== undefined) return sentence;
      if (this.#flushed) return null;
      if (this.#unsplit !== '') this.#split();
      else if (this.#ended) this.#flush();
      else await this.#more(signal);
    }
    return null;
  }

  #split(): void {
    const portion = this.#unsplit.slice(0, PORTION_CHARS);
    this.#unsplit = this.#unsplit.slice(PORTION_CHARS);
    this.#sentences.push(...this.#splitter.push(portion));
  }

  #flush(): void {
    this.#flushed = true;
    this.#sentences.push(...this.#splitter.flush());
  }

  #more(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        this.#wake = null;
        signal.removeEventListener('abort', wake);
        resolve();
      };
      this.#wake = wake;
      signal.addEventListener('abort', wake);
    });
  }
}
