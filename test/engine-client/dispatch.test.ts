import { afterEach, describe, expect, it } from 'vitest';
import {
  closeEngineClients,
  count,
  killEngine,
  NEVER_READY,
  open,
  outcome,
  READS_THREE,
  restart,
  say,
} from '../helpers/engine-client.ts';
import { eventually } from '../helpers/eventually.ts';

afterEach(closeEngineClients);

/** Jobs of each engine, the fewest first. */
const jobsOf = ({ report }: ReturnType<typeof open>['engineClient']) => report.engines.map(({ jobs }) => jobs).sort();

describe('EngineClient: order', () => {
  it('hands over what waited in the order of urgency', async () => {
    const { engineClient } = open();
    const answers = [
      say(engineClient, 'd', 'batch'),
      say(engineClient, 'c', 'partial'),
      say(engineClient, 'b', 'eager'),
      say(engineClient, 'a', 'final'),
    ];
    const detected = engineClient.detect({ samples: new Int16Array(512), state: null });
    expect(await Promise.all(answers)).toEqual(['d', 'c', 'b', 'a']);
    await detected;
    expect(await say(engineClient, 'seen')).toBe('detect:1 a:final b:eager c:partial d:batch seen:final');
  });

  it('hands over batch jobs one at a time, live jobs at once', async () => {
    const { engineClient } = open();
    await engineClient.start();
    const batch = ['hold', 'second'].map((word) => say(engineClient, word, 'batch'));
    expect(await say(engineClient, 'seen')).toBe('hold:batch seen:final');
    await say(engineClient, 'release');
    expect(await Promise.all(batch)).toEqual(['released', 'second']);
  });

  it('hands over as many batch jobs as the recogniser reads in one run', async () => {
    const { engineClient } = open({ engineSettings: READS_THREE });
    await engineClient.start();
    expect(engineClient.batchMax).toBe(3);
    const batch = ['hold', 'hold', 'hold', 'fourth'].map((word) => say(engineClient, word, 'batch'));
    expect(await say(engineClient, 'seen')).toBe('hold:batch hold:batch hold:batch seen:final');
    await say(engineClient, 'release');
    expect(await Promise.all(batch)).toEqual(['released', 'released', 'released', 'fourth']);
  });

  it('gives no batch job that reads to an engine with one that speaks, nor the other way round', async () => {
    const { engineClient } = open({ engineSettings: READS_THREE });
    await engineClient.start();
    const speak = (text: string) =>
      engineClient.speak({ text, voice: 'rms', speed: 1, urgency: 'batch', dueInMs: 1000 });
    const first = say(engineClient, 'hold', 'batch');
    const spoken = speak('hold');
    expect(await say(engineClient, 'seen')).toBe('hold:batch seen:final');
    await say(engineClient, 'release');
    await first;
    const read = say(engineClient, 'read', 'batch');
    await eventually(async () => expect(await say(engineClient, 'seen')).toContain('release:final hold:batch'));
    expect(await say(engineClient, 'seen')).not.toContain('read:batch');
    await say(engineClient, 'release');
    expect(await read).toBe('read');
    await spoken;
  });

  it('fills up the engine that has batch jobs where another one is kept free for calls', async () => {
    const { engineClient } = open({ engineSettings: READS_THREE, workers: 2 });
    await engineClient.start();
    await eventually(() => expect(engineClient.status.ready).toBe(2));
    await say(engineClient, 'a call');
    const abort = new AbortController();
    const held = [1, 2, 3, 4].map(() => outcome(say(engineClient, 'hold', 'batch', { signal: abort.signal })));
    await eventually(() => expect(jobsOf(engineClient)).toEqual([0, 3]));
    abort.abort();
    expect(await Promise.all(held)).toEqual(Array(4).fill('cancelled'));
  });

  it('lets tenants take turns, however many jobs each has waiting', async () => {
    const { engineClient } = open();
    const jobs = [
      ['a1', 'a'],
      ['a2', 'a'],
      ['a3', 'a'],
      ['b1', 'b'],
    ].map(([word = '', tenant = '']) => say(engineClient, word, 'batch', { tenant }));
    await Promise.all(jobs);
    expect(await say(engineClient, 'seen')).toBe('a1:batch b1:batch a2:batch a3:batch seen:final');
  });

  it.each([
    ['gives batch work every engine while nobody calls', [], true],
    ['leaves one of several engines free of batch work while somebody does', ['a call'], false],
  ])('%s', async (_what, before, isEverywhere) => {
    const { engineClient } = open({ workers: 2 });
    await engineClient.start();
    await eventually(() => expect(engineClient.status.ready).toBe(2));
    for (const word of before) await say(engineClient, word);
    const abort = new AbortController();
    const held = [1, 2].map(() => outcome(say(engineClient, 'hold', 'batch', { signal: abort.signal })));
    expect((await say(engineClient, 'seen')).includes('hold:batch')).toBe(isEverywhere);
    abort.abort();
    expect(await Promise.all(held)).toEqual(['cancelled', 'cancelled']);
  });

  it.each([
    [
      'holds a batch job back while an engine is at work on a call, where that leaves no core',
      2,
      ' held back let go on',
    ],
    ['lets it go on where there is one', 3, ''],
  ])('%s', async (_what, cores, told) => {
    const { engineClient } = open({ workers: 2, cores });
    await engineClient.start();
    await eventually(() => expect(engineClient.status.ready).toBe(2));
    const abort = new AbortController();
    const batch = outcome(say(engineClient, 'hold', 'batch', { signal: abort.signal }));
    await say(engineClient, 'live');
    abort.abort();
    expect(await batch).toBe('cancelled');
    await eventually(async () => expect(await say(engineClient, 'seen')).toContain(`hold:batch${told} cancelled`));
  });

  it('sends the windows of a file as a batch job of its own', async () => {
    const { engineClient } = open();
    const { probabilities } = await engineClient.detect({
      samples: new Int16Array(1024).fill(100),
      state: null,
      urgency: 'batch',
    });
    expect(probabilities).toHaveLength(2);
  });

  it('gives a live job to the engine with the least live work', async () => {
    const { engineClient } = open({ workers: 2 });
    await engineClient.start();
    await eventually(() => expect(engineClient.status.ready).toBe(2));
    const abort = new AbortController();
    const held = outcome(say(engineClient, 'hold', 'final', { signal: abort.signal }));
    const free = await say(engineClient, 'pid');
    expect(await say(engineClient, 'pid', 'partial')).toBe(free);
    expect(await say(engineClient, 'pid', 'batch')).toBe(free);
    abort.abort();
    expect(await held).toBe('cancelled');
  });

  it('examines the windows of many tracks in one job', async () => {
    const { engineClient, clock } = open();
    const [first, ...others] = [100, 200, 300, 400].map((level) =>
      engineClient.detect({ samples: new Int16Array(512).fill(level), state: null }),
    );
    await first;
    clock.advance(5);
    const levels = (await Promise.all(others)).map(({ probabilities }) => probabilities[0]?.toFixed(1));
    expect(levels).toEqual(['0.2', '0.3', '0.4']);
    expect(await say(engineClient, 'seen')).toBe('detect:1 detect:3 seen:final');
  });

  it('fails a partial as stale when no engine is ready in time', async () => {
    const { engineClient, clock } = open({ engineSettings: NEVER_READY });
    const partial = outcome(say(engineClient, 'late', 'partial', { dueInMs: 300 }));
    clock.advance(300);
    expect(await partial).toBe('stale');
  });

  it('keeps a bounded queue: partials go first, then newcomers are refused', async () => {
    const { engineClient, clock } = open({ engineSettings: NEVER_READY });
    const partial = outcome(say(engineClient, 'partial', 'partial'));
    const finals = Array.from({ length: 513 }, () => outcome(say(engineClient, 'final')));
    expect(await partial).toBe('stale');
    expect(await finals[512]).toBe('unavailable');
    await engineClient.close();
    expect(new Set(await Promise.all(finals))).toEqual(new Set(['unavailable']));
    expect(clock.pending).toBe(0);
  });

  it('is loaded by live jobs alone', async () => {
    const { engineClient } = open();
    await say(engineClient, 'piece', 'batch');
    expect(engineClient.load).toBe(0);
    await say(engineClient, 'word');
    expect(engineClient.load).toBeCloseTo(10 / 5000);
  });

  it('counts what jobs waited and ran, by urgency', async () => {
    const { engineClient, metrics } = open();
    await say(engineClient, 'word', 'eager');
    const text = await metrics.registry.metrics();
    expect(text).toContain('trunkline_engine_run_seconds_sum{urgency="eager"} 0.01');
    expect(text).toContain('trunkline_engine_wait_seconds_count{urgency="eager"} 1');
  });
});

