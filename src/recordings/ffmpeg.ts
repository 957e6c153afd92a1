/**
 * Converts formats without a built-in decoder (MP4, WebM, AMR …) with ffmpeg, if it is installed, in a process of its
 * own. ffprobe checks the file first, so that a file that is hardly a recording does not reach ffmpeg's decoders.
 */
import { createWriteStream } from 'node:fs';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { z } from 'zod';
import { ENGINE_RATE_HZ } from '../../engine/contract.ts';
import { refusalOf } from '../audio/limits.ts';
import type { Clock } from '../foundation/clock.ts';
import type { DecodeTask } from './decode-messages.ts';
import type { RecordingDisk } from './disk.ts';
import { type ProgramEnd, runProgram } from './program.ts';
import { tooLong, tooManyChannels, unreadable } from './refusals.ts';

/**
 * Accepted containers. Playlists and scripts of inputs are not accepted: they would make ffmpeg read other files.
 */
const FORMATS =
  'aac,ac3,aiff,amr,amrnb,amrwb,ape,asf,au,avi,caf,dts,eac3,flac,flv,gsm,ircam,matroska,webm,mov,mp4,m4a,3gp,3g2,mj2,mp3,mpeg,mpegts,ogg,tta,voc,w64,wav,wv';

/**
 * Decoders that ffmpeg may use, only for audio. ffprobe opens decoders for all tracks and would fail at the first other
 * one.
 */
const CODECS = [
  'aac,aac_latm,libfdk_aac,ac3,eac3,dca,truehd,mlp,alac,als,ape,flac,tta,wavpack,wmav1,wmav2,wmapro,wmalossless,wmavoice',
  'mp1,mp1float,mp2,mp2float,mp3,mp3float,mp3adu,mp3adufloat,mp3on4,mp3on4float,opus,libopus,vorbis,libvorbis,speex,libspeex',
  'amrnb,amrwb,libopencore_amrnb,libopencore_amrwb,gsm,gsm_ms,libgsm,libgsm_ms,ilbc,libilbc,evrc,qcelp,qdm2,mace3,mace6,nellymoser,truespeech',
  'g722,g723_1,g726,g726le,g729,adpcm_ct,adpcm_ima_oki,adpcm_ima_qt,adpcm_ima_wav,adpcm_ms,adpcm_sbpro_2,adpcm_sbpro_3,adpcm_sbpro_4,adpcm_swf,adpcm_yamaha',
  'pcm_alaw,pcm_mulaw,pcm_u8,pcm_s8,pcm_s16le,pcm_s16be,pcm_u16le,pcm_u16be,pcm_s24le,pcm_s24be,pcm_u24le,pcm_u24be,pcm_s32le,pcm_s32be,pcm_u32le,pcm_u32be',
  'pcm_f32le,pcm_f32be,pcm_f64le,pcm_f64be,pcm_s16le_planar,pcm_s16be_planar,pcm_bluray,pcm_dvd,s302m',
].join(',');

/** Largest allocation of ffmpeg: an index of four hours of AAC has some 50 MB. */
const ALLOC_MAX_BYTES = 268_435_456;
/** Largest video picture that ffprobe decodes to identify the format. */
const PIXELS_MAX = 16_777_216;
/** Longest quote of ffmpeg's message in an error. */
const COMPLAINT_MAX_CHARS = 200;
/** Longest answer of ffprobe that is read. */
const PROBE_MAX_BYTES = 65_536;
const WAV_HEAD_MAX_BYTES = 4096;
const SAMPLE_BYTES = 2;

interface Conversion extends Pick<DecodeTask, 'channels' | 'channelsMax' | 'maxSeconds'> {
  readonly from: string;
  /** Path of the WAV file. */
  readonly to: string;
  readonly disk: RecordingDisk;
  readonly timeoutMs: number;
  readonly clock: Clock;
  /** Ends the programs at once. */
  readonly signal: AbortSignal;
}

/**
 * Writes the first audio track of `from` as 16 kHz WAV to `to`, with one channel unless `channels` is `split`.
 * Resolves when the file is complete.
 * @throws TrunklineError `audio_unreadable` when ffmpeg or ffprobe is missing, finds no accepted audio, or takes
 * longer than `timeoutMs`; `audio_too_long`; `upload_disk_full`
 */
