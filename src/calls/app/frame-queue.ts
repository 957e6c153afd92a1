import type { AppFrame } from './frames.ts';

interface FrameQueueOptions {
  /** Does what a frame asks for. */
  obey(frame: AppFrame): void;
  /** Frames begin to wait, so that no more of them should be read. */
  onHeld(): void;
  /** Frames no longer wait. */
  onReleased(): void;
}

/** The app's frames in their order: while a recording is fetched, those that come after it wait. */
export class FrameQueue {
  readonly #options: FrameQueueOptions;
  #work: AbortController | null = null;
  #waiting: AppFrame[] = [];
  #closed = false;

  constructor(options: FrameQueueOptions) {
    this.#options = options;
  }

  push(frame: AppFrame): void {
    if (this.#closed) return;
    if (this.#work === null) this.#options.obey(frame);
    else this.#waiting.push(frame);
  }

  /** Holds all later frames until `work` is done. */
  async holdFor(work: (signal: AbortSignal) => Promise<void>): Promise<void> {
    const controller = new AbortController();
    this.#work = controller;
    this.#options.onHeld();
    try {
      await work(controller.signal);
    } finally {
      this.#work = null;
      this.#options.onReleased();
      this.#release();
    }
  }

  /** The app is gone: what waits is all that comes, and ends as a talk cycle that the app ended itself. */
  endWaitingText(): void {
    if (this.#waiting.length > 0) this.#waiting.push({ type: 'text', token: '', last: true });
  }

  /**
   * Gives up the work, and drops the frames that wait and would be heard. Returns whether more of their text may come.
   */
  drop(): boolean {
    this.#work?.abort();
    const lastText = this.#waiting.findLast((frame) => frame.type === 'text');
    this.#waiting = this.#waiting.filter((frame) => frame.type === 'language' || frame.type === 'end');
    return lastText?.last === false;
  }

  /** No frame is obeyed any more. */
  close(): void {
    this.#closed = true;
  }

  #release(): void {
    while (this.#work === null && !this.#closed) {
      const frame = this.#waiting.shift();
      if (frame === undefined) return;
      this.#options.obey(frame);
    }
  }
}
