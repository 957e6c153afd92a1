/** The output of commands. No other file of the command line uses standard output and error. */
import { EXIT_FAILED } from './exit-codes.ts';

/** A line that still changes. */
export interface LiveLine {
  /** Is never cut; `text` is cut to the rest of the terminal's width. */
  readonly head?: string;
  readonly text: string;
  /** The index in `text` from which on it is dim. */
  readonly dimFrom?: number;
}

/** The part of `process.stdout` and `process.stderr` that {@link Output} uses. */
export interface OutputStream {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
  hasColors?(): boolean;
}

const CLEAR_BELOW = '\u001b[J';
const DIM = '\u001b[2m';
const BOLD = '\u001b[1m';
const PLAIN = '\u001b[0m';
const COLUMNS_UNKNOWN = 80;

/** Standard output or error: permanent lines and, below them on a terminal, live lines that change. */
export class Output {
  /** Whether this is a terminal, which alone shows live lines. */
  readonly isLive: boolean;
  readonly #stream: OutputStream;
  readonly #styled: boolean;
  #live: readonly LiveLine[] = [];
  #isClosed = false;

  constructor(stream: OutputStream) {
    this.#stream = stream;
    this.isLive = stream.isTTY === true;
    this.#styled = this.isLive && stream.hasColors?.() === true;
  }

  /** Whether the reader is gone. Work that only produces output can be skipped then. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Columns of the terminal; infinite where a file or program reads, which lines of one call each suit best. */
  get columns(): number {
    return this.isLive ? this.#stream.columns || COLUMNS_UNKNOWN : Number.POSITIVE_INFINITY;
  }

  /** Writes nothing from now on. */
  close(): void {
    this.#isClosed = true;
  }

  /** Writes a permanent line. */
  line(text = ''): void {
    this.#write(`${this.#eraseLive()}${text}\n${this.#renderLive()}`);
  }

  /** Writes text as it is, e.g. a file's contents. Not to be mixed with live lines. */
  raw(text: string): void {
    this.#write(text);
  }

  /**
   * Replaces the live lines by `lines`. A line that is wider than the terminal loses the beginning of its text.
   */
  live(lines: readonly LiveLine[]): void {
    if (!this.isLive) return;
    const erased = this.#eraseLive();
    this.#live = lines;
    this.#write(erased + this.#renderLive());
  }

  /** `text` in bold if the terminal supports it. */
  bold(text: string): string {
    return this.#styled ? `${BOLD}${text}${PLAIN}` : text;
  }

  /** `text` dim if the terminal supports it. */
  dim(text: string): string {
    return this.#styled ? `${DIM}${text}${PLAIN}` : text;
  }

  #write(text: string): void {
    if (!this.#isClosed) this.#stream.write(text);
  }

  #eraseLive(): string {
    return this.#live.length === 0 ? '' : `\r\u001b[${this.#live.length}A${CLEAR_BELOW}`;
  }

  #renderLive(): string {
    return this.#live.map((line) => `${this.#render(line)}\n`).join('');
  }

  #render({ head = '', text, dimFrom = text.length }: LiveLine): string {
    const room = Math.max(1, this.columns - 1 - head.length);
    const cut = Math.max(0, text.length - room);
    const shown = cut === 0 ? text : `…${text.slice(cut + 1)}`;
    const dimAt = Math.max(0, dimFrom - cut);
    return head + shown.slice(0, dimAt) + (dimAt < shown.length ? this.dim(shown.slice(dimAt)) : '');
  }
}

/** The two outputs of a command. */
export interface Terminal {
  readonly out: Output;
  readonly err: Output;
}

/**
 * The terminal of this process. A reader that closes early (`| head`) is not an error. Any other write error of
 * standard output is reported once and makes the command fail. Errors of standard error are ignored.
 */
export function openTerminal(): Terminal {
  const [out, err] = [new Output(process.stdout), new Output(process.stderr)];
  process.stderr.on('error', () => err.close());
  process.stdout.on('error', ({ code = 'unknown' }: NodeJS.ErrnoException) => {
    if (!out.isClosed && code !== 'EPIPE') {
      process.exitCode = EXIT_FAILED;
      err.line(`trunkline: standard output cannot be written (${code})`);
    }
    out.close();
  });
  return { out, err };
}
