/** Keeps one engine process alive: starts it, starts it again when it died, and lets it go. */
import type { Clock, Timer } from '../clock.ts';
import { Backoff } from './backoff.ts';
import type { EngineProcess, ProcessEnd } from './process.ts';

export class Slot {
  readonly #clock: Clock;
  readonly #launch: (onEnd: (end: ProcessEnd) => void) => EngineProcess;
  readonly #onEnd: (end: ProcessEnd, restartInMs: number | null) => void;
  readonly #backoff = new Backoff();
  /** Processes that were told to stop and have not gone yet; a new one may run meanwhile. */
  readonly #leaving = new Set<EngineProcess>();
  #process: EngineProcess | null = null;
  #restart: Timer | null = null;

  /**
   * @param options.launch forks a process that reports its end
   * @param options.onEnd a process ended; `restartInMs` = when its successor starts, null = there is none
   */
  constructor(options: {
    clock: Clock;
    launch: (onEnd: (end: ProcessEnd) => void) => EngineProcess;
    onEnd: (end: ProcessEnd, restartInMs: number | null) => void;
  }) {
    this.#clock = options.clock;
    this.#launch = options.launch;
    this.#onEnd = options.onEnd;
  }

  /** The process in use, ready or not. */
  get process(): EngineProcess | null {
    return this.#process;
  }

  get stopped(): boolean {
    return this.#process === null && this.#restart === null;
  }

  /** Every process of this slot that is still alive. */
  get pids(): number[] {
    const alive = this.#process === null ? [...this.#leaving] : [this.#process, ...this.#leaving];
    return alive.flatMap((process) => process.pid ?? []);
  }

  /** Starts a process unless there is one or one is due. */
  start(): void {
    if (!this.stopped) return;
    try {
      const process = this.#launch((end) => this.#onProcessEnd(process, end));
      this.#process = process;
    } catch (error) {
      this.#startLater({ outcome: 'died', reason: `could not be started: ${String(error)}`, lost: [], readyMs: null });
    }
  }

  /** Lets the process finish its jobs and go. Resolves when no process of this slot is left. */
  async stop(): Promise<void> {
    this.#restart?.cancel();
    this.#restart = null;
    if (this.#process !== null) {
      this.#leaving.add(this.#process);
      this.#process.stop();
      this.#process = null;
    }
    await Promise.all([...this.#leaving].map((process) => process.ended));
  }

  #onProcessEnd(process: EngineProcess, end: ProcessEnd): void {
    this.#leaving.delete(process);
    const current = this.#process === process;
    if (current) this.#process = null;
    if (current && end.outcome !== 'refused') this.#startLater(end);
    else this.#onEnd(end, null);
  }

  #startLater(end: ProcessEnd): void {
    const delayMs = this.#backoff.next(end.readyMs ?? 0);
    this.#restart = this.#clock.after(delayMs, () => {
      this.#restart = null;
      this.start();
    });
    this.#onEnd(end, delayMs);
  }
}
