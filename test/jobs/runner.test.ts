import { describe, expect, it } from 'vitest';
import { TrunklineError } from '../../src/errors.ts';
import type { Batch, BatchFile } from '../../src/jobs/batch.ts';
import { Runner } from '../../src/jobs/runner.ts';
import { createLog } from '../../src/log.ts';
import { FakeClock } from '../fakes/clock.ts';
import { eventually } from '../helpers/eventually.ts';

function batch(id: string, tenant: string, count: number): Batch {
  const files = Array.from(
    { length: count },
    (_, number): BatchFile => ({
      ...{ number, name: `${id}${number}`, state: 'waiting', durationMs: null, error: null },
      source: { kind: 'upload' },
    }),
  );
  return {
    ...{ id, tenant, createdMs: 0, channels: 'mix', targetLanguage: '', idempotency: null, webhook: null },
    ...{ state: 'running', endedMs: null, files },
  };
}

/** A runner whose work the test does. */
function start(options: { filesMax: number; filesOfTenantMax: number }) {
  const clock = new FakeClock();
  const begun: string[] = [];
  const told: number[] = [];
  const settled: BatchFile[] = [];
  const works = new Map<string, { finish(): void; fail(error: unknown): void; progress(share: number): void }>();
  const runner: Runner = new Runner({
    ...{ ...options, clock, log: createLog('silent') },
    transcribe: (_batch, file, { signal, onProgress }) =>
      new Promise((resolve, reject) => {
        begun.push(file.name);
        signal.addEventListener('abort', () => reject(signal.reason));
        works.set(file.name, {
          finish: () => resolve({ durationMs: 1000 }),
          fail: reject,
          progress: (share) => onProgress?.({ heardMs: 0, share }),
        });
      }),
    onProgress: (_batch, file) => void told.push(runner.shareOf(file) ?? -1),
    onSettled: async (_batch, file) => void settled.push({ ...file }),
  });
  return { runner, clock, begun, told, settled, work: (name: string) => works.get(name) };
}

describe('Runner', () => {
  it('has so many files in work, so many of one tenant, and gives what is free to the tenant with the least', async () => {
    const { runner, begun, work, settled } = start({ filesMax: 4, filesOfTenantMax: 2 });
    runner.add(batch('a', 'one', 5));
    expect(begun).toEqual(['a0', 'a1']);
    runner.add(batch('b', 'two', 2));
    runner.add(batch('c', 'three', 2));
    expect(begun).toEqual(['a0', 'a1', 'b0', 'b1']);
    work('a0')?.finish();
    await eventually(() => expect(begun.at(-1)).toBe('c0'));
    work('b0')?.finish();
    await eventually(() => expect(begun.length).toBe(6));
    expect(begun.at(-1)).toBe('a2');
    expect(settled.map(({ name, state, durationMs }) => [name, state, durationMs])).toEqual([
      ['a0', 'done', 1000],
      ['b0', 'done', 1000],
    ]);
    await runner.close();
  });

  it('tells of progress at most once a second', async () => {
    const { runner, clock, told, work } = start({ filesMax: 1, filesOfTenantMax: 1 });
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
    const { runner, settled, work } = start({ filesMax: 2, filesOfTenantMax: 2 });
    runner.add(batch('a', 't', 2));
    work('a0')?.fail(new TrunklineError('audio_unreadable', 'it is text'));
    work('a1')?.fail(new Error('ENOSPC: /secret/path'));
    await eventually(() => expect(settled.length).toBe(2));
    expect(settled.map(({ error }) => error?.code)).toEqual(['audio_unreadable', 'internal']);
    expect(JSON.stringify(settled)).not.toContain('secret');
  });

  it('leaves what was in work as if it had never been begun', async () => {
    const { runner, settled } = start({ filesMax: 2, filesOfTenantMax: 2 });
    const stopped = batch('a', 't', 2);
    runner.add(stopped);
    await runner.drop(stopped);
    expect([settled, stopped.files.map(({ state }) => state)]).toEqual([[], ['waiting', 'waiting']]);
  });
});
