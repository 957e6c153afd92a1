import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isDroppable, type JobCost, URGENCIES, type Urgency } from '../../engine/contract.ts';
import { Scheduler, type Steps } from '../../engine/scheduler.ts';
import { runTogether, type SharedRun } from '../../engine/shared-runs.ts';

/** Jobs on their way at the same time: a partial or a final of each of 64 tracks. */
const TRACKS = 64;
const RUN_MS = 10;
const ROW_MS = 1;

/** What a job does, one after the other: a run of the encoder or of the decoder, one of its own, or a pause. */
const DEED = fc.constantFrom('encoder', 'decoder', 'own', 'pause');
type Deed = 'encoder' | 'decoder' | 'own' | 'pause';

const PLAN = fc.record({
  urgency: fc.constantFrom(...URGENCIES),
  dueInMs: fc.integer({ min: 0, max: 400 }),
  /** The turn of the event loop in which it comes. */
  comesAt: fc.integer({ min: 0, max: 60 }),
  /** Its deeds behind a first run of the encoder. */
  deeds: fc.array(DEED, { maxLength: 4 }),
  /** Only alike jobs share a run. */
  length: fc.constantFrom('short', 'long'),
  isBad: fc.constantFrom(false, false, false, false, true),
  /** The turn in which it is cancelled, between two steps or in the middle of one; null = it is not. */
  cancelledAt: fc.option(fc.integer({ min: 0, max: 150 }), { freq: 4 }),
  isCancelledInRun: fc.boolean(),
});
type Plan = typeof PLAN extends fc.Arbitrary<infer T> ? T : never;

const SCRIPT = fc.record({
  batchMax: fc.constantFrom(1, 2, 4, 16),
  plans: fc.array(PLAN, { minLength: TRACKS, maxLength: TRACKS }),
  /** Turns in which batch jobs are held back, and let go on. */
  holds: fc.array(fc.integer({ min: 0, max: 150 }), { maxLength: 4 }),
});

interface Tracked {
  readonly id: number;
  readonly plan: Plan;
  readonly dueMs: number;
  /** What it does next, as the scheduler can know it; a job that pauses may or may not be able to go on. */
  state: 'unbegun' | 'paused' | 'over' | Deed;
  /** Whether a run that it shared has failed: its next is its own. */
  isAlone: boolean;
  runs: number;
  readonly answers: string[];
  cost: JobCost | null;
}

/** Runs a script and checks each run against the rules. */
class World {
  readonly #batchMax: number;
  readonly #plans: readonly Plan[];
  readonly #holds: readonly number[];
  readonly jobs = new Map<number, Tracked>();
  readonly #scheduler: Scheduler<string>;
  readonly #models: Readonly<Record<'encoder' | 'decoder', SharedRun<Tracked, string>>>;
  readonly #pauses: (() => void)[] = [];
  #nowMs = 0;
  #turn = 0;
  #isHeld = false;
  #running = 0;
  runMs = 0;
  /** Rules that were broken: what is thrown in a run would be taken for its failure. */
  readonly broken: string[] = [];

