import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { writeWav } from '../../src/audio/wav.ts';
import { findClashes, findSources } from '../../src/cli/transcribe-sources.ts';

const WAV = writeWav([new Int16Array(800)], 8000);
let folder = '';

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'trunkline-sources-')));
  mkdirSync(join(folder, 'calls', 'monday'), { recursive: true });
  for (const name of ['a.wav', 'calls/a.wav', 'calls/monday/b.wav']) writeFileSync(join(folder, name), WAV);
});

afterEach(() => rmSync(folder, { recursive: true }));

describe('the sources of a transcription', () => {
  it('are files by their own name, and those in folders by their path in it', async () => {
    const { files, unreadable } = await findSources([join(folder, 'a.wav'), join(folder, 'calls')]);
    expect(unreadable).toEqual([]);
    expect(files.map(({ name }) => name).toSorted()).toEqual(['a.wav', 'a.wav', 'monday/b.wav']);
    expect(files[0]).toMatchObject({ path: join(folder, 'a.wav'), bytes: WAV.length, modifiedMs: expect.any(Number) });
  });

  it('count once, however often they are named', async () => {
    const { files } = await findSources([join(folder, 'a.wav'), join(folder, 'a.wav')]);
    expect(files).toHaveLength(1);
  });

  it('are unreadable where there is nothing, and the others go on', async () => {
    const missing = join(folder, 'missing.wav');
    const { files, unreadable } = await findSources([missing, join(folder, 'a.wav')]);
    expect(files).toHaveLength(1);
    expect(unreadable).toEqual([{ shown: missing, why: expect.stringMatching(/./) }]);
  });

  it('clash when two of them would have one transcript', async () => {
    const { files } = await findSources([join(folder, 'a.wav'), join(folder, 'calls')]);
    expect(findClashes(files)).toEqual([
      { name: 'a.wav', shown: [join(folder, 'a.wav'), join(folder, 'calls', 'a.wav')] },
    ]);
  });
});
