import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { findEspeak } from '../../../engine/models/espeak.ts';
import type { Tts } from '../../../engine/models/model.ts';
import { speakWhole } from '../../../engine/models/speak-whole.ts';
import { eventually } from '../../helpers/eventually.ts';
import { isAlive } from '../../helpers/processes.ts';
import { finish } from '../speech.ts';

/** A pretend program; what it says and obeys stands in its file. */
const PATH = fileURLToPath(new URL('../../fakes/espeak-ng.mjs', import.meta.url));
const RATE_HZ = 22_050;
/** Of all voices. */
const GAIN = 0.917;

const folder = mkdtempSync(join(tmpdir(), 'trunkline-espeak-'));
const pidFile = join(folder, 'pid');

afterAll(() => rmSync(folder, { recursive: true }));

/** One that lists a voice at once and never says anything. */
const MUTE = join(folder, 'mute');
const MUTE_SCRIPT = `#!/bin/sh
case "$1" in
  --voices) printf 'Pty Language\\n 5  de  --/M  German  gmw/de\\n' ;;
  --version) echo 'eSpeak NG text-to-speech: 1.51' ;;
  *) exec sleep 60 ;;
esac
`;

async function find(path = PATH, runMaxMs = 10_000): Promise<Tts> {
  const tts = await findEspeak({ path, runMaxMs });
  if (tts === null) throw new Error('the pretend program was not found');
  return tts;
}

describe('espeak-ng as an external program', () => {
  it('has one voice for each language that the program lists, and a name with its version', async () => {
    const { name, voices } = await find();
    expect(name).toBe('espeak-ng-1.51-2');
    expect(voices).toMatchObject([
      { name: 'espeak:de', language: 'de', rateHz: RATE_HZ },
      { name: 'espeak:fr-fr', language: 'fr-FR', rateHz: RATE_HZ },
      { name: 'espeak:yue', language: 'yue', rateHz: RATE_HZ },
    ]);
  });

  it('is nothing where the program is missing', async () => {
    expect(await findEspeak({ path: join(folder, 'no-such-program') })).toBeNull();
  });

  it('gives the sound without the silence in front, and a pause behind it', async () => {
    const tts = await find();
    const { result } = await finish(speakWhole(tts, { text: 'Guten Tag.', voice: 'espeak:de', speed: 1 }));
    const pauseSamples = Math.round(0.25 * RATE_HZ);
    const onsetSamples = Math.round(0.03 * RATE_HZ);
    expect(result.rateHz).toBe(RATE_HZ);
    expect(result.samples).toHaveLength(onsetSamples + 'Guten Tag.'.length * 10 + pauseSamples);
    expect(result.samples[onsetSamples]).toBe(Math.round((1000 + 175) * GAIN));
  });

  it.each([
    [0.25, 80],
    [2, 350],
    [4, 450],
  ])('speaks at %d times the speed within the bounds of the program: %i words a minute', async (speed, wpm) => {
    const { result } = await finish(speakWhole(await find(), { text: 'Hallo', voice: 'espeak:de', speed }));
    expect(Math.max(...result.samples)).toBe(Math.round((1000 + wpm) * GAIN));
  });

  it('fails when the program does, without a word of what was said', async () => {
    const tts = await find();
    await expect(finish(speakWhole(tts, { text: 'fail', voice: 'espeak:de', speed: 1 }))).rejects.toThrow(
      /^espeak-ng failed: 1$/,
    );
  });

  it('ends the program when it takes too long', async () => {
    writeFileSync(MUTE, MUTE_SCRIPT, { mode: 0o755 });
    const tts = await find(MUTE, 1000);
    const steps = speakWhole(tts, { text: 'Guten Tag.', voice: 'espeak:de', speed: 1 });
    await expect(finish(steps)).rejects.toThrow('espeak-ng was ended because it took longer than 1000 ms');
  });

  it('ends the program when the job is forgotten', async () => {
    rmSync(pidFile, { force: true });
    const tts = await find();
    const steps = speakWhole(tts, { text: `hang ${pidFile}`, voice: 'espeak:de', speed: 1 });
    await steps.next();
    await eventually(() => expect(existsSync(pidFile) && readFileSync(pidFile, 'utf8')).toMatch(/^\d+$/));
    const pid = Number(readFileSync(pidFile, 'utf8'));
    expect(isAlive(pid)).toBe(true);
    await steps.return({ samples: new Int16Array(0), rateHz: 0 });
    await eventually(() => expect(isAlive(pid)).toBe(false));
  });
});
