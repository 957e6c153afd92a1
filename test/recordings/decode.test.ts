import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { joinSamples } from '../../src/audio/mix.ts';
import { writeWav } from '../../src/audio/wav.ts';
import { packagePath } from '../../src/foundation/folders/paths.ts';
import { coresAvailable } from '../../src/foundation/machine/cores.ts';
import { Metrics } from '../../src/foundation/metrics.ts';
import { type DecodeRequest, FileDecoders } from '../../src/recordings/decode.ts';
import type { DecodedStretch } from '../../src/recordings/decode-messages.ts';
import { RecordingDisk } from '../../src/recordings/disk.ts';
import { FakeClock } from '../fakes/clock.ts';
import { eventually } from '../helpers/eventually.ts';
import { flacOfSilence } from '../helpers/flac.ts';

let folder: string;
let clock: FakeClock;
let decoders: FileDecoders;
/** As many threads, and ffmpegs, as there may be on this machine. */
const THREADS_MAX = Math.max(2, Math.floor(coresAvailable() / 2));
const PATH = process.env['PATH'];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'trunkline-test-'));
  clock = new FakeClock();
  decoders = open();
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

/** Decoders that may take `maxBytes` of disk. */
function open(maxBytes = 1_000_000_000): FileDecoders {
  return new FileDecoders({
    disk: new RecordingDisk({ maxBytes, metrics: new Metrics() }),
    ffmpegTimeoutMs: 1000,
    clock,
  });
}

function request(path: string, changes: Partial<DecodeRequest> = {}): DecodeRequest {
  const limits = { channels: 'mix' as const, channelsMax: 2, maxSeconds: 100 };
  return { path, workFolder: folder, tenant: 't', signal: new AbortController().signal, ...limits, ...changes };
}

/** Lengths of each channel's audio in samples, and how much came at once at most. */
async function decode(asked: DecodeRequest) {
  const totals: number[] = [];
  let most = 0;
  const shares: number[] = [];
  for await (const { channels, share } of decoders.decode(asked)) {
    shares.push(share);
    channels.forEach((samples, channel) => {
      totals[channel] = (totals[channel] ?? 0) + samples.length;
      most = Math.max(most, samples.length);
    });
  }
  return { totals, most, shares };
}

/** Puts a program in front of everything else on the PATH that is called `name` and does `script`. */
function install(name: 'ffmpeg' | 'ffprobe', script: string): void {
  const path = write(name, `#!/bin/sh\n${script}\n`);
  chmodSync(path, 0o755);
  process.env['PATH'] = `${folder}${delimiter}${PATH}`;
}

/** An ffprobe that says this of whatever it is asked. */
function installProbe({ rateHz = 44_100, channels = 2 } = {}): void {
  const stream = { sample_rate: String(rateHz), channels };
  const answer = JSON.stringify({
    programs: [],
    streams: [stream],
    format: { format_name: 'mov,mp4,m4a,3gp,3g2,mj2' },
  });
  install('ffprobe', `echo "$*" > ${folder}/asked; echo '${answer}'`);
}

/** Something that only ffmpeg may know. */
const FOREIGN = Uint8Array.from([0, 0, 0, 24, ...new TextEncoder().encode('ftypM4A '), 0, 0, 0, 0]);

