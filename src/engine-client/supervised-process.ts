/** Keeps one engine process alive: starts it, starts it again when it died or hangs, and lets it go. */
import { Backoff } from '../foundation/backoff.ts';
import type { Clock, Timer } from '../foundation/clock.ts';
import type { EngineProcess } from './engine-process.ts';
import type { EngineReport } from './engine-report.ts';
import type { ProcessEnd, ProcessHandlers } from './process-handlers.ts';

/** A dead process is started again after 100 ms, doubling to 10 s; back to 100 ms after one that was ready for 30 s. */
const RESTARTS = { firstMs: 100, longestMs: 10_000, healthyMs: 30_000 };

/** What a process reports to its supervisor. */
export type SupervisedProcessHandlers = Pick<ProcessHandlers, 'ended' | 'hung'>;

interface SupervisedProcessOptions {
  readonly clock: Clock;
  /** Forks a process that reports to `handlers`. */
  launch(handlers: SupervisedProcessHandlers): EngineProcess;
  /** A process ended; `restartInMs` = when its successor starts, null = there is none. */
  onEnd(end: ProcessEnd, restartInMs: number | null): void;
  /** A process hangs and is let go; its successor starts in `restartInMs`. */
  onReplaced(restartInMs: number): void;
}

export class SupervisedProcess {
  readonly #options: SupervisedProcessOptions;
  readonly #backoff = new Backoff(RESTARTS);
  /** Processes that were told to stop and have not gone yet; a new one may run meanwhile. */
  readonly #leaving = new Set<EngineProcess>();
  #process: EngineProcess | null = null;
  #restart: Timer | null = null;
  #restarts = 0;
  #lastRestart: EngineReport['lastRestart'] = null;

  constructor(options: SupervisedProcessOptions) {
    this.#options = options;
  }

  /** The process in use, ready or not. */
  get process(): EngineProcess | null {
    return this.#process;
  }

  get stopped(): boolean {
    return this.#process === null && this.#restart === null;
  }

  /** How it is now. */
  get report(): Omit<EngineReport, 'role'> {
    const process = this.#process;
    return {
      state: this.#state,
      pid: process?.pid ?? null,
      device: process?.device ?? null,
      busyShare: process?.busyShare ?? 0,
      jobs: process?.pendingCount ?? 0,
      restarts: this.#restarts,
      lastRestart: this.#lastRestart,
    };
  }

  get #state(): EngineReport['state'] {
    if (this.stopped) return 'stopped';
    if (this.#process?.isSilent) return 'silent';
    return this.#process?.ready ? 'ready' : 'starting';
  }

  /** Every process of this member of the pool that is still alive. */
  get processes(): EngineProcess[] {
    return this.#process === null ? [...this.#leaving] : [this.#process, ...this.#leaving];
  }

  /** Starts a process unless there is one or one is due. */
  start(): void {
    if (!this.stopped) return;
    try {
      const process = this.#options.launch({
        ended: (end) => this.#onProcessEnd(process, end),
        hung: () => this.#replace(process),
      });
      this.#process = process;
    } catch (error) {
      const end: ProcessEnd = {
        outcome: 'died',
        reason: `could not be started: ${String(error)}`,
        lost: [],
        readyMs: null,
      };
      this.#options.onEnd(end, this.#startLater(null, end.reason));
    }
  }

  /** Lets the process finish its jobs and go. Resolves when no process of this member of the pool is left. */
  async stop(): Promise<void> {
    this.#restart?.cancel();
    this.#restart = null;
    if (this.#process !== null) this.#letGo(this.#process);
    await Promise.all([...this.#leaving].map((process) => process.ended));
  }

  #onProcessEnd(process: EngineProcess, end: ProcessEnd): void {
    this.#leaving.delete(process);
    const current = this.#process === process;
    if (current) this.#process = null;
    this.#options.onEnd(end, current && end.outcome !== 'refused' ? this.#startLater(end.readyMs, end.reason) : null);
  }

  /** The process may answer yet, in the time that it has to drain; the next one is not kept waiting for that. */
  #replace(process: EngineProcess): void {
    if (this.#process !== process) return;
    this.#letGo(process);
    this.#options.onReplaced(this.#startLater(process.readyMs, 'gave no sign of life'));
  }

  #letGo(process: EngineProcess): void {
    this.#leaving.add(process);
    this.#process = null;
    process.stop();
  }

  /** Starts a process after the back-off that is due, and says how long that is. */
  #startLater(readyMs: number | null, reason: string): number {
    this.#restarts++;
    this.#lastRestart = { at: this.#options.clock.wall(), reason };
    const delayMs = this.#backoff.next(readyMs ?? 0);
    this.#restart = this.#options.clock.after(delayMs, () => {
      this.#restart = null;
      this.start();
    });
    return delayMs;
  }
}
