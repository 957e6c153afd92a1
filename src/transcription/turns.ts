import { ENGINE_RATE_HZ } from '../../engine/contract.ts';
import { type Engine, EngineError } from '../engine-client/engine.ts';
import type { Clock, Timer } from '../foundation/clock.ts';
import { msToSamples, samplesToMs } from '../foundation/units.ts';
import type { Caption, Revision } from './captions.ts';
import type { SampleRing } from './sample-ring.ts';
import type { TrackLanguage } from './track-language.ts';
import { type DigitsExpected, type TurnEnding, type TurnLimit, type TurnSettings, turnLimit } from './turn-policy.ts';
import { TurnText } from './turn-text.ts';

/** The turn model is asked after this much silence: later it takes the silence itself for an end. */
const ASK_SAMPLES = msToSamples(192, ENGINE_RATE_HZ);
/** The end of a turn that the model is given. */
const HEARD_SAMPLES = msToSamples(8000, ENGINE_RATE_HZ);
/** A turn waits so long for the reading of its utterances together that is under way. */
const READING_WAIT_MS = 250;
/** A turn that has lasted for so long is not held any more, so that neither its words nor the wait grow for ever. */
const TURN_MAX_SAMPLES = msToSamples(60_000, ENGINE_RATE_HZ);

/** What a turn ended by; `cut`: with its sound, or with speech that was too long for one utterance. */
export type TurnEnd = TurnEnding | 'cut';

/** What became of a question to the turn model; `late`: no answer when the turn could be told. */
export type TurnAnswer = 'answered' | 'late' | 'failed';

/** Who waits for the turns of a track. */
export interface TurnListener {
  /** Whether anybody does now: else no turn is held, and the turn model is not asked. */
  isWanted(): boolean;
  /** The digits that are expected of the speaker now; null = anything may be said. */
  expected(): DigitsExpected | null;
  onEnded(by: TurnEnd): void;
  /** A turn was held, and its speaker went on. */
  onContinued(): void;
  onAnswer(answer: TurnAnswer): void;
}

/** A turn that is over, in utterances of its track and a sample number. */
export interface EndedTurn {
  readonly first: number;
  readonly last: number;
  /** Where its speech ends. */
  readonly speechTo: number;
}

interface TurnsOptions {
  readonly settings: TurnSettings;
  readonly engine: Pick<Engine, 'turn' | 'turnModel' | 'languages'>;
  readonly language: Pick<TrackLanguage, 'current'>;
  readonly audio: SampleRing;
  /** Ms of the call at which the track's first sample lies. */
  readonly originMs: number;
  readonly listener: TurnListener;
  readonly clock: Clock;
  /** Utterances whose final is out or will not come, those whose final is pending, and whether some are read again. */
  readonly utterances: { readonly settled: number; readonly pending: number; readonly isReading: boolean };
  /** Ends the running utterance with the audio there is. */
  endUtterance(): void;
  /** The turn is over, and all its finals are out. */
  emit(turn: EndedTurn): void;
}

interface Turn {
  readonly from: number;
  readonly first: number;
  last: number;
  readonly text: TurnText;
}

/** One question to the model, for the pause at hand. */
interface Question {
  readonly controller: AbortController;
  /** Null until there is an answer. */
  probability: number | null;
  open: boolean;
}

/**
 * A track's turns: at most one running, and those that are over but whose finals are not out. An utterance ends with
 * ENDPOINT_MS of silence; its turn may be held for longer, and what is said meanwhile continues it. There is one
 * question to the turn model in each pause. Without its answer a turn ends with its utterance. Time is counted in
 * samples, and by the clock where no sound comes.
 */
export class Turns {
  readonly #options: TurnsOptions;
  #opened = 0;
  #turn: Turn | null = null;
  /** An utterance is running. */
  #running = false;
  #speechTo = 0;
  /** Samples of silence behind `speechTo`. */
  #silence = 0;
  /** Since when, on the clock, no sound has come at all; null = it does. */
  #stalledSinceMs: number | null = null;
  /** Ends the turn while no sound comes. */
  #stallTimer: Timer | null = null;
  #question: Question | null = null;
  /** The latest utterances that have words. */
  readonly #worded = new Set<number>();
  /** Turns that are over and wait for their finals: so many of the track must be settled. */
  readonly #waiting: (EndedTurn & { readonly settled: number })[] = [];
  /** Until when the first of them waits for a reading; null = it does not. */
  #patience: Timer | null = null;

  constructor(options: TurnsOptions) {
    this.#options = options;
  }

