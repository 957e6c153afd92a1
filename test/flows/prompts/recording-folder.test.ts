import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { measureLoudness, PHONE_LOUDNESS_LUFS } from '../../../src/audio/loudness.ts';
import { writeWav } from '../../../src/audio/wav.ts';
import { RecordingFolder } from '../../../src/flows/prompts/recording-folder.ts';
import { systemClock } from '../../../src/foundation/clock.ts';
import { createLog } from '../../../src/foundation/log/log.ts';
import { RecordingDecoder } from '../../../src/speech/recording-decoder.ts';
import { FakeClock } from '../../fakes/clock.ts';

const decoder = new RecordingDecoder(systemClock);
let flows = '';
let lines: string[] = [];
let opened: RecordingFolder[] = [];

beforeEach(() => {
  flows = mkdtempSync(join(tmpdir(), 'recordings-'));
  lines = [];
  opened = [];
});
afterEach(() => {
  for (const folder of opened) folder.close();
  rmSync(flows, { recursive: true, force: true });
});

function put(path: string, bytes: Uint8Array | string): void {
  mkdirSync(join(flows, 'prompts', path, '..'), { recursive: true });
  writeFileSync(join(flows, 'prompts', path), bytes);
}

/** A tone of `ms` with a second of silence around it. */
function tone(ms: number, amplitude = 2000, rateHz = 44_100): Uint8Array {
  const samples = new Int16Array(Math.round(((ms + 2000) * rateHz) / 1000));
  for (let at = 0; at < (ms * rateHz) / 1000; at++)
    samples[at + rateHz] = amplitude * Math.sin((2 * Math.PI * 500 * at) / rateHz);
  return writeWav([samples, samples], rateHz);
}

async function open(onChange?: () => Promise<void>): Promise<RecordingFolder> {
  const log = createLog('info', { write: (line) => void lines.push(line) });
  const folder = await RecordingFolder.open(flows, {
    clock: new FakeClock(),
    log,
    decoder,
    ...(onChange && { onChange }),
  });
  opened.push(folder);
  return folder;
}

function errors(): string[] {
  return lines
    .map((line) => JSON.parse(line) as { level: number; msg: string })
    .flatMap(({ level, msg }) => (level >= 50 ? [msg] : []));
}

describe('own recordings', () => {
  it('are mono at 16 kHz at most, without the silence around them, as loud as our voices', async () => {
    put('en/soft.wav', tone(800, 600));
    put('en/loud.wav', tone(800, 20_000));
    const folder = await open();
    for (const name of ['soft', 'loud']) {
      const { samples, rateHz } = folder.find(name, 'en') ?? { samples: new Int16Array(0), rateHz: 0 };
      expect(rateHz).toBe(16_000);
      expect(samples.length / 16).toBeCloseTo(60 + 800 + 120, -1);
      expect(measureLoudness(samples, rateHz)).toBeCloseTo(PHONE_LOUDNESS_LUFS, 0);
    }
    expect(
      folder.list().map(({ path, durationMs, error }) => [path, Math.round((durationMs ?? 0) / 10), error]),
    ).toEqual([
      ['en/loud.wav', 98, null],
      ['en/soft.wav', 98, null],
    ]);
  });

  it('may be MP3, FLAC and Ogg', async () => {
    for (const kind of ['mp3', 'flac', 'ogg']) {
      mkdirSync(join(flows, 'prompts', 'en'), { recursive: true });
      cpSync(`fixtures/audio/short.${kind}`, join(flows, 'prompts', 'en', `as-${kind}.${kind}`));
    }
    const folder = await open();
    expect(errors()).toEqual([]);
    for (const kind of ['mp3', 'flac', 'ogg']) expect(folder.find(`as-${kind}`, 'en')).not.toBeNull();
  });

  it('are found by language: with its region, without one, or with another', async () => {
    put('en/hello.wav', tone(300));
    put('en-GB/hello.wav', tone(500));
    put('de-AT/hallo.wav', tone(300));
    const folder = await open();
    const msOf = (name: string, language: string) => {
      const sound = folder.find(name, language);
      return sound === null ? null : Math.round(sound.samples.length / 160) * 10;
    };
    expect([msOf('hello', 'en-US'), msOf('hello', 'en'), msOf('hello', 'en-gb')]).toEqual([480, 480, 680]);
    expect(msOf('hallo', 'de-DE')).toBe(480);
    expect([msOf('hallo', 'en-US'), msOf('hello', 'de')]).toEqual([null, null]);
  });

  it('that cannot be used are named once with what is wrong, and the others stay', async () => {
    put('en/hello.wav', tone(300));
    put('en/broken.wav', 'RIFF');
    put('en/long.wav', writeWav([new Int16Array(8000 * 301)], 8000));
    put('en/two words.wav', tone(300));
    put('en/silent.wav', writeWav([new Int16Array(8000)], 8000));
    put('en/twice.wav', tone(300));
    put('en/twice.WAV', tone(300));
    put('notes/hello.wav', tone(300));
    symlinkSync('/dev/zero', join(flows, 'prompts', 'en', 'endless.wav'));
    symlinkSync('/', join(flows, 'prompts', 'en', 'root.wav'));
    const folder = await open();
    await folder.look();
    expect(errors().map((message) => message.replace(flows, ''))).toEqual([
      expect.stringContaining('/prompts/en/broken.wav: is not used: the recording cannot be used'),
      expect.stringContaining('/prompts/en/endless.wav: is not used: it is no file'),
      expect.stringContaining('/prompts/en/long.wav: is not used: the recording is longer than 300 s'),
      expect.stringContaining('/prompts/en/root.wav: is not used: it is no file'),
      expect.stringContaining('/prompts/en/silent.wav: is not used: the recording cannot be used: there is no sound'),
      expect.stringContaining('/prompts/en/twice.wav: is not used: another file has the same name'),
      expect.stringContaining('/prompts/en/two words.wav: is not used: expected a name such as welcome.wav'),
    ]);
    expect(folder.find('hello', 'en')).not.toBeNull();
  });

  it('are read again when they change, come or go', async () => {
    put('en/hello.wav', tone(300));
    let changes = 0;
    const folder = await open(async () => {
      changes++;
    });
    const first = folder.find('hello', 'en');
    await folder.look();
    expect(changes).toBe(1);
    put('en/hello.wav', tone(900));
    put('en/bye.wav', tone(300));
    await folder.look();
    expect(folder.find('hello', 'en')?.samples.length).toBeGreaterThan(first?.samples.length ?? 0);
    expect(folder.find('bye', 'en')).not.toBeNull();
    rmSync(join(flows, 'prompts'), { recursive: true });
    await folder.look();
    expect([folder.find('hello', 'en'), folder.list().length, changes]).toEqual([null, 0, 3]);
  });
});
