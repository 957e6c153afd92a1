/**
 * One live call, from its accepted `start` to `call.ended`. The carrier's audio goes to the tracks, what they recognise
 * goes to the feed and to the app, and may interrupt what the voice says. After `call.ended` the feed has nothing of
 * it.
 */
import type { Timer } from '../foundation/clock.ts';
import { ERRORS, TrunklineError } from '../foundation/errors.ts';
import type { Log } from '../foundation/log/log.ts';
import { settlesWithin } from '../foundation/settles-within.ts';
import type { CallStart, CarrierEvent, Track } from '../protocols/dialect.ts';
import type { Revision, SpeechEvent, TurnListener } from '../transcription/live-transcriber.ts';
import { AnswerWatch } from './answered/answer-watch.ts';
import type { AnswerNews } from './answered/answered-by.ts';
import type { CallApp, CallAppOptions } from './app/call-app.ts';
import type { FlowContext } from './app/call-flows.ts';
import { openCallApp } from './app/open-app.ts';
import { readAgent, readName } from './call-parameters.ts';
import type { CallEnding, CallSummary } from './call-summary.ts';
import type { CallTrace } from './call-tracer.ts';
import { CallFeed } from './feed/call-feed.ts';
import type { EndReason } from './feed/events.ts';
import { CallEcho } from './inbound/call-echo.ts';
import { EchoFilter } from './inbound/echo-filter.ts';
import type { EndedSpeech } from './inbound/ended-speech.ts';
import type { LagChange, LagTally } from './inbound/lag.ts';
import type { TrackEvent } from './inbound/track.ts';
import { CallTracks } from './inbound/tracks.ts';
import { CallLanguages, type LanguageNews } from './language/call-languages.ts';
import type { CallLeg, LegEnd, LegHandlers } from './leg.ts';
import type { LegMonitor } from './leg-monitor.ts';
import { readBargeIn } from './outbound/barge-in.ts';
import { CallVoice } from './outbound/voice.ts';
import { PrivateAnswers } from './private-answers.ts';
import { type CallRecording, openRecording } from './sound/call-recording.ts';

/** How often stalls and the backlog are looked at. */
const TICK_MS = 250;
/** How long a call that is to be hung up goes on for what is still to be said. */
const LAST_WORDS_MS = 30_000;

/**
 * Ends that have nothing to do with us. Where the app was never reached, the caller had nobody to talk to, and that is
 * told in place of these.
 */
const PEACEFUL_ENDS: readonly EndReason[] = ['hangup', 'closed', 'app'];

/** What a call is made of, and whom it tells of its end. */
export interface CallOptions {
  /** Its name in the feed and the API. */
  readonly id: string;
  readonly start: CallStart;
  readonly leg: CallLeg;
  readonly monitor: LegMonitor;
  readonly context: FlowContext;
  /** What is known of it, kept current by whoever made it. */
  readonly summary: CallSummary;
  /** Where the calls of the gateway count tracks whose captions come late. */
  readonly lags: LagTally;
  /** Where what is still to be read after its end counts. */
  readonly endedSpeech: EndedSpeech;
  /** When we dialled it; null = the other side made it. */
  readonly dialledAt: Date | null;
  /** Its leg is closed, or about to be: nobody talks in it any more, and its last captions are still to come. */
  onEnding(call: Call): void;
  /** The last final caption is out and everything is released; `call.ended` follows at once. */
  onEnded(call: Call, ending: CallEnding): void;
}

export class Call implements LegHandlers {
  readonly id: string;
  readonly start: CallStart;
  readonly summary: CallSummary;
  /** Resolves when `call.ended` is published and everything is released. */
  readonly ended: Promise<void>;
  /** What is said in it. */
  readonly voice: CallVoice;
  /** Of its sound; null = nothing keeps sound. */
  readonly recording: CallRecording | null;
  /** What is spoken on its tracks. */
  readonly languages: CallLanguages;
  readonly #options: CallOptions;
  readonly #log: Log;
  readonly #feed: CallFeed;
  readonly #tracks: CallTracks;
  /** Null = nothing is said in the call, or its echo is left in. */
  readonly #echo: CallEcho | null;
  /** Who has answered, and fax machines. */
  readonly #answer: AnswerWatch;
  readonly #echoFilter: EchoFilter;
  readonly #private = new PrivateAnswers((isHidden) => this.recording?.hide(isHidden));
  #trace: CallTrace | null = null;
  #app: CallApp | null = null;
  #appMuted = false;
  #handoffData: string | null = null;
  #timer: Timer | null = null;
  /** The leg is closed, or was closed because of a failure. */
  #legGone = false;
  #hangingUp = false;
  #reason: EndReason | null = null;
  /** Since when the gateway has waited for this call, to shut down. */
  #shutdownSinceMs: number | null = null;
  #resolveEnded: () => void = () => undefined;

