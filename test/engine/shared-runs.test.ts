import { beforeEach, describe, expect, it } from 'vitest';
import type { JobCost, Urgency } from '../../engine/contract.ts';
import { runThrough, Scheduler, type Steps } from '../../engine/scheduler.ts';
import { runTogether, type SharedRun } from '../../engine/shared-runs.ts';
import type { Time } from '../../engine/time.ts';

const RUN_MS = 10;

/** A clock that model runs move, and an event loop that delivers what a test has put on its way. */
class FakeTime implements Time {
  now = 0;
  turns = 0;
  readonly arriving: (() => void)[] = [];

  nowMs(): number {
    return this.now;
  }

  async letMessagesIn(): Promise<void> {
    await Promise.resolve();
    this.turns++;
    for (const arrive of this.arriving.splice(0)) arrive();
  }
}

/** A model whose output is its input in capitals; it refuses `bad`, and more than `rowsMax`. */
class Model implements SharedRun<string, string> {
  batchMax = 4;
  rowsMax = Number.POSITIVE_INFINITY;
  /** The names of the jobs of each run. */
  readonly runs: string[][] = [];
  during: () => void = () => undefined;

  isAlike(a: string, b: string): boolean {
    return a.length === b.length;
  }

  async run(inputs: readonly string[]): Promise<string[]> {
    this.runs.push([...inputs]);
    time.now += RUN_MS;
    await Promise.resolve();
    this.during();
    if (inputs.length > this.rowsMax) throw new Error('out of memory');
    if (inputs.includes('bad')) throw new Error('bad input');
    return inputs.map((input) => input.toUpperCase());
  }
}

let time: FakeTime;
let model: Model;
let answers: { id: number; outcome: string; cost?: JobCost }[];
let freed: string[];
let scheduler: Scheduler<string>;

beforeEach(() => {
  time = new FakeTime();
  model = new Model();
  answers = [];
  freed = [];
  scheduler = new Scheduler<string>({
    time,
    answers: {
      done: (id, outcome, cost) => answers.push({ id, outcome, cost }),
      failed: (id, code, message) => answers.push({ id, outcome: `${code}: ${message}` }),
    },
  });
});

/** A job of `count` shared runs. */
async function* job(name: string, count = 1): Steps<string> {
  try {
    let output = '';
    for (let run = 0; run < count; run++) output = yield* runTogether(model, name);
    return output;
  } finally {
    freed.push(name);
  }
}

let nextId = 1;

function submit(name: string, { urgency = 'final' as Urgency, count = 1, dueInMs = 1000 } = {}): number {
  const id = nextId++;
  scheduler.submit({ id, kind: 'transcribe', urgency, dueInMs, steps: job(name, count) });
  return id;
}

const outcomes = () => answers.map(({ outcome }) => outcome);

describe('a shared run', () => {
  it('is made for the jobs that wait for it, and each gets its own output', async () => {
    for (const name of ['a', 'b', 'c']) submit(name);
    await scheduler.idle();
    expect(model.runs).toEqual([['a', 'b', 'c']]);
    expect(outcomes()).toEqual(['A', 'B', 'C']);
  });

  it('takes as many as fit, those first that go first', async () => {
    for (const [index, name] of ['f', 'e', 'd', 'c', 'b', 'a'].entries()) submit(name, { dueInMs: 1000 - index });
    await scheduler.idle();
    expect(model.runs).toEqual([
      ['a', 'b', 'c', 'd'],
      ['e', 'f'],
    ]);
  });

  it('takes along what is alike only', async () => {
    for (const name of ['a', 'long', 'b', 'more']) submit(name);
    await scheduler.idle();
    expect(model.runs).toEqual([
      ['a', 'b'],
      ['long', 'more'],
    ]);
  });

  it('keeps jobs together from run to run', async () => {
    for (const name of ['a', 'b']) submit(name, { count: 3 });
    await scheduler.idle();
    expect(model.runs).toEqual([
      ['a', 'b'],
      ['a', 'b'],
      ['a', 'b'],
    ]);
  });

  it('costs each of its jobs its part of the time', async () => {
    for (const name of ['a', 'b', 'c', 'd']) submit(name, { count: 2 });
    await scheduler.idle();
    for (const { cost } of answers) expect(cost).toEqual({ waitMs: 0, runMs: (2 * RUN_MS) / 4, runs: 2 });
  });

  it('is made at once, in the same turn of the event loop, where it cannot be shared', async () => {
    model.batchMax = 1;
    for (const name of ['a', 'b']) submit(name, { count: 3 });
    await scheduler.idle();
    expect(model.runs).toEqual([['a'], ['a'], ['a'], ['b'], ['b'], ['b']]);
    expect(time.turns).toBe(6 + 1);
    expect(answers.map(({ cost }) => cost)).toEqual([
      { waitMs: 0, runMs: 3 * RUN_MS, runs: 3 },
      { waitMs: 3 * RUN_MS, runMs: 3 * RUN_MS, runs: 3 },
    ]);
  });

  it('is made with one input where a job is run through', async () => {
    expect(await runThrough(job('a', 2))).toBe('A');
    await expect(runThrough(job('bad'))).rejects.toThrow('bad input');
    expect(model.runs).toEqual([['a'], ['a'], ['bad']]);
  });
});

