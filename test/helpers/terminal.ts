/** A terminal whose two outputs are kept as text. */
import { Output, type OutputStream, type Terminal } from '../../src/cli/terminal.ts';

/** A stream that keeps what is written to it. */
export class TextStream implements OutputStream {
  readonly isTTY: boolean;
  readonly columns: number;
  text = '';

  constructor(options: { isTTY?: boolean; columns?: number } = {}) {
    this.isTTY = options.isTTY ?? false;
    this.columns = options.columns ?? 80;
  }

  write(text: string): void {
    this.text += text;
  }

  hasColors(): boolean {
    return this.isTTY;
  }
}

/** A terminal that nobody watches, and what was written to it. */
export function captureTerminal(): { terminal: Terminal; out: TextStream; err: TextStream } {
  const out = new TextStream();
  const err = new TextStream();
  return { terminal: { out: new Output(out), err: new Output(err) }, out, err };
}
