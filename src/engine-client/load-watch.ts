/** Notices that an engine process which loads its models gets nowhere. */
import type { Clock, Timer } from '../foundation/clock.ts';

const LOOK_MS = 5000;

/** A process that says nothing and does nothing for so long hangs. */
const STILL_MAX_MS = 60_000;

/**
 * CPU time in which it does something: far less than what is left of a core to the least of a hundred processes, and
 * more than one needs that only waits.
 */
const WORK_MS = 30;

/**
 * CPU time after which it is in a loop unless it has said something: the longest stage, the first use of a GPU or of
 * a large recogniser, takes a minute.
 */
const STAGE_CPU_MAX_MS = 600_000;

interface LoadWatchOptions {
  readonly clock: Clock;
  /** CPU time that the process has used, in ms; null where that is not known. */
  cpuMs(): number | null;
  /** It makes no progress; `reason` is for people. Called once. */
  onStuck(reason: string): void;
}

/**
 * On a machine that is starved of CPU time, loading may take many minutes: as long as it goes on it is not a hang. What
 * the process says is progress, and so is, between two of its messages, that it uses CPU time. Stillness is counted in
 * looks, not by the clock, as in {@link HangDetector}.
 */
export class LoadWatch {
  readonly #options: LoadWatchOptions;
  #timer: Timer | null = null;
  #stage = 'its start';
  /** Looks since it did something. */
  #stillLooks = 0;
  /** CPU time that it had used when it last did something. */
  #workedMs: number;
  /** CPU time that it had used when it last said something. */
  #saidMs: number;

  /** The process has been started. */
  constructor(options: LoadWatchOptions) {
    this.#options = options;
    this.#workedMs = options.cpuMs() ?? 0;
    this.#saidMs = this.#workedMs;
    this.#lookLater();
  }

  /** The process said that `stage` begins. */
  begin(stage: string): void {
    this.#stage = stage;
    this.received();
  }

  /** The process said something. */
  received(): void {
    if (this.#timer === null) return;
    this.#stillLooks = 0;
    this.#workedMs = this.#options.cpuMs() ?? 0;
    this.#saidMs = this.#workedMs;
  }

  /** It is ready, or of no use any more. */
  end(): void {
    this.#timer?.cancel();
    this.#timer = null;
  }

  #lookLater(): void {
    this.#timer = this.#options.clock.after(LOOK_MS, () => this.#look());
  }

  #look(): void {
    const cpuMs = this.#options.cpuMs();
    this.#stillLooks++;
    if (cpuMs !== null && cpuMs - this.#workedMs >= WORK_MS) {
      this.#stillLooks = 0;
      this.#workedMs = cpuMs;
    }
    if (this.#stillLooks * LOOK_MS >= STILL_MAX_MS) {
      this.#stuck(`made no progress for ${STILL_MAX_MS} ms while it loaded (${this.#stage})`);
    } else if (cpuMs !== null && cpuMs - this.#saidMs >= STAGE_CPU_MAX_MS) {
      this.#stuck(`took ${STAGE_CPU_MAX_MS} ms of CPU time for one stage of loading (${this.#stage})`);
    } else this.#lookLater();
  }

  #stuck(reason: string): void {
    this.#timer = null;
    this.#options.onStuck(reason);
  }
}
