/** Transcribes the files of running batches, a few at once. Tenants take turns. */
import type { Clock, Timer } from '../foundation/clock.ts';
import { isDiskTrouble, toDiskFull } from '../foundation/folders/disk.ts';
import type { Log } from '../foundation/log/log.ts';
import type { RecordingTask, RecordingTranscript } from '../recordings/transcribe.ts';
import type { Batch, BatchFile } from './batch.ts';
import { type DiskListener, DiskWait } from './disk-retry.ts';
import { fileErrorOf } from './file-error.ts';

/** The shortest time between two progress reports of a file. */
const PROGRESS_PERIOD_MS = 1000;

interface RunnerOptions {
  /** Files in work at once. Who is alone has all of them; tenants who share have equal parts. */
  readonly filesMax: number;
  readonly clock: Clock;
  readonly log: Log;
  /** Is told when files wait for the disk. */
  readonly disk: DiskListener;
  /** Transcribes a file and stores the transcript. A file that was stopped is later done again from its start. */
  transcribe(
    batch: Batch,
    file: BatchFile,
    watch: Pick<RecordingTask, 'signal' | 'onProgress'>,
  ): Promise<Pick<RecordingTranscript, 'durationMs'>>;
  /** A file has made progress, or begins to wait for the disk. */
  onProgress(batch: Batch, file: BatchFile): void;
  /** A file is done or has failed. `signal` aborts when its batch is no longer wanted. */
  onSettled(batch: Batch, file: BatchFile, signal: AbortSignal): Promise<void>;
}

interface Work {
  readonly batch: Batch;
  readonly stop: AbortController;
  readonly over: Promise<void>;
  /** How much has been transcribed, from 0 to 1. */
  share: number;
  toldMs: number;
}

/** A file that waits for the disk. */
interface Hold {
  readonly batch: Batch;
  readonly wait: DiskWait;
  /** Null while the file is tried again. */
  timer: Timer | null;
}

/** Runs the work of all batches. */
export class Runner {
  readonly #options: RunnerOptions;
  readonly #batches: Batch[] = [];
  readonly #working = new Map<BatchFile, Work>();
  readonly #held = new Map<BatchFile, Hold>();
  /** Files at the beginning of a batch that do not wait any more. */
  readonly #passed = new WeakMap<Batch, number>();
  #isClosed = false;

  constructor(options: RunnerOptions) {
    this.#options = options;
  }

  /** Adds a batch. Its waiting files begin as others end. */
  add(batch: Batch): void {
    this.#batches.push(batch);
    this.#fill();
  }

  /** How much of a file has been transcribed, from 0 to 1; null when it is not in work. */
  shareOf(file: BatchFile): number | null {
    return this.#isHeld(file) ? null : (this.#working.get(file)?.share ?? null);
  }

