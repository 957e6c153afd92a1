import { ENGINE_RATE_HZ, VAD_WINDOW_SAMPLES } from '../../engine/contract.ts';
import { LevelGate, type WindowLevel } from '../audio/level-gate.ts';
import { meanSquare } from '../audio/power.ts';
import type { Engine } from '../engine-client/engine.ts';
import type { Clock } from '../foundation/clock.ts';
import type { Settings } from '../foundation/settings/settings.ts';
import { msToSamples, samplesToMs } from '../foundation/units.ts';
import { Arrivals } from './audio-arrivals.ts';
import { BackgroundSpeech } from './background-speech.ts';
import { Captions, type LossReason, type TranscriberEvent } from './captions.ts';
import { Decoder, type DecoderSettings } from './decoder.ts';
import { Endpointer, type EndpointerSettings, type Stretch } from './endpointer.ts';
import { ForcedCut } from './forced-cut.ts';
import { SampleRing } from './sample-ring.ts';
import type { SettledUtterance } from './settled-utterance.ts';
import { type ExpectedSpeech, TrackLanguage } from './track-language.ts';
import type { TurnSettings } from './turn-policy.ts';
import { type TurnListener, Turns } from './turns.ts';
import { type PausedSpeech, type TranscriberMetrics, Utterances } from './utterances.ts';
import { VadRunner } from './vad-runner.ts';
import type { WindowSettings } from './windows.ts';

export type { Caption, LossReason, Revision, SpeechEvent, TranscriberEvent, TurnEnded } from './captions.ts';
export type { SettledUtterance } from './settled-utterance.ts';
export type { TurnListener } from './turns.ts';
export type { PausedSpeech, TranscriberMetrics } from './utterances.ts';

/** The settings of a transcriber. */
export type TranscriberSettings = Pick<
  Settings,
  keyof EndpointerSettings | keyof WindowSettings | keyof DecoderSettings | keyof TurnSettings | 'JOIN_MS'
>;

/** Who is told of a track's pauses. */
export interface PauseListener {
  /** Nobody has spoken for EAGER_MS, and what was said in this utterance has been read. */
  onPaused(paused: PausedSpeech): void;
  /** The speaker of the running utterance goes on after a pause. */
  onResumed(): void;
}

/** What a transcriber works with. */
export interface LiveTranscriberOptions {
  readonly settings: TranscriberSettings;
  readonly engine: Engine;
  readonly clock: Clock;
  /** Ms of the call at which the track's first sample lies. */
  readonly originMs: number;
  readonly emit: (event: TranscriberEvent) => void;
  readonly metrics: TranscriberMetrics;
  /** Whether to caption while someone speaks; false = finals only. True unless said otherwise. */
  readonly partials?: boolean;
  /**
   * Whether finals say when their words were spoken; what the recogniser is asked for that takes it an eighth longer.
   */
  readonly wordTimes?: boolean | undefined;
  /** `batch` lets every live call go first. `live` unless said otherwise. */
  readonly urgency?: 'live' | 'batch';
  /** Whether speech far below the caller's level is told apart as background; false unless said otherwise. */
  readonly marksBackground?: boolean | undefined;
  /** Who waits for the turns of the track, if anybody: without it `turn.ended` is not emitted. */
  readonly turns?: TurnListener | undefined;
  /** Who wants to know of pauses before it is certain that they are ends. */
  readonly pauses?: PauseListener | undefined;
  /** Unless given, the recogniser finds the language out, or assumes one. */
  readonly expected?: ExpectedSpeech;
  /** Is told, after its final, how an utterance came to it. */
  readonly onSettled?: ((settled: SettledUtterance) => void) | undefined;
}

/** Backlog at or below which a transcriber counts as drained. The source may only be paused above it. */
export const BACKLOG_LOW_MS = 200;

/** Whoever speaks into somebody else's words has begun so long before it is known. */
const ATTACK_SAMPLES = 5 * VAD_WINDOW_SAMPLES;
/** Audio that the ring is sized for from the start. Most utterances are shorter; for longer ones it grows. */
const RING_SIZED_MS = 4000;
/** Once audio is too old, so much of what may wait goes with it: few long gaps instead of many short ones. */
const GIVEN_UP_SHARE = 0.25;
/** Finals that may be under way before further audio must wait. */
const FINALS_PENDING_MAX = 2;

