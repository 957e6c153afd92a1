/** `trunkline transcribe`: audio files to text, on engines of its own. */
import { ENGINE_RATE_HZ } from '../../engine/contract.ts';
import { type FinalCaption, formatTranscript, type TranscriptFormat } from '../calls/transcript.ts';
import { systemClock, type Timer } from '../clock.ts';
import { EXIT_CONFIG } from '../config.ts';
import { createLink } from '../link/from-settings.ts';
import type { Link } from '../link/link.ts';
import { createLog } from '../log.ts';
import { Metrics } from '../metrics.ts';
import type { Settings } from '../settings.ts';
import { BACKLOG_LOW_MS, Ear } from '../transcription/ear.ts';
import { msToSamples, samplesToMs } from '../units.ts';
import { type ChannelMode, loadAudio } from './audio-file.ts';
import { EXIT_FAILED, EXIT_OK } from './exit-codes.ts';
import type { Terminal } from './terminal.ts';

/** Audio handed to the ear at once; then it is waited for. */
const PIECE_MS = 10_000;
const WATCH_PERIOD_MS = 2000;
const TRACKS = ['inbound', 'outbound'] as const;

/** What to make of the files. */
export interface TranscribeOptions {
  /** `json` prints one object a line for each file. */
  readonly format: TranscriptFormat;
  /** `split`: a stereo recording of a call with one side on each channel. */
  readonly channels: ChannelMode;
}

interface FileTranscript {
  readonly durationMs: number;
  readonly finals: readonly FinalCaption[];
}

/** Transcribes `files` one after the other, each printed when it is done. Returns the exit code: a file that fails does not stop the others. */
export async function transcribe(
  files: readonly string[],
  options: TranscribeOptions,
  settings: Settings,
  terminal: Terminal,
): Promise<number> {
  let refused = false;
  const link = createLink(settings, {
    clock: systemClock,
    log: createLog('silent'),
    metrics: new Metrics(),
    onRefused: () => {
      refused = true;
    },
  });
  const started = link.start();
  const broken = watchForEnd(link);
  for (const promise of [started, broken.promise]) promise.catch(() => undefined);
  try {
    let failures = 0;
    for (const file of files) {
      if (
        !(await transcribeOne(file, { ...options, settings, terminal, link, started, broken: broken.promise, several: files.length > 1 }))
      )
        failures += 1;
      if (refused) return EXIT_CONFIG;
    }
    return failures === 0 ? EXIT_OK : EXIT_FAILED;
  } finally {
    broken.stop();
    await link.close();
  }
}

/** `promise` fails when no engine can be started any more. An ear would wait for one for ever, as a live call must. */
function watchForEnd(link: Link): { readonly promise: Promise<never>; stop(): void } {
  let watch: Timer | undefined;
  const promise = new Promise<never>((_resolve, reject) => {
    watch = systemClock.every(WATCH_PERIOD_MS, () => void link.start().catch(reject));
  });
  return { promise, stop: () => watch?.cancel() };
}

interface FileWork extends TranscribeOptions {
  readonly settings: Settings;
  readonly terminal: Terminal;
  readonly link: Link;
  /** The engine's start: fails when there will be none. */
  readonly started: Promise<void>;
  /** Fails when the engines are lost for good. */
  readonly broken: Promise<never>;
  readonly several: boolean;
}

/** Whether it went well. */
async function transcribeOne(file: string, work: FileWork): Promise<boolean> {
  const { terminal, format } = work;
  try {
    const transcript = await transcribeFile(file, work);
    terminal.err.live([]);
    print(file, transcript, work);
    return true;
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    terminal.err.live([]);
    terminal.err.line(`trunkline: ${message}`);
    if (format === 'json') terminal.out.line(JSON.stringify({ file, error: message }));
    return false;
  }
}

async function transcribeFile(file: string, work: FileWork): Promise<FileTranscript> {
  const channels = await loadAudio(file, ENGINE_RATE_HZ, work.channels);
  if (channels.length > TRACKS.length) throw new Error(`${file}: has ${channels.length} channels, --channels split takes at most 2`);
  await work.started;
  const progress = new Progress(file, channels, work.terminal);
  const heard = await Promise.all(channels.map((samples, channel) => hear(samples, channel, work, progress)));
  if (heard.some(({ isComplete }) => !isComplete)) throw new Error(`${file}: the speech engine failed before the end`);
  const durationMs = samplesToMs(channels[0]?.length ?? 0, ENGINE_RATE_HZ);
  return { durationMs: Math.round(durationMs), finals: heard.flatMap(({ finals }) => finals) };
}