describe('FileDecoders', () => {
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
    const stretches = decoders.decode(
      request(write('a', writeWav([new Int16Array(16_000 * 20)], 16_000)), { signal: leaving.signal }),
    );
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
    installProbe();
    install('ffmpeg', `echo "$*" > ${folder}/arguments; cat ${packagePath('fixtures', 'audio', 'short.wav')}`);
    expect((await decode(request(path))).totals).toEqual([42_900]);
    expect(readdirSync(folder).toSorted()).toEqual(['arguments', 'asked', 'ffmpeg', 'ffprobe', 'foreign']);
  });

  it('lets neither of the two programs read anything but that file, and bounds what comes of it', async () => {
    const path = write('foreign', FOREIGN);
    installProbe();
    install('ffmpeg', `echo "$*" > ${folder}/arguments; cat ${packagePath('fixtures', 'audio', 'short.wav')}`);
    const told = () => ['asked', 'arguments'].map((name) => readFileSync(join(folder, name), 'utf8'));
    await decode(request(path));
    for (const args of told())
      expect(args).toMatch(/-max_pixels 16777216 -protocol_whitelist file -format_whitelist \S+ .*-i file:/);
    for (const args of told()) expect(args).not.toMatch(/hls|concat|sdp|h264|mjpeg|png/);
    expect(told()[1]).toMatch(
      / -codec_whitelist \S+ -threads 1 -vn -sn -dn -f mov -i .* -t 101 -fs 3236096 -ac 1 -ar 16000 /,
    );
    await decode(request(path, { channels: 'split' }));
    expect(told()[1]).toMatch(/-fs 6468096 -ac 2 /);
  });

  it.each([
    ['rate', { rateHz: 1, channels: 8 }, 'its sampling rate is 1 Hz, expected 4000 to 192000'],
    ['number of channels', { channels: 24 }, 'it has 24 channels, expected 1 to 8'],
  ])('never starts ffmpeg for an unlikely %s', async (_what, sound, message) => {
    installProbe(sound);
    install('ffmpeg', `touch ${folder}/started`);
    await expect(decode(request(write('foreign', FOREIGN)))).rejects.toMatchObject({
      code: 'audio_unreadable',
      message: expect.stringContaining(message),
    });
    expect(readdirSync(folder)).not.toContain('started');
  });

  it('refuses more channels than can be told apart before they are decoded', async () => {
    installProbe({ channels: 6 });
    install('ffmpeg', `touch ${folder}/started`);
    await expect(decode(request(write('foreign', FOREIGN), { channels: 'split' }))).rejects.toMatchObject({
      message: 'the file has 6 channels, expected at most 2 with channels=split',
    });
    expect(readdirSync(folder)).not.toContain('started');
  });

  it('says what is missing where there is an ffmpeg and no ffprobe', async () => {
    process.env['PATH'] = folder;
    write('ffmpeg', '');
    await expect(decode(request(write('a', FOREIGN)))).rejects.toMatchObject({
      message: expect.stringContaining('there is no ffprobe'),
    });
  });

  it('ends an ffmpeg that writes more than there is disk for', async () => {
    installProbe();
    install('ffmpeg', 'exec cat /dev/zero');
    decoders = open(1_000_000);
    await expect(decode(request(write('foreign', FOREIGN)))).rejects.toMatchObject({ code: 'upload_too_large' });
    expect(readdirSync(folder).filter((name) => name.endsWith('.wav'))).toEqual([]);
  });

  it('takes the length of what ffmpeg wrote, whatever the file had said', async () => {
    installProbe();
    const wav = write('long', writeWav([new Int16Array(16_000 * 103)], 16_000));
    install('ffmpeg', `cat ${wav}`);
    await expect(decode(request(write('foreign', FOREIGN)))).rejects.toMatchObject({ code: 'audio_too_long' });
  });

  it.each([
    ['fails', 'echo "file:$0: Invalid data" >&2; exit 1', /Invalid data/],
    ['finds no audio and says it did well', 'exit 0', /found no audio/],
  ])('says so when ffmpeg %s', async (_what, script, message) => {
    installProbe();
    install('ffmpeg', script);
    await expect(decode(request(write('foreign', FOREIGN)))).rejects.toMatchObject({
      code: 'audio_unreadable',
      message: expect.stringMatching(message),
    });
  });

  it.each([
    ['fails', 'echo "Invalid data" >&2; exit 1', /Invalid data/],
    ['sees pictures alone', `echo '{"streams": [], "format": {"format_name": "avi"}}'`, /found no audio/],
    ['talks nonsense', 'echo nonsense', /could not identify it/],
    ['does not stop talking', 'exec cat /dev/zero', /too long an answer/],
  ])('says so when ffprobe %s', async (_what, script, message) => {
    install('ffprobe', script);
    await expect(decode(request(write('foreign', FOREIGN)))).rejects.toMatchObject({
      code: 'audio_unreadable',
      message: expect.stringMatching(message),
    });
  });

  it.each(['ffmpeg', 'ffprobe'] as const)('lets an %s have so much memory and no more', async (program) => {
    installProbe();
    install(program, `ulimit -d > ${folder}/memory; exit 1`);
    await expect(decode(request(write('foreign', FOREIGN)))).rejects.toMatchObject({ code: 'audio_unreadable' });
    expect(Number(readFileSync(join(folder, 'memory'), 'utf8'))).toBeLessThanOrEqual(524_288);
  });

  it.each(['ffmpeg', 'ffprobe'] as const)('kills an %s that takes too long', async (program) => {
    installProbe();
    install(program, `echo $$ > ${folder}/pid; exec sleep 60`);
    const outcome = expect(decode(request(write('foreign', FOREIGN)))).rejects.toMatchObject({
      message: expect.stringContaining('took longer than'),
    });
    await eventually(() => expect(readdirSync(folder)).toContain('pid'));
    clock.advance(1000);
    await outcome;
  });
});

