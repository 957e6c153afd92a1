/** Small files that become large ones, and files that name other files. Needs ffmpeg and ffprobe on the PATH. */
import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { writeWav } from '../../src/audio/wav.ts';
import { flacOfSilence } from '../helpers/flac.ts';
import { type GatewayProcess, metricValue, startGateway } from '../helpers/gateway.ts';
import { opusOfSilence } from '../helpers/ogg.ts';

const MEGABYTE = 1_048_576;
/** Where in a FLAC file stands how long it is: the lower 32 bits (RFC 9639 §8.2). */
const TOTAL_SAMPLES_AT = 22;
const QUICK_MODELS = { ASR_MODEL: 'tone', VAD_MODEL: 'tone', TTS_MODEL: 'tone' };

let folder: string;
let uploads: string;
let gateway: GatewayProcess;
let watch: NodeJS.Timeout | undefined;

beforeAll(async () => {
  assertInstalled('ffmpeg');
  assertInstalled('ffprobe');
  folder = mkdtempSync(join(tmpdir(), 'trunkline-attack-'));
  uploads = join(folder, 'uploads');
  mkdirSync(uploads);
  gateway = await startGateway({
    ...QUICK_MODELS,
    UPLOAD_DIR: uploads,
    AUDIO_MAX_SECONDS: '700',
    FFMPEG_TIMEOUT_MS: '60000',
  });
});

afterEach(() => clearInterval(watch));

afterAll(async () => {
  await gateway?.stop();
  if (folder !== undefined) rmSync(folder, { recursive: true });
});

function assertInstalled(program: string): void {
  try {
    execFileSync(program, ['-version'], { stdio: 'ignore' });
  } catch {
    throw new Error(`${program} is not on the PATH; this attack goes through it (Debian: apt-get install ffmpeg)`);
  }
}

/** What is answered to a recording. */
async function upload(bytes: Uint8Array, fields: Readonly<Record<string, string>> = {}, at = gateway) {
  const form = new FormData();
  form.append('file', new Blob([bytes as Uint8Array<ArrayBuffer>]), 'a.bin');
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  const response = await fetch(`${at.url}/v1/audio/transcriptions`, { method: 'POST', body: form });
  const body = (await response.json()) as { error?: { code: string; message: string }; text?: string };
  return { status: response.status, code: body.error?.code, message: body.error?.message ?? '', text: body.text };
}

/** What ffmpeg makes with `args`, of which the last is the name of the file. */
function made(...args: readonly string[]): Buffer {
  const path = join(folder, args.at(-1) ?? '');
  execFileSync('ffmpeg', ['-v', 'error', '-y', ...args.slice(0, -1), path], { cwd: folder });
  return readFileSync(path);
}

/** Watches how much memory the gateway takes, and the largest of its programs, and how much disk, until it is asked. */
function watchPeaks(): () => { rssBytes: number; programBytes: number; diskBytes: number } {
  const peaks = { rssBytes: 0, programBytes: 0, diskBytes: 0 };
  const look = (): void => {
    peaks.rssBytes = Math.max(peaks.rssBytes, rssBytesOf(gateway.pid));
    peaks.programBytes = Math.max(peaks.programBytes, ...gateway.enginePids().map(rssBytesOf));
    peaks.diskBytes = Math.max(peaks.diskBytes, bytesIn(uploads));
  };
  look();
  watch = setInterval(look, 20);
  return () => {
    clearInterval(watch);
    return peaks;
  };
}

/** 0 for a process that has gone. */
function rssBytesOf(pid: number): number {
  const path = `/proc/${pid}/status`;
  return existsSync(path) ? Number(/VmRSS:\s+(\d+)/.exec(readFileSync(path, 'utf8'))?.[1] ?? 0) * 1024 : 0;
}

function bytesIn(path: string): number {
  // A note of who has the folder is no recording.
  const names = readdirSync(path, { recursive: true, encoding: 'utf8' }).filter(
    (name) => !basename(name).startsWith('owner.'),
  );
  const found = names.map((name) => statSync(join(path, name), { throwIfNoEntry: false }));
  return found.reduce((sum, stat) => sum + (stat?.isFile() === true ? stat.size : 0), 0);
}

/** A box of an MP4 file (ISO 14496-12 §4.2). Numbers have 32 bits. */
function box(type: string, ...parts: readonly (number | Uint8Array)[]): Buffer {
  const body = Buffer.concat(
    parts.map((part) => (typeof part === 'number' ? Buffer.from([part >>> 24, part >>> 16, part >>> 8, part]) : part)),
  );
  const head = Buffer.alloc(8);
  head.writeUInt32BE(8 + body.length);
  head.write(type, 4, 'latin1');
  return Buffer.concat([head, body]);
}

