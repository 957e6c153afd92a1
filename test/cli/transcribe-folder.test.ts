import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { writeWav } from '../../src/audio/wav.ts';
import { packagePath } from '../../src/foundation/folders/paths.ts';
import { cliEnvironment, runBuiltCli } from '../helpers/cli.ts';
import { eventually } from '../helpers/eventually.ts';
import { toneSpeech } from '../helpers/tones.ts';

const RATE_HZ = 16_000;

let folder: string;
let input: string;
let out: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'trunkline-test-'));
  input = join(folder, 'in');
  out = join(folder, 'out');
});

afterEach(() => rmSync(folder, { recursive: true }));

/** A recording of `words` words: the pretend recogniser's, by their tones. */
function write(name: string, words = 1, frequencyHz = 400): string {
  const path = join(input, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, writeWav([toneSpeech(words, frequencyHz)], RATE_HZ));
  return path;
}

const transcripts = () =>
  readdirSync(out, { recursive: true, encoding: 'utf8' })
    .filter((name) => !name.startsWith('.trunkline') && statSync(join(out, name)).isFile())
    .toSorted();

async function run(...args: string[]) {
  const { code, out: printed, err } = await runBuiltCli(['transcribe', '--out', out, '--json', ...args]);
  const lines = printed
    .trim()
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
  return { code, err, files: lines.slice(0, -1), summary: lines.at(-1)?.summary };
}

