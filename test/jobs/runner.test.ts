import { constants } from 'node:os';
import { describe, expect, it } from 'vitest';
import { TrunklineError } from '../../src/foundation/errors.ts';
import { createLog } from '../../src/foundation/log/log.ts';
import type { Batch, BatchFile } from '../../src/jobs/batch.ts';
import { Runner } from '../../src/jobs/runner.ts';
import { FakeClock, settle } from '../fakes/clock.ts';
import { eventually } from '../helpers/eventually.ts';

function batch(id: string, tenant: string, count: number): Batch {
  const files = Array.from(
    { length: count },
    (_, number): BatchFile => ({
      number,
      name: `${id}${number}`,
      state: 'waiting',
      durationMs: null,
      error: null,
      source: { kind: 'upload' },
    }),
  );
  return {
    id,
    tenant,
    createdMs: 0,
    channels: 'mix',
    targetLanguage: '',
    idempotency: null,
    webhook: null,
    state: 'running',
    endedMs: null,
    files,
  };
}

/** A runner whose work the test does. */
function start(options: { filesMax: number }) {
  const clock = new FakeClock();
  const begun: string[] = [];
  const told: number[] = [];
  const settled: BatchFile[] = [];
  const disk: string[] = [];
  const works = new Map<string, { finish(): void; fail(error: unknown): void; progress(share: number): void }>();
  const runner: Runner = new Runner({
    ...options,
    clock,
    log: createLog('silent'),
    disk: {
      onWait: ({ message }) => void disk.push(message),
      onRefused: () => void disk.push('refused'),
      onOver: () => void disk.push('over'),
    },
    transcribe: (_batch, file, { signal, onProgress }) =>
      new Promise((resolve, reject) => {
        begun.push(file.name);
        signal.addEventListener('abort', () => reject(signal.reason));
        works.set(file.name, {
          finish: () => resolve({ durationMs: 1000 }),
          fail: reject,
          progress: (share) => onProgress?.({ takenMs: 0, share }),
        });
      }),
    onProgress: (_batch, file) => void told.push(runner.shareOf(file) ?? -1),
    onSettled: async (_batch, file) => void settled.push({ ...file }),
  });
  return { runner, clock, begun, told, settled, disk, work: (name: string) => works.get(name) };
}