/**
 * An MP4 file of `tracks` tracks that each claim `samples` samples of one byte: readers make an index of 24 bytes for
 * each of them.
 */
function mp4Claiming(tracks: number, samples: number): Buffer {
  const rateHz = 16_000;
  const soundEntry = box('mp4a', 0, 1, 0, 0, (1 << 16) | 16, 0, rateHz << 16);
  const tables = box(
    'stbl',
    box('stsd', 0, 1, soundEntry),
    box('stts', 0, 1, samples, 2),
    box('stsc', 0, 1, 1, samples, 1),
    box('stsz', 0, 1, samples),
    box('stco', 0, 1, 48),
  );
  const track = (number: number) => {
    const media = box(
      'mdia',
      box('mdhd', 0, 0, 0, rateHz, 0, 0),
      box('hdlr', 0, 0, Buffer.from('soun'), 0, 0, 0, 0),
      box('minf', tables),
    );
    return box('trak', box('tkhd', 0, 0, 0, number, Buffer.alloc(68)), media);
  };
  const numbers = Array.from({ length: tracks }, (_, index) => index + 1);
  const film = box('moov', box('mvhd', 0, Buffer.alloc(96)), ...numbers.map(track));
  return Buffer.concat([
    box('ftyp', Buffer.from('M4A '), 0, Buffer.from('isom')),
    film,
    box('mdat', Buffer.alloc(4096)),
  ]);
}

/** A CAF file (Apple Core Audio Format) of 8-bit PCM, which only ffmpeg reads, at a rate that fits no recording. */
function cafOf(rateHz: number, channels: number, frames: number): Buffer {
  const head = Buffer.alloc(8 + 12 + 32 + 12 + 4);
  head.write('caff', 0, 'latin1');
  head.writeUInt16BE(1, 4);
  head.write('desc', 8, 'latin1');
  head.writeBigUInt64BE(32n, 12);
  head.writeDoubleBE(rateHz, 20);
  head.write('lpcm', 28, 'latin1');
  head.writeUInt32BE(channels, 36);
  head.writeUInt32BE(1, 40);
  head.writeUInt32BE(channels, 44);
  head.writeUInt32BE(8, 48);
  head.write('data', 52, 'latin1');
  head.writeBigUInt64BE(BigInt(4 + channels * frames), 56);
  return Buffer.concat([head, Buffer.alloc(channels * frames)]);
}

