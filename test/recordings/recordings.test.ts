import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Metrics } from '../../src/foundation/metrics.ts';
import { Recordings } from '../../src/recordings/recordings.ts';
import { FakeClock } from '../fakes/clock.ts';
import { FakeEngine } from '../fakes/engine.ts';
import { readSettings } from '../helpers/settings.ts';

let folder: string;
let clock: FakeClock;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'trunkline-test-'));
  clock = new FakeClock();
});

afterEach(() => rmSync(folder, { recursive: true }));

function open(environment: Record<string, string> = {}, engine = new FakeEngine(clock)): Recordings {
  const settings = readSettings({ UPLOAD_DIR: folder, ...environment });
  return new Recordings({ settings, engine, clock, metrics: new Metrics() });
}

describe('Recordings', () => {
  it('gives each recording a place of its own and takes it back with its file', async () => {
    const recordings = open();
    const places = [await recordings.admit(), await recordings.admit()];
    for (const place of places) writeFileSync(place.path, 'x');
    expect(new Set(places.map(({ path }) => path)).size).toBe(2);
    await places[0]?.release();
    await places[0]?.release();
    expect(places.map(({ path }) => existsSync(path))).toEqual([false, true]);
  });

  it('lets in as many as BATCH_QUEUE_MAX says, also when they come at once', async () => {
    const recordings = open({ BATCH_QUEUE_MAX: '2' });
    const outcomes = await Promise.allSettled([recordings.admit(), recordings.admit(), recordings.admit()]);
    expect(outcomes.map((outcome) => (outcome.status === 'fulfilled' ? 'in' : outcome.reason.code))).toEqual([
      'in',
      'in',
      'batch_queue_full',
    ]);
  });

  it('waits for those that are in when it drains, then removes its folder', async () => {
    const recordings = open();
    const place = await recordings.admit();
    let isDrained = false;
    const drained = recordings.drain(5000).then(() => {
      isDrained = true;
    });
    await expect(recordings.admit()).rejects.toMatchObject({ code: 'draining' });
    expect([isDrained, place.signal.aborted]).toEqual([false, false]);
    await place.release();
    await drained;
    expect(readdirSync(folder)).toEqual([]);
  });

  it('drains also where a file cannot be removed', async () => {
    const recordings = open();
    const place = await recordings.admit();
    const remove = vi
      .spyOn(recordings.disk, 'remove')
      .mockRejectedValue(Object.assign(new Error('EROFS'), { code: 'EROFS' }));
    const drained = recordings.drain(5000);
    await expect(place.release()).rejects.toThrow('EROFS');
    await drained;
    remove.mockRestore();
  });

  it('aborts what has not been finished in time', async () => {
    const recordings = open();
    const place = await recordings.admit();
    const drained = recordings.drain(5000);
    clock.advance(5000);
    expect(place.signal.reason).toMatchObject({ code: 'draining' });
    await place.release();
    await drained;
  });

  it('waits for no engine any more for a client that has left', async () => {
    const engine = new FakeEngine(clock);
    engine.languages = [];
    engine.start = () => new Promise(() => undefined);
    const left = new AbortController();
    const languages = open({}, engine).languages(left.signal);
    left.abort(new Error('left'));
    await expect(languages).rejects.toThrow('left');
  });

  it('makes UPLOAD_DIR where it is not there yet', async () => {
    const path = join(folder, 'a', 'b');
    const place = await open({ UPLOAD_DIR: path }).admit();
    expect(place.path.startsWith(path)).toBe(true);
  });

  it('removes what a gateway that was killed has left, also one with its process id, and nothing of one that lives', async () => {
    const [dead, same] = [
      join(folder, 'trunkline-recordings-x'),
      join(folder, `trunkline-recordings-${process.pid}-x`),
    ];
    for (const path of [dead, same]) await leaveFolder(path);
    const living = dirname((await open().admit()).path);
    for (const path of [dead, same]) await leaveFolder(path);
    await open().removeLeftovers();
    expect([dead, same, living].map((path) => existsSync(path))).toEqual([false, false, true]);
  });

  it('makes its folder anew when somebody has tidied it away', async () => {
    const recordings = open();
    const first = await recordings.admit();
    rmSync(dirname(first.path), { recursive: true });
    const [second, third] = await Promise.all([recordings.admit(), recordings.admit()]);
    expect(dirname(second.path)).toBe(dirname(third.path));
    writeFileSync(second.path, 'x');
    for (const place of [first, second, third]) await place.release();
    await recordings.drain(0);
    expect(readdirSync(folder)).toEqual([]);
  });
});

/** A folder as a killed gateway leaves it: nobody listens on its socket any more. */
async function leaveFolder(path: string): Promise<void> {
  mkdirSync(path, { recursive: true });
  rmSync(join(path, 'owner.sock'), { force: true });
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(join(path, 'made'), resolve));
  renameSync(join(path, 'made'), join(path, 'owner.sock'));
  await new Promise((resolve) => server.close(resolve));
}