describe('Runner', () => {
  it('gives all places to a tenant who is alone, and equal parts to those who share', async () => {
    const { runner, begun, work, settled } = start({ filesMax: 4 });
    runner.add(batch('a', 'one', 9));
    expect(begun).toEqual(['a0', 'a1', 'a2', 'a3']);
    runner.add(batch('b', 'two', 5));
    runner.add(batch('c', 'two', 5));
    for (const name of ['a0', 'a1', 'a2']) {
      const before = begun.length;
      work(name)?.finish();
      await eventually(() => expect(begun).toHaveLength(before + 1));
    }
    expect(begun.slice(4)).toEqual(['b0', 'b1', 'a4']);
    expect(settled.map(({ name, state, durationMs }) => [name, state, durationMs])).toEqual(
      ['a0', 'a1', 'a2'].map((name) => [name, 'done', 1000]),
    );
    await runner.close();
  });

  it('tells of progress at most once a second', async () => {
    const { runner, clock, told, work } = start({ filesMax: 1 });
    const one = batch('a', 't', 1);
    runner.add(one);
    for (const share of [0.1, 0.2]) work('a0')?.progress(share);
    clock.advance(1000);
    work('a0')?.progress(0.3);
    expect(told).toEqual([0.1, 0.3]);
    expect(one.files.map((file) => runner.shareOf(file))).toEqual([0.3]);
    await runner.close();
    expect(one.files.map((file) => runner.shareOf(file))).toEqual([null]);
  });

  it('says what is wrong with a file, and nothing of what went wrong in here', async () => {
    const { runner, settled, work } = start({ filesMax: 2 });
    runner.add(batch('a', 't', 2));
    work('a0')?.fail(new TrunklineError('audio_unreadable', 'it is text'));
    work('a1')?.fail(new Error('EMFILE: /secret/path'));
    await eventually(() => expect(settled.length).toBe(2));
    expect(settled.map(({ error }) => error?.code)).toEqual(['audio_unreadable', 'internal']);
    expect(JSON.stringify(settled)).not.toContain('secret');
  });

  it('leaves what was in work as if it had never been begun', async () => {
    const { runner, settled } = start({ filesMax: 2 });
    const stopped = batch('a', 't', 2);
    runner.add(stopped);
    await runner.drop(stopped);
    expect([settled, stopped.files.map(({ state }) => state)]).toEqual([[], ['waiting', 'waiting']]);
  });

  const full = Object.assign(new Error('ENOSPC: no space left on device, write'), {
    errno: -constants.errno.ENOSPC,
    code: 'ENOSPC',
  });

  it('has a file wait that the disk refused, longer each time, and goes on with the others meanwhile', async () => {
    const { runner, clock, begun, told, settled, disk, work } = start({ filesMax: 1 });
    const one = batch('a', 't', 2);
    runner.add(one);
    work('a0')?.fail(full);
    await eventually(() => expect(begun).toEqual(['a0', 'a1']));
    expect(one.files[0]).toMatchObject({
      state: 'waiting',
      error: { code: 'disk_full', message: expect.stringMatching(/\(ENOSPC\)$/) },
    });
    expect([told, runner.shareOf(one.files[0] as BatchFile)]).toEqual([[-1], null]);
    work('a1')?.finish();
    await eventually(() => expect(settled.length).toBe(1));
    for (const delayMs of [1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000]) {
      const before = begun.length;
      clock.advance(delayMs - 1);
      expect(begun.length).toBe(before);
      clock.advance(1);
      expect(begun.length).toBe(before + 1);
      expect(one.files[0]?.error).toBeNull();
      work('a0')?.fail(full);
      await settle();
    }
    clock.advance(60_000);
    work('a0')?.finish();
    await eventually(() => expect(settled.length).toBe(2));
    expect(one.files[0]).toMatchObject({ state: 'done', error: null });
    expect([disk[0], disk.filter((word) => word === 'refused').length, disk.at(-1)]).toEqual([full.message, 9, 'over']);
    expect(clock.pending).toBe(0);
  });

  it('has a file wait, too, for which recordings have no room left', async () => {
    const { runner, clock, begun, work } = start({ filesMax: 1 });
    const one = batch('a', 't', 1);
    runner.add(one);
    work('a0')?.fail(new TrunklineError('upload_disk_full', 'recordings take 5 of 5 bytes of disk', 'file'));
    await eventually(() => expect(one.files[0]).toMatchObject({ state: 'waiting', error: { code: 'disk_full' } }));
    clock.advance(1000);
    expect(begun).toEqual(['a0', 'a0']);
    await runner.close();
  });

  it('gives a file up that the disk has refused for twelve hours, and says so', async () => {
    const { runner, clock, settled, disk, work } = start({ filesMax: 1 });
    runner.add(batch('a', 't', 1));
    const startMs = clock.nowMs();
    while (settled.length === 0) {
      work('a0')?.fail(full);
      await settle();
      clock.advance(60_000);
    }
    const hours = (clock.nowMs() - startMs) / 3_600_000;
    expect(hours).toBeGreaterThan(12);
    expect(hours).toBeLessThan(12.1);
    expect(settled[0]).toMatchObject({
      state: 'failed',
      error: { code: 'disk_full', message: expect.stringContaining('given up after 12 hours') },
    });
    expect(disk.at(-1)).toBe('over');
    await runner.close();
  });

  it('forgets what waits for the disk with its batch, and when it is closed', async () => {
    const { runner, clock, disk, work } = start({ filesMax: 4 });
    const one = batch('a', 't', 1);
    runner.add(one);
    runner.add(batch('b', 't', 1));
    work('a0')?.fail(full);
    work('b0')?.fail(full);
    await eventually(() => expect(clock.pending).toBe(2));
    await runner.drop(one);
    expect(clock.pending).toBe(1);
    await runner.close();
    expect([clock.pending, disk.filter((word) => word === 'over').length]).toEqual([0, 2]);
  });
});
