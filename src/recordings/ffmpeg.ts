/** What no decoder in here knows (MP4, WebM, AMR …) goes through ffmpeg where that is installed, as a program of its own. */
import { type ChildProcess, spawn } from 'node:child_process';
import { stat } from 'node:fs/promises';
import { ENGINE_RATE_HZ } from '../../engine/contract.ts';
import type { Clock } from '../clock.ts';
import { DiskError } from '../disk.ts';
import { TrunklineError } from '../errors.ts';

/** Containers and codecs that a recording may come in. No playlists and no scripts of inputs: those would make ffmpeg read other files. */
const FORMATS =
  'aac,ac3,aiff,amr,amrnb,amrwb,ape,asf,au,avi,caf,dts,eac3,flac,flv,gsm,ircam,matroska,webm,mov,mp4,m4a,3gp,3g2,mj2,mp3,mpeg,mpegts,ogg,tta,voc,w64,wav,wv';

/** What ffmpeg says where the disk has no room for what it writes. strerror(3) */
const NO_ROOM = /No space left on device|Disk quota exceeded/;

/** Longest piece of ffmpeg's own words in an error. */
const COMPLAINT_MAX_CHARS = 200;

interface Conversion {
  readonly from: string;
  /** Where the WAV file is written. */
  readonly to: string;
  /** Longer audio is cut there. */
  readonly maxSeconds: number;
  readonly timeoutMs: number;
  readonly clock: Clock;
  /** Ends the program at once. */
  readonly signal: AbortSignal;
}

/**
 * Writes the first audio track of `from` as 16 kHz WAV to `to`. Resolves when the file is complete.
 * @throws TrunklineError `audio_unreadable` when ffmpeg is missing, finds no audio or takes longer than `timeoutMs`; DiskError when there is no room for the file
 */
export async function convertWithFfmpeg({ from, to, maxSeconds, timeoutMs, clock, signal }: Conversion): Promise<void> {
  const input = ['-protocol_whitelist', 'file', '-format_whitelist', FORMATS, '-i', `file:${from}`];
  const output = [
    '-map',
    '0:a:0',
    '-t',
    String(maxSeconds + 1),
    '-ar',
    String(ENGINE_RATE_HZ),
    '-c:a',
    'pcm_s16le',
    '-f',
    'wav',
    `file:${to}`,
  ];
  const child = spawn('ffmpeg', ['-nostdin', '-hide_banner', '-v', 'error', '-y', ...input, ...output], {
    stdio: ['ignore', 'ignore', 'pipe'],
    signal,
    killSignal: 'SIGKILL',
  });
  let isLate = false;
  const timer = clock.after(timeoutMs, () => {
    isLate = true;
    child.kill('SIGKILL');
  });
  try {
    const { code, complaint } = await outcomeOf(child);
    if (isLate) throw unreadable(`ffmpeg took longer than ${timeoutMs} ms (FFMPEG_TIMEOUT_MS)`);
    const noRoom = NO_ROOM.exec(complaint)?.[0];
    if (noRoom !== undefined) throw new DiskError(`ffmpeg says: ${noRoom}`);
    const size = await sizeOf(to);
    if (code === 0 && size === 0) throw unreadable('ffmpeg found no audio in it');
    if (code !== 0) throw unreadable(`ffmpeg could not read it${complaint === '' ? '' : `: ${withoutPath(complaint, from)}`}`);
  } finally {
    timer.cancel();
  }
}

/** 0 where there is no such file. */
async function sizeOf(path: string): Promise<number> {
  return (await stat(path).catch(() => null))?.size ?? 0;
}

function outcomeOf(child: ChildProcess): Promise<{ code: number | null; complaint: string }> {
  return new Promise((resolve, reject) => {
    let complaint = '';
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      complaint = (complaint + text).slice(0, COMPLAINT_MAX_CHARS);
    });
    child.once('error', (error: NodeJS.ErrnoException) => reject(error.code === 'ENOENT' ? withoutFfmpeg() : error));
    child.once('close', (code) => resolve({ code, complaint: complaint.trim() }));
  });
}

function withoutPath(complaint: string, path: string): string {
  return complaint.replaceAll(`file:${path}`, 'the file').replaceAll(path, 'the file').replace(/\s+/g, ' ');
}

function withoutFfmpeg(): TrunklineError {
  return unreadable(
    'expected WAV (PCM, float, µ-law, A-law), MP3, FLAC, Ogg Vorbis or Opus; other formats need ffmpeg on the PATH of the server, and there is none',
  );
}

function unreadable(why: string): TrunklineError {
  return new TrunklineError('audio_unreadable', `the file cannot be decoded: ${why}`);
}
