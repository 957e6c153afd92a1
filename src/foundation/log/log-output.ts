/**
 * Where log lines go. A log that cannot be written must not end or hold up a call: no error leaves this file, and
 * nobody waits for a reader who does not read. Lines wait in memory for a while, then they are lost and counted.
 */
import { constants, fstatSync, openSync, writeSync } from 'node:fs';
import { isatty } from 'node:tty';
import { type Clock, systemClock, type Timer } from '../clock.ts';

/** Most that waits to be written: some thousand lines. */
const WAITING_MAX_BYTES = 1_048_576;

/** Most that is written at once: what a pipe of Linux holds. */
const CHUNK_MAX_BYTES = 65_536;

/** From the first failed write to the next, and at most. */
const RETRY_MS = 10;
const RETRY_MAX_MS = 1000;

/** How long the end of the process waits for a reader who does not read. */
const FLUSH_PAUSE_MS = 10;
const FLUSH_PAUSES_MAX = 50;

/** What went wrong so far. */
export interface LogTrouble {
  readonly linesLost: number;
  /** Failed writes by the system's code (`ENOSPC`, `EPIPE` …); a reader who is merely slow is none. */
  readonly errors: ReadonlyMap<string, number>;
}

interface LogOutputOptions {
  /** Writes some of the bytes and returns how many; throws the system's error, `EAGAIN` where it would have to wait. */
  readonly write: (bytes: Uint8Array) => number;
  /** Called between the last line before and the first one after a gap of `lines`. */
  readonly onLost: (lines: number) => void;
  readonly clock?: Clock;
  /** Holds up the process; by default it does so. */
  readonly pause?: (durationMs: number) => void;
}

export class LogOutput {
  readonly #options: Required<LogOutputOptions>;
  readonly #waiting: Buffer[] = [];
  #waitingBytes = 0;
  /** The rest of what was begun to be written: a line is never left in the middle. */
  #chunk: Buffer = Buffer.alloc(0);
  #retryMs = RETRY_MS;
  #retry: Timer | null = null;
  /** Lines lost that `onLost` has not been told of. While there are any, more are lost, so that a gap is one gap. */
  #untold = 0;
  #linesLost = 0;
  readonly #errors = new Map<string, number>();

  constructor(options: LogOutputOptions) {
    this.#options = { clock: systemClock, pause: holdUp, ...options };
  }

  get trouble(): LogTrouble {
    return { linesLost: this.#linesLost, errors: this.#errors };
  }

  /** Writes `line`, at once where that is possible. */
  write(line: string): void {
    const bytes = Buffer.from(line);
    if (this.#untold > 0 || this.#waitingBytes + bytes.length > WAITING_MAX_BYTES) {
      this.#untold += 1;
      this.#linesLost += 1;
      return;
    }
    this.#waiting.push(bytes);
    this.#waitingBytes += bytes.length;
    if (this.#retry === null) this.#writeWaiting();
  }

  /**
   * Writes what waits, and waits half a second for a slow reader: for the end of the process and for what may be its
   * last line.
   */
  flushSync(): void {
    this.#retry?.cancel();
    this.#retry = null;
    for (let pauses = 0; this.#tryAll() === 'slow' && pauses < FLUSH_PAUSES_MAX; pauses++)
      this.#options.pause(FLUSH_PAUSE_MS);
    if (this.#waitingBytes > 0) this.#retryLater();
  }

  #writeWaiting(): void {
    if (this.#tryAll() !== 'done') this.#retryLater();
  }

  #retryLater(): void {
    this.#retry ??= this.#options.clock.after(
      this.#retryMs,
      () => {
        this.#retry = null;
        this.#writeWaiting();
      },
      true,
    );
    this.#retryMs = Math.min(2 * this.#retryMs, RETRY_MAX_MS);
  }

  #tryAll(): 'done' | 'slow' | 'failed' {
    try {
      while (this.#waitingBytes > 0) this.#writeSome();
    } catch (error) {
      const { code = 'unknown' } = error as NodeJS.ErrnoException;
      if (code === 'EAGAIN') return 'slow';
      this.#errors.set(code, (this.#errors.get(code) ?? 0) + 1);
      return 'failed';
    }
    this.#tellLost();
    return 'done';
  }

  #writeSome(): void {
    if (this.#chunk.length === 0) this.#chunk = this.#nextChunk();
    const written = this.#options.write(this.#chunk);
    this.#chunk = this.#chunk.subarray(written);
    this.#waitingBytes -= written;
    this.#retryMs = RETRY_MS;
  }

  #nextChunk(): Buffer {
    let bytes = 0;
    let lines = 0;
    for (const line of this.#waiting) {
      if (lines > 0 && bytes + line.length > CHUNK_MAX_BYTES) break;
      bytes += line.length;
      lines++;
    }
    const [first = Buffer.alloc(0), ...others] = this.#waiting.splice(0, lines);
    return others.length === 0 ? first : Buffer.concat([first, ...others], bytes);
  }

  #tellLost(): void {
    const lines = this.#untold;
    if (lines === 0) return;
    this.#untold = 0;
    this.#options.onLost(lines);
  }
}

function holdUp(durationMs: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, durationMs);
}

/**
 * The output that writes to standard output, where it can without waiting. There is to be one of it, for lines of two
 * would mix.
 */
export function openStandardOutput(onLost: (lines: number) => void): LogOutput {
  const file = openUnblocked(process.stdout.fd);
  const output = new LogOutput({ write: (bytes) => writeSync(file, bytes), onLost });
  process.on('exit', () => output.flushSync());
  return output;
}

/**
 * Standard output in a way that no write to it waits. Node's own stream has made a pipe or socket so, but a terminal
 * waits (Ctrl-S, a dead ssh), and another process that has the same pipe may change it back. Opened anew it is ours
 * alone: open(2), proc(5) on /proc/pid/fd. Where that cannot be, `fd` itself has to do; a file never makes anybody wait
 * for a reader.
 */
function openUnblocked(fd: number): number {
  try {
    if (!isatty(fd) && !fstatSync(fd).isFIFO()) return fd;
    return openSync(`/proc/self/fd/${fd}`, constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
  } catch {
    return fd;
  }
}
