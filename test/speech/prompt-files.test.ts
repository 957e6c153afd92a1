import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { hashOf, type Prompt } from '../../src/speech/prompt.ts';
import { countedCache, keyOf, whole } from './caching.ts';

const KEY = keyOf('Hello there.');
const { text, voice, model, speed, codec } = KEY;
const ABOUT = { text, voice, model, speed, codec };
const PROMPT: Prompt = { bytes: Uint8Array.from({ length: 1600 }, (_, n) => n % 256), durationMs: 200, about: ABOUT };

let directory = '';
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'prompts-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const fileOf = (key = KEY): string => join(directory, `${hashOf(key)}.sentence`);

/** A gateway that has just started on the directory. */
async function started(options: { directoryMaxBytes?: number } = {}) {
  const counted = countedCache({ directory, ...options });
  await counted.cache.open();
  return counted;
}

async function written(): Promise<void> {
  const { cache } = await started();
  await whole(cache, KEY, async () => PROMPT);
  await cache.settled();
}

describe('prompts on disk', () => {
  it('are there after a restart', async () => {
    await written();
    const { cache, asked } = await started();
    const prompt = await whole(cache, KEY, () => Promise.reject(new Error('not on disk')));
    expect(prompt.durationMs).toBe(200);
    expect([...prompt.bytes]).toEqual([...PROMPT.bytes]);
    expect(asked).toEqual(['disk']);
    await whole(cache, KEY, () => Promise.reject(new Error('not in memory')));
    expect(asked).toEqual(['disk', 'memory']);
  });

  it('go with their text, in every voice, and stay where only the text differs', async () => {
    const { cache } = await started();
    const [slow, other] = [keyOf('Hello there.', { speed: 0.8 }), keyOf('Good bye.')];
    for (const key of [KEY, slow, other]) await whole(cache, key, async () => PROMPT);
    await cache.settled();
    expect(await cache.forget(['Hello there.', 'unknown'])).toBe(2);
    expect(readdirSync(directory)).toEqual([`${hashOf(other)}.sentence`]);
    expect([KEY, slow, other].map((key) => cache.has(key))).toEqual([false, false, true]);
  });

  it('of before names told the text are deleted', async () => {
    const old = join(directory, `${'a'.repeat(64)}.prompt`);
    writeFileSync(old, 'TLP1');
    await started();
    expect(readdirSync(directory)).toEqual([]);
  });

  it('say after a restart what they are', async () => {
    await written();
    const { cache } = await started();
    expect(cache.list(10)).toMatchObject([{ id: hashOf(KEY) }]);
    expect((await cache.peek(hashOf(KEY)))?.about).toMatchObject({ text: KEY.text, voice: KEY.voice });
  });

  it('are whole files under their names, and nothing else', async () => {
    await written();
    expect(readdirSync(directory)).toEqual([`${hashOf(KEY)}.sentence`]);
  });

  const damages: readonly [what: string, damage: (file: string) => void][] = [
    ['a bit that flipped', (file) => flip(file, 900)],
    ['a header that is wrong', (file) => flip(file, 0)],
    ['a length that is wrong', (file) => flip(file, 41)],
    ['an end that is missing', (file) => truncateSync(file, 700)],
    ['a file without anything in it', (file) => truncateSync(file, 0)],
    ['a file of another kind', (file) => writeFileSync(file, 'hello')],
  ];

  it.each(damages)('are dropped, counted and made anew: %s', async (_what, damage) => {
    await written();
    damage(fileOf());
    const { cache, asked, troubles } = await started();
    const anew: Prompt = { bytes: new Uint8Array(1760).fill(8), durationMs: 220, about: ABOUT };
    expect(await whole(cache, KEY, async () => anew)).toEqual(anew);
    expect(asked).toEqual(['engine']);
    expect(troubles).toEqual(['damaged']);
    await cache.settled();
    expect((await whole((await started()).cache, KEY, () => Promise.reject(new Error('lost')))).durationMs).toBe(220);
  });

  it('do not stand in for each other', async () => {
    await written();
    const other = keyOf('Goodbye.');
    writeFileSync(fileOf(other), readFileSync(fileOf()));
    const { cache, troubles } = await started();
    await whole(cache, other, async () => PROMPT);
    expect(troubles).toEqual(['damaged']);
  });

  it('stay within their bytes, the latest kept', async () => {
    const { cache } = await started({ directoryMaxBytes: 20_000 });
    for (let n = 0; n < 60; n++) {
      await whole(cache, keyOf(`prompt ${n}`), async () => PROMPT);
      await cache.settled();
    }
    const files = readdirSync(directory);
    expect(files.length).toBeGreaterThan(5);
    expect(files.reduce((sum, file) => sum + statSync(join(directory, file)).size, 0)).toBeLessThanOrEqual(20_000);
    expect(files).toContain(`${hashOf(keyOf('prompt 59'))}.sentence`);
  });

  it('stay within their bytes after a start with less room, the oldest dropped', async () => {
    for (const [n, text] of ['old', 'new'].entries()) {
      const { cache } = await started();
      await whole(cache, keyOf(text), async () => PROMPT);
      await cache.settled();
      utimesSync(fileOf(keyOf(text)), n, n);
    }
    await started({ directoryMaxBytes: 2000 });
    expect(readdirSync(directory)).toEqual([`${hashOf(keyOf('new'))}.sentence`]);
    await started({ directoryMaxBytes: 1000 });
    expect(readdirSync(directory)).toEqual([]);
  });

  it('are gone when the cache is cleared', async () => {
    await written();
    const { cache } = await started();
    expect(cache.clear()).toBe(1);
    await cache.settled();
    expect(readdirSync(directory)).toEqual([]);
    expect(cache.stats.diskBytes).toBe(0);
  });

  it('leave no half-written file behind, and other files alone', async () => {
    writeFileSync(join(directory, `${hashOf(KEY)}.x.tmp`), 'half');
    for (const name of ['README', 'other.tmp']) writeFileSync(join(directory, name), 'mine');
    await started();
    expect(readdirSync(directory)).toEqual(['README', 'other.tmp']);
  });

  const modeOf = (path: string) => statSync(path).mode & 0o777;

  it('are for this user alone, whatever the umask', async () => {
    const umask = process.umask(0);
    try {
      rmSync(directory, { recursive: true });
      await written();
    } finally {
      process.umask(umask);
    }
    expect([modeOf(directory), modeOf(fileOf())]).toEqual([0o700, 0o600]);
  });

  it('are closed to others where an earlier version left them open', async () => {
    await written();
    chmodSync(directory, 0o755);
    chmodSync(fileOf(), 0o644);
    const { cache, asked } = await started();
    expect([modeOf(directory), modeOf(fileOf())]).toEqual([0o700, 0o600]);
    await whole(cache, KEY, () => Promise.reject(new Error('not on disk')));
    expect(asked).toEqual(['disk']);
  });

  it('leave a folder open that holds what is not theirs', async () => {
    writeFileSync(join(directory, 'README'), 'mine');
    chmodSync(directory, 0o755);
    await written();
    expect([modeOf(directory), modeOf(fileOf())]).toEqual([0o755, 0o600]);
  });

  it.each([
    ['a link', () => symlinkSync(join(directory, '..', `${hashOf(KEY)}.elsewhere`), fileOf())],
    ['a pipe', () => execFileSync('mkfifo', [fileOf()])],
    ['a folder', () => mkdirSync(fileOf())],
  ])('are not taken from what somebody else may have put there: %s', async (_what, plant) => {
    plant();
    const { cache, asked } = await started();
    expect(await whole(cache, KEY, async () => PROMPT)).toEqual(PROMPT);
    expect(asked).toEqual(['engine']);
    await cache.settled();
  });

  it.runIf(process.getuid?.() === 0)('are not taken from a file of somebody else', async () => {
    await written();
    chownSync(fileOf(), 4711, 4711);
    const { cache, asked } = await started();
    await whole(cache, KEY, async () => PROMPT);
    expect(asked).toEqual(['engine']);
    await cache.settled();
  });

  it('cost speech nothing when the disk refuses', async () => {
    await written();
    const { cache, troubles } = await started();
    rmSync(directory, { recursive: true });
    expect(await whole(cache, KEY, async () => PROMPT)).toEqual(PROMPT);
    await cache.settled();
    expect(troubles).toEqual(['unreadable', 'unwritable']);
  });

  it('stop the start when the directory cannot be used', async () => {
    const file = join(directory, 'file');
    writeFileSync(file, '');
    chmodSync(file, 0o400);
    const { cache } = countedCache({ directory: file });
    await expect(cache.open()).rejects.toThrow(/EEXIST|ENOTDIR/);
  });
});

function flip(file: string, at: number): void {
  const bytes = readFileSync(file);
  bytes[at] = (bytes[at] ?? 0) ^ 1;
  writeFileSync(file, bytes);
}
