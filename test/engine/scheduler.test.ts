import { beforeEach, describe, expect, it } from 'vitest';
import type { JobCost, Urgency } from '../../engine/contract.ts';
import { Scheduler, type Steps } from '../../engine/scheduler.ts';
import type { Time } from '../../engine/time.ts';

const RUN_MS = 10;

/** A clock that model runs move, and an event loop that delivers what a test has put on its way. */
class FakeTime implements Time {
  now = 0;
  readonly arriving: (() => void)[] = [];

  nowMs(): number {
    return this.now;
  }

  async letMessagesIn(): Promise<void> {
    await Promise.resolve();
    for (const arrive of this.arriving.splice(0)) arrive();
  }
}

interface Answer {
  readonly id: number;
  readonly outcome: string;
  readonly cost?: JobCost;
}

let time: FakeTime;
let runs: string[];
let answers: Answer[];
let scheduler: Scheduler<string>;

beforeEach(() => {
  time = new FakeTime();
  runs = [];
  answers = [];
  scheduler = new Scheduler<string>({
    time,
    answers: {
      done: (id, outcome, cost) => answers.push({ id, outcome, cost }),
      failed: (id, code) => answers.push({ id, outcome: code }),
    },
  });
});

/** A model of `count` runs of 10 ms; `during` happens inside the run of that number. */
async function* model(name: string, count: number, during: Record<number, () => void> = {}): Steps<string> {
  for (let run = 1; run <= count; run++) {
    runs.push(name);
    time.now += RUN_MS;
    during[run]?.();
    if (run < count) yield;
  }
  return name;
}

let nextId = 1;

/** Submits a job named after its urgency; the name is what its runs and its result show. */
function submit(
  urgency: Urgency,
  options: { name?: string; count?: number; dueInMs?: number; during?: Record<number, () => void> } = {},
): number {
  const { name = urgency, count = 1, dueInMs = 1000, during } = options;
  const id = nextId++;
  scheduler.submit({ id, kind: 'transcribe', urgency, dueInMs, steps: model(name, count, during) });
  return id;
}

const outcomes = () => answers.map(({ outcome }) => outcome);