describe('EngineClient: cancelling', () => {
  it('takes a waiting job out of the queue', async () => {
    const { engineClient, clock } = open({ engineSettings: NEVER_READY });
    const abort = new AbortController();
    const waiting = outcome(say(engineClient, 'word', 'partial', { signal: abort.signal }));
    abort.abort();
    expect(await waiting).toBe('cancelled');
    await engineClient.close();
    expect(clock.pending).toBe(0);
  });

  it('tells the engine to forget a job in flight', async () => {
    const { engineClient } = open();
    await engineClient.start();
    const abort = new AbortController();
    const held = outcome(say(engineClient, 'hold', 'eager', { signal: abort.signal }));
    abort.abort();
    expect(await held).toBe('cancelled');
    expect(await say(engineClient, 'seen')).toBe('hold:eager cancelled seen:final');
  });

  it('does not send a cancelled job again', async () => {
    const { engineClient, clock, metrics } = open();
    await engineClient.start();
    const abort = new AbortController();
    const held = outcome(say(engineClient, 'hang', 'final', { signal: abort.signal }));
    abort.abort();
    killEngine(engineClient);
    expect(await held).toBe('cancelled');
    await restart(engineClient, clock);
    expect(await say(engineClient, 'seen')).toBe('seen:final');
    expect(await count(metrics, 'trunkline_engine_jobs_resent_total')).toBe(0);
  });

  it('sends nothing for a signal that was aborted before', async () => {
    const { engineClient } = open();
    expect(await outcome(say(engineClient, 'word', 'final', { signal: AbortSignal.abort() }))).toBe('cancelled');
    expect(engineClient.status.state).toBe('stopped');
  });
});