export async function convertWithFfmpeg(conversion: Conversion): Promise<void> {
  const { from, to, disk, channels, channelsMax, maxSeconds } = conversion;
  const sound = await probe(conversion);
  if (channels === 'split' && sound.channels > channelsMax) throw tooManyChannels(sound.channels, channelsMax);
  const keptChannels = channels === 'split' ? sound.channels : 1;
  const secondBytes = ENGINE_RATE_HZ * SAMPLE_BYTES * keptChannels;
  // One second more than allowed, so that a too long file can be detected.
  const output = ['-map', '0:a:0', '-t', maxSeconds + 1, '-fs', WAV_HEAD_MAX_BYTES + (maxSeconds + 1) * secondBytes];
  const format = [
    '-ac',
    keptChannels,
    '-ar',
    ENGINE_RATE_HZ,
    '-threads',
    1,
    '-c:a',
    'pcm_s16le',
    '-f',
    'wav',
    'pipe:1',
  ];
  const input = ['-threads', 1, '-vn', '-sn', '-dn', '-f', sound.format, '-i', `file:${from}`];
  const args = ['-filter_threads', 1, ...ffmpegGuards('file'), ...input, ...output, ...format].map(String);
  let bytes = 0;
  const end = await runProgram({
    ...conversion,
    command: 'ffmpeg',
    args,
    take: async (written) => {
      written.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
      });
      await pipeline(written, disk.meter(to), createWriteStream(to));
    },
  });
  if (end.code !== 0) throw unreadable(`ffmpeg could not read it${complaintOf(end, from)}`);
  if (bytes === 0) throw unreadable('ffmpeg found no audio in it');
  if (bytes > WAV_HEAD_MAX_BYTES + maxSeconds * secondBytes) throw tooLong(maxSeconds);
}

/** Options of both programs: accepted formats and memory limits, and whether they read a file or their input. */
function guards(protocol: 'file' | 'pipe'): readonly (string | number)[] {
  return [
    ...['-hide_banner', '-v', 'error', '-max_alloc', ALLOC_MAX_BYTES, '-max_pixels', PIXELS_MAX],
    ...['-protocol_whitelist', protocol, '-format_whitelist', FORMATS],
  ];
}

/** The same of ffmpeg, which asks nothing and uses no decoder but those for sound. */
export function ffmpegGuards(protocol: 'file' | 'pipe'): readonly (string | number)[] {
  return ['-nostdin', ...guards(protocol), '-codec_whitelist', CODECS];
}

/** Output of ffprobe's writer `json`. */
const probed = z.object({
  streams: z
    .array(z.object({ sample_rate: z.coerce.number().default(0), channels: z.number().default(0) }))
    .default([]),
  format: z.object({ format_name: z.string().regex(/^[\w,]+$/) }),
});

interface Sound {
  readonly channels: number;
  /** ffmpeg's name of the container. */
  readonly format: string;
}

/**
 * Reads the first audio track with ffprobe. @throws TrunklineError `audio_unreadable` when there is none, or its format
 * is not accepted
 */
async function probe(conversion: Conversion): Promise<Sound> {
  const asked = [
    '-select_streams',
    'a:0',
    '-show_entries',
    'stream=sample_rate,channels:format=format_name',
    '-of',
    'json',
  ];
  const args = [...guards('file').map(String), ...asked, '-i', `file:${conversion.from}`];
  const end = await runProgram({ ...conversion, command: 'ffprobe', args, take: readText });
  if (end.code !== 0) throw unreadable(`ffmpeg could not read it${complaintOf(end, conversion.from)}`);
  const { streams, format } = parseProbe(end.taken);
  const [stream] = streams;
  if (stream === undefined) throw unreadable('ffmpeg found no audio in it');
  const refusal = refusalOf(stream.sample_rate, stream.channels);
  if (refusal !== null) throw unreadable(refusal);
  return { channels: stream.channels, format: format.format_name.split(',')[0] ?? '' };
}

function parseProbe(text: string): z.infer<typeof probed> {
  try {
    return probed.parse(JSON.parse(text));
  } catch {
    throw unreadable('ffprobe could not identify it');
  }
}

async function readText(output: Readable): Promise<string> {
  let text = '';
  for await (const chunk of output.setEncoding('utf8')) {
    text += String(chunk);
    if (text.length > PROBE_MAX_BYTES) throw unreadable('ffprobe gave too long an answer');
  }
  return text;
}

/** A program's error message, without the paths of our files. */
function complaintOf({ complaint }: ProgramEnd<unknown>, path: string): string {
  const said = complaint
    .replaceAll(`file:${path}`, 'the file')
    .replaceAll(path, 'the file')
    .slice(0, COMPLAINT_MAX_CHARS);
  return said === '' ? '' : `: ${said}`;
}