/**
 * Transcribes one track: 16 kHz audio in, captions out. The audio waits in a ring; the {@link VadRunner} finds the
 * speech in it, the {@link Endpointer} divides that into utterances, each utterance gets its text from the engine, and
 * finals leave in the order of the speech. Partials may be dropped under load, audio and finals are not: instead
 * {@link backlogMs} grows, until somebody calls {@link LiveTranscriber.limitLag}. Where there is no final in the end, a
 * `gap` names the stretch.
 */
export class LiveTranscriber {
  readonly #options: LiveTranscriberOptions;
  readonly #audio: SampleRing;
  readonly #arrivals = new Arrivals();
  readonly #endpointer: Endpointer;
  readonly #forcedCut: ForcedCut;
  /** Null = whatever is said is the caller's. */
  readonly #levels: LevelGate | null;
  readonly #background: BackgroundSpeech | null;
  readonly #vad: VadRunner;
  readonly #captions: Captions;
  readonly #utterances: Utterances;
  readonly #turns: Turns | null;
  readonly #language: TrackLanguage;
  readonly #life = new AbortController();
  readonly #drainedListeners: (() => void)[] = [];
  /** The pause that the running utterance is in, if any. */
  #pause: Stretch | null = null;
  /** The running utterance may be a television that was heard first. */
  #isUnsure = false;
  #behind = false;
  /** Since when, on the clock, no audio has come, as we were told; null = it comes. */
  #stalledSinceMs: number | null = null;
  #ending: Promise<void> | null = null;
  #allDetected: (() => void) | null = null;

