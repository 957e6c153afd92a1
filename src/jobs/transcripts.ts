/** Fetches, transcribes and translates one recording of a batch, and stores the transcript in the batch's folder. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../foundation/clock.ts';
import { TrunklineError } from '../foundation/errors.ts';
import { toDiskFull } from '../foundation/folders/disk.ts';
import { writeWhole } from '../foundation/folders/whole-file.ts';
import { languageName } from '../foundation/languages.ts';
import { download, findInput, type InputSettings } from '../recordings/inputs.ts';
import type { Recordings } from '../recordings/recordings.ts';
import type { RecordingTask, RecordingTranscript } from '../recordings/transcribe.ts';
import { type Translator, translateSegments } from '../recordings/translate.ts';
import type { Batch, BatchFile } from './batch.ts';
import { type DiskListener, retryOnDiskTrouble } from './disk-retry.ts';

interface TranscriptsOptions {
  readonly recordings: Pick<Recordings, 'transcribe' | 'disk'>;
  readonly translator: Pick<Translator, 'translate'>;
  readonly settings: InputSettings;
  readonly clock: Clock;
  readonly disk: DiskListener;
  /** A file's transcript waits for the disk; the file's `error` says so. */
  onWait(batch: Batch, file: BatchFile): void;
  /** The folder of a batch. */
  folderOf(batch: Batch): string;
}

/** A transcript to be stored, until `signal` aborts. */
interface Keeping {
  readonly batch: Batch;
  readonly file: BatchFile;
  readonly asSpoken: boolean;
  readonly signal: AbortSignal;
}

/** The transcripts of all batches. */
export class Transcripts {
  readonly #options: TranscriptsOptions;

  constructor(options: TranscriptsOptions) {
    this.#options = options;
  }

  /** The transcript of a file, in the batch's language or `asSpoken`. @throws the system's error when there is none */
  async read(batch: Batch, number: number, asSpoken: boolean): Promise<RecordingTranscript> {
    const only = this.#pathOf(batch, number);
    if (!asSpoken) return readRecording(only);
    return readRecording(this.#spokenPathOf(batch, number)).catch(() => readRecording(only));
  }

  /**
   * Makes a file's transcript, and its translation if the batch asks for one. Those that a killed gateway has already
   * written are used. A finished transcript waits while the disk is full.
   * @throws TrunklineError `input_refused`, `upload_too_large`, `upload_disk_full`, `translation_failed`, `disk_full`,
   * those of transcribing; errors of a full disk before the transcript is finished; the reason of `signal`
   */
  async make(
    batch: Batch,
    file: BatchFile,
    watch: Pick<RecordingTask, 'signal' | 'onProgress'>,
  ): Promise<RecordingTranscript> {
    const { signal } = watch;
    const spoken = await this.#keep({ batch, file, asSpoken: true, signal }, () =>
      this.#transcribe(batch, file, watch),
    );
    if (!isTranslated(batch, spoken)) return spoken;
    return this.#keep({ batch, file, asSpoken: false, signal }, () =>
      this.#translate(spoken, batch.targetLanguage, signal),
    );
  }

  /** The stored transcript, or the result of `make`, which is then stored. */
  async #keep(
    { batch, file, asSpoken, signal }: Keeping,
    make: () => Promise<RecordingTranscript>,
  ): Promise<RecordingTranscript> {
    const { number } = file;
    const made = await this.read(batch, number, asSpoken).catch(() => null);
    if (made !== null) return made;
    const recording = await make();
    const { clock, disk, onWait } = this.#options;
    const listener: DiskListener = {
      ...disk,
      onWait: (error) => {
        const { code, message } = toDiskFull(error);
        file.error = { code, message };
        onWait(batch, file);
        disk.onWait(error);
      },
    };
    const text = JSON.stringify(recording);
    const isBesideTranslation = asSpoken && isTranslated(batch, recording);
    const path = isBesideTranslation ? this.#spokenPathOf(batch, number) : this.#pathOf(batch, number);
    await retryOnDiskTrouble(() => writeWhole(path, text), { clock, signal, listener });
    file.error = null;
    return recording;
  }

  /** The path of the translation, or of the transcript if there is no translation. */
  #pathOf(batch: Batch, number: number): string {
    return join(this.#options.folderOf(batch), `${number}.json`);
  }

  /** The path of the transcript if there is a translation, too. */
  #spokenPathOf(batch: Batch, number: number): string {
    return join(this.#options.folderOf(batch), `${number}.spoken.json`);
  }

  async #transcribe(
    batch: Batch,
    file: BatchFile,
    watch: Pick<RecordingTask, 'signal' | 'onProgress'>,
  ): Promise<RecordingTranscript> {
    const workFolder = this.#options.folderOf(batch);
    const path = await this.#fetch(file, join(workFolder, String(file.number)), watch.signal);
    const { channels, language, hotWords, tenant } = batch;
    watch.signal.throwIfAborted();
    return this.#options.recordings.transcribe({
      path,
      workFolder,
      channels,
      timed: true,
      isLanguageGiven: true,
      ...(language !== undefined && { language }),
      ...(hotWords !== undefined && { hotWords }),
      tenant,
      ...watch,
    });
  }

  async #fetch({ source }: BatchFile, own: string, signal: AbortSignal): Promise<string> {
    const { settings, clock, recordings } = this.#options;
    if (source.kind === 'path') return findInput(source.location, settings.BATCH_INPUT_DIR);
    if (source.kind === 'url')
      await download({ url: source.location, to: own, disk: recordings.disk, settings, clock, signal });
    return own;
  }

  async #translate(
    recording: RecordingTranscript,
    language: string,
    signal: AbortSignal,
  ): Promise<RecordingTranscript> {
    try {
      return await translateSegments(recording, (lines) => this.#options.translator.translate(lines, language, signal));
    } catch (error) {
      if (!(error instanceof TrunklineError)) throw error;
      throw new TrunklineError(
        error.code,
        `${error.message}; the transcript in the spoken language is available (asSpoken=true)`,
      );
    }
  }
}

function isTranslated({ targetLanguage }: Batch, { spokenLanguage }: RecordingTranscript): boolean {
  if (targetLanguage === '' || spokenLanguage === null) return false;
  return languageName(targetLanguage, [spokenLanguage]) !== languageName(spokenLanguage);
}

/** Transcripts of version 0.1.0 have no language: its recogniser knew only English. */
async function readRecording(path: string): Promise<RecordingTranscript> {
  return {
    spokenLanguage: 'en',
    ...(JSON.parse(await readFile(path, 'utf8')) as Omit<RecordingTranscript, 'spokenLanguage'>),
  };
}