interface Heard {
  readonly finals: readonly FinalCaption[];
  /** Whether every utterance was decoded to its end. */
  readonly isComplete: boolean;
}

async function hear(samples: Int16Array, channel: number, work: FileWork, progress: Progress): Promise<Heard> {
  const track = TRACKS[channel] ?? 'inbound';
  const finals: FinalCaption[] = [];
  let isComplete = true;
  const ear = new Ear({
    settings: work.settings,
    engine: work.link,
    clock: systemClock,
    originMs: 0,
    emit(event) {
      if (event.type !== 'caption' || !event.final) return;
      const { utterance, text, startMs, endMs } = event;
      finals.push({ track, utterance, text, startMs, endMs });
    },
    metrics: {
      partial: () => undefined,
      partialDropped: () => undefined,
      final: (how) => {
        isComplete &&= how !== 'fallback';
      },
    },
    partials: false,
    urgency: 'batch',
  });
  try {
    await feed(ear, samples, work.broken, (heardSamples) => progress.show(channel, heardSamples));
    return { finals, isComplete };
  } finally {
    ear.close();
  }
}

/** Gives `samples` to the ear piece by piece, no faster than it understands them. */
async function feed(ear: Ear, samples: Int16Array, broken: Promise<never>, onHeard: (heardSamples: number) => void): Promise<void> {
  let drained: () => void = () => undefined;
  ear.onDrained(() => drained());
  const pieceSamples = msToSamples(PIECE_MS, ENGINE_RATE_HZ);
  for (let at = 0; at < samples.length; at += pieceSamples) {
    const emptied = new Promise<void>((resolve) => {
      drained = resolve;
    });
    ear.push(samples.subarray(at, at + pieceSamples));
    if (ear.backlogMs > BACKLOG_LOW_MS) await Promise.race([emptied, broken]);
    onHeard(Math.min(at + pieceSamples, samples.length));
  }
  await Promise.race([ear.end(), broken]);
}

function print(file: string, { durationMs, finals }: FileTranscript, { terminal: { out }, format, channels, several }: FileWork): void {
  if (format === 'json') {
    const sorted = finals.toSorted((a, b) => a.startMs - b.startMs);
    const captions = sorted.map(({ track, text, startMs, endMs }) => ({ ...channelOf(track, channels), text, startMs, endMs }));
    out.line(JSON.stringify({ file, durationMs, captions }));
    return;
  }
  if (several) out.line(`==> ${file} <==`);
  out.raw(formatTranscript(finals, format, ({ track }) => (channels === 'split' ? `channel ${TRACKS.indexOf(track) + 1}` : null)));
}

function channelOf(track: FinalCaption['track'], channels: ChannelMode): { channel?: number } {
  return channels === 'split' ? { channel: TRACKS.indexOf(track) + 1 } : {};
}

/** How far a file is, on a terminal's error output. */
class Progress {
  readonly #file: string;
  readonly #terminal: Terminal;
  readonly #done: number[];
  readonly #total: number;
  readonly #startedMs = systemClock.nowMs();

  constructor(file: string, channels: readonly Int16Array[], terminal: Terminal) {
    this.#file = file;
    this.#terminal = terminal;
    this.#done = channels.map(() => 0);
    this.#total = channels.reduce((sum, samples) => sum + samples.length, 0);
    this.#draw();
  }

  /** `channel` has been heard up to sample number `samples`. */
  show(channel: number, samples: number): void {
    this.#done[channel] = samples;
    this.#draw();
  }

  #draw(): void {
    const done = this.#done.reduce((sum, samples) => sum + samples, 0);
    const percent = Math.floor((100 * done) / Math.max(this.#total, 1));
    const passedMs = systemClock.nowMs() - this.#startedMs;
    const speed = samplesToMs(done / this.#done.length, ENGINE_RATE_HZ) / Math.max(passedMs, 1);
    this.#terminal.err.live([{ text: `${this.#file}  ${percent} %${done === 0 ? '' : `  ${speed.toFixed(1)} × real time`}` }]);
  }
}
