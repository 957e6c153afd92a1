/** The program ffmpeg, where it is installed: it encodes other formats. One process for each sound, through pipes. */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { pipeline } from 'node:stream/promises';
import type { Clock } from '../../foundation/clock.ts';
import { programEnd } from '../../foundation/program-end.ts';

const COMMON_ARGS = ['-hide_banner', '-nostdin', '-loglevel', 'error'];
/** A process that has all the sound made so far and writes nothing for this long is killed. */
const STALL_MS = 10_000;
const WATCH_MS = 1000;

interface FfmpegEncoderOptions {
  /** Its path, or its name on PATH. */
  readonly command: string;
  readonly clock: Clock;
}

/** How a sound is encoded. */
interface Encoding {
  readonly rateHz: number;
  /** Ffmpeg's output options, without the output itself. */
  readonly output: readonly string[];
}

export class FfmpegEncoder {
  readonly #options: FfmpegEncoderOptions;
  #encoders: Promise<ReadonlySet<string>> | null = null;

  constructor(options: FfmpegEncoderOptions) {
    this.#options = options;
  }

  /** The names of its encoders, listed once; none where it is not installed. */
  encoders(): Promise<ReadonlySet<string>> {
    this.#encoders ??= listEncoders(this.#options.command);
    return this.#encoders;
  }

  /**
   * Encodes a sound of 16-bit little-endian mono samples, as it comes. Fails with what the sound fails with, or when
   * ffmpeg does; the process is gone when the generator ends, and at once when `signal` aborts.
   */
  async *encode(
    sound: AsyncIterable<Uint8Array>,
    encoding: Encoding,
    signal: AbortSignal,
  ): AsyncGenerator<Uint8Array, void, undefined> {
    const chunks = sound[Symbol.asyncIterator]();
    // A sound that fails at once or is empty costs no process, and the client gets no header of a file without content.
    const first = await chunks.next();
    if (first.done === true || signal.aborted) return;
    const input = ['-f', 's16le', '-ar', String(encoding.rateHz), '-ac', '1', '-i', 'pipe:0'];
    const child = spawn(this.#options.command, [
      ...COMMON_ARGS,
      ...input,
      ...encoding.output,
      '-flush_packets',
      '1',
      'pipe:1',
    ]);
    const run = new FfmpegRun(child, this.#options.clock);
    const kill = (): void => run.kill();
    signal.addEventListener('abort', kill, { once: true });
    try {
      yield* run.encode(withFirst(first.value, chunks));
    } finally {
      signal.removeEventListener('abort', kill);
      run.kill();
    }
  }
}

async function* withFirst(
  first: Uint8Array,
  rest: AsyncIterator<Uint8Array>,
): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    yield first;
    for (let next = await rest.next(); next.done !== true; next = await rest.next()) yield next.value;
  } finally {
    await rest.return?.();
  }
}

/** One process. */
class FfmpegRun {
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #clock: Clock;
  /** Why the process failed; null when it did not. */
  readonly #ended: Promise<string | null>;
  /** Whether the process waits for sound that is still being made. */
  #starved = false;
  /** When its next output was asked for; null = not asked for. */
  #awaitedSinceMs: number | null = null;

  constructor(child: ChildProcessWithoutNullStreams, clock: Clock) {
    this.#child = child;
    this.#clock = clock;
    this.#ended = programEnd(child).then(
      ({ code, killedBy, stderr }) => (code === 0 ? null : `ffmpeg ended with ${code ?? killedBy}: ${stderr}`),
      (error: Error) => `ffmpeg could not be started: ${error.message}`,
    );
  }

  kill(): void {
    this.#child.kill('SIGKILL');
  }

  async *encode(sound: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
    let cause: unknown = null;
    const fed = pipeline(this.#watched(sound), this.#child.stdin).catch((error: unknown) => {
      cause = error;
    });
    const watch = this.#clock.every(WATCH_MS, () => this.#endIfStalled(), true);
    try {
      this.#awaitedSinceMs = this.#clock.nowMs();
      for await (const chunk of this.#child.stdout as AsyncIterable<Uint8Array>) {
        this.#awaitedSinceMs = null;
        yield chunk;
        this.#awaitedSinceMs = this.#clock.nowMs();
      }
      const failure = await this.#ended;
      await fed;
      if (cause !== null && !isBrokenPipe(cause)) throw cause;
      if (failure !== null) throw new Error(failure);
    } finally {
      watch.cancel();
    }
  }

  async *#watched(sound: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
    this.#starved = true;
    for await (const chunk of sound) {
      this.#starved = false;
      if (this.#awaitedSinceMs !== null) this.#awaitedSinceMs = this.#clock.nowMs();
      yield chunk;
      this.#starved = true;
    }
    this.#starved = false;
    if (this.#awaitedSinceMs !== null) this.#awaitedSinceMs = this.#clock.nowMs();
  }

  #endIfStalled(): void {
    if (this.#starved || this.#awaitedSinceMs === null) return;
    if (this.#clock.nowMs() - this.#awaitedSinceMs > STALL_MS) this.kill();
  }
}

/** The process ended before it had read everything; its exit says why. */
function isBrokenPipe(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === 'EPIPE' || code === 'ECONNRESET' || code === 'ERR_STREAM_PREMATURE_CLOSE';
}

/** Lines such as ` A....D flac                 FLAC (Free Lossless Audio Codec)`. */
const ENCODER_LINE = /^ A\S{5} (\S+)/gm;

function listEncoders(command: string): Promise<ReadonlySet<string>> {
  return new Promise((resolve) => {
    const child = spawn(command, ['-hide_banner', '-encoders'], { stdio: ['ignore', 'pipe', 'ignore'] });
    let list = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      list += text;
    });
    child.once('error', () => resolve(new Set()));
    child.once('close', () => resolve(new Set([...list.matchAll(ENCODER_LINE)].map(([, name = '']) => name))));
  });
}
