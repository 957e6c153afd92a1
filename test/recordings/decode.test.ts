import { chmodSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { writeWav } from '../../src/audio/wav.ts';
import { isDiskTrouble } from '../../src/disk.ts';
import { packagePath } from '../../src/paths.ts';
import { type DecodeRequest, decodeFile } from '../../src/recordings/decode.ts';
import { FakeClock } from '../fakes/clock.ts';
import { eventually } from '../helpers/eventually.ts';
import { flacOfSilence } from '../helpers/flac.ts';

let folder: string;
let clock: FakeClock;
const PATH = process.env['PATH'];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'trunkline-test-'));
  clock = new FakeClock();
});

afterEach(() => {
  process.env['PATH'] = PATH;
  rmSync(folder, { recursive: true });
});

function write(name: string, bytes: Uint8Array | string): string {
  const path = join(folder, name);
  writeFileSync(path, bytes);
  return path;
}

function request(path: string, changes: Partial<DecodeRequest> = {}): DecodeRequest {
  const limits = { channels: 'mix' as const, channelsMax: 2, maxSeconds: 100, ffmpegTimeoutMs: 1000 };
  return { path, workFolder: folder, clock, signal: new AbortController().signal, ...limits, ...changes };
}

/** Lengths of each channel's audio in samples, and how much came at once at most. */
async function decode(asked: DecodeRequest) {
  const totals: number[] = [];
  let most = 0;
  const shares: number[] = [];
  for await (const { channels, share } of decodeFile(asked)) {
    shares.push(share);
    channels.forEach((samples, channel) => {
      totals[channel] = (totals[channel] ?? 0) + samples.length;
      most = Math.max(most, samples.length);
    });
  }
  return { totals, most, shares };
}

/** Puts a program in front of everything else on the PATH that is called ffmpeg and does `script`. */
function installFfmpeg(script: string): void {
  const path = write('ffmpeg', `#!/bin/sh\n${script}\n`);
  chmodSync(path, 0o755);
  process.env['PATH'] = `${folder}${delimiter}${PATH}`;
}

/** Something that only ffmpeg may know. */
const FOREIGN = Uint8Array.from([0, 0, 0, 24, ...new TextEncoder().encode('ftypM4A '), 0, 0, 0, 0]);

describe('decodeFile', () => {
  it('gives a few seconds at a time at 16 kHz, whatever the rate of the file', async () => {
    const seconds = 23;
    const path = write('a', writeWav([new Int16Array(seconds * 44_100), new Int16Array(seconds * 44_100)], 44_100));
    expect(await decode(request(path))).toMatchObject({ totals: [seconds * 16_000], most: 5 * 16_000 });
    expect((await decode(request(path, { channels: 'split' }))).totals).toEqual([seconds * 16_000, seconds * 16_000]);
  });

  it('says how much of the file has been read', async () => {
    const { shares } = await decode(request(write('a', writeWav([new Int16Array(16_000 * 40)], 16_000))));
    expect(shares).toEqual(shares.toSorted((a, b) => a - b));
    expect([shares[0], shares[3], shares.at(-1)]).toEqual([expect.closeTo(1 / 8, 1), expect.closeTo(1 / 2, 1), 1]);
  });

  it('refuses ten hours of silence in a small file as soon as they are too long', async () => {
    const bomb = flacOfSilence(36_000);
    expect(bomb.length).toBeLessThan(1_000_000);
    await expect(decode(request(write('bomb', bomb)))).rejects.toMatchObject({ code: 'audio_too_long' });
  });

  it('ends at once when it is told to', async () => {
    const leaving = new AbortController();
    const stretches = decodeFile(request(write('a', writeWav([new Int16Array(16_000 * 20)], 16_000)), { signal: leaving.signal }));
    await stretches.next();
    leaving.abort(new Error('gone'));
    await expect(stretches.next()).rejects.toThrow('gone');
  });

  it('says what it wants where there is no ffmpeg', async () => {
    process.env['PATH'] = folder;
    await expect(decode(request(write('a', FOREIGN)))).rejects.toMatchObject({
      code: 'audio_unreadable',
      message: expect.stringContaining('need ffmpeg'),
    });
  });

  it('has ffmpeg read what it does not know itself, and keeps nothing of it', async () => {
    const path = write('foreign', FOREIGN);
    installFfmpeg(
      `echo "$*" > ${folder}/arguments; for last; do :; done; cp ${packagePath('fixtures', 'audio', 'short.wav')} "\${last#file:}"`,
    );
    expect((await decode(request(path))).totals).toEqual([42_900]);
    expect(readdirSync(folder).toSorted()).toEqual(['arguments', 'ffmpeg', 'foreign']);
  });

  it.each([
    ['fails', 'echo "file:$0: Invalid data" >&2; exit 1', /Invalid data/],
    ['finds no audio and says it did well', 'exit 0', /found no audio/],
  ])('says so when ffmpeg %s', async (_what, script, message) => {
    installFfmpeg(script);
    await expect(decode(request(write('foreign', FOREIGN)))).rejects.toMatchObject({
      code: 'audio_unreadable',
      message: expect.stringMatching(message),
    });
  });

  it('does not blame the file where ffmpeg has no room for what it makes', async () => {
    installFfmpeg('echo "[out#0/wav] Error writing trailer: No space left on device" >&2; exit 228');
    const failure = await decode(request(write('foreign', FOREIGN))).catch((error: unknown) => error);
    expect([isDiskTrouble(failure), String(failure)]).toEqual([true, 'Error: ffmpeg says: No space left on device']);
  });

  it('kills an ffmpeg that takes too long', async () => {
    installFfmpeg(`echo $$ > ${folder}/pid; exec sleep 60`);
    const outcome = expect(decode(request(write('foreign', FOREIGN)))).rejects.toMatchObject({
      message: expect.stringContaining('FFMPEG_TIMEOUT_MS'),
    });
    await eventually(() => expect(readdirSync(folder)).toContain('pid'));
    clock.advance(1000);
    await outcome;
  });
});
