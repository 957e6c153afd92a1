/** What is done with one recording of a gateway's batch: fetched, transcribed, translated, and its transcript kept in the batch's folder. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../clock.ts';
import type { Recordings } from '../recordings/recordings.ts';
import type { Recording, RecordingTask } from '../recordings/transcribe.ts';
import { SPOKEN_LANGUAGE, type Translator, translateSegments } from '../recordings/translate.ts';
import type { Batch, BatchFile } from './batch.ts';
import { download, findInput, type InputSettings } from './inputs.ts';
import { writeWhole } from './whole-file.ts';

interface TranscriptsOptions {
  readonly recordings: Pick<Recordings, 'transcribe'>;
  readonly translator: Pick<Translator, 'translate'>;
  readonly settings: InputSettings;
  readonly clock: Clock;
  /** Where a batch keeps its files. */
  folderOf(batch: Batch): string;
}

/** The transcripts of all batches. */
export class Transcripts {
  readonly #options: TranscriptsOptions;

  constructor(options: TranscriptsOptions) {
    this.#options = options;
  }

  /** The transcript of a file that is done. @throws the system's error when there is none */
  async read(batch: Batch, number: number): Promise<Recording> {
    return JSON.parse(await readFile(join(this.#options.folderOf(batch), `${number}.json`), 'utf8')) as Recording;
  }

  /**
   * Makes a file's transcript, unless an earlier gateway made it and was killed before it could say so.
   * @throws TrunklineError `input_refused`, `upload_too_large`, `translation_failed`, those of transcribing; the reason of `signal`
   */
  async make(batch: Batch, file: BatchFile, watch: Pick<RecordingTask, 'signal' | 'onProgress'>): Promise<Recording> {
    const made = await this.read(batch, file.number).catch(() => null);
    if (made !== null) return made;
    const workFolder = this.#options.folderOf(batch);
    const path = await this.#fetch(file, join(workFolder, String(file.number)), watch.signal);
    const { channels, tenant } = batch;
    const timed = batch.targetLanguage === '';
    watch.signal.throwIfAborted();
    const heard = await this.#options.recordings.transcribe({ path, workFolder, channels, timed, tenant, ...watch });
    const recording = await this.#translate(heard, batch.targetLanguage, watch.signal);
    await writeWhole(join(workFolder, `${file.number}.json`), JSON.stringify(recording));
    return recording;
  }

  async #fetch({ source }: BatchFile, own: string, signal: AbortSignal): Promise<string> {
    const { settings, clock } = this.#options;
    if (source.kind === 'path') return findInput(source.location, settings.BATCH_INPUT_DIR);
    if (source.kind === 'url') await download({ url: source.location, to: own, settings, clock, signal });
    return own;
  }

  async #translate(recording: Recording, language: string, signal: AbortSignal): Promise<Recording> {
    if (language === '' || language === SPOKEN_LANGUAGE) return recording;
    return translateSegments(recording, (lines) => this.#options.translator.translate(lines, language, signal));
  }
}
