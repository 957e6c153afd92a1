/**
 * Puts the chunks of one track in order and makes its audio contiguous, so that the code after it can count time in
 * samples.
 *
 * - The order is that of `sequence` (from 1). When one is missing, the chunks after it are held until it comes or
 *   `reorderMs` more of audio have come. Then the gap is concealed: the last 20 ms are repeated up to three times, each
 *   0.7 × as loud, then silence follows. Repetition harms recognition far less than zeros do.
 * - The position is that of `atMs`, measured from the first chunk. A chunk within half a frame of its position is
 *   simply appended, so jitter neither inserts nor drops anything, and drift adds up until it is worth a correction. If
 *   a chunk is later than that (the carrier sent nothing), silence fills the gap. If it is earlier, nothing is dropped
 *   for a wrong timestamp; the next gap makes up for the difference.
 * - A gap over `gapMaxMs` becomes `gapMaxMs` of silence, and `stats.skippedMs` counts the rest. So timestamps can never
 *   cause a larger allocation. A clock that falls back by more than `gapMaxMs` was restarted and is followed.
 * - A jump of `sequence` without a jump of time means that nothing is missing (some carriers count over all tracks),
 *   and nothing is waited for.
 */
import { FRAME_MS, msToSamples, samplesToMs } from '../foundation/units.ts';
import { toSample } from './pcm.ts';

const CONCEALED_FRAMES = 3;
const CONCEALED_DECAY = 0.7;
/** A sequence this far behind is not late: the counter was restarted or wrapped around. */
const SEQUENCE_RESTART = 1000;
/** How many gaps are remembered, to distinguish late chunks from duplicates. */
const GAPS_REMEMBERED = 32;

/** One chunk of a track as it came. `samples` must not be changed afterwards. */
export interface TimelineChunk {
  readonly samples: Int16Array;
  /** Time of the first sample, in ms since the stream began. */
  readonly atMs: number;
  readonly sequence: number;
}

interface Held {
  readonly chunk: TimelineChunk;
  /** How much audio had been received with it. */
  readonly receivedSamples: number;
}

/**
 * The repairs so far. `concealedMs` and `silenceMs` were inserted, `skippedMs` of carrier time have no audio; `late`
 * and `reordered` count chunks.
 */
export interface TimelineStats {
  concealedMs: number;
  silenceMs: number;
  skippedMs: number;
  late: number;
  reordered: number;
}

/** Fills the start of `gap` with the end of `last`, ever quieter; returns how many samples it filled. */
function conceal(gap: Int16Array, last: Int16Array, frameSamples: number): number {
  const period = last.subarray(Math.max(0, last.length - frameSamples));
  const length = Math.min(gap.length, CONCEALED_FRAMES * frameSamples);
  let gain = 1;
  for (let i = 0; i < length; i++) {
    if (i % frameSamples === 0) gain *= CONCEALED_DECAY;
    gap[i] = toSample((period[i % period.length] as number) * gain);
  }
  return length;
}

export class Timeline {
  readonly stats: TimelineStats = { concealedMs: 0, silenceMs: 0, skippedMs: 0, late: 0, reordered: 0 };
  readonly #rateHz: number;
  readonly #reorderSamples: number;
  readonly #gapMaxMs: number;
  readonly #frameSamples: number;
  readonly #onLost: (fromMs: number, toMs: number) => void;
  #originMs: number | null = null;
  /** Carrier time at which the next sample belongs. */
  #nextMs = 0;
  #last: Int16Array = new Int16Array(0);
  #lastSequence = 0;
  #highestSequence = 0;
  #receivedSamples = 0;
  /** Came out so far. */
  #placedSamples = 0;
  /** By ascending sequence. Holds less than `reorderMs` of audio and one chunk. */
  readonly #held: Held[] = [];
  readonly #gaps: { readonly from: number; readonly to: number }[] = [];

  /**
   * @param options.onLost called when chunks that the carrier sent never came: the audio between these two times,
   * counted in samples from `originMs` on, was concealed. Not called for gaps in which the carrier sent nothing.
   */
  constructor(options: {
    readonly rateHz: number;
    readonly reorderMs: number;
    readonly gapMaxMs: number;
    readonly onLost?: (fromMs: number, toMs: number) => void;
  }) {
    this.#onLost = options.onLost ?? (() => undefined);
    this.#rateHz = options.rateHz;
    this.#reorderSamples = msToSamples(options.reorderMs, options.rateHz);
    this.#gapMaxMs = options.gapMaxMs;
    this.#frameSamples = msToSamples(FRAME_MS, options.rateHz);
  }

  /** `atMs` of the first sample that came out; null before that. */
  get originMs(): number | null {
    return this.#originMs;
  }

