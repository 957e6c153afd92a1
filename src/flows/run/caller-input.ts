/**
 * What the caller presses and says, for the questions of a flow. Keys that are pressed before a question is asked count
 * for it, and so do words that cut off what was said before it.
 */
import type { CallerEvent } from '../../calls/app/call-app.ts';
import { CallerTurns } from '../../calls/app/caller-turns.ts';
import type { Clock, Timer } from '../../foundation/clock.ts';
import type { Caption } from '../../transcription/live-transcriber.ts';
import type { FlowBargeIn } from '../file/prompts.ts';
import type { CallerInput, InputRequest } from '../verbs/step.ts';
import { cuts } from './speaker.ts';

/** Keys that wait for a question. */
const KEYS_MAX = 100;
/**
 * How long after the end of the caller's speech its words are waited for, beside the time for an answer: the recogniser
 * may be behind.
 */
const WORDS_WAIT_MS = 5000;

/** How late a key may come that is passed over. */
const PASS_OVER_MS = 3000;

type Speech = Extract<CallerInput, { type: 'speech' }>;

/** What a question is told of the caller. `noise`: something cut the question off, and it was no words. */
type Heard = CallerInput | { readonly type: 'noise' };

interface InputOptions {
  readonly clock: Clock;
  /** What of the caller may cut off what is being said; null = nothing is said. */
  bargeIn(): FlowBargeIn | null;
  /** Whether the caller hears it already. */
  isSounding(): boolean;
  /** Cuts off what is said, if keys may. */
  cut(): void;
  /** A key that no question takes. Returns whether it leads anywhere. */
  onOtherKey(key: string): boolean;
}

interface Waiting {
  readonly request: InputRequest;
  /** The question is not said yet: a turn without words ends the wait. */
  readonly isAhead: boolean;
  readonly resolve: (heard: Heard) => void;
}

export class CallerInputs {
  readonly #options: InputOptions;
  readonly #turns: CallerTurns;
  #waiting: Waiting | null = null;
  #silence: Timer | null = null;
  /** The question has been said. */
  #isListening = false;
  #keys: string[] = [];
  /** The next key is passed over if it is this one and comes in time. */
  #passedOver: { readonly key: string; readonly untilMs: number } | null = null;
  /** What cut off a prompt that asked nothing. */
  #words: Speech | null = null;
  /** The caller speaks, or the words of it are still to come. */
  #isSpeaking = false;
  /** What the caller says cut off a prompt. */
  #hasCutIn = false;
  /** The caller's speech began into a prompt and has not cut it off. */
  #overlaps = false;
  /** The question that sounded when the caller's speech began. */
  #spokenInto: Waiting | null = null;
  /** The last answer to a question that was said into it and did not cut it off. */
  #aside: { readonly to: Waiting; readonly text: string; readonly confidence: number | null } | null = null;
  /** The least of the turn so far. */
  #confidence: number | null = null;

  constructor(options: InputOptions) {
    this.#options = options;
    this.#turns = new CallerTurns({ clock: options.clock, onTurn: (text) => this.#onTurn(text) });
  }

  /** Whether the caller has cut off what was said, and the words of it are still to come. */
  get isCuttingIn(): boolean {
    return this.#hasCutIn;
  }