describe('the order of jobs', () => {
  it('is by urgency, whatever came first', async () => {
    for (const urgency of ['batch', 'partial', 'eager', 'turn', 'speak', 'final', 'detect'] as const) submit(urgency);
    await scheduler.idle();
    expect(outcomes()).toEqual(['detect', 'final', 'speak', 'turn', 'eager', 'partial', 'batch']);
  });

  it('is by earliest deadline among equally urgent ones', async () => {
    submit('final', { name: 'later', dueInMs: 300 });
    submit('final', { name: 'sooner', dueInMs: 100 });
    await scheduler.idle();
    expect(outcomes()).toEqual(['sooner', 'later']);
  });

  it('is by arrival among equal ones', async () => {
    for (const name of ['first', 'second', 'third']) submit('eager', { name });
    await scheduler.idle();
    expect(outcomes()).toEqual(['first', 'second', 'third']);
  });

  it('lets a live job in between two runs of a batch job', async () => {
    const arrive = () => time.arriving.push(() => submit('detect'));
    submit('batch', { count: 3, during: { 1: arrive } });
    await scheduler.idle();
    expect(runs).toEqual(['batch', 'detect', 'batch', 'batch']);
  });

  it('leaves batch jobs where they are while they are held back, and nothing else', async () => {
    submit('batch', { count: 3, during: { 1: () => scheduler.hold(true) } });
    submit('batch');
    await scheduler.idle();
    submit('partial');
    await scheduler.idle();
    expect(runs).toEqual(['batch', 'partial']);
    expect(outcomes()).toEqual(['partial']);
    scheduler.hold(false);
    await scheduler.idle();
    expect(outcomes()).toEqual(['partial', 'batch', 'batch']);
  });

  it('lets a job that is hurried leave those that are held back', async () => {
    scheduler.hold(true);
    const id = submit('batch', { name: 'prompt' });
    submit('batch');
    await scheduler.idle();
    expect(runs).toEqual([]);
    scheduler.hurry(id, 'speak');
    await scheduler.idle();
    expect(outcomes()).toEqual(['prompt']);
  });

  it('changes for a job that is hurried, and for no other', async () => {
    const id = submit('batch', { name: 'prompt', count: 2 });
    submit('partial', { count: 2, during: { 1: () => scheduler.hurry(id, 'speak') } });
    const final = submit('final');
    scheduler.hurry(final, 'speak');
    scheduler.hurry(4711, 'speak');
    await scheduler.idle();
    expect(runs).toEqual(['final', 'partial', 'prompt', 'prompt', 'partial']);
  });

  it('lets a job that is due sooner overtake one of its kind that has begun', async () => {
    const arrive = () => time.arriving.push(() => submit('final', { name: 'urgent', dueInMs: 50 }));
    submit('final', { name: 'begun', count: 2, during: { 1: arrive } });
    await scheduler.idle();
    expect(runs).toEqual(['begun', 'urgent', 'begun']);
  });

  it('lets the beginnings of sounds go before the ends of those that have told enough', async () => {
    const told: Record<number, () => void> = {};
    const long = submit('speak', { name: 'long', count: 4, dueInMs: 0, during: told });
    told[1] = () => {
      scheduler.postpone(long, 400);
      time.arriving.push(() => submit('speak', { name: 'other', count: 2, dueInMs: 0 }));
    };
    await scheduler.idle();
    expect(runs).toEqual(['long', 'other', 'other', 'long', 'long', 'long']);
    scheduler.postpone(long, 400);
  });

  it('lets a sound whose listener waits for its next stretch go before others', async () => {
    const told: Record<number, () => void> = {};
    const first = submit('speak', { name: 'first', count: 3, dueInMs: 0, during: told });
    told[1] = () => scheduler.postpone(first, 15);
    submit('speak', { name: 'second', count: 4, dueInMs: 5 });
    submit('speak', { name: 'third', count: 2, dueInMs: 60 });
    await scheduler.idle();
    // The second is due first; the first is wanted again at 25 ms, the third at 60.
    expect(runs.slice(0, 5)).toEqual(['first', 'second', 'second', 'second', 'second']);
    expect(runs.slice(5)).toEqual(['first', 'first', 'third', 'third']);
  });

  it('lets messages in before the first run, so that what arrives together is ordered together', async () => {
    submit('batch');
    time.arriving.push(() => submit('final'));
    await scheduler.idle();
    expect(outcomes()).toEqual(['final', 'batch']);
  });

  it('never makes two model runs at once', async () => {
    let running = 0;
    let most = 0;
    async function* slow(): Steps<string> {
      for (let run = 0; run < 3; run++) {
        most = Math.max(most, ++running);
        await Promise.resolve();
        running--;
        yield;
      }
      return 'slow';
    }
    for (let id = 500; id < 505; id++)
      scheduler.submit({ id, kind: 'transcribe', urgency: 'batch', dueInMs: 0, steps: slow() });
    await scheduler.idle();
    expect(most).toBe(1);
    expect(answers).toHaveLength(5);
  });
});

describe('a stale partial or turn', () => {
  it('is answered without being begun when its deadline has passed', async () => {
    submit('final', { count: 5 });
    submit('partial', { dueInMs: 49 });
    await scheduler.idle();
    submit('final', { count: 5 });
    submit('turn', { dueInMs: 49 });
    await scheduler.idle();
    expect(outcomes()).toEqual(['final', 'stale', 'final', 'stale']);
    expect(runs).not.toContain('partial');
    expect(runs).not.toContain('turn');
  });

  it('is no longer stale once it has begun', async () => {
    submit('partial', { count: 5, dueInMs: 5 });
    await scheduler.idle();
    expect(outcomes()).toEqual(['partial']);
  });

  it('is of the only kinds that go stale', async () => {
    submit('detect', { count: 5 });
    for (const urgency of ['final', 'eager', 'batch'] as const) submit(urgency, { dueInMs: 1 });
    await scheduler.idle();
    expect(outcomes()).toEqual(['detect', 'final', 'eager', 'batch']);
  });
});

describe('cancelling', () => {
  it('answers a waiting job at once and never runs it', async () => {
    scheduler.cancel(submit('batch'));
    expect(outcomes()).toEqual(['cancelled']);
    await scheduler.idle();
    expect(runs).toEqual([]);
    expect(answers).toHaveLength(1);
  });

  it('stops a job that has begun after its present run', async () => {
    const cancel = () => time.arriving.push(() => scheduler.cancel(id));
    const id = submit('batch', { count: 5, during: { 2: cancel } });
    await scheduler.idle();
    expect(runs).toEqual(['batch', 'batch']);
    expect(outcomes()).toEqual(['cancelled']);
  });

  it('in the middle of the last run answers once', async () => {
    const id = submit('batch', { count: 1, during: { 1: () => scheduler.cancel(id) } });
    await scheduler.idle();
    expect(outcomes()).toEqual(['cancelled']);
  });

  it('of an unknown id is ignored', async () => {
    submit('final');
    scheduler.cancel(-1);
    await scheduler.idle();
    expect(outcomes()).toEqual(['final']);
  });

  it('frees the id: its next owner is not answered with the result of the first', async () => {
    const reuse = () => {
      scheduler.cancel(id);
      scheduler.submit({ id, kind: 'transcribe', urgency: 'batch', dueInMs: 0, steps: model('second', 1) });
    };
    const id = submit('batch', { name: 'first', count: 1, during: { 1: reuse } });
    await scheduler.idle();
    expect(outcomes()).toEqual(['cancelled', 'second']);
  });
});

