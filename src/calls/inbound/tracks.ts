/** All tracks of one call: their audio in, what was recognised out, and back-pressure on the carrier. */
import type { TimelineStats } from '../../audio/timeline.ts';
import type { Log } from '../../foundation/log/log.ts';
import type { CallStart, CarrierEvent, Track } from '../../protocols/dialect.ts';
import type { SettledUtterance, TurnListener } from '../../transcription/live-transcriber.ts';
import type { ExpectedSpeech } from '../../transcription/track-language.ts';
import type { CallContext } from '../context.ts';
import type { CallLeg } from '../leg.ts';
import type { CallEcho } from './call-echo.ts';
import type { EndedSpeech } from './ended-speech.ts';
import type { LagChange } from './lag.ts';
import { awaitLastCaptions } from './last-captions.ts';
import { TrackChain, type TrackEvent } from './track.ts';

/**
 * A carrier's socket is read in real time however late the engines are, so that its end is seen; memory is bounded by
 * LIVE_LAG_MAX_MS. With more audio than this that came faster, and waits, it is not read until half of it is left.
 */
const AHEAD_MAX_MS = 5000;

interface CallTracksOptions {
  readonly start: Pick<CallStart, 'carrier' | 'codec' | 'timed' | 'soundForMs' | 'tracks'>;
  readonly leg: Pick<CallLeg, 'pause' | 'resume'>;
  readonly context: CallContext;
  readonly log: Log;
  /** Where what is still to be read after the end counts. */
  readonly endedSpeech: EndedSpeech;
  /** How much silence ends an utterance of a track; asked when its sound begins. */
  endpointMs(track: Track): number;
  /** What is known of the speech on a track. */
  expected(track: Track): ExpectedSpeech;
  /** Takes our own voice out of the caller's track; null = nothing does. */
  readonly echo: CallEcho | null;
  /** Who waits for the caller's turns. */
  readonly callerTurns: TurnListener;
  /** Sound in its place: `atMs` of the call is where it begins. */
  onSound(track: Track, samples: Int16Array, atMs: number): void;
  /** Times are in ms of the call. */
  emit(track: Track, event: TrackEvent): void;
  /** The captions of a track have fallen behind, or caught up. */
  onLag(track: Track, change: LagChange): void;
  /** Is told how each utterance came to its final; left out = nobody is. */
  readonly onSettled?: ((track: Track, settled: SettledUtterance) => void) | undefined;
}

export class CallTracks {
  readonly #options: CallTracksOptions;
  readonly #chains = new Map<Track, TrackChain>();
  #paused = false;
  #ending = false;

  constructor(options: CallTracksOptions) {
    this.#options = options;
    for (const track of options.start.tracks) this.#chains.set(track, this.#openChain(track));
  }

  /** Where the longest track is, in whole ms. */
  get durationMs(): number {
    const chains = [...this.#chains.values()];
    const begun = chains.filter(({ hasBegun }) => hasBegun);
    // A track that was announced and never came does not count beside one that did.
    return Math.round(Math.max(0, ...(begun.length > 0 ? begun : chains).map(({ lastsMs }) => lastsMs)));
  }

  /** How late the captions of the latest track are now. */
  get lagMs(): number {
    return Math.max(0, ...[...this.#chains.values()].map(({ lagMs }) => lagMs));
  }

  /** What was repaired on all tracks together. */
  get repairs(): TimelineStats {
    const sum = { concealedMs: 0, silenceMs: 0, skippedMs: 0, late: 0, reordered: 0 };
    for (const { repairs } of this.#chains.values()) {
      sum.concealedMs += repairs.concealedMs;
      sum.silenceMs += repairs.silenceMs;
      sum.skippedMs += repairs.skippedMs;
      sum.late += repairs.late;
      sum.reordered += repairs.reordered;
    }
    return sum;
  }

  /** One chunk as it came from the carrier. */
  push(chunk: Extract<CarrierEvent, { type: 'audio' }>): void {
    this.#chains.get(chunk.track)?.push(chunk);
    this.#regulate();
  }

  /** To be called a few times a second. */
  check(): void {
    for (const chain of this.#chains.values()) {
      if (!this.#paused) chain.checkStall();
      chain.checkLag();
      chain.limitLag();
    }
    this.#regulate();
  }

  /**
   * No more audio: resolves when the last final captions are out, or are given up. `shutdownSinceMs` = since when, on
   * the clock, the gateway has waited for this call; null = it does not shut down.
   */
  async end(shutdownSinceMs: () => number | null): Promise<void> {
    this.#ending = true;
    const chains = [...this.#chains.values()];
    if (this.#paused) for (const chain of chains) chain.loseUnread();
    const captioned = Promise.all(chains.map((chain) => this.#endChain(chain)));
    const end = await awaitLastCaptions({
      clock: this.#options.context.clock,
      captioned,
      givenUp: this.#options.endedSpeech.add({
        unreadMs: () => chains.reduce((sum, { unreadMs }) => sum + unreadMs, 0),
        until: captioned,
      }),
      progress: () => chains.reduce((sum, chain) => sum + chain.progress, 0),
      shutdownSinceMs,
      onLook: () => {
        for (const chain of chains) {
          chain.checkLag();
          chain.limitLag();
        }
      },
    });
    // What was captioned in time lacks nothing, unless something went wrong.
    for (const chain of chains) chain.close(end === 'complete' ? 'error' : end);
  }

  async #endChain(chain: TrackChain): Promise<void> {
    try {
      await chain.end();
    } catch (error) {
      this.#options.log.error({ err: error }, 'a track could not be finished');
    }
  }

  #openChain(track: Track): TrackChain {
    const { start, context, endpointMs, expected, echo, callerTurns, onSound, emit, onLag, onSettled } = this.#options;
    return new TrackChain({
      carrier: start.carrier,
      codec: start.codec,
      timed: start.timed,
      soundForMs: start.soundForMs,
      context,
      endpointMs: () => endpointMs(track),
      expected: expected(track),
      echo: track === 'inbound' && echo !== null ? echo : undefined,
      turns: track === 'inbound' ? callerTurns : undefined,
      onSound: (samples, atMs) => onSound(track, samples, atMs),
      emit: (event) => emit(track, event),
      onLag: (change) => onLag(track, change),
      onDrained: () => this.#regulate(),
      onSettled: onSettled && ((settled) => onSettled(track, settled)),
    });
  }

  /** Back-pressure: what a carrier sends faster than real time waits in its own socket, not in our memory. */
  #regulate(): void {
    if (this.#ending) return;
    let aheadMs = 0;
    for (const chain of this.#chains.values()) aheadMs = Math.max(aheadMs, chain.aheadMs);
    if (!this.#paused && aheadMs > AHEAD_MAX_MS) this.#pause();
    else if (this.#paused && aheadMs <= AHEAD_MAX_MS / 2) this.#resume();
  }

  #pause(): void {
    this.#paused = true;
    for (const chain of this.#chains.values()) chain.beginPause();
    this.#options.leg.pause();
  }

  #resume(): void {
    this.#paused = false;
    for (const chain of this.#chains.values()) chain.forgivePause();
    this.#options.leg.resume();
  }
}
