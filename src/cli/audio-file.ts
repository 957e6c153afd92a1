/** Reads audio files for the commands. */
import { readFile } from 'node:fs/promises';
import { mixDown } from '../audio/mix.ts';
import { Resampler } from '../audio/resample.ts';
import { readWav } from '../audio/wav.ts';
import type { ChannelMode } from '../recordings/decode-messages.ts';

/**
 * The channels of the WAV file at `path`, at `rateHz`, whatever rate it has.
 * @throws Error that names the file when it cannot be read or is no WAV file.
 */
export async function loadAudio(path: string, rateHz: number, mode: ChannelMode): Promise<Int16Array[]> {
  const bytes = await readFile(path).catch((error: NodeJS.ErrnoException) => {
    throw new Error(`${path}: ${describeReadError(error)}`);
  });
  const { rateHz: fileRateHz, channels } = parse(path, bytes);
  return (mode === 'mix' ? [mixDown(channels)] : channels).map((samples) => resample(samples, fileRateHz, rateHz));
}

function parse(path: string, bytes: Uint8Array): ReturnType<typeof readWav> {
  try {
    return readWav(bytes);
  } catch (error) {
    throw new Error(`${path}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** Why a file could not be read, for people. */
export function describeReadError({ code, message }: NodeJS.ErrnoException): string {
  if (code === 'ENOENT') return 'no such file';
  if (code === 'EISDIR') return 'is a folder, expected a file';
  if (code === 'EACCES') return 'cannot be read: permission denied';
  return message;
}

function resample(samples: Int16Array, fromHz: number, toHz: number): Int16Array {
  if (fromHz === toHz) return samples;
  const resampler = new Resampler(fromHz, toHz);
  const body = resampler.push(samples);
  const rest = resampler.flush();
  const joined = new Int16Array(body.length + rest.length);
  joined.set(body);
  joined.set(rest, body.length);
  return joined;
}