describe('a failing model', () => {
  it('fails its job and no other', async () => {
    async function* broken(): Steps<string> {
      yield;
      throw new Error('bad weights');
    }
    scheduler.submit({ id: 901, kind: 'transcribe', urgency: 'final', dueInMs: 0, steps: broken() });
    submit('batch');
    await scheduler.idle();
    expect(outcomes()).toEqual(['model_failed', 'batch']);
  });
});

describe('an id that is still in work', () => {
  it('is refused, and its first owner goes on', async () => {
    const id = submit('batch', { name: 'owner' });
    scheduler.submit({ id, kind: 'transcribe', urgency: 'final', dueInMs: 0, steps: model('intruder', 1) });
    await scheduler.idle();
    expect(outcomes()).toEqual(['bad_input', 'owner']);
  });
});

describe('the cost of a job', () => {
  it('counts the wait before its first run and its own runs, not those in between', async () => {
    const arrive = () => time.arriving.push(() => submit('detect', { count: 4 }));
    submit('final', { count: 2 });
    const id = submit('batch', { count: 3, during: { 1: arrive } });
    await scheduler.idle();
    expect(answers.find((answer) => answer.id === id)?.cost).toEqual({
      waitMs: 2 * RUN_MS,
      runMs: 3 * RUN_MS,
      runs: 3,
    });
  });
});

/** A job that waits for `until` between its first and its second run. */
async function* waiting(until: Promise<unknown>, onEnd: () => void = () => undefined): Steps<string> {
  try {
    runs.push('before');
    yield { until };
    runs.push('after');
    return 'waited';
  } finally {
    onEnd();
  }
}

/** A promise with its handles. */
function deferred() {
  let settle = { resolve: (): void => undefined, reject: (_: Error): void => undefined };
  const promise = new Promise<void>((resolve, reject) => {
    settle = { resolve, reject };
  });
  return { promise, ...settle };
}

describe('a job that waits for something outside', () => {
  it('lets less urgent ones run meanwhile', async () => {
    const outside = deferred();
    scheduler.submit({ id: 801, kind: 'transcribe', urgency: 'speak', dueInMs: 0, steps: waiting(outside.promise) });
    submit('batch', { count: 3, during: { 3: outside.resolve } });
    await scheduler.idle();
    expect(runs).toEqual(['before', 'batch', 'batch', 'batch', 'after']);
    expect(outcomes()).toEqual(['batch', 'waited']);
  });

  it('is waited for before the scheduler is idle, and goes on when the wait failed, too', async () => {
    const outside = deferred();
    scheduler.submit({ id: 802, kind: 'transcribe', urgency: 'speak', dueInMs: 0, steps: waiting(outside.promise) });
    const idle = scheduler.idle();
    for (let turn = 0; turn < 10; turn++) await Promise.resolve();
    expect(runs).toEqual(['before']);
    outside.reject(new Error('no such program'));
    await idle;
    expect(outcomes()).toEqual(['waited']);
  });

  it.each(['cancel', 'clear'] as const)('frees what it holds on %s', async (how) => {
    const outside = deferred();
    let freed = 0;
    scheduler.submit({
      id: 803,
      kind: 'transcribe',
      urgency: 'speak',
      dueInMs: 0,
      steps: waiting(outside.promise, () => freed++),
    });
    for (let turn = 0; turn < 10; turn++) await Promise.resolve();
    if (how === 'cancel') scheduler.cancel(803);
    else scheduler.clear();
    await scheduler.idle();
    expect(freed).toBe(1);
    expect(runs).toEqual(['before']);
    expect(outcomes()).toEqual(how === 'cancel' ? ['cancelled'] : []);
    outside.resolve();
  });
});

describe('clearing', () => {
  it('ends after the present run, without answers', async () => {
    submit('batch', { count: 5, during: { 1: () => time.arriving.push(() => scheduler.clear()) } });
    submit('batch');
    await scheduler.idle();
    expect(runs).toEqual(['batch']);
    expect(answers).toEqual([]);
  });
});
