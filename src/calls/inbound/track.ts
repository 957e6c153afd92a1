/** One track of a call: codec bytes → samples → one gapless timeline → 16 kHz → transcriber. */
import { ENGINE_RATE_HZ } from '../../../engine/contract.ts';
import { decodeG711 } from '../../audio/g711.ts';
import { Resampler } from '../../audio/resample.ts';
import { Timeline, type TimelineStats } from '../../audio/timeline.ts';
import type { Metrics } from '../../foundation/metrics.ts';
import { type Codec, samplesToMs } from '../../foundation/units.ts';
import type { CarrierEvent } from '../../protocols/dialect.ts';
import {
  LiveTranscriber,
  type LossReason,
  type SettledUtterance,
  type TranscriberEvent,
  type TranscriberMetrics,
  type TurnListener,
} from '../../transcription/live-transcriber.ts';
import type { ExpectedSpeech } from '../../transcription/track-language.ts';
import { UnreadTime } from '../../transcription/unread-time.ts';
import type { CallContext } from '../context.ts';
import type { GapEvent } from '../feed/events.ts';
import { ArrivalTimes } from './arrival-times.ts';
import type { CallEcho } from './call-echo.ts';
import { type LagChange, LagWatch } from './lag.ts';
import { SkippedTime } from './skipped-time.ts';

type AudioEvent = Extract<CarrierEvent, { type: 'audio' }>;
type Gap = Pick<GapEvent, 'type' | 'startMs' | 'endMs' | 'reason'>;

/** What is told of a track: what was recognised on it, and what is missing. */
export type TrackEvent = TranscriberEvent | Gap;

/** Less lost sound than this takes no word with it; it is concealed and counted alone. */
const LOST_MEDIA_MIN_MS = 500;
/** A carrier that was sending and was not read for no longer than this has nothing waiting to speak of. */
const UNREAD_MIN_MS = 100;

/** What a track is made of, and whom it tells. */
export interface TrackOptions {
  readonly carrier: string;
  readonly codec: Codec;
  /** Whether the carrier's chunks have times of their own; left out = they will show it. */
  readonly timed?: boolean | undefined;
  /** How long sound had come before the call could take it; left out = none had. */
  readonly soundForMs?: number | undefined;
  readonly context: CallContext;
  /** How much silence ends an utterance; asked when the first sound comes. */
  endpointMs(): number;
  /** What is known of the speech on it. */
  readonly expected: ExpectedSpeech;
  /** Who waits for turns on it; left out = nobody. */
  readonly turns?: TurnListener | undefined;
  /** Takes our own voice out of it; left out = nothing does. */
  readonly echo?: CallEcho | undefined;
  /** Sound in its place, repaired: `atMs` of the call is where it begins. */
  onSound(samples: Int16Array, atMs: number): void;
  /** Times are in ms of the call. */
  emit(event: TrackEvent): void;
  /** Its captions have fallen behind, or caught up. */
  onLag(change: LagChange): void;
  /** The transcriber's backlog fell again. */
  onDrained(): void;
  /** Is told how each utterance came to its final; left out = nobody is. */
  readonly onSettled?: ((settled: SettledUtterance) => void) | undefined;
}

/**
 * The chain of one track. Its transcriber is made with the first audio, when it is known at which time the track
 * begins.
 */
export class TrackChain {
  readonly #options: TrackOptions;
  readonly #timeline: Timeline;
  readonly #arrivalTimes: ArrivalTimes;
  readonly #unread: UnreadTime;
  /** When chunks had come that the timeline holds back. */
  readonly #heldSinceMs = new WeakMap<Int16Array, number>();
  readonly #resampler: Resampler;
  #transcriber: LiveTranscriber | null = null;
  /**
   * Whether the carrier's chunks have times of their own, and so come all the time; null = not known before the first.
   */
  #isTimed: boolean | null;
  #hasBegun = false;
  #transcribedSamples = 0;
  readonly #skipped = new SkippedTime();
  readonly #lag: LagWatch;
  /** Sound lost in the chunk at hand, in the transcriber's time. */
  #lost: { readonly fromMs: number; readonly toMs: number }[] = [];
  /** Where the track ended; null while it goes on. */
  #endedMs: number | null = null;
  #lastMediaAtMs: number | null = null;
  #reported: Readonly<TimelineStats> = { concealedMs: 0, silenceMs: 0, skippedMs: 0, late: 0, reordered: 0 };