  /** Stops the work on a batch. Resolves when no work on its files is left. */
  async drop(batch: Batch): Promise<void> {
    const at = this.#batches.indexOf(batch);
    if (at >= 0) this.#batches.splice(at, 1);
    await this.#stop([...this.#working.values()].filter((work) => work.batch === batch));
    for (const [file, hold] of this.#held) if (hold.batch === batch) this.#letGo(file);
  }

  /** Stops all work. Unfinished files are later done again from their start. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#stop([...this.#working.values()]);
    for (const file of this.#held.keys()) this.#letGo(file);
  }

  async #stop(works: readonly Work[]): Promise<void> {
    for (const { stop } of works) stop.abort(new Error('the work was stopped'));
    await Promise.all(works.map(({ over }) => over));
  }

  #fill(): void {
    while (!this.#isClosed && this.#working.size < this.#options.filesMax) {
      const next = this.#next();
      if (next === null) return;
      this.#begin(...next);
    }
  }

  /** The first waiting file of the tenant with the least in work; among equals the oldest batch's. */
  #next(): [Batch, BatchFile] | null {
    const byBusy = this.#batches
      .map((batch) => ({ batch, busy: this.#busy(batch.tenant) }))
      .toSorted((a, b) => a.busy - b.busy);
    for (const { batch } of byBusy) {
      const file = this.#firstReady(batch);
      if (file !== undefined) return [batch, file];
    }
    return null;
  }

  /** A batch may have very many files: those at its beginning that have ended are passed over once. */
  #firstReady(batch: Batch): BatchFile | undefined {
    let at = this.#passed.get(batch) ?? 0;
    while (at < batch.files.length && batch.files[at]?.state !== 'waiting') at++;
    this.#passed.set(batch, at);
    for (; at < batch.files.length; at++) {
      const file = batch.files[at];
      if (file !== undefined && this.#isReady(file)) return file;
    }
    return undefined;
  }

  #isReady(file: BatchFile): boolean {
    return file.state === 'waiting' && !this.#working.has(file) && !this.#isHeld(file);
  }

  #isHeld(file: BatchFile): boolean {
    return (this.#held.get(file)?.timer ?? null) !== null;
  }

  #busy(tenant: string): number {
    return [...this.#working.values()].filter(({ batch }) => batch.tenant === tenant).length;
  }

  #begin(batch: Batch, file: BatchFile): void {
    const stop = new AbortController();
    file.error = null;
    const over = this.#work(batch, file, stop.signal).catch((err: unknown) => {
      if (!stop.signal.aborted)
        this.#options.log.error({ err, batch: batch.id }, 'the end of a file of a batch could not be stored');
    });
    this.#working.set(file, { batch, stop, over, share: 0, toldMs: Number.NEGATIVE_INFINITY });
    void over.then(() => {
      this.#working.delete(file);
      if (batch.files.every(({ state }) => state !== 'waiting')) void this.drop(batch);
      this.#fill();
    });
  }

  async #work(batch: Batch, file: BatchFile, signal: AbortSignal): Promise<void> {
    try {
      const onProgress = ({ share }: { share: number }): void => this.#note(batch, file, share);
      const { durationMs } = await this.#options.transcribe(batch, file, { signal, onProgress });
      if (signal.aborted) return;
      Object.assign(file, { state: 'done', durationMs });
    } catch (error) {
      if (signal.aborted) return;
      const cause = this.#hold(batch, file, error);
      if (cause === null) return;
      Object.assign(file, { state: 'failed', error: fileErrorOf(cause, batch.id, this.#options.log) });
    }
    this.#letGo(file);
    await this.#options.onSettled(batch, file, signal);
  }

  /** Makes a file wait if `error` is the disk's, and returns null; otherwise returns why the file fails. */
  #hold(batch: Batch, file: BatchFile, error: unknown): unknown {
    if (!isDiskTrouble(error)) return error;
    const { clock, disk, onProgress } = this.#options;
    const hold = this.#held.get(file) ?? { batch, wait: new DiskWait(clock, disk), timer: null };
    this.#held.set(file, hold);
    try {
      hold.timer = clock.after(hold.wait.refuse(error), () => {
        hold.timer = null;
        this.#fill();
      });
    } catch (tooLong) {
      return tooLong;
    }
    const { code, message } = toDiskFull(error);
    file.error = { code, message };
    onProgress(batch, file);
    return null;
  }

  #letGo(file: BatchFile): void {
    const hold = this.#held.get(file);
    hold?.timer?.cancel();
    hold?.wait.end();
    this.#held.delete(file);
  }

  #note(batch: Batch, file: BatchFile, share: number): void {
    const work = this.#working.get(file);
    if (work === undefined) return;
    work.share = share;
    const nowMs = this.#options.clock.nowMs();
    if (nowMs - work.toldMs < PROGRESS_PERIOD_MS) return;
    work.toldMs = nowMs;
    this.#options.onProgress(batch, file);
  }
}