  constructor(options: LiveTranscriberOptions) {
    const { settings, engine, clock, metrics, urgency = 'live', partials = true } = options;
    const { expected = { language: new TrackLanguage(), hotWords: [] } } = options;
    this.#language = expected.language;
    const audio = new SampleRing(msToSamples(RING_SIZED_MS, ENGINE_RATE_HZ));
    this.#options = options;
    this.#audio = audio;
    this.#endpointer = new Endpointer(settings);
    this.#levels = options.marksBackground === true ? new LevelGate() : null;
    this.#background = this.#levels === null ? null : this.#openBackground();
    const probabilityAt = (sample: number): number => this.#endpointer.probabilityAt(sample);
    this.#forcedCut = new ForcedCut({ settings, audio, probabilityAt });
    this.#captions = new Captions(options.originMs);
    this.#vad = new VadRunner({
      engine,
      clock,
      audio,
      signal: this.#life.signal,
      mayGoOn: () => this.#utterances.pending < FINALS_PENDING_MAX,
      onDetected: (probabilities) => this.#onDetected(probabilities),
      onGivenUp: (from, to) => this.#utterances.tellGap(from, to, 'engine'),
      onCaughtUp: () => this.#onCaughtUp(),
    });
    this.#utterances = new Utterances({
      audio,
      arrivals: this.#arrivals,
      captions: this.#captions,
      clock,
      settings,
      metrics,
      decoder: new Decoder(engine, { urgency, settings, expected, isTimed: options.wordTimes }),
      language: expected.language,
      showPartials: partials,
      showWordTimes: options.wordTimes ?? false,
      emit: (event) => this.#emit(event),
      onDelivered: () => {
        this.#turns?.onSettled();
        this.#vad.run();
      },
      onJointlyRead: () => this.#turns?.onSettled(),
      onSettled: options.onSettled,
      onPaused: options.pauses && ((paused) => this.#closed || options.pauses?.onPaused(paused)),
    });
    this.#turns = options.turns === undefined ? null : this.#openTurns(options.turns);
  }

  /** Ms of audio received but not yet examined, because the engine or the finals are behind. */
  get backlogMs(): number {
    return samplesToMs(Math.max(this.#audio.end - this.#vad.detectedTo, 0), ENGINE_RATE_HZ);
  }

  /** How far {@link backlogMs} is beyond the time since its oldest audio came: audio came faster than real time. */
  get aheadMs(): number {
    return Math.max(this.backlogMs - this.#unexaminedForMs, 0);
  }

  /** Ms of audio from the oldest that has no final, and may yet get one, to the last that came. */
  get unreadMs(): number {
    const from = Math.min(this.#utterances.unreadFrom ?? Number.POSITIVE_INFINITY, this.#vad.detectedTo);
    return samplesToMs(Math.max(this.#audio.end - from, 0), ENGINE_RATE_HZ);
  }

  /**
   * Ms since the oldest thing that is still open: audio that arrived and is not examined, or an utterance whose end was
   * decided and whose final is not out.
   */
  get lagMs(): number {
    const nowMs = this.#options.clock.nowMs();
    return Math.max(this.#unexaminedForMs, nowMs - (this.#utterances.waitingSinceMs ?? nowMs));
  }

  /** Ms since the oldest audio came that is not examined. */
  get #unexaminedForMs(): number {
    const next = this.#vad.detectedTo + VAD_WINDOW_SAMPLES;
    return next <= this.#audio.end ? this.#options.clock.nowMs() - this.#arrivals.at(next) : 0;
  }

  /** Grows whenever audio was examined or a final came out, and means nothing else. */
  get progress(): number {
    return this.#vad.detectedTo + this.#utterances.settled;
  }

  /** Calls `listener` each time the backlog has fallen to {@link BACKLOG_LOW_MS} or less after having been above it. */
  onDrained(listener: () => void): void {
    this.#drainedListeners.push(listener);
  }

  /**
   * Takes the track's next audio: 16 kHz, any length, contiguous with what came before; it is copied. It had come at
   * `arrivedAtMs` on the clock, from which its captions' lag counts. Ignored after {@link end} and {@link close}.
   * Throws `audio_too_fast` when more than two minutes wait although {@link backlogMs} said so.
   */
  push(samples: Int16Array, arrivedAtMs: number = this.#options.clock.nowMs()): void {
    if (this.#closed || this.#ending !== null) return;
    const from = this.#audio.end;
    this.#audio.push(samples);
    this.#arrivals.note(from, this.#audio.end, arrivedAtMs);
    this.#stalledSinceMs = null;
    this.#behind ||= this.backlogMs > BACKLOG_LOW_MS;
    this.#vad.run();
  }

  /**
   * No audio has come since `sinceMs` on the clock although someone speaks: ends the utterance with the audio there is,
   * once that is examined. From there on the silence behind it is counted by the clock.
   */
  stall(sinceMs: number): void {
    this.#stalledSinceMs = sinceMs;
    this.#vad.run();
  }

  /** From the next utterance on this much silence ends one, in place of ENDPOINT_MS. */
  setEndpoint(endpointMs: number): void {
    this.#endpointer.setEndpoint(endpointMs);
  }

  /** Sound was lost before what comes next: it is not read together with what was said so far. */
  noteLoss(): void {
    this.#utterances.part(this.#audio.end);
  }

  /**
   * Speech that came more than `maxMs` ago and has no final, and a quarter of that beyond it, gets none any more: what
   * is known of it is its final, the rest a gap. Captions go on behind it. To be called a few times a second, also
   * after {@link end}.
   */
  limitLag(maxMs: number): void {
    if (this.#closed) return;
    const nowMs = this.#options.clock.nowMs();
    const oldestMs = Math.max(this.#unexaminedForMs, nowMs - (this.#utterances.oldestArrivedMs ?? nowMs));
    if (oldestMs <= maxMs) return;
    const sinceMs = nowMs - maxMs * (1 - GIVEN_UP_SHARE);
    const from = this.#vad.detectedTo;
    const to = this.#unexaminedBefore(sinceMs);
    const reason = this.#vad.isFailing ? 'engine' : 'overload';
    if (to > from) this.#skipTo(to);
    this.#utterances.giveUpBefore(sinceMs);
    this.#utterances.tellGap(from, to, reason);
    this.#turns?.onSettled();
    this.#noticeDrained();
    this.#vad.run();
    // Of a track that is over, less than a window is left: it is not worth waiting for an engine that stands still.
    if (to > from && to + VAD_WINDOW_SAMPLES > this.#audio.end) this.#allDetected?.();
  }

  /** No more audio comes. Resolves when the last final, and what revises it, is out or the transcriber is closed. */
  end(): Promise<void> {
    this.#ending ??= this.#finish();
    return this.#ending;
  }

  /**
   * Gives up at once as {@link close} does, and emits first what is missing: what is known of each utterance is its
   * final, the rest are gaps.
   */
  giveUp(reason: LossReason): void {
    if (this.#closed) return;
    this.#endNow();
    this.#utterances.giveUp(reason);
    this.#turns?.end();
    this.#turns?.flush();
    // Less than a window is no speech.
    const { detectedTo } = this.#vad;
    if (detectedTo + VAD_WINDOW_SAMPLES <= this.#audio.end)
      this.#utterances.tellGap(detectedTo, this.#audio.end, reason);
    this.close();
  }

  /** Gives up at once: nothing more is emitted, and every transcription under way is aborted. */
  close(): void {
    this.#life.abort();
    this.#turns?.close();
    this.#utterances.close();
    this.#allDetected?.();
  }

  get #closed(): boolean {
    return this.#life.signal.aborted;
  }

  /** Where the windows end that came before `sinceMs` on the clock and are not examined. */
  #unexaminedBefore(sinceMs: number): number {
    let to = this.#vad.detectedTo;
    while (to + VAD_WINDOW_SAMPLES <= this.#audio.end && this.#arrivals.at(to + VAD_WINDOW_SAMPLES) < sinceMs)
      to += VAD_WINDOW_SAMPLES;
    return to;
  }

  /** Leaves out the audio up to `to`. */
  #skipTo(to: number): void {
    this.#endNow();
    this.#vad.skipTo(to);
    this.#endpointer.skipTo(to);
    this.#background?.skipTo(to);
  }

  async #finish(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#allDetected = resolve;
      if (this.#closed) resolve();
      else this.#vad.finish();
    });
    this.#endNow();
    this.#turns?.end();
    await this.#utterances.delivered();
    this.#turns?.flush();
  }

  #onCaughtUp(): void {
    if (this.#stalledSinceMs !== null) {
      this.#endNow();
      this.#turns?.onStall(this.#stalledSinceMs);
    }
    this.#stalledSinceMs = null;
    this.#allDetected?.();
  }

  #onDetected(probabilities: Float32Array): void {
    for (const probability of probabilities) {
      this.#onWindow(probability);
      if (this.#closed) return;
    }
    // Only now: when several windows come at once, the last one knows best. The question goes before the decode, which
    // would keep an engine that is alone from it for a whole model run.
    this.#turns?.ask();
    this.#decodeAhead();
    const { running, isBackground } = this.#utterances;
    if (running === null || isBackground) this.#utterances.noteSilence(this.#endpointer.earliestStart);
    const neededFrom = running?.from ?? this.#earliestStart;
    this.#audio.release(Math.min(neededFrom, this.#turns?.neededFrom ?? neededFrom));
    this.#noticeDrained();
  }

  get #earliestStart(): number {
    const { earliestStart } = this.#endpointer;
    return Math.min(earliestStart, this.#background?.earliestStart ?? earliestStart);
  }

  #onWindow(probability: number): void {
    const decision = this.#endpointer.vad(probability, this.#levelOf(probability));
    if (decision?.kind === 'started') this.#start(decision.from, decision.speechFrom);
    else if (decision?.kind === 'paused') {
      this.#pause = decision;
      this.#utterances.pause(decision.speechTo);
    } else if (decision?.kind === 'resumed') {
      this.#pause = null;
      this.#utterances.resume(this.#endpointer.detectedTo - VAD_WINDOW_SAMPLES);
      this.#options.pauses?.onResumed();
    } else if (decision?.kind === 'ended') {
      this.#endSpeech(decision, 'endpoint');
      this.#background?.resume(decision.to, this.#endpointer);
    }
    if (decision === null && !this.#endpointer.isSpeaking) this.#background?.vad(probability);
    this.#tellCertain();
    this.#turns?.onWindow(this.#endpointer);
    this.#cutIfLong();
  }

  /** The level of the next window beside the speaker's. */
  #levelOf(probability: number): WindowLevel | undefined {
    if (this.#levels === null) return undefined;
    const from = this.#endpointer.detectedTo;
    const samples = this.#audio.slice(from, from + VAD_WINDOW_SAMPLES);
    return this.#levels.note(meanSquare(samples), probability >= this.#options.settings.VAD_STOP_THRESHOLD);
  }

  #start(from: number, speechFrom: number): void {
    this.#background?.yieldAt(from);
    this.#levels?.begin();
    this.#isUnsure = this.#levels?.isUnsure ?? false;
    this.#open(from, speechFrom);
    this.#emit(
      this.#isUnsure ? this.#captions.unsureSpeech(speechFrom) : this.#captions.speech('speech.started', speechFrom),
    );
  }

  /** Whoever spoke so softly that it may have been a television has got louder, or somebody else speaks into it. */
  #tellCertain(): void {
    const levels = this.#levels;
    if (levels === null || !this.#isUnsure || !this.#endpointer.isSpeaking) return;
    const { detectedTo } = this.#endpointer;
    if (levels.hasRisen) {
      const at = Math.max(detectedTo - ATTACK_SAMPLES, this.#utterances.running?.from ?? 0);
      this.#utterances.markBackground();
      this.#endSpeech({ to: at, speechTo: at }, 'cut');
      this.#endpointer.cut(at);
      this.#start(at, at);
    } else if (!levels.isUnsure) {
      this.#isUnsure = false;
      this.#emit(this.#captions.speech('speech.certain', detectedTo));
    }
  }

  /** Starts the work that can be done before the end is certain: the eager decode in a pause, a partial otherwise. */
  #decodeAhead(): void {
    const { partials = true, urgency = 'live' } = this.#options;
    const utterance = this.#utterances.running;
    const { detectedTo, speechTo } = this.#endpointer;
    if (utterance === null || this.#utterances.isBackground || speechTo <= utterance.from) return;
    if (this.#pause === null) {
      if (partials) utterance.advance({ to: detectedTo, speechTo });
    } else if (urgency === 'live') {
      // A file's endpoint is not urgent: eager decodes of its pauses would only waste time.
      this.#utterances.speculate(this.#pause, this.#turns?.isAwaited ?? false);
    }
  }

  /** Long speech: cuts it at a quiet point, where the next utterance begins, or ends it in the pause it is in. */
  #cutIfLong(): void {
    const utterance = this.#utterances.running;
    if (utterance === null) return;
    const at = this.#forcedCut.find(utterance.from, this.#endpointer.detectedTo);
    if (at === null) return;
    if (this.#pause !== null) {
      this.#endCaller();
      return;
    }
    const { isBackground } = this.#utterances;
    this.#utterances.finish({ to: at, speechTo: at }, 'cut');
    if (isBackground) {
      this.#background?.cut(at);
      this.#openOthers(at, at);
    } else {
      this.#turns?.onFinished('cut');
      this.#endpointer.cut(at);
      this.#open(at, at);
    }
  }

  /** Whoever speaks is done. */
  #endNow(): void {
    this.#endCaller();
    if (!this.#closed) this.#background?.yieldAt(this.#audio.end);
  }

  #endCaller(): void {
    const stretch = this.#endpointer.close(this.#audio.end);
    if (stretch === null || this.#closed) return;
    this.#endSpeech(stretch, 'cut');
    this.#background?.resume(stretch.to, this.#endpointer);
  }

  #open(from: number, speechFrom: number): void {
    this.#utterances.open(from, speechFrom);
    this.#turns?.onOpened(from);
  }

  /** Somebody else than the caller speaks. */
  #openOthers(from: number, speechFrom: number): void {
    this.#utterances.open(from, speechFrom, true);
    this.#turns?.onBackground();
  }

  #openBackground(): BackgroundSpeech {
    return new BackgroundSpeech(this.#options.settings, {
      onStarted: (from, speechFrom) => this.#openOthers(from, speechFrom),
      onEnded: (stretch) => this.#utterances.finish(stretch, 'endpoint'),
    });
  }

  #endSpeech(stretch: Stretch, by: 'endpoint' | 'cut'): void {
    this.#pause = null;
    const level = this.#levels?.end() ?? null;
    const { isBackground } = this.#utterances;
    this.#utterances.finish(stretch, by, {
      isAmidOthers: this.#levels?.isAmidOthers ?? false,
      onText: (hasWords) => {
        if (level !== null) this.#levels?.learn(level, hasWords && !isBackground);
      },
    });
    this.#emit(this.#captions.speech('speech.stopped', stretch.speechTo));
    this.#turns?.onFinished(by);
  }

  #openTurns(listener: TurnListener): Turns {
    const { settings, engine, clock, originMs } = this.#options;
    return new Turns({
      settings,
      engine,
      language: this.#language,
      clock,
      audio: this.#audio,
      originMs,
      listener,
      utterances: this.#utterances,
      endUtterance: () => this.#endCaller(),
      emit: ({ first, last, speechTo }) => this.#emit(this.#captions.turnEnded(first, last, speechTo)),
    });
  }

  #noticeDrained(): void {
    if (!this.#behind || this.backlogMs > BACKLOG_LOW_MS) return;
    this.#behind = false;
    for (const listener of this.#drainedListeners) listener();
  }

  #emit(event: TranscriberEvent): void {
    if (this.#closed) return;
    this.#options.emit(event);
    if (event.type === 'caption') this.#turns?.onCaption(event);
    else if (event.type === 'revision') this.#turns?.onRevision(event);
  }
}