describe('a small file that becomes a large one', () => {
  it('is refused by its rate before anything of it is written', async () => {
    const peaks = watchPeaks();
    const bomb = cafOf(1, 8, 14_400);
    expect(bomb.length).toBeLessThan(120_000);
    const answer = await upload(bomb);
    expect(answer).toMatchObject({ status: 400, code: 'audio_unreadable' });
    expect(answer.message).toContain('its sampling rate is 1 Hz, expected 4000 to 192000');
    expect(peaks().diskBytes).toBeLessThan(MEGABYTE);
  });

  it('is refused by its channels where a decoder of our own would have made a gigabyte of a page', async () => {
    const before = watchPeaks()().rssBytes;
    const peaks = watchPeaks();
    const answer = await upload(opusOfSilence(4, 200));
    expect(answer).toMatchObject({ status: 400, code: 'audio_unreadable' });
    expect(answer.message).toContain('it has 200 channels, expected 1 to 8');
    expect(peaks().rssBytes - before).toBeLessThan(300 * MEGABYTE);
  });

  it('is refused where its index would take gigabytes', async () => {
    const film = mp4Claiming(12, 10_000_000);
    expect(film.length).toBeLessThan(10_000);
    const peaks = watchPeaks();
    expect(await upload(film)).toMatchObject({ status: 400, code: 'audio_unreadable' });
    expect(peaks().programBytes).toBeLessThan(700 * MEGABYTE);
  });

  it('may come 32 times at once', async () => {
    const silence = flacOfSilence(600);
    expect(silence.length).toBeLessThan(2000);
    const peaks = watchPeaks();
    const answers = await Promise.all(Array.from({ length: 32 }, () => upload(silence)));
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`))).toEqual(new Set(['200 ']));
    expect(peaks().rssBytes).toBeLessThan(700 * MEGABYTE);
  });

  it('is too long by what is in it, whatever its header says', async () => {
    const flac = flacOfSilence(710);
    new DataView(flac.buffer).setUint32(TOTAL_SAMPLES_AT, 16_000);
    const film = made(
      '-f',
      'lavfi',
      '-i',
      'anullsrc=r=8000:cl=mono:d=710',
      '-c:a',
      'libopus',
      '-b:a',
      '6k',
      'long.webm',
    );
    for (const bytes of [flac, film])
      expect(await upload(bytes)).toMatchObject({ status: 413, code: 'audio_too_long' });
  });

  it('is let claim any length that it does not have', async () => {
    const wav = writeWav([new Int16Array(8000)], 8000);
    new DataView(wav.buffer).setUint32(40, 0xffff_fff0, true);
    expect(await upload(wav)).toMatchObject({ status: 200 });
  });

  it('leaves nothing on the disk', async () => {
    await expect.poll(() => bytesIn(uploads)).toBe(0);
    expect(metricValue(await gateway.metrics(), 'trunkline_upload_disk_bytes')).toBe(0);
  });
});

describe('a file that names another one', () => {
  /** A recording on the server that nobody outside may hear, and the bytes of files that lead to it. */
  function playlists(): Record<string, Buffer> {
    const secret = join(folder, 'secret.m4a');
    made('-f', 'lavfi', '-i', 'sine=d=2', 'secret.m4a');
    const texts = {
      m3u8: `#EXTM3U\n#EXT-X-TARGETDURATION:10\n#EXTINF:10,\nfile://${secret}\n#EXT-X-ENDLIST\n`,
      concat: `ffconcat version 1.0\nfile '${secret}'\n`,
      sdp: 'v=0\no=- 0 0 IN IP4 127.0.0.1\ns=x\nc=IN IP4 127.0.0.1\nt=0 0\nm=audio 49152 RTP/AVP 0\n',
      mpd:
        '<?xml version="1.0"?><MPD ' +
        `xmlns="urn:mpeg:dash:schema:mpd:2011"><Period><AdaptationSet><Representation><BaseURL>file://${secret}</BaseURL></Representation></AdaptationSet></Period></MPD>`,
    };
    return Object.fromEntries(
      Object.entries(texts).flatMap(([name, text]) => [
        [name, Buffer.from(text)],
        // Enough of what is no text behind it that it does not look like one.
        [`${name}, disguised`, Buffer.concat([Buffer.from(text), Buffer.alloc(4096, 0xfe)])],
      ]),
    );
  }

  it('does not have it read', async () => {
    const found = Object.entries(playlists());
    expect(found).toHaveLength(8);
    for (const [name, bytes] of found) {
      const answer = await upload(bytes);
      expect([name, answer.status, answer.code]).toEqual([name, 400, 'audio_unreadable']);
      expect(answer.message).not.toContain(folder);
    }
  });

  it('was understood by ffmpeg itself, had it been let', () => {
    playlists();
    writeFileSync(join(folder, 'list.txt'), "ffconcat version 1.0\nfile 'secret.m4a'\n");
    expect(made('-f', 'concat', '-i', 'list.txt', '-f', 's16le', 'leaked.pcm').length).toBeGreaterThan(MEGABYTE / 10);
  });
});

describe('recordings that are none of these', () => {
  const sine = ['-f', 'lavfi', '-i', 'sine=d=2'];
  it.each([
    ['a film', [...sine, '-f', 'lavfi', '-i', 'testsrc=d=2:s=320x240', 'film.mp4']],
    ['a film of the web', [...sine, '-f', 'lavfi', '-i', 'testsrc=d=2:s=320x240', 'film.webm']],
    [
      'a song with a picture',
      [
        ...sine,
        '-f',
        'lavfi',
        '-i',
        'testsrc=d=1:s=320x240',
        '-map',
        '0',
        '-map',
        '1',
        '-c:v',
        'png',
        '-frames:v',
        '1',
        '-disposition:v',
        'attached_pic',
        'song.m4a',
      ],
    ],
    ['ADPCM', [...sine, '-ar', '8000', '-c:a', 'adpcm_ms', 'ms.wav']],
    ['six channels', [...sine, '-ac', '6', 'six.m4a']],
    ['AIFF', [...sine, 'a.aiff']],
    ['WMA', [...sine, 'a.wma']],
    ['AAC', [...sine, 'a.aac']],
    ['Speex', [...sine, '-ar', '16000', '-ac', '1', '-c:a', 'libspeex', 'a.spx']],
  ])('are taken as before: %s', async (_what, args) => {
    const { status, message } = await upload(made(...args), { response_format: 'verbose_json' });
    expect([status, message]).toEqual([200, '']);
  });
});