  /** Takes a chunk; returns the audio that is ready now, contiguous with what was returned before. */
  push(chunk: TimelineChunk): Int16Array[] {
    const ready: Int16Array[] = [];
    if (chunk.samples.length === 0) return ready;
    if (this.#isRestart(chunk)) {
      this.#releaseAll(ready);
      this.#lastSequence = chunk.sequence - 1;
      this.#highestSequence = this.#lastSequence;
    }
    if (this.#isOld(chunk)) return ready;
    this.#receivedSamples += chunk.samples.length;
    if (chunk.sequence < this.#highestSequence) this.stats.reordered++;
    else this.#highestSequence = chunk.sequence;
    if (this.#isNext(chunk)) this.#place(chunk, ready);
    else this.#hold(chunk);
    while (this.#held[0] !== undefined && (this.#isNext(this.#held[0].chunk) || this.#isOverdue()))
      this.#releaseFirst(ready);
    return ready;
  }

  /** Returns all held audio without waiting for missing chunks: at the end of the track, or when nothing comes. */
  flush(): Int16Array[] {
    const ready: Int16Array[] = [];
    this.#releaseAll(ready);
    return ready;
  }

  #isRestart(chunk: TimelineChunk): boolean {
    return this.#originMs !== null && chunk.sequence <= this.#lastSequence - SEQUENCE_RESTART;
  }

  /** Whether its position has passed, or it is a duplicate. */
  #isOld({ sequence }: TimelineChunk): boolean {
    if (this.#held.some((held) => held.chunk.sequence === sequence)) return true;
    if (this.#originMs === null || !(sequence <= this.#lastSequence)) return false;
    if (this.#gaps.some((gap) => sequence >= gap.from && sequence <= gap.to)) this.stats.late++;
    return true;
  }

  #isNext(chunk: TimelineChunk): boolean {
    if (this.#originMs === null) return chunk.sequence <= 1;
    if (chunk.sequence === this.#lastSequence + 1) return true;
    return Math.abs(chunk.atMs - this.#nextMs) <= this.#jumpToleranceMs(chunk);
  }

  /** A missing chunk may be as short as this one, and must still be noticed. */
  #jumpToleranceMs(chunk: TimelineChunk): number {
    return Math.min(FRAME_MS, samplesToMs(chunk.samples.length, this.#rateHz)) / 2;
  }

  #hold(chunk: TimelineChunk): void {
    const after = this.#held.findIndex((held) => held.chunk.sequence > chunk.sequence);
    const held = { chunk, receivedSamples: this.#receivedSamples };
    this.#held.splice(after === -1 ? this.#held.length : after, 0, held);
  }

  #isOverdue(): boolean {
    return this.#held.some((held) => this.#receivedSamples - held.receivedSamples >= this.#reorderSamples);
  }

  #releaseAll(ready: Int16Array[]): void {
    while (this.#held.length > 0) this.#releaseFirst(ready);
  }

  #releaseFirst(ready: Int16Array[]): void {
    const held = this.#held.shift();
    if (held !== undefined) this.#place(held.chunk, ready);
  }

  #place(chunk: TimelineChunk, ready: Int16Array[]): void {
    const missing = chunk.sequence > this.#lastSequence + 1;
    if (this.#originMs === null) {
      this.#originMs = chunk.atMs;
      this.#nextMs = chunk.atMs;
    } else this.#fillGap(chunk, missing, ready);
    if (missing) this.#remember({ from: this.#lastSequence + 1, to: chunk.sequence - 1 });
    if (chunk.sequence > this.#lastSequence) this.#lastSequence = chunk.sequence;
    this.#putOut(chunk.samples, ready);
    this.#last = chunk.samples;
    this.#nextMs += samplesToMs(chunk.samples.length, this.#rateHz);
  }

  #fillGap(chunk: TimelineChunk, missing: boolean, ready: Int16Array[]): void {
    const gapMs = chunk.atMs - this.#nextMs;
    if (gapMs < -this.#gapMaxMs) this.#nextMs = chunk.atMs;
    // With NaN the comparison is false, so that NaN makes no gap.
    if (!(gapMs > (missing ? this.#jumpToleranceMs(chunk) : FRAME_MS / 2))) return;
    const gap = new Int16Array(msToSamples(Math.min(gapMs, this.#gapMaxMs), this.#rateHz));
    const concealed = missing ? conceal(gap, this.#last, this.#frameSamples) : 0;
    const fromMs = this.#endMs;
    this.#putOut(gap, ready);
    if (missing) this.#onLost(fromMs, this.#endMs);
    this.stats.concealedMs += samplesToMs(concealed, this.#rateHz);
    this.stats.silenceMs += samplesToMs(gap.length - concealed, this.#rateHz);
    this.stats.skippedMs += Math.max(0, gapMs - this.#gapMaxMs);
    this.#nextMs = gapMs > this.#gapMaxMs ? chunk.atMs : this.#nextMs + samplesToMs(gap.length, this.#rateHz);
  }

  /** The end of the audio that was returned. */
  get #endMs(): number {
    return (this.#originMs ?? 0) + samplesToMs(this.#placedSamples, this.#rateHz);
  }

  #putOut(samples: Int16Array, ready: Int16Array[]): void {
    this.#placedSamples += samples.length;
    ready.push(samples);
  }

  #remember(gap: { from: number; to: number }): void {
    this.#gaps.push(gap);
    if (this.#gaps.length > GAPS_REMEMBERED) this.#gaps.shift();
  }
}