  constructor({ batchMax, plans, holds }: { batchMax: number; plans: readonly Plan[]; holds: readonly number[] }) {
    this.#batchMax = batchMax;
    this.#plans = plans;
    this.#holds = holds;
    this.#models = { encoder: this.#model('encoder'), decoder: this.#model('decoder') };
    this.#scheduler = new Scheduler<string>({
      time: { nowMs: () => this.#nowMs, letMessagesIn: () => this.#letIn() },
      answers: {
        done: (id, result, cost) => this.#answer(id, result, cost),
        failed: (id, code) => this.#answer(id, code, null),
      },
    });
  }

  async play(): Promise<void> {
    const lastTurn = 200;
    while (this.#turn < lastTurn || this.#pauses.length > 0) {
      await this.#letIn();
      await this.#scheduler.idle();
    }
    this.#isHeld = false;
    this.#scheduler.hold(false);
    await this.#scheduler.idle();
  }

  #answer(id: number, outcome: string, cost: JobCost | null): void {
    const job = this.jobs.get(id);
    if (job === undefined) throw new Error(`an answer for ${id}, which has not come`);
    if (outcome === 'stale')
      this.#rule('stale', isDroppable(job.plan.urgency) && job.runs === 0 && this.#nowMs > job.dueMs);
    job.answers.push(outcome);
    job.state = 'over';
    job.cost = cost;
  }

  /** A turn of the event loop: what the script has for it happens. */
  async #letIn(): Promise<void> {
    await Promise.resolve();
    const turn = this.#turn++;
    if (this.#holds.includes(turn)) {
      this.#isHeld = !this.#isHeld;
      this.#scheduler.hold(this.#isHeld);
    }
    // Pauses end one after the other, and before the script can.
    this.#pauses.shift()?.();
    for (const [id, plan] of this.#plans.entries()) if (plan.comesAt === turn) this.#submit(id, plan);
    this.#cancelAt(turn, false);
  }

  #cancelAt(turn: number, isInRun: boolean): void {
    for (const [id, plan] of this.#plans.entries()) {
      if (plan.cancelledAt === turn && plan.isCancelledInRun === isInRun) this.#scheduler.cancel(id);
    }
  }

  #submit(id: number, plan: Plan): void {
    const { urgency, dueInMs } = plan;
    const dueMs = this.#nowMs + dueInMs;
    const job: Tracked = { id, plan, dueMs, state: 'unbegun', isAlone: false, runs: 0, answers: [], cost: null };
    this.jobs.set(id, job);
    this.#scheduler.submit({ id, kind: 'transcribe', urgency, dueInMs, steps: this.#work(job) });
  }

  async *#work(job: Tracked): Steps<string> {
    let isOwn = false;
    for (const deed of ['encoder', ...job.plan.deeds] as const) {
      if (deed === 'encoder' || deed === 'decoder') {
        if (isOwn) yield;
        job.state = deed;
        expect(yield* runTogether(this.#models[deed], job)).toBe(`${deed} ${job.id}`);
        isOwn = false;
      } else if (deed === 'own') {
        job.state = 'own';
        yield;
        this.#begin([job], 'own');
        this.#end(1);
        isOwn = true;
      } else {
        job.state = 'paused';
        yield { until: new Promise<void>((resolve) => this.#pauses.push(resolve)) };
        isOwn = false;
      }
    }
    return `done ${job.id}`;
  }

  #model(name: 'encoder' | 'decoder'): SharedRun<Tracked, string> {
    return {
      batchMax: this.#batchMax,
      isAlike: (a, b) => a.plan.length === b.plan.length,
      run: async (jobs) => {
        this.#begin(jobs, name);
        await Promise.resolve();
        this.#cancelAt(this.#turn, true);
        this.#end(jobs.length);
        const isBad = jobs.some(({ plan }) => plan.isBad);
        for (const job of jobs) job.isAlone = isBad;
        if (!isBad) return jobs.map(({ id }) => `${name} ${id}`);
        throw new Error('a bad one');
      },
    };
  }

  #begin(jobs: readonly Tracked[], deed: Deed): void {
    this.#rule('one run at a time', this.#running++ === 0);
    this.#checkOrder(jobs, deed);
    for (const job of jobs) {
      job.runs++;
      this.#rule('nothing is run for a job that is answered', job.answers.length === 0);
    }
  }

  #rule(what: string, isKept: boolean): void {
    if (!isKept) this.broken.push(what);
  }

  #end(rows: number): void {
    this.#running--;
    const tookMs = RUN_MS + rows * ROW_MS;
    this.#nowMs += tookMs;
    this.runMs += tookMs;
  }

  /** The rules: who goes first, who is taken along, and who is left behind. */
  #checkOrder(jobs: readonly Tracked[], deed: Deed): void {
    const [first, ...others] = jobs as [Tracked, ...Tracked[]];
    const isBatch = (job: Tracked): boolean => job.plan.urgency === 'batch';
    const ready = [...this.jobs.values()].filter(
      (job) => job.state !== 'over' && job.state !== 'paused' && !(this.#isHeld && isBatch(job)),
    );
    const isLast = (last: Tracked, left: readonly Tracked[]): boolean => left.every((job) => compare(last, job) <= 0);
    this.#rule(
      'the first goes first',
      isLast(
        first,
        ready.filter((job) => !jobs.includes(job)),
      ),
    );
    this.#rule('at most batchMax', jobs.length <= (deed === 'own' ? 1 : this.#batchMax));
    this.#rule('each once', new Set(jobs).size === jobs.length);
    const fits = (job: Tracked): boolean =>
      job.state === deed &&
      !first.isAlone &&
      !job.isAlone &&
      isBatch(job) === isBatch(first) &&
      job.plan.length === first.plan.length;
    this.#rule(
      'taken along is what fits',
      others.every((job) => fits(job) && ready.includes(job)),
    );
    if (deed === 'own' || this.#batchMax === 1) return;
    const left = ready.filter((job) => !jobs.includes(job) && fits(job));
    this.#rule('nothing that fits is left behind', jobs.length === this.#batchMax || left.length === 0);
    this.#rule('those that go first are taken along', isLast(others.at(-1) ?? first, left));
    const unbegun = ready.filter(({ state, plan }) => state === 'unbegun' && plan.urgency === first.plan.urgency);
    const mayShare = unbegun.length > 0 && first.runs === 0 && !first.isAlone && jobs.length < this.#batchMax;
    const begun = ready.filter(({ state, runs }) => state === 'encoder' && runs === 0).length;
    this.#rule('those that could share are begun', !mayShare || begun >= this.#batchMax);
  }
}

/** By urgency, then by deadline; those that are equal go by arrival, which is not compared. */
function compare(a: Tracked, b: Tracked): number {
  const rank = (urgency: Urgency): number => URGENCIES.indexOf(urgency);
  return rank(a.plan.urgency) - rank(b.plan.urgency) || a.dueMs - b.dueMs;
}

describe('jobs of 64 tracks that share runs', () => {
  it('are run in their order, with as many others as fit, and are answered once each', async () => {
    await fc.assert(
      fc.asyncProperty(SCRIPT, async (script) => {
        const world = new World(script);
        await world.play();
        expect(world.broken).toEqual([]);
        expect(world.jobs.size).toBe(TRACKS);
        for (const { id, plan, answers } of world.jobs.values()) {
          expect(answers).toHaveLength(1);
          const expected = ['cancelled', plan.isBad ? 'model_failed' : `done ${id}`];
          if (isDroppable(plan.urgency)) expected.push('stale');
          expect(expected).toContain(answers[0]);
          if (plan.cancelledAt === null) expect(answers[0]).not.toBe('cancelled');
        }
        const costs = [...world.jobs.values()].flatMap(({ cost }) => cost ?? []);
        const countedMs = costs.reduce((sum, { runMs }) => sum + runMs, 0);
        expect(countedMs).toBeLessThanOrEqual(world.runMs + 1e-6);
        if (costs.length === TRACKS) expect(countedMs).toBeCloseTo(world.runMs);
      }),
      { numRuns: 150 },
    );
  });
});