describe('live jobs', () => {
  it('take no batch jobs along', async () => {
    submit('a', { urgency: 'batch', count: 2 });
    submit('b', { urgency: 'batch', count: 2 });
    model.during = () => {
      if (model.runs.length === 1)
        time.arriving.push(
          () => submit('l'),
          () => submit('m'),
        );
    };
    await scheduler.idle();
    expect(model.runs).toEqual([
      ['a', 'b'],
      ['l', 'm'],
      ['a', 'b'],
    ]);
  });

  it('are not kept waiting by the beginnings of less urgent ones', async () => {
    submit('p', { urgency: 'partial' });
    submit('f');
    submit('q', { urgency: 'partial' });
    await scheduler.idle();
    expect(model.runs).toEqual([['f'], ['p', 'q']]);
  });

  it('go before a shared run of others that has not begun', async () => {
    submit('p', { urgency: 'partial', count: 2 });
    model.during = () => {
      if (model.runs.length === 1) time.arriving.push(() => submit('final'));
    };
    await scheduler.idle();
    expect(model.runs).toEqual([['p'], ['final'], ['p']]);
  });
});

describe('a job that waits for a shared run', () => {
  it('is not run while it is held', async () => {
    submit('a', { urgency: 'batch', count: 2 });
    model.during = () => scheduler.hold(true);
    await scheduler.idle();
    submit('f');
    await scheduler.idle();
    expect(model.runs).toEqual([['a'], ['f']]);
    scheduler.hold(false);
    model.during = () => undefined;
    await scheduler.idle();
    expect(model.runs.at(-1)).toEqual(['a']);
  });

  it('goes stale as if it had not begun, and frees what it holds', async () => {
    model.batchMax = 2;
    submit('p', { urgency: 'partial', dueInMs: 5 });
    submit('q', { urgency: 'partial', dueInMs: 5 });
    // It comes when the first of them is prepared.
    time.arriving.push(() => time.arriving.push(() => submit('final')));
    await scheduler.idle();
    expect(model.runs).toEqual([['final']]);
    expect(outcomes()).toEqual(['FINAL', 'stale: not begun within 5 ms', 'stale: not begun within 5 ms']);
    await expect.poll(() => freed).toContain('p');
  });

  it('is not run when it is cancelled', async () => {
    submit('a', { count: 2 });
    const id = submit('b', { count: 2 });
    model.during = () => {
      if (model.runs.length === 1) time.arriving.push(() => scheduler.cancel(id));
    };
    await scheduler.idle();
    expect(model.runs).toEqual([['a', 'b'], ['a']]);
    expect(outcomes()).toEqual(['cancelled: cancelled by its sender', 'A']);
  });
});

describe('a job that is cancelled during a shared run', () => {
  it('is answered once, and what it holds is freed behind the run', async () => {
    const id = submit('a');
    submit('b');
    model.during = () => {
      scheduler.cancel(id);
      expect(freed).toEqual([]);
    };
    await scheduler.idle();
    expect(outcomes()).toEqual(['cancelled: cancelled by its sender', 'B']);
    expect(freed.sort()).toEqual(['a', 'b']);
  });

  it('frees what it holds when all are forgotten', async () => {
    submit('a');
    submit('b');
    model.during = () => scheduler.clear();
    await scheduler.idle();
    expect(answers).toEqual([]);
    expect(freed).toEqual(['a', 'b']);
  });
});

describe('a shared run that fails', () => {
  it('is tried for each job alone, so that only the one whose fault it is fails', async () => {
    for (const name of ['abc', 'bad', 'cde']) submit(name);
    await scheduler.idle();
    expect(model.runs).toEqual([['abc', 'bad', 'cde'], ['abc'], ['bad'], ['cde']]);
    expect(outcomes()).toEqual(['ABC', 'model_failed: bad input', 'CDE']);
    expect(answers[0]?.cost).toEqual({ waitMs: 0, runMs: RUN_MS / 3 + RUN_MS, runs: 2 });
  });

  it('is made for each alone where there was too little memory for all', async () => {
    model.rowsMax = 1;
    for (const name of ['a', 'b']) submit(name);
    await scheduler.idle();
    expect(model.runs).toEqual([['a', 'b'], ['a'], ['b']]);
    expect(outcomes()).toEqual(['A', 'B']);
  });

  it('fails its jobs where it gives another number of outputs', async () => {
    model.run = (inputs) => Promise.resolve(inputs.length > 1 ? ['one'] : []);
    for (const name of ['a', 'b']) submit(name);
    await scheduler.idle();
    const outcome = 'model_failed: a run for 1 jobs gave 0 outputs, expected one for each';
    expect(outcomes()).toEqual([outcome, outcome]);
  });
});
