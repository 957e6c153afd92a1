/** Where commands write. The only file in which the command line touches standard output and error. */
import { EXIT_FAILED } from './exit-codes.ts';

/** One line that is still changing. */
export interface LiveLine {
  /** Stays when the rest is cut to the width of the terminal. */
  readonly head?: string;
  readonly text: string;
  /** Index into `text`; from there on it is shown dim. */
  readonly dimFrom?: number;
}

/** What an {@link Output} needs of a stream; `process.stdout` and `process.stderr` have it. */
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

/** Standard output or error: lines that stay and, below them on a terminal, lines that change. */
export class Output {
  /** Whether a person watches: live lines are shown to nobody else. */
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

  /** Whether nobody reads any more, so that what is still to be done for its output alone need not be. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Writes nothing from now on. */
  close(): void {
    this.#isClosed = true;
  }

  /** Writes a line that stays. */
  line(text = ''): void {
    this.#write(`${this.#eraseLive()}${text}\n${this.#renderLive()}`);
  }

  /** Writes text as it is, e.g. a file's contents. Not to be mixed with live lines. */
  raw(text: string): void {
    this.#write(text);
  }

  /**
   * Shows `lines` in place of the live lines shown before; none = they go away. Each is cut to the width of the
   * terminal, the end of its text is kept.
   */
  live(lines: readonly LiveLine[]): void {
    if (!this.isLive) return;
    const erased = this.#eraseLive();
    this.#live = lines;
    this.#write(erased + this.#renderLive());
  }

  /** `text` in bold where the terminal can. */
  bold(text: string): string {
    return this.#styled ? `${BOLD}${text}${PLAIN}` : text;
  }

  /** `text` dim where the terminal can. */
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
    const room = Math.max(1, (this.#stream.columns || COLUMNS_UNKNOWN) - 1 - head.length);
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
 * The terminal of this process. A reader that goes away early (`| head`) is no error; output that cannot be written
 * otherwise is said, once, and makes the command a failed one. Of standard error nobody could be told.
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
