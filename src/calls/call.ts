/**
 * One live call, from its accepted `start` to `call.ended`. It introduces the rooms to each other: the carrier's events
 * go to the tracks, what the tracks' ears hear goes to the feed and to the app, and may interrupt what the voice says.
 * Nothing of it appears in the feed after `call.ended`.
 */
import type { TimelineStats } from '../audio/timeline.ts';
import type { Timer } from '../foundation/clock.ts';
import { ERRORS, TrunklineError } from '../foundation/errors.ts';
import type { Log } from '../foundation/log/log.ts';
import { settlesWithin } from '../foundation/settles-within.ts';
import type { CallStart, CarrierEvent, Track } from '../protocols/dialect.ts';
import type { SpeechEvent } from '../transcription/live-transcriber.ts';
import type { AppLine } from './app/line.ts';
import { openAppLine } from './app/open-line.ts';
import type { CallContext } from './context.ts';
import { type EndReason, type GapEvent, SPOKEN_TEXT_MAX_CHARS } from './feed/events.ts';
import { FinalCaptions } from './feed/final-captions.ts';
import type { TranscriptItem } from './feed/transcript.ts';
import { EchoFilter } from './inbound/echo-filter.ts';
import type { LagChange, LagTally } from './inbound/lag.ts';
import { awaitLastFinals } from './inbound/last-finals.ts';
import { TrackChain, type TrackEvent } from './inbound/track.ts';
import type { CallLeg } from './leg.ts';
import type { Interruptible } from './outbound/barge-in.ts';
import { CallVoice, type VoiceEvent } from './outbound/voice.ts';

/** How often stalls and the backlog are looked at. */
const TICK_MS = 250;
/**
 * With more audio than this waiting for the engine the carrier's socket is no longer read, until half of it is left.
 */
const BACKLOG_MAX_MS = 5000;
/** How long a call that is to be hung up goes on for what is still to be said. */
const LAST_WORDS_MS = 30_000;
/** Gaps of one call that have a line in the log each; the rest are in its feed and its transcript. */
const GAPS_LOGGED_MAX = 20;

/**
 * Ends that have nothing to do with us: where the app was never there, the caller had nobody to talk to, and that is
 * what is told.
 */
const PEACEFUL_ENDS: readonly EndReason[] = ['hangup', 'closed', 'app'];

/** What a call is made of, and whom it tells of its end. */
export interface CallOptions {
  /** Its name in the feed and the API. */
  readonly id: string;
  readonly start: CallStart;
  readonly leg: CallLeg;
  readonly context: CallContext;
  /** Where the calls of the gateway count tracks whose captions come late. */
  readonly lags: LagTally;
  /** Something that runs on a timer threw: the owner of the leg closes it and ends the call. */
  onFailure(error: unknown): void;
  /** The last final is out and everything is released; `call.ended` follows at once. */
  onEnded(call: Call, reason: EndReason): void;
}

export class Call {
  readonly id: string;
  readonly start: CallStart;
  readonly startedAt: Date;
  /** Resolves when `call.ended` is published and everything is released. */
  readonly ended: Promise<void>;
  /** What is said in it. */
  readonly voice: CallVoice;
  readonly #options: CallOptions;
  readonly #log: Log;
  readonly #chains = new Map<Track, TrackChain>();
  readonly #echoFilter: EchoFilter;
  readonly #finals = new FinalCaptions();
  #app: AppLine | null = null;
  #handoffData: string | null = null;
  #lagMs: number | null = null;
  #timer: Timer | null = null;
  #paused = false;
  #hangingUp = false;
  #reason: EndReason | null = null;
  /** Since when the gateway has waited for this call, to shut down. */
  #shutdownSinceMs: number | null = null;
  #resolveEnded: () => void = () => undefined;

