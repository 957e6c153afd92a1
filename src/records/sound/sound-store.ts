/**
 * The sound of calls, in files under DATA_DIR/sound: takes it from live calls, finishes after a crash what a dying
 * process left, and finds, reads and removes it. Nothing of it runs on the main thread but the gathering.
 */
import { mkdir, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { callOfMessage, MESSAGES_MAX, messageSoundId } from '../../calls/sound/message-recording.ts';
import type { SoundSink, SoundTap, TappedCall } from '../../calls/sound/sound-tap.ts';
import { type Clock, sleep } from '../../foundation/clock.ts';
import { TrunklineError } from '../../foundation/errors.ts';
import { DiskError } from '../../foundation/folders/disk.ts';
import { packagePath } from '../../foundation/folders/paths.ts';
import type { Log } from '../../foundation/log/log.ts';
import type { Metrics } from '../../foundation/metrics.ts';
import { msToSamples } from '../../foundation/units.ts';
import { WorkerPool } from '../../foundation/workers/worker-pool.ts';
import { FileSink } from './file-sink.ts';
import { findOldest, type OldestSound } from './oldest-sound.ts';
import type { SoundKey } from './sound-key.ts';
import type { ReadingAnswer, ReadingTask } from './sound-messages.ts';
import {
  dayFolder,
  isSoundName,
  type SoundOwner,
  soundName,
  UNFINISHED_FOLDER,
  unfinishedPath,
} from './sound-paths.ts';
import { SoundThread } from './sound-thread.ts';
import type { FinishedSound } from './sound-writer.ts';
import { openWav, type WavStream } from './wav-stream.ts';

const PRIVATE_FOLDER_MODE = 0o700;
const READING_THREADS_MAX = 2;
const READING_HEAP_MB = 64;
/** Sounds that are read at once: each has a file open. */
const READS_MAX = 200;
/** How often a file whose end could not be written is tried again. */
const FINISH_RETRY_MS = 10_000;
/** Then the next start of the server does it. */
const FINISH_TRIES_MAX = 30;

interface SoundStoreOptions {
  /** DATA_DIR/sound. */
  readonly folder: string;
  /** RECORD_KEY; null = sound is not encrypted. */
  readonly key: SoundKey | null;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  /** Bytes of the sound of ended calls. */
  readonly keptBytes: number;
  /** Keeps the size of a call's sound, or of its messages, in its row, when that is there; null = there is none. */
  noteBytes(call: SoundOwner, bytes: number | null, of: 'call' | 'messages'): Promise<void>;
}

/** What of a sound is wanted. */
export type SoundPart = Pick<ReadingTask, 'untilMs' | 'wanted'>;

/** A file that is being written. */
interface Writing {
  readonly file: number;
  readonly owner: SoundOwner;
  bytes: number;
  readonly sink: FileSink;
}

export class SoundStore implements SoundTap {
  readonly #options: SoundStoreOptions;
  readonly #thread: SoundThread;
  readonly #pool: WorkerPool<ReadingTask, ReadingAnswer>;
  readonly #writing = new Map<string, Writing>();
  readonly #ending = new Set<Promise<void>>();
  readonly #noting = new Set<Promise<void>>();
  #nextFile = 1;
  #reads = 0;
  #keptBytes: number;
  #isClosing = false;

  /** Opens the folder, which this process owns, and makes it if it is not there. @throws the system's error */
  static async open(options: SoundStoreOptions): Promise<SoundStore> {
    await mkdir(join(options.folder, UNFINISHED_FOLDER), { recursive: true, mode: PRIVATE_FOLDER_MODE });
    return new SoundStore(options);
  }

  private constructor(options: SoundStoreOptions) {
    const { folder, key, clock } = options;
    this.#options = options;
    this.#keptBytes = options.keptBytes;
    this.#thread = new SoundThread({ folder, key });
    const program = packagePath('dist', 'src', 'records', 'sound', 'reading-worker.js');
    this.#pool = new WorkerPool({ program, threadsMax: READING_THREADS_MAX, heapMb: READING_HEAP_MB, clock });
  }

  /** Bytes of all sound, of live calls too. */
  get bytes(): number {
    let bytes = this.#keptBytes;
    for (const writing of this.#writing.values()) bytes += writing.bytes;
    return bytes;
  }

  /** RECORD_KEY is set. */
  get isEncrypted(): boolean {
    return this.#options.key !== null;
  }

  open(call: TappedCall): SoundSink {
    const { clock, metrics } = this.#options;
    const owner = { callId: call.callId, startedMs: call.startedAt.getTime() };
    const file = this.#nextFile++;
    const sink = new FileSink({
      call,
      file,
      clock,
      run: (task) => this.#thread.run(task),
      // Of what a crash leaves it is known that there is sound.
      onCreated: () => this.#note(owner, 0),
      onWritten: (bytes) => {
        metrics.records.sound.bytes.inc(bytes - writing.bytes);
        writing.bytes = bytes;
      },
      onTrouble: (reason) => metrics.records.sound.stopped.inc({ reason }),
    });
    const writing: Writing = { file, owner, bytes: 0, sink };
    this.#writing.set(soundName(owner), writing);
    metrics.records.sound.calls.set(this.#writing.size);
    return {
      add: (channel, samples, atMs) => sink.add(channel, samples, atMs),
      end: (durationMs) => this.#end(writing, durationMs),
    };
  }

  /**
   * The sound of a call as a WAV file of two channels, or the bytes of it that are wanted. Of a live call, what there
   * is so far.
   * @throws TrunklineError `sound_not_found`, `sound_locked`, `sound_damaged`, `too_many_requests`
   */
  async read(owner: SoundOwner, part: SoundPart, signal: AbortSignal): Promise<WavStream> {
    const found = await this.#locate(owner);
    if (found === null) throw new TrunklineError('sound_not_found', 'the sound of this call was not recorded');
    if (this.#reads >= READS_MAX)
      throw new TrunklineError('too_many_requests', `${READS_MAX} sounds of calls are being read, the most allowed`);
    this.#reads++;
    const onEnd = (): void => {
      this.#reads--;
    };
    return openWav(this.#pool, { ...found, ...part, key: this.#options.key }, { signal, onEnd });
  }

  /** The oldest sound of a call that is over; null = there is none. */
  oldest(): Promise<OldestSound | null> {
    return findOldest(this.#options.folder);
  }

  /** Removes a call's sound, also while it is recorded, and its messages. Returns the bytes that were freed. */
  async remove(owner: SoundOwner): Promise<number> {
    let bytes = await this.#remove(owner);
    if (callOfMessage(owner.callId) !== null) return bytes;
    for (const of of messagesOf(owner)) {
      if (this.#writing.has(soundName(of)) || (await this.#locate(of)) !== null) bytes += await this.#remove(of);
    }
    return bytes;
  }

  async #remove(owner: SoundOwner): Promise<number> {
    const name = soundName(owner);
    const writing = this.#writing.get(name);
    if (writing !== undefined) {
      this.#forget(writing);
      writing.sink.abandon();
      await this.#thread.run({ type: 'discard', file: writing.file });
    }
    const { folder } = this.#options;
    const kept = await this.#kept(owner);
    this.#keptBytes -= kept?.bytes ?? 0;
    if (kept !== null) await rm(kept.path, { force: true });
    await rm(unfinishedPath(folder, name), { force: true });
    await this.#noteNow(owner, null);
    return (kept?.bytes ?? 0) + (writing?.bytes ?? 0);
  }

  /** Adds the sound of earlier calls, which could not be counted at the start. */
  countKept(bytes: number): void {
    this.#keptBytes += bytes;
  }

  /** Finishes what a dying process left. To be called once, before calls come. */
  async recover(): Promise<void> {
    const { folder, log } = this.#options;
    const names = (await readdir(join(folder, UNFINISHED_FOLDER))).filter(isSoundName);
    for (const name of names) {
      try {
        const finished = (await this.#thread.run({ type: 'recover', name })) as FinishedSound;
        this.#keptBytes += finished.bytes;
        await this.#noteNow(finished, finished.bytes || null);
      } catch (error) {
        log.warn({ err: error }, 'the sound of a call that a crash cut off could not be finished');
      }
    }
    if (names.length > 0) log.info({ calls: names.length }, 'finished the sound of calls that a crash cut off');
  }

  /** Waits until all sound of ended calls is on disk and its size noted, and ends the threads. */
  async close(): Promise<void> {
    this.#isClosing = true;
    for (const writing of [...this.#writing.values()]) if (!writing.sink.isOver) this.#end(writing, 0);
    await Promise.all(this.#ending);
    await Promise.all(this.#noting);
    this.#pool.close();
    await this.#thread.close();
  }

  #end(writing: Writing, durationMs: number): void {
    const ending = this.#finish(writing, durationMs).finally(() => {
      this.#ending.delete(ending);
      this.#forget(writing);
    });
    this.#ending.add(ending);
  }

  async #finish({ file, owner, sink }: Writing, durationMs: number): Promise<void> {
    const { clock, log } = this.#options;
    sink.end();
    const totalSamples = msToSamples(durationMs, sink.rateHz);
    for (let tries = 1; ; tries++) {
      try {
        const finished = (await this.#thread.run({ type: 'finish', file, totalSamples })) as FinishedSound | null;
        if (finished === null) return;
        this.#keptBytes += finished.bytes;
        this.#note(owner, finished.bytes);
        return;
      } catch (error) {
        log.warn({ err: error }, 'the sound of a call has no end on disk yet');
        if (this.#isClosing || !(error instanceof DiskError) || tries === FINISH_TRIES_MAX) return;
        await sleep(clock, FINISH_RETRY_MS);
      }
    }
  }

  #note(owner: SoundOwner, bytes: number): void {
    const { log } = this.#options;
    const noting: Promise<void> = this.#noteNow(owner, bytes)
      .catch((error: unknown) => log.warn({ err: error }, 'the size of the sound of a call could not be stored'))
      .finally(() => this.#noting.delete(noting));
    this.#noting.add(noting);
  }

  /** Of messages their sum is noted: that stays right whatever a crash left out. */
  async #noteNow(owner: SoundOwner, bytes: number | null): Promise<void> {
    const { noteBytes } = this.#options;
    const callId = callOfMessage(owner.callId);
    if (callId === null) return noteBytes(owner, bytes, 'call');
    const call = { callId, startedMs: owner.startedMs };
    await noteBytes(call, (await this.#messageBytes(call)) || null, 'messages');
  }

  async #messageBytes(call: SoundOwner): Promise<number> {
    let bytes = 0;
    for (const message of messagesOf(call)) bytes += (await this.#kept(message))?.bytes ?? 0;
    return bytes;
  }

  #forget(writing: Writing): void {
    this.#writing.delete(soundName(writing.owner));
    this.#options.metrics.records.sound.calls.set(this.#writing.size);
  }

  /** The whole file of a sound, if it is there. */
  async #kept(owner: SoundOwner): Promise<{ readonly path: string; readonly bytes: number } | null> {
    const name = soundName(owner);
    const path = join(dayFolder(this.#options.folder, name), name);
    const found = await stat(path).catch(() => null);
    return found === null ? null : { path, bytes: found.size };
  }

  async #locate(owner: SoundOwner): Promise<{ readonly path: string; readonly mustBeWhole: boolean } | null> {
    const { folder } = this.#options;
    const name = soundName(owner);
    const whole = { path: join(dayFolder(folder, name), name), mustBeWhole: true };
    const unfinished = { path: unfinishedPath(folder, name), mustBeWhole: false };
    for (const place of [unfinished, whole]) if (await stat(place.path).catch(() => null)) return place;
    return null;
  }
}

/** All messages that a call may have. */
function messagesOf({ callId, startedMs }: SoundOwner): SoundOwner[] {
  return Array.from({ length: MESSAGES_MAX }, (_, i) => ({ callId: messageSoundId(callId, i + 1), startedMs }));
}
