import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/foundation/clock.ts';
import { createLog } from '../../../src/foundation/log/log.ts';
import { BullQueue } from '../../../src/jobs/shared/bull-queue.ts';
import type { QueuedJob } from '../../../src/jobs/shared/job-queue.ts';
import { eventually } from '../../helpers/eventually.ts';
import { startPostgres, type TestPostgres, whyNoPostgres } from '../../helpers/postgres.ts';

const fileJob = (batchId: string): QueuedJob => ({ kind: 'file', batchId, number: 0 });

describe.skipIf(whyNoPostgres !== '')(`the queue of all gateways${whyNoPostgres}`, () => {
  let postgres: TestPostgres;
  let opened: BullQueue[] = [];

  beforeAll(async () => {
    postgres = await startPostgres();
  });

  afterAll(() => postgres.remove());

  afterEach(async () => {
    await Promise.all(opened.map((queue) => queue.close()));
    opened = [];
  });

  async function open(url: string, address: string): Promise<BullQueue> {
    const queue = await BullQueue.open({ url, address, jobsMax: 2, clock: systemClock, log: createLog('silent') });
    opened.push(queue);
    return queue;
  }

  it('is made once by gateways that start at the same time', async () => {
    const url = await postgres.createDatabase();
    await Promise.all(['a', 'b', 'c', 'd'].map((address) => open(url, address)));
  });

  it('takes jobs for a gateway again that it was first asked for while the database was away', async () => {
    const queue = await open(await postgres.createDatabase(), 'here');
    await postgres.stop('crash');
    await expect(queue.add(fileJob('a'), 'here')).rejects.toThrow();
    await expect(queue.add(fileJob('a'))).rejects.toThrow();
    await postgres.start();
    const done: string[] = [];
    await queue.begin(async ({ batchId }) => {
      done.push(batchId);
      return 'done';
    });
    await eventually(() => queue.add(fileJob('mine'), 'here'));
    await eventually(() => queue.add(fileJob('any')));
    await eventually(() => expect(done.toSorted()).toEqual(['any', 'mine']));
  });

  it('gives a paused gateway what only that one can do, and others the rest', async () => {
    const url = await postgres.createDatabase();
    const [paused, other] = [await open(url, 'paused'), await open(url, 'other')];
    const done: string[] = [];
    for (const [name, queue] of Object.entries({ paused, other }))
      await queue.begin(async ({ batchId }) => {
        done.push(`${batchId} by ${name}`);
        return 'done';
      });
    await paused.pause();
    for (let n = 0; n < 5; n++) await paused.add(fileJob(`any${n}`));
    for (let n = 0; n < 3; n++) await paused.add(fileJob(`mine${n}`), 'paused');
    await eventually(() => expect(done).toHaveLength(8));
    expect(done.filter((what) => /^mine. by paused$/.test(what))).toHaveLength(3);
    // A worker that waited for a job when it was paused takes that one.
    expect(done.filter((what) => /^any.*paused/.test(what)).length).toBeLessThanOrEqual(1);
  });

  it('does a job again that failed, when it is added again', async () => {
    const queue = await open(await postgres.createDatabase(), 'here');
    let begun = 0;
    await queue.begin(async () => {
      if (++begun === 1) throw new Error('broken');
      return 'done';
    });
    await queue.add(fileJob('a'));
    await eventually(() => expect(begun).toBe(1));
    await eventually(async () => {
      await queue.add(fileJob('a'));
      expect(begun).toBe(2);
    });
  });

  it('refuses what comes after its end', async () => {
    const queue = await open(await postgres.createDatabase(), 'here');
    await queue.close();
    await expect(queue.add(fileJob('a'))).rejects.toThrow('closed');
  });
});