  /** What the caller did before the question was said; null = nothing that answers it. */
  takeEarly({ accepts, keys }: InputRequest): CallerInput | null {
    while (accepts !== 'speech' && this.#keys.length > 0) {
      const key = this.#keys.shift() ?? '';
      if (keys === undefined || keys.includes(key) || !this.#options.onOtherKey(key)) return { type: 'key', key };
    }
    const words = this.#words;
    this.#words = null;
    return accepts === 'keys' ? null : words;
  }

  /**
   * Resolves with what the caller does from now on. `isAhead`: the question is not said yet, so that what the caller is
   * saying is waited for alone. Silence counts from {@link listen}.
   */
  wait(request: InputRequest, isAhead = false): Promise<Heard> {
    this.#isListening = isAhead;
    return new Promise((resolve) => {
      this.#waiting = { request, isAhead, resolve };
    });
  }

  /** All of the question was said: from now on silence is one. */
  listen(): void {
    if (this.#waiting === null || this.#isListening) return;
    this.#isListening = true;
    if (!this.#isSpeaking || this.#waiting.request.accepts === 'keys') this.#awaitSilence();
  }

  /** What was asked is asked no more; what the caller did in advance still counts. */
  endWait(): void {
    this.#silence?.cancel();
    this.#waiting = null;
  }

  /** What was asked is asked no more, and what the caller did counts for nothing. */
  forget(): void {
    this.endWait();
    this.#keys = [];
    this.#words = null;
    this.#aside = null;
    this.#turns.forget();
  }

  /** What the caller has pressed in advance does not count: it was for something else. */
  forgetKeys(): void {
    this.#keys = [];
  }

  /** Whether a key would be passed over now, so that keys do not cut prompts off by themselves. */
  get isPassingOver(): boolean {
    return this.#passedOver !== null && this.#options.clock.nowMs() <= this.#passedOver.untilMs;
  }

  /** The next key is no answer if it is this one, and comes soon. */
  passOver(key: string): void {
    this.#passedOver = { key, untilMs: this.#options.clock.nowMs() + PASS_OVER_MS };
  }

  /** A prompt is over. */
  onPromptOver(how: 'heard' | 'cut'): void {
    if (how === 'cut') {
      this.#overlaps = false;
      this.#hasCutIn ||= this.#isSpeaking;
    }
    if (how === 'cut' || this.#options.bargeIn() !== null) return;
    // A word of agreement shortly before the end of a question answers it.
    if (this.#aside === null) this.#turns.answer();
    // Who is still speaking may take back what was said before.
    else if (!this.#isSpeaking) this.#answerAside();
  }

  onKey(key: string): void {
    const { bargeIn, cut, onOtherKey } = this.#options;
    const isPassedOver = this.isPassingOver && this.#passedOver?.key === key;
    this.#passedOver = null;
    if (isPassedOver) return;
    const saying = bargeIn();
    if (saying !== null && !cuts('keys', saying)) return;
    cut();
    this.#turns.forget();
    const waiting = this.#waiting;
    const accepts = waiting !== null && waiting.request.accepts !== 'speech';
    if (accepts && (waiting.request.keys === undefined || waiting.request.keys.includes(key))) {
      this.#resolve({ type: 'key', key });
      return;
    }
    if (onOtherKey(key)) return;
    if (accepts) this.#resolve({ type: 'key', key });
    else if (waiting === null && this.#keys.length < KEYS_MAX) this.#keys.push(key);
  }

  onSpeech(event: CallerEvent): void {
    switch (event.type) {
      case 'speech.started':
        this.#isSpeaking = true;
        this.#overlaps = this.#options.isSounding();
        this.#spokenInto = this.#overlaps ? this.#waiting : null;
        if (this.#waiting?.request.accepts !== 'keys') this.#silence?.cancel();
        return;
      case 'speech.stopped':
        this.#awaitSilence(WORDS_WAIT_MS);
        return;
      case 'caption':
        this.#takeCaption(event);
        return;
      case 'revision':
        this.#turns.revise(event);
        return;
      case 'turn.ended':
        this.#endTurn(event.last);
    }
  }

  #takeCaption(caption: Caption): void {
    if (caption.final && caption.confidence !== undefined)
      this.#confidence = Math.min(this.#confidence ?? 1, caption.confidence);
    if (this.#overlaps && this.#options.isSounding()) {
      this.#noteAside(caption);
      this.#turns.leaveOut(caption);
    } else this.#turns.add(caption);
  }

  #noteAside({ final, text, confidence }: Caption): void {
    const to = this.#waiting;
    if (final && to !== null && to === this.#spokenInto && to.request.answersAside?.(text) === true)
      this.#aside = { to, text, confidence: confidence ?? null };
  }

  /** The question is over that an answer was said into. Returns whether one was. */
  #answerAside(): boolean {
    const aside = this.#aside;
    this.#aside = null;
    if (aside === null || aside.to !== this.#waiting) return false;
    this.#turns.forget();
    this.#resolve({ type: 'speech', text: aside.text, confidence: aside.confidence, isAhead: false });
    return true;
  }

  #endTurn(last: number): void {
    this.#isSpeaking = false;
    this.#turns.end(last);
    const isNoise = this.#hasCutIn && this.#waiting?.request.accepts !== 'keys';
    this.#hasCutIn = false;
    this.#confidence = null;
    if (!this.#options.isSounding() && this.#answerAside()) return;
    if (isNoise || this.#waiting?.isAhead) this.#resolve({ type: 'noise' });
    else this.#awaitSilence();
  }

  /** What is said while nobody asks counts for the next question if it cut off what was said. */
  #onTurn(text: string): void {
    const speech = { type: 'speech', text, confidence: this.#confidence, isAhead: this.#waiting === null } as const;
    if (this.#waiting === null) this.#words = this.#hasCutIn ? speech : null;
    else if (this.#waiting.request.accepts !== 'keys') this.#resolve({ ...speech, isAhead: this.#waiting.isAhead });
  }

  #awaitSilence(moreMs = 0): void {
    const waiting = this.#waiting;
    if (waiting === null || !this.#isListening) return;
    if (moreMs > 0 && waiting.request.accepts === 'keys') return;
    this.#silence?.cancel();
    const { timeoutMs } = waiting.request;
    this.#silence = this.#options.clock.after(timeoutMs + moreMs, () => this.#resolve({ type: 'silence' }));
  }

  #resolve(heard: Heard): void {
    const waiting = this.#waiting;
    if (waiting === null) return;
    this.#silence?.cancel();
    this.#waiting = null;
    this.#words = null;
    waiting.resolve(heard);
  }
}
