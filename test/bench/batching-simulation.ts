/** The engine's scheduler with a pretend recogniser, in simulated time. */
import type { Urgency } from '../../engine/contract.ts';
import { Scheduler, type Steps } from '../../engine/scheduler.ts';
import { runTogether, type SharedRun } from '../../engine/shared-runs.ts';
import type { Time } from '../../engine/time.ts';
import { mean } from './report.ts';

/** ms of a run of each graph, and of each row in it: chosen, not measured, for 0.6 billion parameters on a GPU. */
export const ENCODER = { fixedMs: 6, rowMs: 0.5 };
export const DECODER = { fixedMs: 50, rowMs: 1 };

/** When a reading was wanted, and within how long from its arrival. */
interface Wish {
  readonly askedMs: number;
  readonly dueInMs: number;
}

/** How a reading ended. */
interface Outcome {
  /** False = it came too late to be begun. */
  readonly isDone: boolean;
  /** From its arrival to its answer. */
  readonly tookMs: number;
}

/** Time passes in model runs, and otherwise as soon as there is nothing to do. */
export class Simulation implements Time {
  readonly #scheduler: Scheduler<null>;
  readonly #encoder: SharedRun<null, null>;
  readonly #decoder: SharedRun<null, null>;
  /** The latest first. */
  #arrivals: { readonly atMs: number; arrive(atMs: number): void }[] = [];
  readonly #ends = new Map<number, (isDone: boolean) => void>();
  readonly #rows: number[] = [];
  #nowMs = 0;
  #nextId = 1;

  /** @param batchMax rows of one run at most */
  constructor(batchMax: number) {
    this.#encoder = this.#graph(batchMax, ENCODER, () => undefined);
    this.#decoder = this.#graph(batchMax, DECODER, (rows) => this.#rows.push(rows));
    const answers = {
      done: (id: number): void => this.#ends.get(id)?.(true),
      failed: (id: number): void => this.#ends.get(id)?.(false),
    };
    this.#scheduler = new Scheduler<null>({ time: this, answers });
  }

  nowMs(): number {
    return this.#nowMs;
  }

  async letMessagesIn(): Promise<void> {
    await Promise.resolve();
    this.#deliver();
  }

  /** Mean rows of a run of the decoder. */
  get meanRows(): number {
    return mean(this.#rows);
  }

  /** Has something happen at that time. To be called before {@link play}. */
  at(atMs: number, arrive: (atMs: number) => void): void {
    this.#arrivals.push({ atMs, arrive });
  }

  /** Asks for a reading that was wanted at `askedMs`; `onEnd` is told once. */
  read(urgency: Urgency, { dueInMs, askedMs }: Wish, onEnd: (outcome: Outcome) => void): void {
    const id = this.#nextId++;
    this.#ends.set(id, (isDone) => {
      this.#ends.delete(id);
      onEnd({ isDone, tookMs: this.#nowMs - askedMs });
    });
    this.#scheduler.submit({ id, kind: 'transcribe', urgency, dueInMs, steps: this.#work() });
  }

  /** Until nothing is left to do. */
  async play(): Promise<void> {
    this.#arrivals = this.#arrivals.sort((a, b) => b.atMs - a.atMs);
    for (let next = this.#arrivals.at(-1); next !== undefined; next = this.#arrivals.at(-1)) {
      this.#nowMs = Math.max(this.#nowMs, next.atMs);
      this.#deliver();
      await this.#scheduler.idle();
    }
  }

  #deliver(): void {
    for (
      let next = this.#arrivals.at(-1);
      next !== undefined && next.atMs <= this.#nowMs;
      next = this.#arrivals.at(-1)
    ) {
      this.#arrivals.pop();
      next.arrive(next.atMs);
    }
  }

  async *#work(): Steps<null> {
    yield* runTogether(this.#encoder, null);
    return yield* runTogether(this.#decoder, null);
  }

  #graph(batchMax: number, cost: typeof ENCODER, onRun: (rows: number) => void): SharedRun<null, null> {
    return {
      batchMax,
      run: async (inputs) => {
        this.#nowMs += cost.fixedMs + cost.rowMs * inputs.length;
        onRun(inputs.length);
        return inputs;
      },
    };
  }
}
