/** The operator's own recordings: `FLOWS_DIR/prompts/<language>/<name>.wav` or the like, followed as they change. */
import { mkdir, readdir, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type AudioKind, DETECT_BYTES, detectAudio } from '../../audio/detect.ts';
import type { Clock, Timer } from '../../foundation/clock.ts';
import { TrunklineError } from '../../foundation/errors.ts';
import { writePrivate } from '../../foundation/folders/whole-file.ts';
import type { Log } from '../../foundation/log/log.ts';
import { samplesToMs } from '../../foundation/units.ts';
import { markOf } from '../../foundation/watched-file.ts';
import type { RecordingDecoder } from '../../speech/recording-decoder.ts';
import type { MonoAudio } from '../../speech/wav-leveller.ts';
import type { PromptRecordings } from './prompt-pieces.ts';
import { RECORDING_MAX_BYTES, RECORDING_MAX_S } from './recording-limits.ts';

/** The folder of recordings in FLOWS_DIR. */
export const RECORDINGS_FOLDER = 'prompts';
/** Of all: more than an hour at 16 kHz. */
const SOUND_MAX_BYTES = 134_217_728;
const FILES_MAX = 1000;
/** How often the folder is looked at. */
const LOOK_MS = 2000;

const LANGUAGE = /^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*$/;
const NAME = /^[A-Za-z][\w-]{0,63}$/;
const FILE = /^([A-Za-z][\w-]{0,63})\.(wav|mp3|flac|ogg|oga|opus)$/i;

const ENDINGS: Partial<Record<AudioKind, string>> = { mp3: 'mp3', flac: 'flac', vorbis: 'ogg', opus: 'opus' };

/** A recording, or why it is none. */
export interface RecordingState {
  /** `<language>/<file>` */
  readonly path: string;
  readonly language: string;
  readonly name: string;
  readonly durationMs: number | null;
  /** Null = it is used. */
  readonly error: string | null;
}

interface RecordingFolderOptions {
  readonly clock: Clock;
  readonly log: Pick<Log, 'info' | 'error'>;
  readonly decoder: Pick<RecordingDecoder, 'decode'>;
  /** What is recorded has changed. It must not reject. */
  onChange?(): Promise<void>;
}

interface Entry extends RecordingState {
  readonly mark: string;
  readonly sound: MonoAudio | null;
}

/** Looks at the recordings every two seconds. A file that cannot be used is told once, and is passed over. */
export class RecordingFolder implements PromptRecordings {
  readonly #folder: string;
  readonly #options: RecordingFolderOptions;
  readonly #ended = new AbortController();
  #timer: Timer | null = null;
  /** By path. */
  #entries: ReadonlyMap<string, Entry> = new Map();
  /** By language in lower case and name. */
  #sounds: ReadonlyMap<string, MonoAudio> = new Map();
  #trouble = '';
  /** Looks that are under way or wait for those before them. */
  #looks = 0;
  #last: Promise<void> = Promise.resolve();

  private constructor(flowsFolder: string, options: RecordingFolderOptions) {
    this.#folder = join(flowsFolder, RECORDINGS_FOLDER);
    this.#options = options;
  }