describe('files that are decoded at once', () => {
  const next = async (stretches: AsyncGenerator<DecodedStretch>) => (await stretches.next()).value?.channels[0]?.length;

  it('share a few threads, which end when there has been no file for a while', async () => {
    const path = write('a', flacOfSilence(60));
    const all = Array.from({ length: 4 * THREADS_MAX }, () => decoders.decode(request(path)));
    await Promise.all(all.map(next));
    expect(decoders.threads).toBe(THREADS_MAX);
    await Promise.all(all.map((stretches) => stretches.return()));
    await clock.run(10_000);
    expect(decoders.threads).toBe(0);
  });

  it('follow one another in one thread', async () => {
    const path = write('a', writeWav([new Int16Array(16_000)], 16_000));
    const started: boolean[] = [];
    for (let files = 0; files < 3; files++) {
      started.push(decoders.threads === 0);
      await decode(request(path));
    }
    expect(started).toEqual([true, false, false]);
    expect(decoders.threads).toBe(1);
  });

  it('go on where they were when another one has lost them their thread', async () => {
    const samples = Int16Array.from({ length: 16_000 * 14 }, (_, i) => i % 30_000);
    const path = write('a', writeWav([samples], 16_000));
    const hanging = Array.from({ length: THREADS_MAX }, () => decoders.decode(request(path)));
    for (const stretches of hanging) await next(stretches);
    const innocent = decoders.decode(request(path));
    await next(innocent);
    const lost = hanging.map((stretches) => expect(next(stretches)).rejects.toThrow('the decoder failed'));
    const rest: Int16Array[] = [];
    const going = (async () => {
      for await (const { channels } of innocent) rest.push(...channels);
    })();
    clock.advance(60_000);
    await Promise.all([...lost, going]);
    expect(joinSamples(rest)).toEqual(samples.slice(5 * 16_000));
  });

  it('give way to each other at ffmpeg', async () => {
    installProbe();
    install(
      'ffmpeg',
      `echo $$ > ${folder}/$$.pid; while [ ! -e ${folder}/go ]; do sleep 0.02; done; cat ` +
        `${packagePath('fixtures', 'audio', 'short.wav')}`,
    );
    const started = () => readdirSync(folder).filter((name) => name.endsWith('.pid')).length;
    const leaving = new AbortController();
    const path = write('foreign', FOREIGN);
    const first = Array.from({ length: THREADS_MAX }, () => decode(request(path)));
    await eventually(() => expect(started()).toBe(THREADS_MAX));
    const gone = expect(decode(request(path, { signal: leaving.signal }))).rejects.toThrow('gone');
    const last = decode(request(path));
    leaving.abort(new Error('gone'));
    await gone;
    expect(started()).toBe(THREADS_MAX);
    write('go', '');
    await Promise.all([...first, last]);
    expect(started()).toBe(THREADS_MAX + 1);
  });
});
