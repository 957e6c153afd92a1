import { ENGINE_RATE_HZ } from '../../engine/contract.ts';
import type { Clock } from '../foundation/clock.ts';
import type { Settings } from '../foundation/settings/settings.ts';
import { samplesToMs } from '../foundation/units.ts';
import type { Arrivals } from './audio-arrivals.ts';
import type { Caption, Captions, LossReason, Revision, TranscriberEvent, UtteranceCaptions } from './captions.ts';
import type { Decoder } from './decoder.ts';
import type { Stretch } from './endpointer.ts';
import type { TimedWord } from './estimated-word-times.ts';
import { FinalConfidence, type JudgedFinal } from './final-confidence.ts';
import { type JointGroup, type JointOutcome, JointReadings } from './joint-readings.ts';
import type { Hypothesis } from './local-agreement.ts';
import type { SampleRing } from './sample-ring.ts';
import type { SettledUtterance } from './settled-utterance.ts';
import { type EndedUtterance, timeWords } from './spliced-utterances.ts';
import { SpokenSpans } from './spoken-spans.ts';
import type { LanguageGuess, TrackLanguage } from './track-language.ts';
import { type FinalHow, type Outcome, Utterance } from './utterance.ts';
import type { WindowSettings } from './windows.ts';

/** What a transcriber counts. Lags are wall ms. */
export interface TranscriberMetrics {
  /** A partial caption was emitted, `lagMs` after the last audio used had arrived. */
  partial(lagMs: number): void;
  /** A final caption was emitted, `lagMs` after its end was decided. */
  final(how: FinalHow, lagMs: number): void;
  /** A partial window was replaced by a newer one or given up. */
  partialDropped(): void;
  /** No final came of a stretch of audio. */
  finalLost(reason: LossReason): void;
  /** What became of utterances that were to be read together. */
  joint(outcome: JointOutcome): void;
}

/** An utterance as it is read in a pause, which may be its end. Times are ms of the call's audio. */
export interface PausedSpeech {
  /** Counts the track's utterances from 1. */
  readonly utterance: number;
  readonly text: string;
  readonly startMs: number;
  readonly endMs: number;
}

interface UtterancesOptions {
  readonly audio: SampleRing;
  readonly arrivals: Arrivals;
  readonly decoder: Decoder;
  readonly captions: Captions;
  readonly language: TrackLanguage;
  readonly clock: Clock;
  readonly settings: WindowSettings & Pick<Settings, 'JOIN_MS'>;
  readonly metrics: TranscriberMetrics;
  readonly showPartials: boolean;
  /** Whether finals say when their words were spoken. */
  readonly showWordTimes: boolean;
  readonly emit: (event: TranscriberEvent) => void;
  /** One final less is pending. */
  readonly onDelivered: () => void;
  /** What was to be read again has been. */
  readonly onJointlyRead: () => void;
  /** Is told of each final that came out, and of each utterance without words. */
  readonly onSettled: ((settled: SettledUtterance) => void) | undefined;
  /** Is told of each pause that an utterance has been read up to. */
  readonly onPaused: ((paused: PausedSpeech) => void) | undefined;
}

interface Entry {
  readonly utterance: Utterance;
  /** Somebody else than the caller says it. */
  isBackground: boolean;
  readonly captions: UtteranceCaptions;
  readonly spans: SpokenSpans;
}

/** One that is over: its stretch, and the time on the clock at which its end was decided. */
interface Pending extends Entry {
  readonly stretch: Stretch;
  readonly decidedMs: number;
  /** It was ended before it was silent for long enough. */
  readonly isCut: boolean;
  readonly ended: EndedUtterance;
  /** What is to be read again when the final is out. */
  readonly joint: JointGroup | null;
  readonly isAmidOthers: boolean;
  readonly onText: ((hasWords: boolean) => void) | undefined;
}

interface FinishOptions {
  /** Others are probably heard under its words: that these are improbable says nothing of their language. */
  readonly isAmidOthers?: boolean;
  /** Is told whether words were read in it, also those of no language that is understood. */
  onText?(hasWords: boolean): void;
}