  constructor(options: CallOptions) {
    const { id, start, summary, context } = options;
    this.id = id;
    this.start = start;
    this.summary = summary;
    this.ended = new Promise((resolve) => {
      this.#resolveEnded = resolve;
    });
    this.#options = options;
    this.#log = context.log.child({ callId: id, carrier: start.carrier });
    this.#feed = new CallFeed({ callId: id, feed: context.feed, log: this.#log, nowMs: () => this.durationMs });
    this.recording = openRecording({ start, summary, context, log: this.#log, callMs: () => this.durationMs });
    const publish = (news: LanguageNews): void => this.#feed.publishLanguage(news);
    this.languages = new CallLanguages({ start, summary, context, log: this.#log, publish });
    const hears = start.playback !== 'none' && context.settings.ECHO_CANCELLER === 'auto';
    this.#echo = hears ? new CallEcho(start.codec, context.clock) : null;
    this.voice = this.#openVoice();
    this.#answer = new AnswerWatch({
      start,
      clock: context.clock,
      log: this.#log,
      onNews: (news) => this.#onAnswer(news),
    });
    this.#echoFilter = new EchoFilter({
      voice: this.voice,
      nowMs: () => this.durationMs,
      onEcho: () => context.metrics.echoes.inc(),
    });
    this.#tracks = this.#openTracks();
  }

  /** How long it has lasted by its sound: where the longest track is, in whole ms. */
  get durationMs(): number {
    return this.#tracks.durationMs;
  }

  /** How late its captions are now. */
  get lagMs(): number {
    return this.#tracks.lagMs;
  }

