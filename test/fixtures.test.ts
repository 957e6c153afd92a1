import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { readWav } from '../src/audio/wav.ts';
import { packagePath } from '../src/foundation/folders/paths.ts';

const FOLDER = packagePath('fixtures', 'audio');
const TOTAL_MAX_BYTES = 1_600_000;
const BREAK_MAX_MS = 300;
/** Root mean square below which 10 ms count as silent: 45 dB under full scale. */
const SILENT_RMS = 184;

const read = (name: string) => {
  const { rateHz, channels } = readWav(readFileSync(join(FOLDER, name)));
  return { rateHz, channels, samples: channels[0] ?? new Int16Array(0) };
};

/** Longest silence, in ms, between the first and the last sound. */
function longestBreakMs(samples: Int16Array): number {
  const loud: number[] = [];
  for (let at = 0; at + 80 <= samples.length; at += 80) {
    const energy = samples.subarray(at, at + 80).reduce((sum, sample) => sum + sample * sample, 0);
    if (Math.sqrt(energy / 80) >= SILENT_RMS) loud.push(at / 8);
  }
  return Math.max(0, ...loud.map((atMs, index) => atMs - (loud[index - 1] ?? atMs)));
}

describe('the speech in fixtures/audio', () => {
  it('comes out byte for byte the same when it is made again', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'trunkline-audio-'));
    await promisify(execFile)(process.execPath, ['--import', 'tsx', packagePath('scripts', 'make-audio.mjs'), folder]);
    const names = readdirSync(FOLDER).filter((name) => /\.(wav|json)$/.test(name));
    expect(readdirSync(folder)).toEqual(names);
    for (const name of names)
      expect(readFileSync(join(folder, name)).equals(readFileSync(join(FOLDER, name))), name).toBe(true);
    rmSync(folder, { recursive: true });
  });

  it('is mono at the rate of a telephone line, has its text beside it, and stays small', () => {
    const waves = readdirSync(FOLDER).filter((name) => name.endsWith('.wav'));
    const texts = JSON.parse(readFileSync(join(FOLDER, 'texts.json'), 'utf8')) as Record<string, string[]>;
    expect(
      Object.keys(texts)
        .map((name) => `${name}.wav`)
        .sort(),
    ).toEqual(waves);
    for (const name of waves) expect(read(name)).toMatchObject({ rateHz: 8000, channels: { length: 1 } });
    expect(waves.reduce((bytes, name) => bytes + readFileSync(join(FOLDER, name)).length, 0)).toBeLessThan(
      TOTAL_MAX_BYTES,
    );
  });

  it('has a demo call whose two sides are equally long and never speak at once', () => {
    const caller = read('demo-caller.wav').samples;
    const agent = read('demo-agent.wav').samples;
    expect(agent.length).toBe(caller.length);
    expect(caller.findIndex((sample, index) => sample !== 0 && agent[index] !== 0)).toBe(-1);
  });

  it('has a long speech without a pause that could end an utterance', () => {
    expect(longestBreakMs(read('long-speech.wav').samples)).toBeLessThan(BREAK_MAX_MS);
  });
});
