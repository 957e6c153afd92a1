import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { writeWav } from '../../src/audio/wav.ts';
import { loadAudio } from '../../src/cli/audio-file.ts';

const folder = mkdtempSync(join(tmpdir(), 'trunkline-'));
afterAll(() => rmSync(folder, { recursive: true }));

function write(name: string, bytes: Uint8Array | string): string {
  const path = join(folder, name);
  writeFileSync(path, bytes);
  return path;
}

describe('an audio file', () => {
  it('is mixed down to the mean of its channels, or split', async () => {
    const path = write(
      'stereo.wav',
      writeWav([Int16Array.of(100, -32_768, 32_767), Int16Array.of(300, -32_768, 32_767)], 8000),
    );
    expect(await loadAudio(path, 8000, 'mix')).toEqual([Int16Array.of(200, -32_768, 32_767)]);
    expect(await loadAudio(path, 8000, 'split')).toEqual([
      Int16Array.of(100, -32_768, 32_767),
      Int16Array.of(300, -32_768, 32_767),
    ]);
  });

  it('is brought to the wanted rate at its full length', async () => {
    const tone = Int16Array.from({ length: 44_100 }, (_, i) =>
      Math.round(8000 * Math.sin((2 * Math.PI * 440 * i) / 44_100)),
    );
    const [samples = new Int16Array(0)] = await loadAudio(write('tone.wav', writeWav([tone], 44_100)), 8000, 'mix');
    expect(samples.length).toBe(8000);
    for (let i = 100; i < 7900; i++)
      expect(Math.abs((samples[i] ?? 0) - 8000 * Math.sin((2 * Math.PI * 440 * i) / 8000))).toBeLessThan(100);
  });

  it('is refused by name when it is missing, a folder or no WAV file', async () => {
    await expect(loadAudio(join(folder, 'none.wav'), 8000, 'mix')).rejects.toThrow(/none\.wav: no such file$/);
    await expect(loadAudio(folder, 8000, 'mix')).rejects.toThrow(/is a folder, expected a file$/);
    await expect(loadAudio(write('text.wav', 'hello'), 8000, 'mix')).rejects.toThrow(/text\.wav: .*WAV/);
  });
});
