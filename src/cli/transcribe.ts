/** `trunkline transcribe` without --out: transcribes audio files with its own engines and prints the text. */
import { access, constants, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { createEngineClient } from '../engine-client/engine-client-factory.ts';
import { systemClock } from '../foundation/clock.ts';
import { TrunklineError } from '../foundation/errors.ts';
import { createLog } from '../foundation/log/log.ts';
import { Metrics } from '../foundation/metrics.ts';
import { EXIT_CONFIG } from '../foundation/settings/config.ts';
import type { Settings } from '../foundation/settings/settings.ts';
import type { ChannelMode } from '../recordings/decode-messages.ts';
import { Recordings } from '../recordings/recordings.ts';
import type { RecordingProgress, RecordingTranscript } from '../recordings/transcribe.ts';
import { describeReadError } from './audio-file.ts';
import { EXIT_FAILED, EXIT_OK, EXIT_USAGE } from './exit-codes.ts';
import type { Terminal } from './terminal.ts';
import { type FileFormat, writeRecording } from './transcribe-formats.ts';

/** The options of the command. */
export interface TranscribeOptions {
  /** `json` prints one line with an object for each file. */
  readonly format: FileFormat;
  /** `split`: a stereo recording of a call with one side on each channel. */
  readonly channels: ChannelMode;
  /** What is spoken, by code or English name; as DEFAULT_LANGUAGE says unless given. */
  readonly language?: string;
  /** Names and phrases that are likely to be said. */
  readonly hotWords?: readonly string[];
}

/** What a recording is read with, as the options say. */
export function readingOf({
  channels,
  language,
  hotWords,
}: Pick<TranscribeOptions, 'channels' | 'language' | 'hotWords'>) {
  const expected = { ...(language !== undefined && { language }), ...(hotWords !== undefined && { hotWords }) };
  return { channels, ...expected, timed: true, isLanguageGiven: true, tenant: '' } as const;
}

/**
 * Whether the recogniser understands the language of the options; a line on standard error says so if not. A recogniser
 * that does not start fails with the first recording.
 */
export async function isUnderstood(
  { language = '' }: Pick<TranscribeOptions, 'language'>,
  recordings: Pick<Recordings, 'assertUnderstood'>,
  { err }: Terminal,
): Promise<boolean> {
  try {
    await recordings.assertUnderstood(language, new AbortController().signal);
    return true;
  } catch (error) {
    if (!(error instanceof TrunklineError) || error.code !== 'unsupported_language') return true;
    err.line(`trunkline: --${error.message}`);
    return false;
  }
}

/**
 * Transcribes `files` one after the other, each printed when it is done. Returns the exit code: a file that fails does
 * not stop the others.
 */
export async function transcribe(
  files: readonly string[],
  options: TranscribeOptions,
  settings: Settings,
  terminal: Terminal,
): Promise<number> {
  let refused = false;
  const metrics = new Metrics();
  const engineClient = createEngineClient(settings, {
    clock: systemClock,
    log: createLog('silent'),
    metrics,
    onRefused: () => {
      refused = true;
    },
  });
  const recordings = new Recordings({ settings, engine: engineClient, clock: systemClock, metrics });
  engineClient.wake();
  try {
    if (!(await isUnderstood(options, recordings, terminal))) return EXIT_USAGE;
    let failures = 0;
    for (const file of files) {
      if (!(await transcribeOne(file, { ...options, settings, terminal, recordings, several: files.length > 1 })))
        failures += 1;
      if (refused) return EXIT_CONFIG;
      if (terminal.out.isClosed) break;
    }
    return failures === 0 ? EXIT_OK : EXIT_FAILED;
  } finally {
    await engineClient.close();
  }
}

interface FileWork extends TranscribeOptions {
  readonly settings: Settings;
  readonly terminal: Terminal;
  readonly recordings: Recordings;
  readonly several: boolean;
}

/** Resolves with whether it succeeded. */
async function transcribeOne(file: string, work: FileWork): Promise<boolean> {
  const { terminal, format } = work;
  try {
    const recording = await transcribeFile(file, work);
    terminal.err.live([]);
    print(file, recording, work);
    return true;
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    terminal.err.live([]);
    terminal.err.line(`trunkline: ${message}`);
    if (format === 'json') terminal.out.line(JSON.stringify({ file, error: message }));
    return false;
  }
}

async function transcribeFile(
  file: string,
  { settings, recordings, terminal, ...options }: FileWork,
): Promise<RecordingTranscript> {
  await assertReadable(file);
  const progress = new Progress(file, terminal);
  const task = {
    path: file,
    workFolder: settings.UPLOAD_DIR || tmpdir(),
    ...readingOf(options),
    signal: new AbortController().signal,
  };
  try {
    const onProgress = ({ takenMs }: RecordingProgress) => progress.show(takenMs);
    return await recordings.transcribe({ ...task, onProgress });
  } catch (error) {
    throw new Error(`${file}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

async function assertReadable(file: string): Promise<void> {
  try {
    await access(file, constants.R_OK);
    if (!(await stat(file)).isFile()) throw new Error('is not a regular file; folders need --out');
  } catch (error) {
    throw new Error(`${file}: ${describeReadError(error as NodeJS.ErrnoException)}`);
  }
}

function print(
  file: string,
  recording: RecordingTranscript,
  { terminal: { out, err }, format, channels, several }: FileWork,
): void {
  if (recording.warning !== undefined) err.line(`trunkline: ${file}: ${recording.warning}`);
  if (several && format !== 'json') out.line(`==> ${file} <==`);
  out.raw(writeRecording(recording, { file, format, channels }));
}

/** Shows the progress of a file on standard error, if that is a terminal. */
class Progress {
  readonly #file: string;
  readonly #terminal: Terminal;
  readonly #startedMs = systemClock.nowMs();

  constructor(file: string, terminal: Terminal) {
    this.#file = file;
    this.#terminal = terminal;
    terminal.err.live([{ text: file }]);
  }

  /** Shows that the first `doneMs` of the file are transcribed. */
  show(doneMs: number): void {
    const speed = doneMs / Math.max(systemClock.nowMs() - this.#startedMs, 1);
    this.#terminal.err.live([
      { text: `${this.#file}  ${Math.round(doneMs / 1000)} s done  ${speed.toFixed(1)} × real time` },
    ]);
  }
}
