import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { writeWav } from '../../src/audio/wav.ts';
import { findRecordings } from '../../src/recordings/folder.ts';

const WAV = writeWav([new Int16Array(100)], 8000);

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'trunkline-test-'));
});

afterEach(() => rmSync(folder, { recursive: true }));

function write(name: string, bytes: Uint8Array | string = WAV): void {
  mkdirSync(dirname(join(folder, name)), { recursive: true });
  writeFileSync(join(folder, name), bytes);
}

async function namesIn(root: string, within?: string): Promise<string[]> {
  const names: string[] = [];
  for await (const { name } of findRecordings(join(folder, root), within === undefined ? null : join(folder, within)))
    names.push(name);
  return names;
}

describe('findRecordings', () => {
  it('finds what is audio, whatever it is called and however deep it lies, in the order of names', async () => {
    for (const name of ['in/b/two.wav', 'in/a', 'in/.hidden/.three', 'in/b/c/four.txt']) write(name);
    write('in/notes.wav', 'Minutes of the meeting');
    write('in/empty.wav', '');
    write('in/picture.mp3', Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0, 0, 0, 0));
    expect(await namesIn('in')).toEqual(['.hidden/.three', 'a', 'b/c/four.txt', 'b/two.wav']);
  });

  it('comes to an end in circles of links, and finds nothing twice', async () => {
    write('in/deep/one.wav');
    write('out/two.wav');
    symlinkSync('..', join(folder, 'in/deep/up'));
    symlinkSync('one.wav', join(folder, 'in/deep/again.wav'));
    symlinkSync(join(folder, 'out'), join(folder, 'in/first'));
    symlinkSync(join(folder, 'out'), join(folder, 'in/second'));
    symlinkSync(folder, join(folder, 'in/above'));
    symlinkSync('nowhere', join(folder, 'in/dangling'));
    symlinkSync(join(folder, 'in'), join(folder, 'out/back'));
    expect(await namesIn('in')).toEqual(['deep/one.wav', 'first/two.wav']);
  });

  it('does not leave the folder that it must stay in', async () => {
    write('in/one.wav');
    write('shared/two.wav');
    write('secret/three.wav');
    for (const name of ['shared', 'secret']) symlinkSync(join(folder, name), join(folder, 'in', name));
    expect(await namesIn('in', 'in')).toEqual(['one.wav']);
    expect(await namesIn('in')).toEqual(['one.wav', 'secret/three.wav', 'shared/two.wav']);
  });
});
