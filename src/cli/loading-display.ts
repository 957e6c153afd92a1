/** What the engines do until they are ready, on a terminal. */
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

  /** Shows how far they are. */
  show(): void {
    if (!this.#isOver) this.#out.live([{ text: this.#text }]);
  }

  /** Of a long text what comes before a semicolon: a terminal has one line for it. */
  onProgress(text: string): void {
    const [first = ''] = text.split(';', 1);
    this.#text = `${first.charAt(0).toUpperCase()}${first.slice(1)}…`;
    this.show();
  }

  onReady(ready: number, workers: number): void {
    this.#text = `${LOADING} ${ready} of ${workers} ready`;
    this.show();
  }

  /** Takes the line away for good: engines that are started again later are nobody's concern. */
  end(): void {
    this.#isOver = true;
    this.#out.live([]);
  }
}