describe('trunkline transcribe --out', () => {
  it('writes a transcript for each recording in a folder, as the folder is laid out', async () => {
    write('monday/a.wav');
    write('monday/a', 1, 800);
    write('.hidden/b.txt');
    writeFileSync(join(input, 'notes.wav'), 'Minutes of the meeting');
    const single = join(folder, 'c.flac');
    writeFileSync(single, readFileSync(packagePath('fixtures', 'audio', 'short.flac')));
    const { code, err, summary } = await run(input, single);
    expect(err.replace(/^\d.*\n/gm, '')).toBe('');
    expect([code, summary]).toEqual([
      0,
      expect.objectContaining({ done: 4, failed: 0, skipped: 0, timesRealTime: expect.any(Number) }),
    ]);
    expect(transcripts()).toEqual(['.hidden/b.txt.txt', 'c.flac.txt', 'monday/a.txt', 'monday/a.wav.txt']);
    expect(readFileSync(join(out, 'monday/a.wav.txt'), 'utf8')).toMatch(/^\[00:00\.\d+\] alpha/);
    expect(readFileSync(join(out, 'monday/a.txt'), 'utf8')).toMatch(/^\[00:00\.\d+\] charlie/);
  });

  it('leaves alone what is there, and makes anew what has changed', async () => {
    write('a.wav');
    const changing = write('b.wav');
    expect((await run(input)).summary).toMatchObject({ done: 2, skipped: 0 });
    expect((await run(input)).summary).toMatchObject({ done: 0, skipped: 2 });
    write('b.wav', 1, 800);
    utimesSync(changing, 1, 1);
    rmSync(join(out, 'a.wav.txt'));
    write('c.wav');
    expect((await run(input)).summary).toMatchObject({ done: 3, skipped: 0 });
    expect(readFileSync(join(out, 'b.wav.txt'), 'utf8')).toMatch(/charlie/);
    expect((await run(input, '--channels', 'split')).summary).toMatchObject({ done: 3 });
    const srt = await run(input, '--format', 'srt');
    expect(srt.summary).toMatchObject({ done: 3 });
    expect(readFileSync(join(out, 'a.wav.srt'), 'utf8')).toMatch(/^1\n00:00:00,\d+ --> /);
  });

  it('makes transcripts anew for another language or other hot words, and refuses a language at once', async () => {
    write('a.wav');
    const words = ['--hot-words', 'Müller, ISDN'];
    expect((await run(input)).summary).toMatchObject({ done: 1 });
    expect((await run(input, '--language', 'English', ...words)).summary).toMatchObject({ done: 1 });
    expect((await run(input, '--language', 'English', ...words)).summary).toMatchObject({ skipped: 1 });
    const refused = await run(input, '--language', 'fr');
    expect([refused.code, refused.files]).toEqual([2, []]);
    expect(refused.err).toMatch(/^trunkline: --language: got "fr", .* understands English/);
  });

  it('names each recording that fails, goes on with the others and ends with 1', async () => {
    write('a.wav');
    writeFileSync(join(input, 'broken.wav'), 'RIFF\u0001\u0000\u0000\u0000WAVEjunk\u0000\u0000');
    const missing = join(folder, 'missing.wav');
    const { code, err, files, summary } = await run(input, missing);
    expect([code, summary]).toMatchObject([1, { done: 1, failed: 2 }]);
    expect(files).toContainEqual({ file: missing, state: 'failed', error: 'no such file' });
    expect(files).toContainEqual({
      file: join(input, 'broken.wav'),
      state: 'failed',
      error: expect.stringContaining('WAV'),
    });
    expect(err).toMatch(/^trunkline: .*missing\.wav: no such file$/m);
    expect(err).toMatch(/^trunkline: .*broken\.wav: /m);
    expect(transcripts()).toEqual(['a.wav.txt']);
  });

  it('does nothing when two recordings would have one transcript', async () => {
    write('one/a.wav');
    write('two/a.wav');
    const { code, err } = await run(join(input, 'one'), join(input, 'two'));
    expect([code, existsSync(out)]).toEqual([2, false]);
    expect(err).toMatch(/one\/a\.wav and .*two\/a\.wav would both be written as a\.wav\.txt/);
  });

  it('waits for a disk that has no room for a transcript, and says so', async () => {
    write('a.wav');
    mkdirSync(join(out, '.trunkline'), { recursive: true });
    symlinkSync('/dev/full', join(out, '.trunkline', '0.part'));
    const { code, err, summary } = await run(input);
    expect([code, summary]).toMatchObject([0, { done: 1, failed: 0 }]);
    expect(err).toMatch(/^trunkline: waiting for the disk: the disk is full or fails \(ENOSPC\)$/m);
    expect(transcripts()).toEqual(['a.wav.txt']);
  });

  it('does not write over what it did not write', async () => {
    write('a.wav');
    mkdirSync(out);
    writeFileSync(join(out, 'a.wav.txt'), 'mine');
    const { code, files } = await run(input);
    expect([code, files]).toEqual([
      1,
      [expect.objectContaining({ state: 'failed', error: expect.stringContaining('exists already') })],
    ]);
    expect(readFileSync(join(out, 'a.wav.txt'), 'utf8')).toBe('mine');
  });

  it('says so when there is nothing to do, and when it cannot write', async () => {
    mkdirSync(input);
    expect(await runBuiltCli(['transcribe', '--out', out, input])).toMatchObject({
      code: 1,
      err: `trunkline: there is no recording in ${input}\n`,
    });
    write('a.wav');
    writeFileSync(out, 'a file');
    expect(await runBuiltCli(['transcribe', '--out', out, input])).toMatchObject({
      code: 1,
      err: expect.stringContaining('cannot be written to'),
    });
  });

  it.each<[NodeJS.Signals, number | null]>([
    ['SIGINT', 130],
    ['SIGKILL', null],
  ])('goes on where %s stopped it, and leaves no half of a transcript', async (signal, code) => {
    const names = Array.from({ length: 12 }, (_, index) => `${String(index).padStart(2, '0')}.wav`);
    for (const name of names) write(name, 30);
    const args = [packagePath('dist', 'src', 'cli.js'), 'transcribe', '--out', out, input];
    const child = spawn(process.execPath, args, { env: cliEnvironment(), stdio: 'ignore' });
    const exited = once(child, 'exit');
    await eventually(() => expect(transcripts().length).toBeGreaterThan(0));
    child.kill(signal);
    expect((await exited)[0]).toBe(code);
    const before = transcripts();
    expect(before.length).toBeLessThan(names.length);
    const { code: second, summary } = await run(input);
    expect([second, summary.done + summary.skipped]).toEqual([0, names.length]);
    expect(summary.skipped).toBe(before.length);
    const texts = new Set(transcripts().map((name) => readFileSync(join(out, name), 'utf8')));
    expect([transcripts().length, texts.size]).toEqual([names.length, 1]);
  });
});
