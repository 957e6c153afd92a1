import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { packagePath } from '../../../src/foundation/folders/paths.ts';
import { WorkerPool } from '../../../src/foundation/workers/worker-pool.ts';
import { FakeClock } from '../../fakes/clock.ts';

/** The address of a built file, given from `foundation`. */
const built = (...path: string[]) =>
  JSON.stringify(pathToFileURL(packagePath('dist', 'src', 'foundation', ...path)).href);

/** Counts up from the task's number; `dies` ends its thread, `hangs` keeps it, `fails` says why. */
const PROGRAM = `
  import { serveWork } from ${built('workers', 'worker-thread.js')};
  import { TrunklineError } from ${built('errors.js')};
  serveWork({
    begin: (task) => {
      let count = task;
      return {
        next() {
          if (task === 'dies') process.exit(1);
          if (task === 'hangs') for (;;);
          if (task === 'fails') throw new TrunklineError('audio_unreadable', 'no audio');
          return count++;
        },
        close() {},
      };
    },
    transfer: () => [],
  });
`;

const never = new AbortController().signal;
let folder: string;
let clock: FakeClock;
let pool: WorkerPool<number | string, number>;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'trunkline-test-'));
  const program = join(folder, 'program.mjs');
  writeFileSync(program, PROGRAM);
  clock = new FakeClock();
  pool = new WorkerPool({ program, threadsMax: 2, heapMb: 32, clock });
});

afterEach(() => rmSync(folder, { recursive: true }));

describe('a pool of threads', () => {
  it('gives the next work to a thread that has none, until it has had none for a while', async () => {
    const first = pool.open(1);
    await first.next(never);
    first.close();
    expect(pool.threads).toBe(1);
    await clock.run(9000);
    const second = pool.open(5);
    expect(await second.next(never)).toBe(5);
    expect(pool.threads).toBe(1);
    await clock.run(11_000);
    expect(await second.next(never)).toBe(6);
    second.close();
    await clock.run(10_000);
    expect([pool.threads, clock.pending]).toEqual([0, 0]);
    const last = pool.open(9);
    await last.next(never);
    pool.close();
    expect(pool.threads).toBe(1);
    last.close();
    expect([pool.threads, clock.pending]).toEqual([0, 0]);
  });

  it('keeps no process alive that has no work for it', async () => {
    const main = join(folder, 'main.mjs');
    writeFileSync(
      main,
      `import { WorkerPool } from ${built('workers', 'worker-pool.js')};
      const clock = { now: () => 0, after: () => ({ cancel() {} }) };
      const program = ${JSON.stringify(join(folder, 'program.mjs'))};
      const work = new WorkerPool({ program, threadsMax: 1, heapMb: 32, clock }).open(7);
      console.log(await work.next(new AbortController().signal));
      work.close();`,
    );
    const { stdout } = await promisify(execFile)(process.execPath, [main], { timeout: 30_000 });
    expect(stdout).toBe('7\n');
  });

  it('does each piece of work a step at a time, with no more threads than it may have', async () => {
    const works = [10, 20, 30, 40, 50].map((first) => pool.open(first));
    expect(pool.threads).toBe(0);
    expect(await Promise.all(works.map((work) => work.next(never)))).toEqual([10, 20, 30, 40, 50]);
    expect(await Promise.all(works.map((work) => work.next(never)))).toEqual([11, 21, 31, 41, 51]);
    expect(pool.threads).toBe(2);
    for (const work of works) work.close();
    await clock.run(10_000);
    expect([pool.threads, clock.pending]).toEqual([0, 0]);
  });

  it('says why a step failed, and goes on with the others', async () => {
    const [bad, good] = [pool.open('fails'), pool.open(1)];
    await expect(bad.next(never)).rejects.toMatchObject({ code: 'audio_unreadable', message: 'no audio' });
    expect(await good.next(never)).toBe(1);
    for (const work of [bad, good]) work.close();
  });

  it('tells the piece of work at which a thread dies from one that only shares it, and leaves the other thread alone', async () => {
    const [first, second] = [pool.open(1), pool.open(2)];
    for (const work of [first, second]) await work.next(never);
    const [bad, elsewhere, beside] = [pool.open('dies'), pool.open(4), pool.open(5)];
    await Promise.all([
      expect(bad.next(never)).rejects.toMatchObject({ isCause: true }),
      expect(elsewhere.next(never)).resolves.toBe(4),
      expect(beside.next(never)).rejects.toMatchObject({ isCause: false }),
    ]);
    await expect(first.next(never)).rejects.toMatchObject({ isCause: false });
    expect(await second.next(never)).toBe(3);
    for (const work of [first, second, bad, elsewhere, beside]) work.close();
    await clock.run(10_000);
    expect([pool.threads, clock.pending]).toEqual([0, 0]);
  });

  it('loses what waits behind a piece of work that hangs, and serves it when it is opened again', async () => {
    const [first, second] = [pool.open('hangs'), pool.open('hangs')];
    const behind = pool.open(5);
    const lost = [first, second].map((work) => expect(work.next(never)).rejects.toMatchObject({ isCause: true }));
    const innocent = expect(behind.next(never)).rejects.toMatchObject({ isCause: false });
    clock.advance(60_000);
    await Promise.all([...lost, innocent]);
    await expect(behind.next(never)).rejects.toMatchObject({ isCause: false });
    const again = pool.open(5);
    expect(await again.next(never)).toBe(5);
    for (const work of [first, second, behind, again]) work.close();
    await clock.run(10_000);
    expect(pool.threads).toBe(0);
  });

  it('lets go at once of a step that nobody waits for any more', async () => {
    const leaving = new AbortController();
    const work = pool.open('hangs');
    const step = expect(work.next(leaving.signal)).rejects.toThrow('gone');
    leaving.abort(new Error('gone'));
    await step;
    work.close();
    expect([pool.threads, clock.pending]).toEqual([0, 0]);
    await expect(pool.open(1).next(leaving.signal)).rejects.toThrow('gone');
  });
});
