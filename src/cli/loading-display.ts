/** Shows on a terminal how far the engines' start is. */
import type { EngineStartListener } from '../engine-client/start-listener.ts';
import type { Output } from './terminal.ts';

const LOADING = 'Loading the speech models…';

/** A line that changes while the engines start, and goes away when {@link end} is called. */
export class LoadingDisplay implements EngineStartListener {
  readonly #out: Output;
  #text = LOADING;
  #isOver = false;

  constructor(out: Output) {
    this.#out = out;
  }

  show(): void {
    if (!this.#isOver) this.#out.live([{ text: this.#text }]);
  }

  /** Shows the part of `text` before the first semicolon, so that it fits on one line. */
  onProgress(text: string): void {
    const [first = ''] = text.split(';', 1);
    this.#text = `${first.charAt(0).toUpperCase()}${first.slice(1)}…`;
    this.show();
  }

  onReady(ready: number, workers: number): void {
    this.#text = `${LOADING} ${ready} of ${workers} ready`;
    this.show();
  }

  /** Removes the line for good: later restarts of engines are not shown. */
  end(): void {
    this.#isOver = true;
    this.#out.live([]);
  }
}
