/** The progress of `trunkline transcribe --out`: a bar on a terminal, otherwise lines. */
import type { Clock, Timer } from '../foundation/clock.ts';
import type { Batch, BatchFile } from '../jobs/batch.ts';
import type { LiveLine, Terminal } from './terminal.ts';

const DRAW_PERIOD_MS = 250;
/** Without a terminal: the time between two lines about a file in work. */
const LINE_PERIOD_MS = 30_000;
const BAR_CHARS = 24;
const CONTROL = /\p{Cc}/gu;

interface DisplayOptions {
  readonly terminal: Terminal;
  readonly clock: Clock;
  readonly run: Batch;
  /** The bytes of a file's recording, which the bar counts. */
  bytesOf(file: BatchFile): number;
  /** The name of a file for people. */
  nameOf(file: BatchFile): string;
  /** How much of a file has been transcribed, from 0 to 1; null when it is not in work. */
  shareOf(file: BatchFile): number | null;
}

/** The results of a run. */
export interface Tally {
  readonly done: number;
  readonly failed: number;
  /** Files whose transcript existed already. */
  readonly skipped: number;
  /** The audio of the recordings done in this run. */
  readonly audioMs: number;
  readonly elapsedMs: number;
}

/** Shows the progress of one run. Must be closed. */
export class Display {
  readonly #options: DisplayOptions;
  readonly #startedMs: number;
  readonly #timer: Timer;
  readonly #work: readonly BatchFile[];
  #audioMs = 0;

  constructor(options: DisplayOptions) {
    this.#options = options;
    this.#startedMs = options.clock.nowMs();
    this.#work = options.run.files.filter(({ state }) => state === 'waiting');
    const isLive = options.terminal.err.isLive;
    this.#timer = options.clock.every(isLive ? DRAW_PERIOD_MS : LINE_PERIOD_MS, () => this.#show(), true);
    if (isLive) this.#show();
  }

  /** Shows that a file is done or has failed. */
  settled(file: BatchFile): void {
    const { terminal, nameOf } = this.#options;
    const name = printable(nameOf(file));
    if (file.error !== null) terminal.err.line(`trunkline: ${name}: ${printable(file.error.message)}`);
    else {
      this.#audioMs += file.durationMs ?? 0;
      if (!terminal.err.isLive)
        terminal.err.line(`${this.#count()}  ${name}  ${spell(file.durationMs ?? 0)}  ${this.#speed()}`);
    }
    if (terminal.err.isLive) this.#show();
  }

  /** The results of the run so far. */
  tally(): Tally {
    const count = (wanted: BatchFile['state']): number => this.#work.filter(({ state }) => state === wanted).length;
    return {
      done: count('done'),
      failed: count('failed'),
      skipped: this.#options.run.files.length - this.#work.length,
      audioMs: this.#audioMs,
      elapsedMs: Math.round(this.#elapsedMs),
    };
  }

  /** Removes the bar. */
  close(): void {
    this.#timer.cancel();
    this.#options.terminal.err.live([]);
  }

  #show(): void {
    const { terminal, nameOf, shareOf } = this.#options;
    const working = this.#work.flatMap((file) => {
      const share = file.state === 'waiting' ? shareOf(file) : null;
      return share === null ? [] : [{ name: printable(nameOf(file)), share }];
    });
    if (!terminal.err.isLive) {
      for (const { name, share } of working) terminal.err.line(`${this.#count()}  ${name}  ${percent(share)}`);
      return;
    }
    const lines = working.map(
      ({ name, share }): LiveLine => ({ head: `  ${percent(share).padStart(4)}  `, text: name }),
    );
    terminal.err.live([...lines, this.#bar()]);
  }

  #bar(): LiveLine {
    const share = this.#share();
    const full = Math.floor(share * BAR_CHARS);
    const leftMs = share === 0 ? null : (this.#elapsedMs * (1 - share)) / share;
    const left = leftMs === null || share === 1 ? '' : `  about ${spell(leftMs)} left`;
    return {
      head: `[${'#'.repeat(full)}${'.'.repeat(BAR_CHARS - full)}] ${percent(share)}  `,
      text: `${this.#count()} files  ${this.#speed()}${left}`,
    };
  }

  /** The share of this run's work that is done, by bytes. */
  #share(): number {
    const { bytesOf, shareOf } = this.#options;
    const total = this.#work.reduce((sum, file) => sum + bytesOf(file), 0);
    const through = this.#work.reduce(
      (sum, file) => sum + bytesOf(file) * (file.state === 'waiting' ? (shareOf(file) ?? 0) : 1),
      0,
    );
    return total === 0 ? 1 : through / total;
  }

  #count(): string {
    const { files } = this.#options.run;
    return `${files.filter(({ state }) => state !== 'waiting').length}/${files.length}`;
  }

  #speed(): string {
    return `${(this.#audioMs / Math.max(this.#elapsedMs, 1)).toFixed(1)} × real time`;
  }

  get #elapsedMs(): number {
    return this.#options.clock.nowMs() - this.#startedMs;
  }
}

/** A tally for people. */
export function describeTally({ done, failed, skipped, audioMs, elapsedMs }: Tally): string {
  const parts = [`${done} done`];
  if (failed > 0) parts.push(`${failed} failed`);
  if (skipped > 0) parts.push(`${skipped} existed already`);
  if (done === 0) return parts.join(', ');
  return (
    `${parts.join(', ')}: ${spell(audioMs)} of audio in ${spell(elapsedMs)}, ` +
    `${(audioMs / Math.max(elapsedMs, 1)).toFixed(1)} × real time`
  );
}

/** A duration for people: `3 min 12 s`. */
export function spell(durationMs: number): string {
  const seconds = Math.round(durationMs / 1000);
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  return `${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} min`;
}

function percent(share: number): string {
  return `${Math.floor(share * 100)} %`;
}

/** A file's name may contain control characters, which a terminal would obey. */
function printable(text: string): string {
  return text.replace(CONTROL, '?');
}