  /** Resolves when all recordings there are now have been read. Never rejects. */
  static async open(flowsFolder: string, options: RecordingFolderOptions): Promise<RecordingFolder> {
    const opened = new RecordingFolder(flowsFolder, options);
    await opened.look();
    const lookAgain = (): void => {
      if (opened.#looks === 0) void opened.look();
    };
    opened.#timer = options.clock.every(LOOK_MS, lookAgain, true);
    return opened;
  }

  /** That of the language, of the language without its region, or of any of its regions. */
  find(name: string, language: string): MonoAudio | null {
    const asked = language.toLowerCase();
    const [primary = ''] = asked.split('-', 1);
    const exact = this.#sounds.get(`${asked}/${name}`) ?? this.#sounds.get(`${primary}/${name}`);
    if (exact !== undefined) return exact;
    for (const [key, sound] of this.#sounds)
      if (key.startsWith(`${primary}-`) && key.endsWith(`/${name}`)) return sound;
    return null;
  }

  /** In the order of their paths. */
  list(): readonly RecordingState[] {
    return [...this.#entries.values()];
  }

  /**
   * Keeps a file as the recording of that name, in place of one before it.
   * @throws TrunklineError `invalid_request` for a name or language that is none, `audio_unreadable`, `audio_too_long`;
   * the file system's error
   */
  async put(file: { language: string; name: string; bytes: Uint8Array<ArrayBuffer> }): Promise<RecordingState> {
    const { language, name, bytes } = file;
    assertNamed(language, name);
    const ending = ENDINGS[detectAudio(bytes.subarray(0, DETECT_BYTES))] ?? 'wav';
    // It must be readable before it takes the place of another.
    await this.#options.decoder.decode(
      { bytes: bytes.slice(), maxSeconds: RECORDING_MAX_S, silenceAround: 'cut' },
      this.#ended.signal,
    );
    const folder = join(this.#folder, language);
    await mkdir(folder, { recursive: true });
    const path = `${name}.${ending}`;
    await writePrivate(join(folder, path), bytes, join(folder, `.${path}.part`));
    await removeNamed(folder, name, path);
    await this.look();
    const kept = this.#entries.get(`${language}/${path}`);
    return kept ?? { path: `${language}/${path}`, language, name, durationMs: null, error: 'it is not read yet' };
  }

  /**
   * Deletes the files of that name, whatever their format. Resolves with whether there was one.
   * @throws TrunklineError `invalid_request` for a name or language that is none; the file system's error
   */
  async delete(language: string, name: string): Promise<boolean> {
    assertNamed(language, name);
    const isGone = await removeNamed(join(this.#folder, language), name, null);
    await this.look();
    return isGone;
  }

  /** Takes over what has changed until now, after a look that is under way. Never rejects. */
  look(): Promise<void> {
    this.#looks++;
    this.#last = this.#last
      .then(() => this.#look())
      .finally(() => {
        this.#looks--;
      });
    return this.#last;
  }

  async #look(): Promise<void> {
    try {
      await this.#take(await this.#findFiles());
      this.#trouble = '';
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      if (message !== this.#trouble && !this.#ended.signal.aborted)
        this.#options.log.error(`recordings of flows cannot be read; those before stay: ${message}`);
      this.#trouble = message;
    }
  }

  close(): void {
    this.#timer?.cancel();
    this.#ended.abort();
  }

  async #take(files: readonly Omit<Entry, 'sound' | 'durationMs'>[]): Promise<void> {
    const before = this.#entries;
    const isSame = files.length === before.size && files.every(({ path, mark }) => before.get(path)?.mark === mark);
    if (isSame) return;
    const entries = new Map<string, Entry>();
    const sounds = new Map<string, MonoAudio>();
    let heldBytes = 0;
    for (const file of files) {
      const known = before.get(file.path);
      const read = known?.mark === file.mark ? known : await this.#read(file);
      const key = `${file.language.toLowerCase()}/${file.name}`;
      heldBytes += read.sound?.samples.byteLength ?? 0;
      const entry = sounds.has(key)
        ? refused(read, 'another file has the same name')
        : heldBytes > SOUND_MAX_BYTES
          ? refused(read, `all recordings together have more than ${SOUND_MAX_BYTES} bytes of sound`)
          : read;
      if (entry.sound !== null) sounds.set(key, entry.sound);
      entries.set(file.path, entry);
      if (entry.error !== null && known?.mark !== file.mark)
        this.#options.log.error(`${join(this.#folder, file.path)}: is not used: ${entry.error}`);
    }
    this.#entries = entries;
    this.#sounds = sounds;
    this.#options.log.info({ recordings: sounds.size }, 'recordings of flows were read');
    await this.#options.onChange?.();
  }

  async #read(file: Omit<Entry, 'sound' | 'durationMs'>): Promise<Entry> {
    if (file.error !== null) return { ...file, sound: null, durationMs: null };
    try {
      const bytes = new Uint8Array(await readFile(join(this.#folder, file.path)));
      const sound = await this.#options.decoder.decode(
        { bytes, maxSeconds: RECORDING_MAX_S, silenceAround: 'cut' },
        this.#ended.signal,
      );
      return { ...file, sound, durationMs: Math.round(samplesToMs(sound.samples.length, sound.rateHz)) };
    } catch (error) {
      if (this.#ended.signal.aborted) throw error;
      const why = error instanceof TrunklineError ? error.message : `it cannot be read (${codeOf(error)})`;
      return { ...file, sound: null, durationMs: null, error: why };
    }
  }

  async #findFiles(): Promise<Omit<Entry, 'sound' | 'durationMs'>[]> {
    const found: Omit<Entry, 'sound' | 'durationMs'>[] = [];
    for (const language of await namesIn(this.#folder)) {
      if (!LANGUAGE.test(language)) continue;
      for (const file of await namesIn(join(this.#folder, language))) {
        const path = `${language}/${file}`;
        const place = join(this.#folder, path);
        const error = await findTrouble(place);
        const name = FILE.exec(file)?.[1];
        found.push({
          path,
          language,
          name: name ?? file,
          mark: await markOf(place),
          error: name === undefined ? 'expected a name such as welcome.wav: WAV, MP3, FLAC or Ogg' : error,
        });
        if (found.length > FILES_MAX) throw new Error(`there are more than ${FILES_MAX} files in ${this.#folder}`);
      }
    }
    return found;
  }
}

/** Why a file is not to be read; a pipe or a device would have no end. Null = nothing speaks against it. */
async function findTrouble(place: string): Promise<string | null> {
  const found = await stat(place).catch(() => null);
  if (found !== null && !found.isFile()) return 'it is no file';
  const size = found?.size ?? 0;
  return size > RECORDING_MAX_BYTES ? `it has ${size} bytes, at most ${RECORDING_MAX_BYTES} are read` : null;
}

function refused(entry: Entry, error: string): Entry {
  return { ...entry, sound: null, error: entry.error ?? error };
}

function assertNamed(language: string, name: string): void {
  if (!LANGUAGE.test(language)) throw refusal('language', language, 'a language such as en or en-US');
  if (!NAME.test(name)) throw refusal('name', name, 'a name: a letter, then letters, digits, _ or -');
}

/** Removes the recordings of that name but `kept`. Resolves with whether there was one. */
async function removeNamed(folder: string, name: string, kept: string | null): Promise<boolean> {
  const files = (await namesIn(folder)).filter((file) => file !== kept && FILE.exec(file)?.[1] === name);
  for (const file of files) await rm(join(folder, file), { force: true });
  return files.length > 0;
}

function refusal(field: string, got: string, expected: string): TrunklineError {
  const shown = JSON.stringify(got.slice(0, 64));
  return new TrunklineError('invalid_request', `${field}: got ${shown}, expected ${expected}`, field);
}

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? String(error);
}

/** In the order of the alphabet, without hidden ones; none where there is no such folder. */
async function namesIn(folder: string): Promise<string[]> {
  try {
    return (await readdir(folder)).filter((name) => !name.startsWith('.')).toSorted();
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(codeOf(error))) return [];
    throw error;
  }
}
