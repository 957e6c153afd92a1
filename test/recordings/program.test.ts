import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import type { Readable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runProgram } from '../../src/recordings/program.ts';
import { FakeClock } from '../fakes/clock.ts';

const PATH = process.env['PATH'];
const TIMEOUT_MS = 5000;

let folder: string;
let clock: FakeClock;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'trunkline-test-'));
  clock = new FakeClock();
});

afterEach(() => {
  process.env['PATH'] = PATH;
  rmSync(folder, { recursive: true });
});

/** Puts a program called ffmpeg, which does `script`, before all others on the PATH. */
function install(script: string): void {
  const path = join(folder, 'ffmpeg');
  writeFileSync(path, `#!/bin/sh\n${script}\n`);
  chmodSync(path, 0o755);
  process.env['PATH'] = `${folder}${delimiter}${PATH}`;
}

async function readAll(output: Readable): Promise<string> {
  let text = '';
  for await (const chunk of output) text += String(chunk);
  return text;
}

const run = (take: (output: Readable) => Promise<string> = readAll, signal = new AbortController().signal) =>
  runProgram({ command: 'ffmpeg', args: ['-i', 'a b'], timeoutMs: TIMEOUT_MS, clock, signal, take });

describe('runProgram', () => {
  it('gives what the program wrote, its exit code and its last complaint', async () => {
    install('echo "$1,$2"; echo first >&2; echo last >&2; exit 3');
    expect(await run()).toEqual({ code: 3, complaint: 'last', taken: '-i,a b\n' });
  });

  it('keeps the end of a long complaint', async () => {
    install('i=0; while [ $i -lt 500 ]; do echo "line $i of many" >&2; i=$((i+1)); done');
    expect(await run()).toMatchObject({ code: 0, complaint: 'line 499 of many' });
  });

  it('says which program is missing', async () => {
    process.env['PATH'] = folder;
    await expect(run()).rejects.toMatchObject({
      code: 'audio_unreadable',
      message: expect.stringContaining('there is no ffmpeg'),
    });
  });

  it('kills a program that takes too long', async () => {
    install('exec sleep 60');
    const late = expect(run()).rejects.toMatchObject({
      code: 'audio_unreadable',
      message: expect.stringContaining('ffmpeg took longer than 5000 ms'),
    });
    clock.advance(TIMEOUT_MS);
    await late;
  });

  it('kills a program whose output is not taken, and passes on why', async () => {
    install('while :; do echo x; done');
    await expect(run(() => Promise.reject(new Error('no room')))).rejects.toThrow('no room');
  });

  it('kills a program when it is told to', async () => {
    install('exec sleep 60');
    const stop = new AbortController();
    const stopped = expect(run(readAll, stop.signal)).rejects.toMatchObject({ name: 'AbortError' });
    stop.abort();
    await stopped;
  });
});
