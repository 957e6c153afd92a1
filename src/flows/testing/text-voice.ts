/** A voice that is read, not heard: what it says takes time on the call's clock and makes no sound. */
import { type Interruptible, toInterruptible } from '../../calls/outbound/barge-in.ts';
import type { PlayOptions, SayOptions, TurnOptions, VoiceEvent } from '../../calls/outbound/voice.ts';
import type { Clock, Timer } from '../../foundation/clock.ts';

/** About as fast as people speak. */
const MS_PER_CHAR = 60;
/** Of a recording without words, such as a tone. */
const WORDLESS_MS = 500;

/** What it says. */
interface Utterance {
  readonly id: string;
  readonly text: string;
  readonly durationMs: number;
  readonly interruptible: Interruptible;
}

interface TextVoiceOptions {
  readonly clock: Clock;
  /** How fast it speaks: 1 = as people do, 0 = all is said at once. */
  readonly pace: number;
}

/** A part of what is said, as a call's voice takes it. */
type Part =
  | { readonly kind: 'text' | 'recording'; readonly text: string }
  | { readonly kind: 'pause'; readonly ms: number };

export class TextVoice {
  readonly #options: TextVoiceOptions;
  readonly #listeners: ((event: VoiceEvent) => void)[] = [];
  readonly #waiting: Utterance[] = [];
  #drained: (() => void)[] = [];
  #sounding: { readonly utterance: Utterance; readonly sinceMs: number; readonly timer: Timer } | null = null;
  #count = 0;

  constructor(options: TextVoiceOptions) {
    this.#options = options;
  }

  /** Whether something is being said, or waits to be. */
  get speaking(): boolean {
    return this.#sounding !== null || this.#waiting.length > 0;
  }

  say(text: string, options: SayOptions = {}): string {
    return this.#push(text, text.length * MS_PER_CHAR, options);
  }

  sayParts(parts: readonly Part[], options: SayOptions = {}): string {
    const text = parts.map((part) => (part.kind === 'pause' ? '' : part.text.trim())).join(' ');
    const pauseMs = parts.reduce((sum, part) => sum + (part.kind === 'pause' ? part.ms : 0), 0);
    return this.#push(text.replace(/\s+/g, ' ').trim(), text.length * MS_PER_CHAR + pauseMs, options);
  }

  play(_samples: Int16Array, _rateHz: number, { label, ...options }: PlayOptions): string {
    return this.#push(label, WORDLESS_MS, options);
  }

  /** What is said stops, and what waits is thrown away. */
  interrupt(): null {
    const cut = this.#sounding;
    cut?.timer.cancel();
    this.#sounding = null;
    const waiting = this.#waiting.splice(0);
    if (cut !== null) {
      const share = (this.#options.clock.nowMs() - cut.sinceMs) / Math.max(cut.utterance.durationMs, 1);
      this.#tellSpoken(cut.utterance, heardOf(cut.utterance.text, share), true);
    }
    for (const utterance of waiting) this.#tellSpoken(utterance, '', true);
    this.#noticeDrained();
    return null;
  }

  /** The caller says or presses something: it cuts off what may be cut off so. */
  onCaller(by: 'speech' | 'dtmf'): void {
    const interruptible = this.#sounding?.utterance.interruptible;
    if (interruptible === 'any' || interruptible === by) this.interrupt();
  }

  onEvent(listener: (event: VoiceEvent) => void): void {
    this.#listeners.push(listener);
  }

  /** Resolves when nothing is being said and nothing waits to be. */
  drained(): Promise<void> {
    return this.speaking ? new Promise((resolve) => this.#drained.push(resolve)) : Promise.resolve();
  }

  #push(text: string, durationMs: number, { interruptible }: TurnOptions): string {
    this.#count += 1;
    const utterance = { id: `u${this.#count}`, text, durationMs, interruptible: toInterruptible(interruptible) };
    this.#waiting.push(utterance);
    if (this.#sounding === null) this.#begin();
    return utterance.id;
  }

  /** On a later turn, as sound begins later than it is asked for. */
  #begin(): void {
    const { clock, pace } = this.#options;
    const utterance = this.#waiting.shift();
    if (utterance === undefined) return;
    const begin = clock.after(0, () => {
      this.#tell({ type: 'speaking', utterance: utterance.id });
      const timer = clock.after(utterance.durationMs * pace, () => this.#finish(utterance));
      this.#sounding = { utterance, sinceMs: clock.nowMs(), timer };
    });
    this.#sounding = { utterance, sinceMs: clock.nowMs(), timer: begin };
  }

  #finish(utterance: Utterance): void {
    this.#sounding = null;
    this.#tell({ type: 'heard', utterance: utterance.id, text: utterance.text });
    this.#tellSpoken(utterance, utterance.text, false);
    if (this.#sounding === null) this.#begin();
    this.#noticeDrained();
  }

  #tellSpoken({ id: utterance, text, durationMs }: Utterance, heardText: string, interrupted: boolean): void {
    const playedMs = interrupted ? 0 : durationMs;
    this.#tell({ type: 'spoken', utterance, text, heardText, playedMs, interrupted, startMs: null, endMs: null });
  }

  #noticeDrained(): void {
    if (!this.speaking) for (const resolve of this.#drained.splice(0)) resolve();
  }

  #tell(event: VoiceEvent): void {
    for (const listener of this.#listeners) listener(event);
  }
}

/** The whole words of the first part of `text`. */
function heardOf(text: string, share: number): string {
  const heard = text.slice(0, Math.floor(text.length * Math.min(share, 1)));
  return heard.length === text.length ? text : heard.slice(0, Math.max(heard.lastIndexOf(' '), 0));
}