  /** Whether somebody waits for the turn that is running, with the best text of it. */
  get isAwaited(): boolean {
    if (this.#turn === null || !this.#options.listener.isWanted()) return false;
    const { first, last } = this.#turn;
    return first < last || (first > 1 && !this.#worded.has(first - 1));
  }

  /** Audio from this sample number on is still needed. */
  get neededFrom(): number {
    if (this.#turn === null) return Number.POSITIVE_INFINITY;
    return Math.max(this.#turn.from, this.#speechTo + this.#silence - HEARD_SAMPLES);
  }

  /** The next utterance of the track begins at sample number `from`. */
  onOpened(from: number): void {
    this.#opened++;
    this.#running = true;
    this.#missAnswer();
    this.#forgetQuestion();
    if (this.#turn !== null && this.#silenceMs >= this.#options.settings.ENDPOINT_MS)
      this.#options.listener.onContinued();
    this.#turn ??= { from, first: this.#opened, last: this.#opened, text: new TurnText() };
    this.#turn.last = this.#opened;
  }

  /** An utterance of somebody else begins: it is in no turn. */
  onBackground(): void {
    this.#opened++;
  }

  /** The running utterance is over: silence has come to the endpoint, or it was cut before. */
  onFinished(by: 'endpoint' | 'cut'): void {
    this.#running = false;
    if (!this.#mayWait()) this.#end(by);
  }

  /** A window was examined: speech lasted to sample number `speechTo`, silence lasts to `silentTo`. */
  onWindow({ speechTo, silentTo }: { readonly speechTo: number; readonly silentTo: number }): void {
    this.#endStall();
    if (speechTo > this.#speechTo) this.#forgetQuestion();
    this.#speechTo = speechTo;
    this.#silence = Math.max(silentTo - speechTo, 0);
    if (this.#turn !== null && !this.#running) this.#endIfSilent();
  }

  /** All windows there are have been examined: what can be asked in a pause is asked. */
  ask(): void {
    const { audio, engine, listener, settings } = this.#options;
    const turn = this.#turn;
    if (turn === null || this.#question !== null || this.#silence < ASK_SAMPLES) return;
    if (this.#silenceMs >= settings.ENDPOINT_MS || engine.turnModel === null) return;
    if (!listener.isWanted() || this.#isTooLong(turn)) return;
    const to = this.#speechTo + ASK_SAMPLES;
    const samples = audio.slice(Math.max(turn.from, to - HEARD_SAMPLES), to);
    const question: Question = { controller: new AbortController(), probability: null, open: true };
    this.#question = question;
    // Where finals are late as well, the answer is of use behind the endpoint.
    void this.#decide(question, samples, this.#holdMs - this.#silenceMs);
  }

  /** A caption of one of the track's utterances is out. */
  onCaption(caption: Caption): void {
    const turn = this.#turn;
    if (caption.final && caption.text !== '') this.#worded.add(caption.utterance);
    if (turn === null || caption.utterance < turn.first) return;
    turn.text.add(caption);
    if (this.#running && this.#silence >= ASK_SAMPLES && caption.endMs >= this.#speechToMs) this.#endIfKnown('digits');
  }

  /** A later text of an utterance. */
  onRevision(revision: Revision): void {
    const turn = this.#turn;
    if (turn !== null && revision.first >= turn.first) turn.text.revise(revision);
  }

  /** A final is out or will not come, or nothing is read again any more. */
  onSettled(): void {
    if (!this.#running) this.#endIfSilent();
    this.#tellEnded();
  }

  /** No sound has come since `sinceMs` on the clock; more may come. */
  onStall(sinceMs: number): void {
    if (this.#turn === null || this.#running) return;
    this.#stalledSinceMs = sinceMs;
    this.#endIfSilent();
  }

  #tellEnded(): void {
    const { utterances, clock } = this.#options;
    for (let next = this.#waiting[0]; next !== undefined; next = this.#waiting[0]) {
      if (next.settled > utterances.settled) return;
      if (utterances.isReading && this.#mayGetWords(next)) {
        this.#patience ??= clock.after(READING_WAIT_MS, () => {
          this.#emitFirst();
          this.#tellEnded();
        });
        return;
      }
      this.#emitFirst();
    }
  }

  /** No more is known of the silence, since no sound comes: the turn is over unless an utterance is running. */
  end(): void {
    if (this.#turn !== null && !this.#running) this.#end('cut');
  }

  /** Tells at once of the turns that are over, whatever is still to come of them. */
  flush(): void {
    while (this.#waiting.length > 0) this.#emitFirst();
  }

  /** Gives up what is under way. */
  close(): void {
    this.#forgetQuestion();
    this.#endStall();
    this.#patience?.cancel();
    this.#waiting.length = 0;
  }

  #emitFirst(): void {
    this.#patience?.cancel();
    this.#patience = null;
    const turn = this.#waiting.shift();
    if (turn === undefined) return;
    for (const utterance of this.#worded) if (utterance < turn.last) this.#worded.delete(utterance);
    this.#options.emit(turn);
  }

  /** Whether a reading may find words in the turn that its finals have not: in parts of it, or right before it. */
  #mayGetWords({ first, last }: EndedTurn): boolean {
    return first < last || !this.#worded.has(last) || (first > 1 && !this.#worded.has(first - 1));
  }

  /** Whether the turn may go on after an utterance of it has ended. */
  #mayWait(): boolean {
    if (this.#turn === null || this.#isTooLong(this.#turn)) return false;
    const { engine, listener } = this.#options;
    if (!listener.isWanted()) return false;
    return engine.turnModel !== null || this.#limit().by === 'digits';
  }

  #isTooLong({ from }: Turn): boolean {
    return this.#speechTo - from > TURN_MAX_SAMPLES;
  }

  get #silenceMs(): number {
    const stalledMs = this.#stalledSinceMs === null ? 0 : this.#options.clock.nowMs() - this.#stalledSinceMs;
    return samplesToMs(this.#silence, ENGINE_RATE_HZ) + stalledMs;
  }

  get #holdMs(): number {
    const { TURN_HOLD_MS, ENDPOINT_MS } = this.#options.settings;
    return Math.max(TURN_HOLD_MS, ENDPOINT_MS);
  }

  get #speechToMs(): number {
    return Math.round(this.#options.originMs + samplesToMs(this.#speechTo, ENGINE_RATE_HZ));
  }

  #limit(): TurnLimit {
    const { settings, listener, engine, language } = this.#options;
    return turnLimit(
      {
        probability: this.#question?.probability ?? null,
        text: this.#turn?.text.text ?? '',
        language: language.current ?? engine.languages[0] ?? '',
        expected: listener.expected(),
      },
      settings,
    );
  }

  #endIfSilent(): void {
    if (this.#turn === null) return;
    const { settings, listener, utterances } = this.#options;
    const silenceMs = this.#silenceMs;
    if (utterances.pending > 0) {
      // Nobody can be told before the finals are out: until then an answer may come.
      if (silenceMs >= settings.ENDPOINT_MS && this.#question?.open) return;
      // Nobody knows yet whether it was digits.
      if (listener.expected() !== null && silenceMs < settings.TURN_DIGITS_MS) return;
    }
    this.#missAnswer();
    const limit = this.#limit();
    if (silenceMs >= limit.silenceMs) this.#end(limit.by);
    else if (this.#stalledSinceMs !== null) this.#endLater(limit.silenceMs - silenceMs);
  }

  /** Looks again in `ms`, if no sound comes until then. */
  #endLater(ms: number): void {
    this.#stallTimer?.cancel();
    this.#stallTimer = this.#options.clock.after(ms, () => this.#endIfSilent());
  }

  #endStall(): void {
    this.#stallTimer?.cancel();
    this.#stallTimer = null;
    this.#stalledSinceMs = null;
  }

  /** Ends the running utterance with its turn, if it is known to be over by `by`. */
  #endIfKnown(by: TurnEnding): void {
    const limit = this.#limit();
    if (limit.by !== by || limit.silenceMs > 0 || !this.#options.listener.isWanted()) return;
    this.#options.endUtterance();
    this.#end(by);
  }

  #end(by: TurnEnd): void {
    const turn = this.#turn;
    if (turn === null) return;
    const { utterances, listener } = this.#options;
    this.#forgetQuestion();
    this.#endStall();
    this.#turn = null;
    this.#waiting.push({
      first: turn.first,
      last: turn.last,
      speechTo: this.#speechTo,
      settled: utterances.settled + utterances.pending,
    });
    listener.onEnded(by);
    this.#tellEnded();
  }

  async #decide(question: Question, samples: Int16Array, dueInMs: number): Promise<void> {
    const { engine, listener } = this.#options;
    let answer: TurnAnswer = 'answered';
    let probability: number | null = null;
    try {
      ({ probability } = await engine.turn({ samples, dueInMs, signal: question.controller.signal }));
    } catch (error) {
      if (!(error instanceof EngineError)) throw error;
      answer = error.code === 'stale' ? 'late' : 'failed';
    }
    if (!question.open) return;
    question.open = false;
    question.probability = probability;
    listener.onAnswer(answer);
    if (this.#running) this.#endIfKnown('early');
    else this.#endIfSilent();
  }

  /** The endpoint is past, and the answer did not come in time. */
  #missAnswer(): void {
    const { settings, listener } = this.#options;
    if (this.#silenceMs < settings.ENDPOINT_MS || !this.#question?.open) return;
    this.#forgetQuestion();
    listener.onAnswer('late');
  }

  #forgetQuestion(): void {
    if (this.#question === null) return;
    this.#question.open = false;
    this.#question.controller.abort();
    this.#question = null;
  }
}