/**
 * A track's utterances: at most one running, and those that are over but whose final is not out. Finals leave in order.
 */
export class Utterances {
  readonly #options: UtterancesOptions;
  /** In the order of their ends. */
  readonly #pending = new Set<Pending>();
  readonly #joint: JointReadings;
  readonly #confidence = new FinalConfidence();
  #running: Entry | null = null;
  /** The language that somebody had named when the last one ended. */
  #named: string | null = null;
  #delivered: Promise<void> = Promise.resolve();
  #settled = 0;
  /** The number of the last one whose final is out. */
  #lastFinal = 0;
  #closed = false;

  constructor(options: UtterancesOptions) {
    this.#options = options;
    const { arrivals, decoder, clock, settings, metrics } = options;
    this.#joint = new JointReadings({
      decoder,
      clock,
      settings,
      emit: (event) => this.#emitLate(event),
      lastFinal: () => this.#lastFinal,
      lagMs: (at) => clock.nowMs() - arrivals.at(at),
      onRead: (outcome) => metrics.joint(outcome),
      onIdle: () => options.onJointlyRead(),
    });
  }

  /** The utterance that is being spoken. */
  get running(): Utterance | null {
    return this.#running?.utterance ?? null;
  }

  /** Whether somebody else than the caller says what is being spoken. */
  get isBackground(): boolean {
    return this.#running?.isBackground ?? false;
  }

  /** Utterances that are over and whose final is not out. */
  get pending(): number {
    return this.#pending.size;
  }

  /** Whether utterances are being read together again. */
  get isReading(): boolean {
    return this.#joint.isReading;
  }

  /** Utterances so far whose final is out, or will not come. */
  get settled(): number {
    return this.#settled;
  }

  /** Time on the clock at which the end of the oldest pending utterance was decided; null = none is pending. */
  get waitingSinceMs(): number | null {
    const [oldest] = this.#pending;
    return oldest?.decidedMs ?? null;
  }

  /** Where the oldest begins that has no final, the running one included; null = there is none. */
  get unreadFrom(): number | null {
    const [oldest = this.#running] = this.#pending;
    return oldest?.utterance.from ?? null;
  }

  /** When the last audio of the oldest pending one had come, in ms on the clock; null = none is pending. */
  get oldestArrivedMs(): number | null {
    const [oldest] = this.#pending;
    return oldest === undefined ? null : this.#arrivedMs(oldest);
  }

  /** Begins an utterance at sample number `from`, its speech at `speechFrom`; of the caller unless said otherwise. */
  open(from: number, speechFrom: number, isBackground = false): void {
    const captions = this.#options.captions.open(speechFrom);
    const { audio, decoder, clock, settings, metrics, onPaused } = this.#options;
    const utterance = new Utterance({
      from,
      speechFrom,
      audio,
      decoder,
      clock,
      settings,
      onHypothesis: (hypothesis, stretch) => this.#show(captions, hypothesis, stretch),
      onPartialDropped: () => metrics.partialDropped(),
      onEager: onPaused && ((text, { speechTo }) => onPaused(captions.paused(text, speechTo))),
    });
    this.#running = { utterance, captions, isBackground, spans: new SpokenSpans(speechFrom) };
  }

  /** As it turns out, somebody else than the caller says what is being spoken. */
  markBackground(): void {
    if (this.#running !== null) this.#running.isBackground = true;
  }

  /**
   * The running utterance ends like this unless speech resumes: begins its final.
   * @param isAwaited whether somebody waits for the reading of it together with those before it as well
   */
  speculate(stretch: Stretch, isAwaited: boolean): void {
    const entry = this.#running;
    if (entry === null || entry.utterance.isSpeculating(stretch)) return;
    entry.utterance.speculate(stretch);
    if (isAwaited) this.#joint.prepare(this.#toJoin(entry, stretch));
  }

  /** The running utterance pauses from sample number `at` on. */
  pause(at: number): void {
    this.#running?.spans.pauseAt(at);
  }

  /** Speech went on at sample number `at` after the pause. */
  resume(at: number): void {
    this.#running?.spans.resumeAt(at);
    this.running?.resume();
    this.#joint.unprepare();
  }

  /**
   * The running utterance is over; its final follows when it is decoded and those before it are out.
   */
  finish(stretch: Stretch, by: 'endpoint' | 'cut', { isAmidOthers = false, onText }: FinishOptions = {}): void {
    const entry = this.#running;
    this.#running = null;
    if (entry === null) return;
    if (stretch.speechTo <= entry.utterance.from && !entry.captions.shown) {
      // A forced cut fell into what proved to be the last pause: no speech is left.
      entry.utterance.close();
      onText?.(false);
      return;
    }
    const decidedMs = this.#options.clock.nowMs();
    this.#followNamed(entry.utterance.speechFrom);
    const outcome = entry.utterance.finish(stretch);
    const ended = this.#toJoin(entry, stretch);
    const joint = entry.isBackground ? null : this.#joint.join(ended);
    const pending = { ...entry, stretch, decidedMs, isCut: by === 'cut', ended, joint, isAmidOthers, onText };
    this.#pending.add(pending);
    this.#delivered = this.#delivered.then(async () => this.#deliver(pending, await outcome));
  }

  /** Resolves when every final decided so far, and what revises it, is out or given up. */
  async delivered(): Promise<void> {
    await this.#delivered;
    await this.#joint.settled();
  }

  /** Nobody speaks, and no utterance begins before sample number `at`. */
  noteSilence(at: number): void {
    this.#joint.noteSilence(at);
  }

  /** What follows sample number `at` is not read together with what came before it: sound is missing there. */
  part(at: number): void {
    this.#joint.part(at);
  }

  /**
   * Settles those that are over with what is known of them: the text so far is their final, what it leaves out is a
   * gap. Nothing more of them follows.
   */
  giveUp(reason: LossReason): void {
    for (const pending of this.#pending) this.#settle(pending, pending.utterance.abandon(), reason);
    this.#pending.clear();
  }

  /** Settles, as {@link giveUp} does, those that are over and whose last audio came before `sinceMs` on the clock. */
  giveUpBefore(sinceMs: number): void {
    for (const pending of this.#pending) {
      if (this.#arrivedMs(pending) >= sinceMs) return;
      this.#pending.delete(pending);
      const outcome = pending.utterance.abandon();
      this.#settle(pending, outcome, outcome.failures > 0 ? 'engine' : 'overload');
    }
  }

  /** Emits a gap between two sample numbers, if there is anything between them. */
  tellGap(from: number, to: number, reason: LossReason): void {
    if (to <= from) return;
    this.#joint.part(to);
    this.#options.metrics.finalLost(reason);
    this.#options.emit(this.#options.captions.gap(from, to, reason));
  }

  /** Gives up all of them. */
  close(): void {
    this.#closed = true;
    this.#joint.close();
    this.#running?.utterance.close();
    for (const { utterance } of this.#pending) utterance.close();
  }

  #arrivedMs({ stretch }: Pending): number {
    return this.#options.arrivals.at(stretch.to);
  }

  #toJoin({ utterance, captions }: Entry, { speechTo, to }: Stretch): EndedUtterance {
    const { from, speechFrom } = utterance;
    return { samples: this.#options.audio.slice(from, to), from, speechFrom, speechTo, captions };
  }

  #show(captions: UtteranceCaptions, hypothesis: Hypothesis, stretch: Stretch): void {
    const { showPartials, clock, arrivals, emit, metrics } = this.#options;
    if (!showPartials || this.#closed) return;
    const lagMs = clock.nowMs() - arrivals.at(stretch.to);
    const caption = captions.partial(hypothesis, stretch.speechTo, lagMs);
    if (caption === null) return;
    metrics.partial(lagMs);
    emit(caption);
  }

  /** What became of utterances that were read together: revisions, and finals of those that had no words. */
  #emitLate(event: Revision | Caption): void {
    if (event.type === 'caption') this.#lastFinal = event.utterance;
    this.#options.emit(event);
  }

  #deliver(pending: Pending, outcome: Outcome | null): void {
    const isWanted = this.#pending.delete(pending);
    if (outcome === null || !isWanted || this.#closed) return;
    this.#settle(pending, outcome, 'engine');
    if (pending.joint !== null && outcome.how !== 'fallback') this.#joint.read(pending.joint);
    else if (outcome.isFallback && !pending.isBackground) this.#joint.readAlone(pending.ended, outcome.late);
    this.#options.onDelivered();
  }

  /** Emits the final, and a gap with `reason` for the speech that its text leaves out. */
  #settle(pending: Pending, outcome: Outcome, reason: LossReason): void {
    const { utterance, captions, stretch, decidedMs } = pending;
    const { how, hypothesis, decodedTo } = outcome;
    const { clock, arrivals, emit, metrics } = this.#options;
    const nowMs = clock.nowMs();
    const to = Math.min(stretch.speechTo, Math.max(decodedTo, utterance.speechFrom));
    const { marks, isLeftOut } = this.#judge(pending, outcome);
    const text = isLeftOut ? { ...hypothesis, text: '' } : hypothesis;
    const caption = captions.final(text, to, nowMs - arrivals.at(stretch.to), marks);
    this.#settled++;
    if (caption !== null) {
      const said = this.#options.showWordTimes
        ? captions.timed(caption, this.#wordsOf(pending, outcome, caption.text))
        : caption;
      metrics.final(how, nowMs - decidedMs);
      this.#lastFinal = caption.utterance;
      emit(said);
    }
    pending.onText?.(hypothesis.text !== '');
    this.tellGap(to, stretch.speechTo, reason);
    this.#options.onSettled?.(this.#report(pending, outcome, { hasFinal: caption !== null, to }));
  }

  #judge({ utterance, isBackground, isAmidOthers }: Pending, outcome: Outcome): JudgedFinal {
    const { logprobs, sureness, language, guess } = outcome;
    if (guess !== null && !isBackground) this.#noteLanguage(guess, utterance.speechFrom);
    // One for each text, so that none of them says anything of the caller's language.
    const confidence = isBackground || isAmidOthers ? new FinalConfidence() : this.#confidence;
    const judged = confidence.judge(logprobs, { language, sureness });
    return isBackground ? { ...judged, marks: { ...judged.marks, background: true } } : judged;
  }

  #wordsOf({ ended: { from, samples }, spans, stretch }: Pending, { words }: Outcome, text: string): TimedWord[] {
    const speech = spans.until(stretch.speechTo);
    return timeWords({ text, words }, { from, to: from + samples.length, samples, speech });
  }

  /** Another language may have been named before the utterance that begins at `from` ended. */
  #followNamed(from: number): void {
    const { named } = this.#options.language;
    if (named === this.#named) return;
    this.#named = named;
    this.#confidence.restart();
    this.#joint.part(from);
  }

  /** Utterances in two languages are not read together. */
  #noteLanguage(guess: LanguageGuess, from: number): void {
    const { language: track, captions, emit } = this.#options;
    const before = track.current;
    const language = track.note(guess);
    if (language === null) return;
    this.#confidence.restart();
    if (before !== null) this.#joint.part(from);
    emit(captions.language(language, from));
  }

  #report(
    { utterance, captions, stretch, decidedMs, isCut }: Pending,
    { how, decode, failures }: Outcome,
    { hasFinal, to }: { hasFinal: boolean; to: number },
  ): SettledUtterance {
    const { clock, arrivals } = this.#options;
    return {
      utterance: captions.utterance,
      how,
      hasFinal,
      startMs: captions.startMs,
      isCut,
      speechMs: samplesToMs(stretch.speechTo - utterance.speechFrom, ENGINE_RATE_HZ),
      lostMs: samplesToMs(Math.max(stretch.speechTo - to, 0), ENGINE_RATE_HZ),
      startedMs: arrivals.at(utterance.speechFrom),
      stoppedMs: arrivals.at(stretch.speechTo),
      decidedMs,
      settledMs: clock.nowMs(),
      decode,
      failures,
    };
  }
}