  constructor(options: CallOptions) {
    this.id = options.id;
    this.start = options.start;
    this.startedAt = options.context.clock.wall();
    this.ended = new Promise((resolve) => {
      this.#resolveEnded = resolve;
    });
    this.#options = options;
    this.#log = options.context.log.child({ callId: options.id, carrier: options.start.carrier });
    this.voice = this.#openVoice();
    this.#echoFilter = new EchoFilter({
      voice: this.voice,
      nowMs: () => this.durationMs,
      onEcho: () => options.context.metrics.echoes.inc(),
    });
    for (const track of options.start.tracks) this.#chains.set(track, this.#openChain(track));
  }

  /** The final captions and gaps so far, as they came. */
  get finals(): readonly TranscriptItem[] {
    return this.#finals.kept;
  }

  /** `lagMs` of the last caption; null before the first. */
  get lagMs(): number | null {
    return this.#lagMs;
  }

  /** How long it has lasted by its sound: where the longest track is, in whole ms. */
  get durationMs(): number {
    const chains = [...this.#chains.values()];
    const begun = chains.filter(({ hasBegun }) => hasBegun);
    // A track that was announced and never came has no say beside one that did.
    return Math.round(Math.max(0, ...(begun.length > 0 ? begun : chains).map(({ lastsMs }) => lastsMs)));
  }

  /** What the app gave to whoever takes over the call; null = nothing. */
  get handoffData(): string | null {
    return this.#handoffData;
  }

  /** Publishes `call.started` and dials the app; from here on the call must be ended by {@link end}. */
  begin(): void {
    const { carrier, from, to, tracks } = this.start;
    const { clock, feed } = this.#options.context;
    this.#timer = clock.every(TICK_MS, () => this.#tick(), true);
    feed.publish({
      type: 'call.started',
      callId: this.id,
      carrier,
      from,
      to,
      startedAt: this.startedAt.toISOString(),
      tracks,
    });
    this.#log.info({ tracks }, 'call started');
    this.#app = this.#openApp();
  }

  /**
   * One event of the carrier, after `start`.
   * @throws TrunklineError `start_repeated`, and whatever a part of the chain throws; the caller then ends the call.
   */
  receive(event: CarrierEvent): void {
    if (this.#reason !== null) return;
    switch (event.type) {
      case 'audio':
        this.#chains.get(event.track)?.push(event);
        this.#regulate();
        return;
      case 'dtmf':
        this.#options.context.feed.publish({
          type: 'dtmf',
          callId: this.id,
          digit: event.digit,
          atMs: this.durationMs,
        });
        this.voice.onDtmf(event.digit);
        this.#app?.press(event.digit);
        return;
      case 'stop':
        void this.end('hangup');
        return;
      case 'start':
        throw new TrunklineError('start_repeated', `got a second start in call ${this.id}, expected one`);
      case 'mark':
        this.voice.onMark(event.name);
        return;
      case 'ignored':
        return;
    }
  }

  /**
   * Ends the call when everything that waits to be said has been said, after 30 s at the latest. Asked again, it ends
   * the call at once.
   */
  hangUp(): void {
    this.#app?.close();
    if (this.#hangingUp || !this.voice.speaking) {
      void this.end('api');
      return;
    }
    this.#hangingUp = true;
    void settlesWithin(this.#options.context.clock, this.voice.drained(), LAST_WORDS_MS).then(() => this.end('api'));
  }

  /**
   * Ends the call: the leg is closed, what was heard is captioned to the end, then `call.ended` is published. Resolves
   * after that and never rejects. Only the first reason counts, whichever of stop, socket close and hang-up came first.
   */
  end(reason: EndReason): Promise<void> {
    if (reason === 'drained') this.#shutdownSinceMs ??= this.#options.context.clock.nowMs();
    if (this.#reason === null) {
      this.#reason = this.#app?.unreachable && PEACEFUL_ENDS.includes(reason) ? 'app_unreachable' : reason;
      void this.#finish(this.#reason);
    }
    return this.ended;
  }

  async #finish(reason: EndReason): Promise<void> {
    this.#timer?.cancel();
    this.#closeLeg(reason);
    this.#app?.close();
    this.voice.close();
    if (this.#paused) for (const chain of this.#chains.values()) chain.loseUnread();
    await this.#hearTheRest();
    const { durationMs } = this;
    // First, so that whoever hears of the end finds the call ended.
    this.#options.onEnded(this, reason);
    this.#options.context.feed.publish({ type: 'call.ended', callId: this.id, reason, durationMs });
    const { captions, gaps, dropped } = this.#finals;
    this.#log.info(
      { reason, durationMs, finals: captions, gaps, finalsDropped: dropped, ...this.#sumRepairs() },
      'call ended',
    );
    this.#resolveEnded();
  }

  /** 1000 lets Twilio go on with the TwiML after `<Connect>`. */
  #closeLeg(reason: EndReason): void {
    if (reason === 'drained') this.#options.leg.close(ERRORS.draining.closeCode, 'draining');
    else this.#options.leg.close(1000, reason === 'app_unreachable' ? 'the app cannot be reached' : 'call ended');
  }

  async #hearTheRest(): Promise<void> {
    const chains = [...this.#chains.values()];
    const end = await awaitLastFinals({
      clock: this.#options.context.clock,
      heard: Promise.all(chains.map((chain) => this.#endChain(chain))),
      progress: () => chains.reduce((sum, chain) => sum + chain.progress, 0),
      shutdownSinceMs: () => this.#shutdownSinceMs,
      onLook: () => {
        for (const chain of chains) chain.checkLag();
      },
    });
    // Of what was heard in time nothing is missing, unless something went wrong.
    for (const chain of chains) chain.close(end === 'heard' ? 'error' : end);
  }

  async #endChain(chain: TrackChain): Promise<void> {
    try {
      await chain.end();
    } catch (error) {
      this.#log.error({ err: error }, 'a track could not be finished');
    }
  }

  #openChain(track: Track): TrackChain {
    return new TrackChain({
      carrier: this.start.carrier,
      codec: this.start.codec,
      timed: this.start.timed,
      context: this.#options.context,
      emit: (event) => this.#publish(track, event),
      onLag: (change) => this.#publishLag(track, change),
      onDrained: () => this.#regulate(),
    });
  }

  #openVoice(): CallVoice {
    const { start, leg, context, onFailure } = this.#options;
    const { carrier, codec, playback, framesPerMessage } = start;
    const voice = new CallVoice({
      ...{ carrier, codec, playback, framesPerMessage, context, log: this.#log, onFailure },
      bargeIn: bargeInOf(start, context.settings.BARGE_IN),
      send: (command) => leg.send(command),
      press: (digit) => leg.press?.(digit),
    });
    voice.onEvent((event) => this.#publishSpoken(event));
    return voice;
  }

  /** Null when there is none, or the carrier takes no sound of it. */
  #openApp(): AppLine | null {
    const { start, context, onFailure } = this.#options;
    const onEnd = (handoffData: string | null, reason: EndReason): void => {
      this.#handoffData = handoffData;
      void this.end(reason);
    };
    return openAppLine({ ...{ start, context, onEnd, onFailure }, voice: this.voice, log: this.#log });
  }

  #publishSpoken(event: VoiceEvent): void {
    if (event.type !== 'spoken') return;
    const { utterance, interrupted } = event;
    const text = event.text.slice(0, SPOKEN_TEXT_MAX_CHARS);
    const heardText = event.heardText.slice(0, SPOKEN_TEXT_MAX_CHARS);
    const atMs = this.durationMs;
    this.#options.context.feed.publish({
      type: 'spoken',
      callId: this.id,
      utterance,
      text,
      heardText,
      interrupted,
      atMs,
    });
  }

  #publish(track: Track, event: TrackEvent): void {
    if (event.type === 'gap') this.#publishGap(track, event);
    else this.#publishHeard(track, event);
  }

  #publishGap(track: Track, { startMs, endMs, reason }: Pick<GapEvent, 'startMs' | 'endMs' | 'reason'>): void {
    this.#finals.addGap({ kind: 'gap', track, startMs, endMs, reason });
    if (this.#finals.gaps <= GAPS_LOGGED_MAX) {
      this.#log.warn(
        { track, startMs, endMs, reason },
        reason === 'media' ? 'sound was lost on its way here' : 'no final caption comes of a stretch',
      );
    }
    this.#options.context.feed.publish({ type: 'gap', callId: this.id, track, startMs, endMs, reason });
  }

  #publishLag(track: Track, change: LagChange): void {
    this.#options.lags.note(this.#log, track, change);
    this.#options.context.feed.publish({
      type: change.type,
      callId: this.id,
      track,
      atMs: this.durationMs,
      lagMs: change.lagMs,
    });
  }

  /** What an ear heard, unless it is our own echo. */
  #publishHeard(track: Track, heard: SpeechEvent): void {
    const event = track === 'inbound' ? this.#echoFilter.filter(heard) : heard;
    if (event === null) return;
    if (track === 'inbound') this.#app?.hear(event);
    const { feed } = this.#options.context;
    if (event.type !== 'caption') {
      feed.publish({ type: event.type, callId: this.id, track, atMs: event.atMs });
      return;
    }
    const { utterance, stable, tail, text, final, startMs, endMs, lagMs } = event;
    this.#lagMs = lagMs;
    if (final) this.#finals.add({ track, utterance, text, startMs, endMs });
    feed.publish({
      type: 'caption',
      callId: this.id,
      track,
      utterance,
      stable,
      tail,
      text,
      final,
      startMs,
      endMs,
      lagMs,
    });
  }

  #tick(): void {
    try {
      for (const chain of this.#chains.values()) {
        if (!this.#paused) chain.checkStall();
        chain.checkLag();
      }
      this.#regulate();
    } catch (error) {
      this.#options.onFailure(error);
    }
  }

  /** Back-pressure: a carrier that sends faster than the engine hears waits in its own socket, not in our memory. */
  #regulate(): void {
    if (this.#reason !== null) return;
    let backlogMs = 0;
    for (const chain of this.#chains.values()) backlogMs = Math.max(backlogMs, chain.backlogMs);
    if (!this.#paused && backlogMs > BACKLOG_MAX_MS) this.#pause();
    else if (this.#paused && backlogMs <= BACKLOG_MAX_MS / 2) this.#resume();
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

  #sumRepairs(): TimelineStats {
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
}

/**
 * What may interrupt in this call: as its parameter `bargeIn` says, or else the setting. Throws `invalid_request` for
 * anything unknown.
 */
function bargeInOf({ parameters }: CallStart, setting: string): Interruptible {
  const wish = parameters['bargeIn'] ?? setting;
  if (wish === 'off') return 'none';
  if (wish === 'speech' || wish === 'dtmf' || wish === 'any') return wish;
  throw new TrunklineError(
    'invalid_request',
    `parameter bargeIn: got ${wish.length} other characters, expected off, speech, dtmf or any`,
  );
}
