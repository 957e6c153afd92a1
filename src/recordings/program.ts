/**
 * Runs ffmpeg or ffprobe as a process, streams its output, and ends it after a time limit.
 */
import { type ChildProcessByStdio, type SpawnOptions, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import type { Clock } from '../foundation/clock.ts';
import { type ProgramEnd as Ended, programEnd } from '../foundation/program-end.ts';
import { unreadable } from './refusals.ts';

/**
 * Most memory of a program. ffmpeg's own option limits each allocation only, and a small file can cause a thousand of
 * them. The index of four hours of AAC and the program itself take 130 MB.
 */
const MEMORY_MAX_KB = 524_288;
/** Exit code of sh(1) for a missing program. */
const EXIT_NOT_FOUND = 127;

interface ProgramRun<T> {
  readonly command: 'ffmpeg' | 'ffprobe';
  readonly args: readonly string[];
  /** FFMPEG_TIMEOUT_MS. */
  readonly timeoutMs: number;
  readonly clock: Clock;
  /** Ends the program at once. */
  readonly signal: AbortSignal;
  /** Consumes the output. If it fails, the program is ended. */
  take(output: Readable): Promise<T>;
}

/** How a program ended. */
export interface ProgramEnd<T> {
  /** Null when it was killed. */
  readonly code: number | null;
  /** The last line of stderr: the lines before are about errors that it could ignore. */
  readonly complaint: string;
  readonly taken: T;
}

/**
 * Runs a program to its end.
 * @throws TrunklineError `audio_unreadable` when the program is missing or takes too long; what `take` throws;
 * AbortError when `signal` aborts
 */
export async function runProgram<T>({
  command,
  args,
  timeoutMs,
  clock,
  signal,
  take,
}: ProgramRun<T>): Promise<ProgramEnd<T>> {
  const child = spawnBounded(command, args, { input: 'ignore', signal });
  let isLate = false;
  const timer = clock.after(timeoutMs, () => {
    isLate = true;
    child.kill('SIGKILL');
  });
  const taking = take(child.stdout);
  taking.catch(() => child.kill('SIGKILL'));
  const [end, output] = await Promise.allSettled([programEnd(child), taking]);
  timer.cancel();
  if (isLate) throw unreadable(`${command} took longer than ${timeoutMs} ms`);
  if (isMissing(end)) throw missing(command);
  if (end.status === 'rejected') throw end.reason;
  if (output.status === 'rejected') throw output.reason;
  const { code, stderr } = end.value;
  return { code, complaint: stderr.split('\n').at(-1) ?? '', taken: output.value };
}

/** Starts a program that cannot take more than {@link MEMORY_MAX_KB}, with its output to be read.
 *
 * Node cannot limit the memory of a process, so a shell sets the limit and then becomes the program. If the system has
 * no such limit, or a lower one, that stays.
 */
export function spawnBounded(
  command: string,
  args: readonly string[],
  { input, signal }: { readonly input: 'ignore' | 'pipe'; readonly signal?: AbortSignal },
): ChildProcessByStdio<Writable, Readable, Readable> {
  const options: SpawnOptions = { stdio: [input, 'pipe', 'pipe'], killSignal: 'SIGKILL', ...(signal && { signal }) };
  const isWindows = process.platform === 'win32';
  const limited = ['-c', `ulimit -d ${MEMORY_MAX_KB} 2>/dev/null; exec "$0" "$@"`, command, ...args];
  const child = isWindows ? spawn(command, args, options) : spawn('/bin/sh', limited, options);
  return child as ChildProcessByStdio<Writable, Readable, Readable>;
}

/** Whether a program that was started so is not installed. */
export function isMissing(end: PromiseSettledResult<Ended>): boolean {
  if (end.status === 'fulfilled') return end.value.code === EXIT_NOT_FOUND;
  return (end.reason as NodeJS.ErrnoException).code === 'ENOENT';
}

function missing(command: string): Error {
  return unreadable(
    'expected WAV (PCM, float, µ-law, A-law), MP3, FLAC, Ogg Vorbis or Opus; other formats need ffmpeg and ' +
      `ffprobe on the PATH of the server, and there is no ${command}`,
  );
}