  constructor(options: TrackOptions) {
    const { settings } = options.context;
    this.#options = options;
    this.#isTimed = options.timed ?? null;
    this.#arrivalTimes = new ArrivalTimes(options.context.clock, options.soundForMs);
    this.#unread = new UnreadTime(options.context.clock);
    this.#lag = new LagWatch(options.context.clock, (change) => options.onLag(change));
    this.#timeline = new Timeline({
      rateHz: options.codec.rateHz,
      reorderMs: settings.REORDER_MS,
      gapMaxMs: settings.GAP_MAX_MS,
      onLost: (fromMs, toMs) => void this.#lost.push({ fromMs, toMs }),
    });
    this.#resampler = new Resampler(options.codec.rateHz, ENGINE_RATE_HZ);
  }

  /**
   * Where the track is, in ms of the time that captions count in: where its audio ends, chunks held back for reordering
   * not counted yet. Where a carrier sends nothing while nobody speaks the clock goes on.
   */
  get lastsMs(): number {
    if (this.#endedMs !== null) return this.#endedMs;
    const receivedMs = this.#transcribedMs + this.#skipped.totalMs;
    return this.#isTimed === true ? receivedMs : Math.max(receivedMs, this.#arrivalTimes.silentUntilMs ?? 0);
  }

  /** Where the audio transcribed so far ends, in ms of the transcriber's time. */
  get #transcribedMs(): number {
    return (this.#timeline.originMs ?? 0) + samplesToMs(this.#transcribedSamples, this.#options.codec.rateHz);
  }

  /** Whether there was ever any audio on it. */
  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  /** Ms of sound that wait to be examined and that came faster than real time. */
  get aheadMs(): number {
    return this.#transcriber?.aheadMs ?? 0;
  }

  /** Ms of sound from the oldest that still gets its final to the last that came. */
  get unreadMs(): number {
    return this.#transcriber?.unreadMs ?? 0;
  }

  /** How late its captions are now. */
  get lagMs(): number {
    return this.#transcriber?.lagMs ?? 0;
  }

  /** Grows whenever something of what was received was recognised, and means nothing else. */
  get progress(): number {
    return this.#transcriber?.progress ?? 0;
  }

  get repairs(): Readonly<TimelineStats> {
    return this.#timeline.stats;
  }

  /** One chunk as it came from the carrier. */
  push(chunk: AudioEvent): void {
    const samples = decodeG711(chunk.bytes, this.#options.codec);
    this.#lastMediaAtMs = this.#options.context.clock.nowMs();
    const { sequence, waitedMs } = chunk;
    this.#isTimed = chunk.atMs !== null;
    this.#hasBegun = true;
    const durationMs = samplesToMs(samples.length, this.#options.codec.rateHz);
    const atMs = chunk.atMs ?? this.#arrivalTimes.place(durationMs, sequence, waitedMs);
    if (chunk.concealed === true) this.#timeline.stats.concealedMs += durationMs;
    const arrivedAtMs = this.#unread.arrivedAtMs(atMs + durationMs);
    const ready = this.#timeline.push({ samples, atMs, sequence });
    if (!ready.includes(samples)) this.#heldSinceMs.set(samples, arrivedAtMs);
    // What is ready begins with the gap, if there was one.
    this.#skipped.add(this.#transcribedMs, this.#timeline.stats.skippedMs);
    this.#transcribe(ready, arrivedAtMs);
    this.#reportRepairs();
  }

  /** To be called a few times a second, that lag is noticed even when no caption comes. */
  checkLag(): void {
    if (this.#transcriber !== null) this.#lag.note(this.lagMs);
  }

  /** To be called a few times a second, also after the end: what is later than LIVE_LAG_MAX_MS becomes a gap. */
  limitLag(): void {
    this.#transcriber?.limitLag(this.#options.context.settings.LIVE_LAG_MAX_MS);
  }

  /** The call ends while its carrier is not read: what it has sent since then is never read. */
  loseUnread(): void {
    const { clock } = this.#options.context;
    const unreadMs = this.#lastMediaAtMs === null ? 0 : Math.round(clock.nowMs() - this.#lastMediaAtMs);
    if (unreadMs > UNREAD_MIN_MS) this.#lose(this.lastsMs, this.lastsMs + unreadMs, 'overload');
  }

  /**
   * To be called a few times a second: when no media came for STALL_MS, what was held back for reordering is
   * transcribed, and an utterance that is open ends with the audio that is there. Does so once for each pause.
   */
  checkStall(): void {
    const { clock, settings } = this.#options.context;
    const sinceMs = this.#lastMediaAtMs;
    if (sinceMs === null || clock.nowMs() - sinceMs < settings.STALL_MS) return;
    this.#lastMediaAtMs = null;
    this.#transcribe(this.#timeline.flush());
    this.#releaseHeld(false);
    this.#reportRepairs();
    this.#transcriber?.stall(sinceMs);
  }

  /** The carrier is not read from now on. */
  beginPause(): void {
    this.#unread.pause();
  }

  /**
   * The pause so far was ours, not the carrier's: STALL_MS counts from now, and what waited is not late by the
   * carrier's fault.
   */
  forgivePause(): void {
    this.#arrivalTimes.forgivePause();
    this.#unread.resume();
    if (this.#lastMediaAtMs !== null) this.#lastMediaAtMs = this.#options.context.clock.nowMs();
  }

  /** No more audio: everything held back is transcribed. Resolves when the last final is out. */
  async end(): Promise<void> {
    try {
      this.#transcribeTail();
    } finally {
      this.#endedMs ??= this.lastsMs;
      // What was taken in before is recognised all the same.
      await this.#transcriber?.end();
    }
  }

  /** Gives up at once, and tells what is missing, for `reason`. */
  close(reason: LossReason): void {
    this.#transcriber?.giveUp(reason);
    this.#lag.end();
  }

  #transcribeTail(): void {
    this.#transcribe(this.#timeline.flush());
    this.#endedMs = this.lastsMs;
    this.#reportRepairs();
    this.#releaseHeld(true);
  }

  /**
   * @param arrivedAtMs when what came last of them had come; what was held back, and the gaps between, had come before
   */
  #transcribe(stretches: readonly Int16Array[], arrivedAtMs: number = this.#options.context.clock.nowMs()): void {
    const fromMs = this.#transcribedMs;
    for (const stretch of stretches) {
      this.#options.onSound(stretch, this.#skipped.toCallMs(this.#transcribedMs));
      this.#transcribedSamples += stretch.length;
    }
    let atMs = fromMs;
    try {
      for (const [index, stretch] of stretches.entries()) {
        this.#push(
          this.#toEngine(stretch, atMs),
          this.#heldSince(stretch) ?? this.#heldSince(stretches[index + 1]) ?? arrivedAtMs,
        );
        atMs += samplesToMs(stretch.length, this.#options.codec.rateHz);
      }
    } catch (error) {
      this.#lose(this.#skipped.toCallMs(fromMs), this.#skipped.toCallMs(this.#transcribedMs), 'overload');
      throw error;
    }
    this.#tellLostMedia();
  }

  /** A stretch that begins at `transcribedMs`, at the engine's rate and without our own voice. */
  #toEngine(stretch: Int16Array, transcribedMs: number): Int16Array {
    const { echo, codec } = this.#options;
    if (echo === undefined) return this.#resampler.push(stretch);
    const atMs = this.#skipped.toCallMs(transcribedMs);
    echo.observe(atMs + samplesToMs(stretch.length, codec.rateHz));
    if (echo.rateHz === codec.rateHz) return this.#resampler.push(echo.clean(stretch, atMs));
    return echo.clean(this.#resampler.push(stretch), atMs - this.#resampler.delayMs);
  }

  /** Lets go what is held on the way to the engine; `isEnd` = nothing comes behind it. */
  #releaseHeld(isEnd: boolean): void {
    const { echo, codec } = this.#options;
    const now = this.#options.context.clock.nowMs();
    if (echo !== undefined && echo.rateHz === codec.rateHz) this.#push(this.#resampler.push(echo.flush()), now);
    const rest = isEnd ? this.#resampler.flush() : new Int16Array(0);
    if (echo !== undefined && echo.rateHz !== codec.rateHz) this.#push(echo.flush(), now);
    this.#push(rest, now);
  }

  #push(samples: Int16Array, arrivedAtMs: number): void {
    if (samples.length > 0) this.#openTranscriber().push(samples, arrivedAtMs);
  }

  #tellLostMedia(): void {
    if (this.#lost.length === 0) return;
    for (const { fromMs, toMs } of this.#lost.splice(0)) {
      const [startMs, endMs] = [this.#skipped.toCallMs(fromMs), this.#skipped.toCallMs(toMs)];
      if (endMs - startMs < LOST_MEDIA_MIN_MS) continue;
      this.#transcriber?.noteLoss();
      this.#options.emit({ type: 'gap', startMs, endMs, reason: 'media' });
    }
  }

  #lose(startMs: number, endMs: number, reason: LossReason): void {
    this.#options.context.metrics.finalsLost.inc({ reason });
    this.#options.emit({ type: 'gap', startMs: Math.round(startMs), endMs: Math.round(endMs), reason });
  }

  #heldSince(stretch: Int16Array | undefined): number | undefined {
    return stretch === undefined ? undefined : this.#heldSinceMs.get(stretch);
  }

  #openTranscriber(): LiveTranscriber {
    if (this.#transcriber !== null) return this.#transcriber;
    const { context, endpointMs, expected, turns, emit, onDrained, onSettled } = this.#options;
    const transcriber = new LiveTranscriber({
      settings: { ...context.settings, ENDPOINT_MS: endpointMs() },
      engine: context.engine,
      expected,
      marksBackground: context.settings.BACKGROUND_VOICES === 'mark',
      turns,
      clock: context.clock,
      originMs: this.#timeline.originMs ?? 0,
      emit: (event) => emit(this.#inCallTime(event)),
      metrics: this.#countLag(toTranscriberMetrics(context.metrics)),
      onSettled,
    });
    transcriber.onDrained(onDrained);
    this.#transcriber = transcriber;
    return transcriber;
  }

  #inCallTime(event: TranscriberEvent): TranscriberEvent {
    if (this.#skipped.totalMs === 0) return event;
    if ('atMs' in event) return { ...event, atMs: this.#skipped.toCallMs(event.atMs) };
    return { ...event, startMs: this.#skipped.toCallMs(event.startMs), endMs: this.#skipped.toCallMs(event.endMs) };
  }

  #countLag(metrics: TranscriberMetrics): TranscriberMetrics {
    return {
      ...metrics,
      partial: (lagMs) => {
        metrics.partial(lagMs);
        this.#lag.note(lagMs);
      },
      final: (how, lagMs) => {
        metrics.final(how, lagMs);
        this.#lag.note(lagMs);
      },
    };
  }

  #reportRepairs(): void {
    const { stats } = this.#timeline;
    const { carrier, context } = this.#options;
    const before = this.#reported;
    if (stats.concealedMs > before.concealedMs)
      context.metrics.mediaConcealedMs.inc({ carrier }, stats.concealedMs - before.concealedMs);
    if (stats.silenceMs > before.silenceMs)
      context.metrics.mediaSilenceMs.inc({ carrier }, stats.silenceMs - before.silenceMs);
    if (stats.late > before.late) context.metrics.mediaLate.inc({ carrier }, stats.late - before.late);
    if (stats.reordered > before.reordered)
      context.metrics.mediaReordered.inc({ carrier }, stats.reordered - before.reordered);
    this.#reported = { ...stats };
  }
}

/** What a transcriber reports, counted in the gateway's metrics. */
export function toTranscriberMetrics(metrics: Metrics): TranscriberMetrics {
  return {
    partial: (lagMs) => metrics.partialLag.observe(lagMs / 1000),
    final: (how, lagMs) => {
      metrics.finals.inc({ how });
      metrics.finalLag.observe(lagMs / 1000);
    },
    partialDropped: () => metrics.partialsDropped.inc(),
    finalLost: (reason) => metrics.finalsLost.inc({ reason }),
    joint: (outcome) => metrics.jointReadings.inc({ outcome }),
  };
}
