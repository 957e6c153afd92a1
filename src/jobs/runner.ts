/** Has the files of running batches transcribed, a few at once; tenants take turns. */
import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../clock.ts';
import { TrunklineError } from '../errors.ts';
import type { Log } from '../log.ts';
import type { Recordings } from '../recordings/recordings.ts';
import type { Recording } from '../recordings/transcribe.ts';
import type { Batch, BatchFile } from './batch.ts';
import { download, findInput, type InputSettings } from './inputs.ts';

/** Files in work at once, of all tenants and of one. */
const FILES_MAX = 8;
const FILES_OF_TENANT_MAX = 2;

interface RunnerOptions {
  readonly recordings: Pick<Recordings, 'transcribe'>;
  readonly settings: InputSettings;
  readonly clock: Clock;
  readonly log: Log;
  /** Where a batch keeps its files. */
  folderOf(batch: Batch): string;
  /** A file has come to its end. */
  onSettled(batch: Batch, file: BatchFile): Promise<void>;
}

interface Work {
  readonly batch: Batch;
  readonly stop: AbortController;
  readonly over: Promise<void>;
}

/** Where the transcript of a file is kept. */
export function resultPath(folder: string, number: number): string {
  return join(folder, `${number}.json`);
}

/** The transcript of a file that is done. */
export async function readResult(folder: string, number: number): Promise<Recording> {
  return JSON.parse(await readFile(resultPath(folder, number), 'utf8')) as Recording;
}

/** The work on all batches. */
export class Runner {
  readonly #options: RunnerOptions;
  readonly #batches: Batch[] = [];
  readonly #working = new Map<BatchFile, Work>();
  #isClosed = false;

  constructor(options: RunnerOptions) {
    this.#options = options;
  }

  /** Takes a batch on; its waiting files are begun as there is room. */
  add(batch: Batch): void {
    this.#batches.push(batch);
    this.#fill();
  }

  /** Stops the work on a batch. Resolves when none of its files is touched any more. */
  async drop(batch: Batch): Promise<void> {
    const at = this.#batches.indexOf(batch);
    if (at >= 0) this.#batches.splice(at, 1);
    await this.#stop([...this.#working.values()].filter((work) => work.batch === batch));
  }

  /** Stops all work; the files in work are as if they had never been begun. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#stop([...this.#working.values()]);
  }

  async #stop(works: readonly Work[]): Promise<void> {
    for (const { stop } of works) stop.abort(new Error('the work was stopped'));
    await Promise.all(works.map(({ over }) => over));
  }

  #fill(): void {
    while (!this.#isClosed && this.#working.size < FILES_MAX) {
      const next = this.#next();
      if (next === null) return;
      this.#begin(...next);
    }
  }

  /** The first waiting file of the tenant with the least in work; among equals the oldest batch's. */
  #next(): [Batch, BatchFile] | null {
    const candidates = this.#batches
      .map((batch) => ({
        batch,
        file: batch.files.find((file) => file.state === 'waiting' && !this.#working.has(file)),
        busy: this.#busy(batch.tenant),
      }))
      .filter(({ busy }) => busy < FILES_OF_TENANT_MAX)
      .toSorted((a, b) => a.busy - b.busy);
    const found = candidates.find(({ file }) => file !== undefined);
    return found?.file === undefined ? null : [found.batch, found.file];
  }

  #busy(tenant: string): number {
    return [...this.#working.values()].filter(({ batch }) => batch.tenant === tenant).length;
  }

  #begin(batch: Batch, file: BatchFile): void {
    const stop = new AbortController();
    const over = this.#work(batch, file, stop.signal).catch((err: unknown) => {
      this.#options.log.error({ err, batch: batch.id }, 'a file of a batch could not be settled');
    });
    const work = { batch, stop, over };
    this.#working.set(file, work);
    void over.then(() => {
      this.#working.delete(file);
      if (batch.files.every(({ state }) => state !== 'waiting')) void this.drop(batch);
      this.#fill();
    });
  }

  async #work(batch: Batch, file: BatchFile, signal: AbortSignal): Promise<void> {
    const folder = this.#options.folderOf(batch);
    const own = join(folder, String(file.number));
    try {
      const path = await this.#fetch(file, own, signal);
      const task = { path, workFolder: folder, channels: batch.channels, tenant: batch.tenant, signal };
      const recording = await this.#options.recordings.transcribe(task);
      await writeWhole(resultPath(folder, file.number), JSON.stringify(recording));
      if (signal.aborted) return;
      Object.assign(file, { state: 'done', durationMs: recording.durationMs });
    } catch (error) {
      if (signal.aborted) return;
      Object.assign(file, { state: 'failed', error: this.#explain(error, batch) });
    }
    await this.#options.onSettled(batch, file);
    await rm(own, { force: true });
  }

  async #fetch({ source }: BatchFile, own: string, signal: AbortSignal): Promise<string> {
    const { settings, clock } = this.#options;
    if (source.kind === 'path') return findInput(source.location, settings.BATCH_INPUT_DIR);
    if (source.kind === 'url') await download({ url: source.location, to: own, settings, clock, signal });
    return own;
  }

  #explain(error: unknown, batch: Batch): NonNullable<BatchFile['error']> {
    if (error instanceof TrunklineError) return { code: error.code, message: error.message };
    this.#options.log.error({ err: error, batch: batch.id }, 'a file of a batch failed');
    return { code: 'internal', message: 'something went wrong in here; the log says what' };
  }
}

/** A reader sees all of it or none. */
async function writeWhole(path: string, text: string): Promise<void> {
  await writeFile(`${path}.part`, text, { flush: true });
  await rename(`${path}.part`, path);
}
