/**
 * One of ffmpeg's programs, run as a process of its own: what it writes is taken as it comes, and it does not outlive
 * its time.
 */
import { type SpawnOptionsWithStdioTuple, spawn } from 'node:child_process';
import type { Readable } from 'node:stream';
import type { Clock } from '../foundation/clock.ts';
import { programEnd } from '../foundation/program-end.ts';
import { unreadable } from './refusals.ts';

/**
 * Most memory of a program: its own option limits each piece alone, and a small file can have it ask for a thousand.
 * The index of four hours of AAC and the program itself take 130 MB.
 */
const MEMORY_MAX_KB = 524_288;
/** What sh(1) exits with where there is no such program. */
const EXIT_NOT_FOUND = 127;

interface ProgramRun<T> {
  readonly command: 'ffmpeg' | 'ffprobe';
  readonly args: readonly string[];
  /** FFMPEG_TIMEOUT_MS. */
  readonly timeoutMs: number;
  readonly clock: Clock;
  /** Ends the program at once. */
  readonly signal: AbortSignal;
  /** Takes its output. Where that fails, the program is ended. */
  take(output: Readable): Promise<T>;
}

/** How a program ended. */
export interface ProgramEnd<T> {
  /** Null when it was killed. */
  readonly code: number | null;
  /** The last line of what it said of it: before it comes what it could do without. */
  readonly complaint: string;
  readonly taken: T;
}

/**
 * Runs a program to its end.
 * @throws TrunklineError `audio_unreadable` when there is no such program, or it takes too long; what `take` throws;
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
  const child = spawnBounded(command, args, { stdio: ['ignore', 'pipe', 'pipe'], signal, killSignal: 'SIGKILL' });
  let isLate = false;
  const timer = clock.after(timeoutMs, () => {
    isLate = true;
    child.kill('SIGKILL');
  });
  const taking = take(child.stdout);
  taking.catch(() => child.kill('SIGKILL'));
  const [end, output] = await Promise.allSettled([programEnd(child), taking]);
  timer.cancel();
  if (isLate) throw unreadable(`${command} took longer than ${timeoutMs} ms (FFMPEG_TIMEOUT_MS)`);
  if (end.status === 'rejected') throw isMissing(end.reason) ? missing(command) : end.reason;
  if (end.value.code === EXIT_NOT_FOUND) throw missing(command);
  if (output.status === 'rejected') throw output.reason;
  const { code, stderr } = end.value;
  return { code, complaint: stderr.split('\n').at(-1) ?? '', taken: output.value };
}

/**
 * Node itself limits no process: the shell does, and becomes the program. Where a system has no such limit, or a lower
 * one, that stays.
 */
function spawnBounded(
  command: string,
  args: readonly string[],
  options: SpawnOptionsWithStdioTuple<'ignore', 'pipe', 'pipe'>,
) {
  if (process.platform === 'win32') return spawn(command, args, options);
  return spawn('/bin/sh', ['-c', `ulimit -d ${MEMORY_MAX_KB} 2>/dev/null; exec "$0" "$@"`, command, ...args], options);
}

function isMissing(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'ENOENT';
}

function missing(command: string): Error {
  return unreadable(
    'expected WAV (PCM, float, µ-law, A-law), MP3, FLAC, Ogg Vorbis or Opus; other formats need ffmpeg and ' +
      `ffprobe on the PATH of the server, and there is no ${command}`,
  );
}
