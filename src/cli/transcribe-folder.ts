/** `trunkline transcribe … --out DIR`: writes a folder of transcripts, with the same parts as batches. */
import { access, rm } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { createEngineClient, workersOf } from '../engine-client/engine-client-factory.ts';
import type { ManagedEngine } from '../engine-client/managed-engine.ts';
import { systemClock } from '../foundation/clock.ts';
import { TrunklineError } from '../foundation/errors.ts';
import { isDiskTrouble, toDiskFull } from '../foundation/folders/disk.ts';
import { makeFolder } from '../foundation/folders/folders.ts';
import { writeWhole } from '../foundation/folders/whole-file.ts';
import { createLog } from '../foundation/log/log.ts';
import { Metrics } from '../foundation/metrics.ts';
import { EXIT_CONFIG } from '../foundation/settings/config.ts';
import type { Settings } from '../foundation/settings/settings.ts';
import type { Batch, BatchFile } from '../jobs/batch.ts';
import { DataFolderError } from '../jobs/data-folder.ts';
import { type DiskListener, retryOnDiskTrouble } from '../jobs/disk-retry.ts';
import { Ledger } from '../jobs/ledger.ts';
import { Runner } from '../jobs/runner.ts';
import type { ChannelMode } from '../recordings/decode-messages.ts';
import { type Place, Recordings } from '../recordings/recordings.ts';
import type { RecordingTask, RecordingTranscript } from '../recordings/transcribe.ts';
import { EXIT_FAILED, EXIT_INTERRUPTED, EXIT_OK, EXIT_USAGE } from './exit-codes.ts';
import { Interruption } from './interruption.ts';
import type { Terminal } from './terminal.ts';
import { isUnderstood, readingOf } from './transcribe.ts';
import { Display, describeTally } from './transcribe-display.ts';
import { FILE_ENDINGS, type FileFormat, writeRecording } from './transcribe-formats.ts';
import { findClashes, findSources, type SourceFile, type Sources } from './transcribe-sources.ts';

/** The folder inside the transcripts' folder for the ledger and unfinished files. */
const OWN_FOLDER = '.trunkline';

/** The options of the command. */
export interface FolderOptions {
  /** The folder of transcripts. */
  readonly out: string;
  readonly format: FileFormat;
  readonly channels: ChannelMode;
  readonly language?: string;
  readonly hotWords?: readonly string[];
  /** Report in JSON: a line for each file, then a summary. */
  readonly json: boolean;
}

/** Transcribes the recordings at `paths` that have no transcript yet. Returns the exit code. */
export async function transcribeInto(
  paths: readonly string[],
  options: FolderOptions,
  settings: Settings,
  terminal: Terminal,
): Promise<number> {
  const sources = await findSources(paths);
  const clashes = findClashes(sources.files);
  for (const { name, shown } of clashes) {
    terminal.err.line(
      `trunkline: ${shown.join(' and ')} would both be written as ${name}${FILE_ENDINGS[options.format]}; ` +
        'transcribe one of them into another folder',
    );
  }
  if (clashes.length > 0) return EXIT_USAGE;
  if (sources.files.length === 0 && sources.unreadable.length === 0) {
    terminal.err.line(`trunkline: there is no recording in ${paths.join(', ')}`);
    return EXIT_FAILED;
  }
  const ledger = await openLedger(options.out, terminal);
  try {
    return await new FolderRun(options, { sources, ledger, settings, terminal }).run();
  } finally {
    await ledger.close();
  }
}

