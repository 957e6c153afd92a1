/** Decodes a stream that our decoders do not read (AAC, MP4 …) with ffmpeg, if it is installed: a process for each. */
import type { ChildProcessByStdio } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { ENGINE_RATE_HZ } from '../../../engine/contract.ts';
import { openDecoder } from '../../audio/decode.ts';
import type { Clock } from '../../foundation/clock.ts';
import { type ProgramEnd, programEnd } from '../../foundation/program-end.ts';
import type { ChannelMode } from '../decode-messages.ts';
import { ffmpegGuards } from '../ffmpeg.ts';
import { isMissing, spawnBounded } from '../program.ts';
import { unreadable } from '../refusals.ts';
import type { OnStreamSound, StreamDecoding } from './stream-decoding.ts';
import type { StreamKind } from './stream-kind.ts';

/** How much ffmpeg may read before its first sound. */
const PROBE_BYTES = 4096;

interface StreamConversionOptions {
  readonly kind: Extract<StreamKind, { ffmpeg: string }>;
  readonly channels: ChannelMode;
  readonly onSound: OnStreamSound;
  readonly clock: Clock;
  /** Longest time without progress. */
  readonly timeoutMs: number;
}

/** See above. */
export class StreamConversion implements StreamDecoding {
  readonly #options: StreamConversionOptions;
  readonly #child: ChildProcessByStdio<Writable, Readable, Readable>;
  /** Settles when the program has ended and all of its sound has been told. */
  readonly #done: Promise<void>;
  #isDone = false;
  #isLate = false;
  /** Its sound is not wanted for now: it cannot go on. */
  #isHeld = false;

  constructor(options: StreamConversionOptions) {
    this.#options = options;
    this.#child = spawnBounded('ffmpeg', argsOf(options), { input: 'pipe' });
    // Where it has ended, its end says why.
    this.#child.stdin.on('error', () => undefined);
    this.#done = this.#run().finally(() => {
      this.#isDone = true;
    });
    this.#done.catch(() => undefined);
  }

  push(bytes: Uint8Array): Promise<void> {
    // What comes after the end of the sound is nothing to it.
    if (this.#isDone) return this.#done;
    const { stdin } = this.#child;
    return this.#timed(Promise.race([new Promise<void>((taken) => stdin.write(bytes, () => taken())), this.#done]));
  }

  end(): Promise<void> {
    this.#child.stdin.end();
    return this.#timed(this.#done);
  }

  close(): void {
    if (!this.#isDone) this.#child.kill('SIGKILL');
  }

  async #run(): Promise<void> {
    const [end, sound] = await Promise.allSettled([programEnd(this.#child), this.#tell()]);
    if (this.#isLate) throw unreadable(`ffmpeg took longer than ${this.#options.timeoutMs} ms`);
    const { name } = this.#options.kind;
    if (isMissing(end))
      throw unreadable(`it is ${name}, which needs ffmpeg on the PATH of the server, and there is none`);
    if (end.status === 'rejected') throw end.reason;
    if (end.value.code !== 0) throw unreadable(`ffmpeg could not read it as ${name}${complaintOf(end.value)}`);
    if (sound.status === 'rejected') throw sound.reason;
  }

  async #tell(): Promise<void> {
    const decoder = await openDecoder('wav', Number.POSITIVE_INFINITY);
    try {
      for await (const bytes of this.#child.stdout) {
        const stretch = decoder.push(bytes as Buffer);
        if (stretch === null) continue;
        this.#isHeld = true;
        await this.#options.onSound(stretch.channels);
        this.#isHeld = false;
      }
    } finally {
      this.close();
      decoder.close();
    }
  }

  async #timed(work: Promise<void>): Promise<void> {
    const { clock, timeoutMs } = this.#options;
    const look = (): void => {
      if (this.#isHeld) timer = clock.after(timeoutMs, look);
      else {
        this.#isLate = true;
        this.close();
      }
    };
    let timer = clock.after(timeoutMs, look);
    try {
      await work;
    } finally {
      timer.cancel();
    }
  }
}

function argsOf({ kind, channels }: StreamConversionOptions): string[] {
  const input = ['-probesize', PROBE_BYTES, '-analyzeduration', 0, '-f', kind.ffmpeg];
  const mixed = channels === 'mix' ? ['-ac', 1] : [];
  return [
    ...ffmpegGuards('pipe'),
    ...['-filter_threads', 1, '-threads', 1, '-vn', '-sn', '-dn', ...input, '-i', 'pipe:0'],
    ...['-map', '0:a:0', ...mixed, '-ar', ENGINE_RATE_HZ, '-threads', 1, '-c:a', 'pcm_s16le'],
    ...['-flush_packets', 1, '-f', 'wav', 'pipe:1'],
  ].map(String);
}

function complaintOf({ stderr }: ProgramEnd): string {
  const said = stderr.split('\n').at(-1) ?? '';
  return said === '' ? '' : `: ${said.slice(0, 200)}`;
}