  /** Publishes `call.started` and dials the app; from here on the call must be ended by {@link end}. */
  begin(): void {
    const { start, id: callId } = this;
    const { carrier } = start;
    const { parameters, app, startedAt } = this.summary.beginning;
    const { context, dialledAt } = this.#options;
    try {
      this.#trace = context.tracer?.begin({ callId, carrier, dialledAt, app }) ?? null;
      this.#timer = context.clock.every(TICK_MS, () => this.#tick(), true);
      this.#feed.publishStarted(start, parameters, { app, at: startedAt });
      this.#log.info({ tracks: start.tracks }, 'call started');
      this.languages.settle();
      if (this.#reason === null) this.recording?.begin(this.voice);
      // A reader of the feed may have ended the call by now.
      if (this.#reason === null) this.#app = this.#openApp();
      if (this.#reason === null) this.#answer.begin();
    } catch (error) {
      this.fail(error);
    }
  }

  /** One event of the carrier, after `start`. What cannot be done with it ends the call. */
  onEvent(event: CarrierEvent): void {
    if (this.#legGone) return;
    this.#options.monitor.countMessage(event);
    if (this.#reason !== null) return;
    try {
      this.#receive(event);
    } catch (error) {
      this.fail(error);
    }
  }

  /** The leg is closed. */
  onClosed(end: LegEnd): void {
    if (this.#legGone) return;
    this.#legGone = true;
    this.#options.monitor.noteClosed(end, this.id);
    void this.end(end.reason);
  }

  /** Closes the leg with the error's close code and ends the call. */
  fail(error: unknown): void {
    if (this.#legGone) return;
    this.#legGone = true;
    const { leg, monitor } = this.#options;
    leg.fail(monitor.noteFailure(error, this.id));
    void this.end('error');
  }

  /**
   * Takes the call over from its app, or gives it back. `by` = who does.
   * @throws TrunklineError `invalid_request` when the call has no app
   */
  muteApp(isMuted: boolean, by: string): void {
    if (this.#app === null) throw new TrunklineError('invalid_request', 'the call has no app that could be muted');
    if (this.#appMuted === isMuted) return;
    this.#appMuted = isMuted;
    this.#app.mute(isMuted);
    this.#feed.publishMuted(isMuted, by);
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
   * Ends the call: the leg is closed, what was said is captioned to the end, then `call.ended` is published. Resolves
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

  #receive(event: CarrierEvent): void {
    switch (event.type) {
      case 'audio':
        this.#tracks.push(event);
        this.recording?.onArrival();
        return;
      case 'dtmf':
        this.#feed.publishDtmf(this.#private.key(event.digit));
        if (event.track === 'inbound') this.recording?.onKey(event.digit);
        this.voice.onDtmf(event.digit);
        this.#app?.onDtmf(event.digit);
        return;
      case 'stop':
        void this.end('hangup');
        return;
      case 'start':
        throw new TrunklineError('start_repeated', `got a second start in call ${this.id}, expected one`);
      case 'mark':
        this.voice.onMark(event.name);
        return;
      case 'state':
        this.#feed.publishState(event.state);
        return;
      case 'transferred':
        this.#log.info({ by: event.by, kind: event.kind }, 'call transferred');
        this.#feed.publishTransferred(event);
        return;
      case 'assigned':
        this.#assign(event);
        return;
      case 'language':
        this.languages.suggest({ language: event.language, by: 'call' });
        return;
      case 'ignored':
        return;
    }
  }

  #assign(told: Extract<CarrierEvent, { type: 'assigned' }>): void {
    const names = { inbound: this.summary.names.inbound, outbound: readName(told.name ?? '') };
    const conference = readName(told.conference ?? '');
    this.#feed.publishAssigned({
      agent: readAgent(told.agent ?? ''),
      queue: readName(told.queue ?? ''),
      names,
      ...(conference !== null && { conference }),
    });
  }

  async #finish(reason: EndReason): Promise<void> {
    this.#timer?.cancel();
    this.#options.onEnding(this);
    this.#closeLeg(reason);
    this.#app?.close();
    this.recording?.onLegClosed();
    this.voice.close();
    await this.#tracks.end(() => this.#shutdownSinceMs);
    this.recording?.end();
    const { durationMs } = this;
    const handoffData = this.#handoffData;
    // First, so that whoever reads of the end finds the call ended.
    this.#options.onEnded(this, { at: this.#options.context.clock.wall(), reason, durationMs, handoffData });
    this.#feed.publishEnded(reason, durationMs, handoffData);
    const { counts, dropped: finalsDropped } = this.summary;
    const { finals, gaps } = counts;
    this.#trace?.end({ reason, durationMs, counts });
    const echoMs = this.#echo?.delayMs ?? null;
    this.#log.info({ reason, durationMs, finals, gaps, finalsDropped, echoMs, ...this.#tracks.repairs }, 'call ended');
    this.#resolveEnded();
  }

  /** 1000 lets Twilio go on with the TwiML after `<Connect>`. */
  #closeLeg(reason: EndReason): void {
    if (reason === 'drained') this.#options.leg.close(ERRORS.draining.closeCode, 'draining');
    else this.#options.leg.close(1000, reason === 'app_unreachable' ? 'the app cannot be reached' : 'call ended');
  }

  #openTracks(): CallTracks {
    const { start, leg, context, lags, endedSpeech } = this.#options;
    return new CallTracks({
      start,
      leg,
      context,
      log: this.#log,
      endedSpeech,
      endpointMs: (track) => this.#endpointMs(track),
      expected: (track) => this.languages.of(track),
      echo: this.#echo,
      callerTurns: this.#callerTurns(),
      onSound: (track, samples, atMs) => {
        this.recording?.onTrack(track, samples, atMs);
        if (track === 'inbound' && this.#reason === null) this.#answer.onSound(samples, atMs);
      },
      emit: (track, event) => this.#onTrack(track, event),
      onLag: (track, change: LagChange) => {
        lags.note(this.#log, track, change);
        this.#feed.publishLag(track, change);
      },
      onSettled: context.tracer ? (track, settled) => this.#trace?.onUtterance(track, settled) : undefined,
    });
  }

  /** An app waits for the caller's words alone; captions can wait for whole phrases. */
  #endpointMs(track: Track): number {
    const { ENDPOINT_MS, ENDPOINT_CAPTIONS_MS } = this.#options.context.settings;
    return track === 'inbound' && this.#app !== null ? ENDPOINT_MS : ENDPOINT_CAPTIONS_MS;
  }

  #callerTurns(): TurnListener {
    const { metrics } = this.#options.context;
    const isWanted = (): boolean => this.#app?.listens === true;
    return {
      isWanted,
      expected: () => this.voice.expected,
      onEnded: (by) => {
        if (isWanted()) metrics.turns.inc({ by });
      },
      onContinued: () => metrics.turnsContinued.inc(),
      onAnswer: (answer) => metrics.turnAnswers.inc({ answer }),
    };
  }

  #openVoice(): CallVoice {
    const { start, leg, context } = this.#options;
    const voice = new CallVoice({
      carrier: start.carrier,
      codec: start.codec,
      playback: start.playback,
      framesPerMessage: start.framesPerMessage,
      wholeSounds: start.wholeSounds,
      bargeIn: readBargeIn(start.parameters, context.settings.BARGE_IN),
      callerEndpointMs: () => this.#endpointMs('inbound'),
      context,
      log: this.#log,
      callMs: () => this.durationMs,
      language: () => this.languages.caller,
      taps: [this.recording?.heard, this.#echo].filter((tap) => tap != null),
      send: (command) => leg.send(command),
      press: (digit) => leg.press?.(digit),
      onFailure: (error) => this.fail(error),
      onSentence: context.tracer ? (sentence) => this.#trace?.onSentence(sentence) : undefined,
    });
    voice.onEvent((event) => {
      if (event.type === 'spoken') this.#feed.publishSpoken(event);
      else if (event.type === 'speaking') this.#trace?.onSounding();
    });
    return voice;
  }

  /** Null when there is none, or the carrier takes no sound of it. */
  #openApp(): CallApp | null {
    const { start, leg, context } = this.#options;
    const options: CallAppOptions = {
      start,
      voice: this.voice,
      languages: this.languages,
      answer: this.#answer,
      recording: this.recording,
      context,
      trace: this.#trace,
      log: this.#log,
      onConnection: (state) => this.#feed.publishConnection(state),
      onEnd: (handoffData, reason) => {
        this.#handoffData = handoffData;
        void this.end(reason);
      },
      onFlow: (news) => this.#feed.publishFlow(news),
      onPrivate: (isPrivate) => this.#private.set(isPrivate),
      transfer: async (request) => (await leg.transfer?.(request)) ?? 'unsupported',
      onFailure: (error) => this.fail(error),
    };
    return openCallApp(options, context.flows ?? null);
  }

  #onTrack(track: Track, event: TrackEvent): void {
    if (event.type === 'caption' && event.background) this.#options.context.metrics.backgroundFinals.inc();
    if (event.type === 'gap') this.#feed.publishGap(track, event);
    else if (event.type === 'language') this.#feed.publishHeard(track, event);
    else if (event.type === 'revision') this.#onRevision(track, event);
    else if (event.type === 'turn.ended') this.#app?.onSpeech(event);
    else if (event.type === 'speech.certain') this.#onCertain(track);
    else if (track === 'inbound') this.#onCallerSpeech(event);
    else this.#feed.publishSpeech(track, event);
  }

  /** What the caller said, unless it is our own echo. */
  #onCallerSpeech(recognised: SpeechEvent): void {
    const event = this.#echoFilter.filter(recognised);
    if (recognised.type === 'caption' && recognised.final)
      this.#trace?.onCallerFinal(recognised.utterance, event === null);
    if (event === null) return;
    const told = this.#private.speech(event);
    if (event.type !== 'caption' || event.background !== true) {
      if (this.#reason === null) this.#answer.onSpeech(event);
      this.#app?.onSpeech(event);
    }
    this.#feed.publishSpeech('inbound', told);
  }

  /** What might have been a television is the caller, who may interrupt. */
  #onCertain(track: Track): void {
    if (track === 'inbound') this.voice.onCallerSpeech('started');
  }

  #onAnswer(news: AnswerNews): void {
    if (news.type === 'answered') this.#options.context.metrics.answered.inc({ by: news.by });
    this.#feed.publishAnswer(news);
  }

  #onRevision(track: Track, revision: Revision): void {
    let told: Revision | null = revision;
    if (track === 'inbound') {
      if (!this.#echoFilter.admits(revision)) return;
      told = this.#private.revision(revision);
      this.#app?.onSpeech(revision);
    }
    if (told !== null) this.#feed.publishRevision(track, told);
  }

  #tick(): void {
    try {
      this.languages.settle();
      this.#tracks.check();
      this.#answer.tick();
      this.recording?.tick();
    } catch (error) {
      this.fail(error);
    }
  }
}
