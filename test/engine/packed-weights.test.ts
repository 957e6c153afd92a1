import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type InferenceSession, Tensor } from '../../engine/onnxruntime.ts';
import { openPacked, type PackedOptions } from '../../engine/packed-weights.ts';
import { packagePath } from '../../src/foundation/folders/paths.ts';

const isLinux = process.platform === 'linux';

let root: string;
let path: string;
let options: PackedOptions;
let told: string[];

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'trunkline-packed-'));
  path = join(root, 'encoder.onnx');
  copyFileSync(packagePath('fixtures', 'models', 'qwen3-asr', 'float', 'encoder.onnx'), path);
  told = [];
  options = {
    device: { provider: 'cpu' },
    threads: 1,
    cacheDir: join(root, 'cache'),
    progress: (text) => told.push(text),
    isWorthIt: () => true,
    waitMaxMs: 300,
  };
});

afterEach(() => rmSync(root, { recursive: true }));

/** One second of sound that is none. */
async function encode(session: InferenceSession): Promise<number[]> {
  const places = Array.from({ length: 13 }, (_, index) => BigInt(index));
  const { audio_features: features } = await session.run({
    mel: new Tensor(
      'float32',
      new Float32Array(12_800).map((_, index) => Math.sin(index)),
      [128, 100],
    ),
    tokens: new Tensor('int64', BigInt64Array.from(places), [13]),
    windows: new Tensor('int64', new BigInt64Array(13), [13]),
  });
  return Array.from(features?.data as Float32Array);
}

const folders = () => readdirSync(options.cacheDir).sort();
const folderOf = (lock: string) => lock.replace(/\.lock$/, '');
const cached = () => join(options.cacheDir, folders()[0] ?? '');

/** Maps of this process that are of files in the cache. */
const mapped = () =>
  readFileSync('/proc/self/maps', 'utf8')
    .split('\n')
    .filter((line) => line.includes(root)).length;

describe.runIf(isLinux)('weights that engines share', () => {
  it('are written once, mapped, and give what the graph gives', async () => {
    const plain = await openPacked(path, { ...options, isWorthIt: () => false });
    expect(existsSync(options.cacheDir)).toBe(false);
    const first = await openPacked(path, options);
    expect([first.warning, told.length]).toEqual([null, 1]);
    expect(mapped()).toBeGreaterThan(0);
    const second = await openPacked(path, options);
    expect([second.warning, told.length]).toEqual([null, 1]);
    const expected = await encode(plain.session);
    for (const { session } of [first, second]) expect(await encode(session)).toEqual(expected);
    expect(folders()).toHaveLength(1);
  });

  it('are written anew when the file changes, and what was made of the old one is removed', async () => {
    await openPacked(path, options);
    const [before] = folders();
    utimesSync(path, 1, 1);
    mkdirSync(join(options.cacheDir, `${before}.0.part`));
    await openPacked(path, options);
    expect(folders()).toHaveLength(1);
    expect(folders()).not.toEqual([before]);
  });

  it('are written anew when a file is cut off', async () => {
    await openPacked(path, options);
    const data = join(cached(), 'graph.data');
    const { size } = statSync(data);
    truncateSync(data, 100);
    const { session, warning } = await openPacked(path, options);
    expect([warning, told.length, statSync(data).size]).toEqual([null, 2, size]);
    expect(await encode(session)).toHaveLength(13 * 48);
  });

  it('are waited for while another process writes them, but not for ever, nor for one that has ended', async () => {
    await openPacked(path, options);
    const lock = `${cached()}.lock`;
    rmSync(cached(), { recursive: true });
    const began = readFileSync('/proc/self/stat', 'utf8').split(') ').at(-1)?.split(' ')[19];
    writeFileSync(lock, `${process.pid} ${began}`);
    const { session, warning } = await openPacked(path, options);
    expect(warning).toMatch(/has the weights of encoder\.onnx for itself: another process has not finished/);
    expect(await encode(session)).toHaveLength(13 * 48);
    // Of another process with our number, from before; and the most that a system gives as a number is 2^22.
    for (const ended of [`${process.pid} 1`, `${2 ** 22 + 1} 1`]) {
      rmSync(folderOf(lock), { recursive: true, force: true });
      writeFileSync(lock, ended);
      expect((await openPacked(path, options)).warning).toBeNull();
      expect(existsSync(lock)).toBe(false);
    }
  });

  it('are not taken from a folder that others can write', async () => {
    mkdirSync(options.cacheDir);
    chmodSync(options.cacheDir, 0o777);
    const { session, warning } = await openPacked(path, options);
    expect(warning).toMatch(/can be written by everybody/);
    expect(await encode(session)).toHaveLength(13 * 48);
    expect(folders()).toEqual([]);
  });

  it('are not looked for where a graph is small', async () => {
    const { isWorthIt: _, ...usual } = options;
    expect((await openPacked(path, usual)).warning).toBeNull();
    expect(existsSync(options.cacheDir)).toBe(false);
  });

  it('change nothing about a file that is missing', async () => {
    await expect(openPacked(join(root, 'absent.onnx'), options)).rejects.toMatchObject({ code: 'model_missing' });
  });
});
