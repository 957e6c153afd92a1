/**
 * Writes log lines without ever blocking or throwing: a log that cannot be written must not end or delay a call. Lines
 * wait in memory while the reader is slow. When there are too many, further lines are lost and counted.
 */
import { constants, fstatSync, openSync, writeSync } from 'node:fs';
import { isatty } from 'node:tty';
import { type Clock, systemClock, type Timer } from '../clock.ts';

/** The most bytes that wait to be written: some thousand lines. */
const WAITING_MAX_BYTES = 1_048_576;

/** The most bytes in one write: the capacity of a Linux pipe. */
const CHUNK_MAX_BYTES = 65_536;

/** The pause after the first failed write, and the longest one. */
const RETRY_MS = 10;
const RETRY_MAX_MS = 1000;

/** How long the end of the process waits for a slow reader. */
const FLUSH_PAUSE_MS = 10;
const FLUSH_PAUSES_MAX = 50;

/** The errors so far. */
export interface LogTrouble {
  readonly linesLost: number;
  /** Failed writes by the system's code (`ENOSPC`, `EPIPE` …), without those that only had to wait (`EAGAIN`). */
  readonly errors: ReadonlyMap<string, number>;
}

interface LogOutputOptions {
  /** Writes some of the bytes and returns how many. @throws the system's error, `EAGAIN` instead of blocking */
  readonly write: (bytes: Uint8Array) => number;
  /** Called after `lines` lines were lost, before the next line is written. */
  readonly onLost: (lines: number) => void;
  readonly clock?: Clock;
  /** Blocks the process. */
  readonly pause?: (durationMs: number) => void;
}

export class LogOutput {
  readonly #options: Required<LogOutputOptions>;
  readonly #waiting: Buffer[] = [];
  #waitingBytes = 0;
  /** The rest of a partial write. It is always completed, so that no line is cut. */
  #chunk: Buffer = Buffer.alloc(0);
  #retryMs = RETRY_MS;
  #retry: Timer | null = null;
  /**
   * Lost lines not yet reported to `onLost`. Until they are, further lines are dropped too, so that there is one gap.
   */
  #untold = 0;
  #linesLost = 0;
  readonly #errors = new Map<string, number>();

  constructor(options: LogOutputOptions) {
    this.#options = { clock: systemClock, pause: holdUp, ...options };
  }

  get trouble(): LogTrouble {
    return { linesLost: this.#linesLost, errors: this.#errors };
  }

  /** Writes `line` now if possible, otherwise later. */
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
   * Writes all waiting lines, and blocks for up to half a second when the reader is slow. For the end of the process,
   * and for lines that may be its last.
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

/** The output to standard output. Open only one: the lines of two would mix. */
export function openStandardOutput(onLost: (lines: number) => void): LogOutput {
  const file = openUnblocked(process.stdout.fd);
  const output = new LogOutput({ write: (bytes) => writeSync(file, bytes), onLost });
  process.on('exit', () => output.flushSync());
  return output;
}

/**
 * Opens standard output so that writes do not block. Node makes pipes and sockets non-blocking, but a terminal blocks
 * (Ctrl-S, a dead ssh connection), and another process with the same pipe may make it blocking again. A newly opened
 * descriptor has flags of its own: open(2), proc(5) on /proc/pid/fd. Where it cannot be opened, `fd` itself is used. A
 * file has no reader to wait for.
 */
function openUnblocked(fd: number): number {
  try {
    if (!isatty(fd) && !fstatSync(fd).isFIFO()) return fd;
    return openSync(`/proc/self/fd/${fd}`, constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
  } catch {
    return fd;
  }
}