async function openLedger(out: string, { err }: Terminal): Promise<Ledger> {
  const folder = join(out, OWN_FOLDER);
  const onWait = (who: string): void =>
    err.line(`trunkline: ${out}: in use by ${who}; waiting some seconds for it to end`);
  try {
    return await Ledger.open(folder, { clock: systemClock, onWait });
  } catch (error) {
    throw new Error(
      `${error instanceof DataFolderError ? out : folder}: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}

interface FolderRunParts {
  readonly sources: Sources;
  readonly ledger: Ledger;
  readonly settings: Settings;
  readonly terminal: Terminal;
}

class FolderRun {
  readonly #options: FolderOptions;
  readonly #parts: FolderRunParts;
  readonly #sourceOf = new Map<string, SourceFile>();
  readonly #finished: Promise<void>;
  readonly #disk: DiskListener = {
    onWait: (error) => this.#parts.terminal.err.line(`trunkline: waiting for the disk: ${toDiskFull(error).message}`),
    onRefused: () => undefined,
    onOver: () => undefined,
  };
  #finish: () => void = () => undefined;

  constructor(options: FolderOptions, parts: FolderRunParts) {
    this.#options = options;
    this.#parts = parts;
    for (const file of parts.sources.files) this.#sourceOf.set(file.name + FILE_ENDINGS[options.format], file);
    this.#finished = new Promise((resolve) => {
      this.#finish = resolve;
    });
  }

  async run(): Promise<number> {
    const { settings } = this.#parts;
    let refusal: string | null = null;
    const metrics = new Metrics();
    const engineClient = createEngineClient(settings, {
      clock: systemClock,
      log: createLog('silent'),
      metrics,
      onRefused: (message) => {
        refusal ??= message;
        this.#finish();
      },
    });
    const recordings = new Recordings({ settings, engine: engineClient, clock: systemClock, metrics });
    const interruption = new Interruption(() => this.#finish());
    try {
      if (!(await isUnderstood(this.#options, recordings, this.#parts.terminal))) return EXIT_USAGE;
      const place = await recordings.admit();
      const isComplete = await this.#work(await this.#begin(), { recordings, place, engineClient });
      await place.release();
      if (refusal !== null) {
        this.#parts.terminal.err.line(`trunkline: ${refusal}`);
        return EXIT_CONFIG;
      }
      if (interruption.came) {
        this.#parts.terminal.err.line('trunkline: interrupted; run the same command again to continue');
        return EXIT_INTERRUPTED;
      }
      return isComplete ? EXIT_OK : EXIT_FAILED;
    } finally {
      interruption.ignore();
      await engineClient.close();
      await recordings.drain(0);
    }
  }

  /** Begins a run with all files, including those that are already done. */
  async #begin(): Promise<Batch> {
    const { channels } = this.#options;
    const wanted = [...this.#sourceOf].map(([name, { path, bytes, modifiedMs }]) => ({
      name,
      location: path,
      stamp: [`${bytes} bytes`, modifiedMs, ...this.#stampedOptions].join(', '),
    }));
    const there = new Set<string>();
    for (const { name } of wanted) if (await isThere(this.#target(name))) there.add(name);
    const options = { channels, nowMs: systemClock.wall().getTime(), isThere: (name: string) => there.has(name) };
    const run = await this.#parts.ledger.begin(wanted, options);
    for (const file of run.files) {
      if (file.state === 'done' || !there.has(file.name) || this.#parts.ledger.isOurs(file.name)) continue;
      const message =
        `${this.#target(file.name)} exists already and was not written by this command; ` +
        'remove it to have it written';
      Object.assign(file, { state: 'failed', error: { code: 'invalid_request', message } });
    }
    return run;
  }

  /** Options that make another transcript; without the later ones, as stamps were before there were these. */
  get #stampedOptions(): string[] {
    const { format, channels, language, hotWords = [] } = this.#options;
    const words = hotWords.length === 0 ? [] : [`words ${hotWords.join(';')}`];
    return [format, channels, ...(language === undefined ? [] : [`language ${language}`]), ...words];
  }

  /** Transcribes the files. Resolves with whether every file has its transcript. */
  async #work(
    run: Batch,
    { recordings, place, engineClient }: { recordings: Recordings; place: Place; engineClient: ManagedEngine },
  ): Promise<boolean> {
    const { settings, sources, terminal } = this.#parts;
    const files = workersOf(settings) + 1;
    const runner = new Runner({
      clock: systemClock,
      log: createLog('silent'),
      disk: this.#disk,
      filesMax: files,
      transcribe: (_batch, file, watch) =>
        this.#transcribe(file, watch.signal, (task) =>
          recordings.transcribe({ ...task, ...watch, workFolder: place.workFolder }),
        ),
      onProgress: () => undefined,
      onSettled: (_batch, file) => this.#settle(run, file, display),
    });
    const nameOf = ({ name }: BatchFile): string => this.#sourceOf.get(name)?.shown ?? name;
    const bytesOf = ({ name }: BatchFile): number => this.#sourceOf.get(name)?.bytes ?? 0;
    const refused = run.files.filter(({ state }) => state === 'failed');
    const display = new Display({
      terminal,
      clock: systemClock,
      run,
      nameOf,
      bytesOf,
      shareOf: (file) => runner.shareOf(file),
    });
    for (const { shown, why } of sources.unreadable) this.#fail(shown, why);
    for (const file of refused) this.#fail(nameOf(file), file.error?.message ?? '');
    if (run.files.some(({ state }) => state === 'waiting')) {
      engineClient.wake();
      runner.add(run);
      await this.#finished;
    }
    await runner.close();
    display.close();
    const tally = display.tally();
    const failed = tally.failed + refused.length + sources.unreadable.length;
    const whole = { ...tally, failed, skipped: tally.skipped - refused.length };
    this.#report(
      { summary: { ...whole, timesRealTime: round(whole.audioMs / Math.max(whole.elapsedMs, 1)) } },
      describeTally(whole),
    );
    return failed === 0;
  }

  async #transcribe(
    file: BatchFile,
    signal: AbortSignal,
    transcribe: (task: Omit<RecordingTask, 'workFolder' | 'signal'>) => Promise<RecordingTranscript>,
  ): Promise<RecordingTranscript> {
    const source = this.#sourceOf.get(file.name);
    if (source === undefined) throw new TrunklineError('internal', 'the file is not one of this run');
    const { channels, format } = this.#options;
    try {
      const recording = await transcribe({ path: source.path, ...readingOf(this.#options) });
      const text = writeRecording(recording, { file: source.shown, format, channels });
      await retryOnDiskTrouble(() => this.#write(file, recording, text), {
        clock: systemClock,
        signal,
        listener: this.#disk,
      });
      return recording;
    } catch (error) {
      if (error instanceof TrunklineError || isDiskTrouble(error)) throw error;
      throw new TrunklineError('internal', error instanceof Error ? error.message : String(error));
    }
  }

  /** The order matters: whenever the process dies, an existing transcript belongs to its entry in the ledger. */
  async #write(file: BatchFile, { durationMs }: RecordingTranscript, text: string): Promise<void> {
    const target = this.#target(file.name);
    await makeFolder(dirname(target));
    await rm(target, { force: true });
    await this.#parts.ledger.note({ ...file, state: 'done', durationMs });
    await writeWhole(target, text, join(this.#options.out, OWN_FOLDER, `${file.number}.part`));
  }

  async #settle(run: Batch, file: BatchFile, display: Display): Promise<void> {
    display.settled(file);
    const { state, durationMs, error } = file;
    const shown = this.#sourceOf.get(file.name)?.shown ?? file.name;
    if (this.#options.json) {
      const outcome = error === null ? { output: this.#target(file.name), durationMs } : { error: error.message };
      this.#parts.terminal.out.line(JSON.stringify({ file: shown, state, ...outcome }));
    }
    if (run.files.every((each) => each.state !== 'waiting')) this.#finish();
  }

  #fail(shown: string, why: string): void {
    this.#parts.terminal.err.line(`trunkline: ${shown}: ${why}`);
    if (this.#options.json) this.#parts.terminal.out.line(JSON.stringify({ file: shown, state: 'failed', error: why }));
  }

  #report(summary: unknown, text: string): void {
    this.#parts.terminal.out.line(this.#options.json ? JSON.stringify(summary) : text);
  }

  #target(name: string): string {
    return resolve(this.#options.out, name);
  }
}

async function isThere(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
