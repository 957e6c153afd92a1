/**
 * Whether the caller interrupts what is being said. Two stages: speech pauses playback at once; only when it lasts, or
 * has words in it, does it interrupt. A cough, a word of agreement or an echo of our own voice lets playback go on
 * where it paused.
 */
import type { Clock, Timer } from '../../foundation/clock.ts';
import { TrunklineError } from '../../foundation/errors.ts';
import { saidWords } from './backchannels.ts';

/** How the caller may interrupt what is said, in a call or in one utterance. */
export type Interruptible = 'none' | 'dtmf' | 'speech' | 'any';

/** What came of a caller who spoke or pressed a key into playback. */
export type BargeInOutcome = 'words' | 'duration' | 'dtmf' | 'resumed';

/**
 * After so many false alarms in a row, playback is not paused on suspicion any more: the line is noisy or echoes, and
 * would only stutter.
 */
const FALSE_ALARMS_MAX = 3;

/** How a call may be interrupted, and what is done about it. */
export interface BargeInOptions {
  /** What may interrupt anything in this call. */
  readonly allowed: Interruptible;
  /** Speech this long interrupts. */
  readonly confirmMs: number;
  /** As many words as this interrupt. */
  readonly words: number;
  /** How long after its end speech is reported as stopped. */
  stopLagMs(): number;
  readonly clock: Clock;
  /** What may interrupt what sounds now; null = nothing sounds. */
  playing(): Interruptible | null;
  pause(): void;
  resume(): void;
  interrupt(): void;
  onOutcome(outcome: BargeInOutcome): void;
}

interface Speech {
  /** When it was suspected of being meant as an interruption. */
  readonly sinceMs: number;
  /** Still being waited for: neither confirmed nor dismissed. */
  open: boolean;
  /** What was heard of it so far, if that is only agreement. */
  agreement: boolean;
}

export class BargeIn {
  readonly #options: BargeInOptions;
  /** The caller speaks, and that has not come to anything yet. */
  #callerSpeaks = false;
  /** The caller's speech into this playback; null = there was none. */
  #speech: Speech | null = null;
  #timer: Timer | null = null;
  #falseAlarms = 0;

  constructor(options: BargeInOptions) {
    this.#options = options;
  }

  /** The caller began to speak. */
  onSpeechStarted(): void {
    this.#callerSpeaks = true;
    this.#suspect();
  }

  /** The caller fell silent, `stopLagMs` ago. */
  onSpeechStopped(): void {
    this.#callerSpeaks = false;
    const speech = this.#speech;
    if (speech === null || !speech.open) return;
    const spokeMs = this.#options.clock.nowMs() - speech.sinceMs - this.#options.stopLagMs();
    this.#judge(spokeMs >= this.#options.confirmMs && !speech.agreement);
  }

  /** What the caller has said so far in this speech; not an echo. */
  onWords(text: string): void {
    const speech = this.#speech;
    if (speech === null || !this.#allows('speech')) return;
    const { words, meant } = saidWords(text);
    speech.agreement = words > 0 && meant === 0;
    if (meant > 0 && words >= this.#options.words) this.#confirm('words');
  }

  /** What was heard is our own voice: whatever it was, the caller did not say it. */
  onEcho(): void {
    if (this.#speech?.open) this.#dismiss();
  }

  /** The caller pressed a key. */
  onDigit(): void {
    if (this.#allows('dtmf')) this.#confirm('dtmf');
  }

  /** Something begins to sound: into speech that goes on already, perhaps. */
  onPlaying(): void {
    if (this.#callerSpeaks && this.#speech === null) this.#suspect();
  }

  /**
   * Nothing sounds any more, or somebody else cut it off. Playback is not touched, and what is said next not by the
   * same speech.
   */
  forget(): void {
    this.#timer?.cancel();
    this.#timer = null;
    if (this.#speech !== null) this.#callerSpeaks = false;
    this.#speech = null;
  }

  #suspect(): void {
    this.forget();
    if (!this.#allows('speech')) return;
    const { clock, confirmMs, stopLagMs, pause } = this.#options;
    this.#speech = { sinceMs: clock.nowMs(), open: true, agreement: false };
    // By then it has lasted too long to be an accident, unless it is known to be agreement.
    this.#timer = clock.after(confirmMs + stopLagMs(), () => this.#judge(this.#speech?.agreement === false));
    if (this.#falseAlarms < FALSE_ALARMS_MAX) pause();
  }

  /**
   * The speech is over or has lasted: it is meant or not. What sounds by now may have other rules than what it began
   * into.
   */
  #judge(isMeant: boolean): void {
    if (isMeant && this.#allows('speech')) this.#confirm('duration');
    else this.#dismiss();
  }

  #confirm(outcome: Exclude<BargeInOutcome, 'resumed'>): void {
    this.forget();
    if (outcome !== 'dtmf') this.#falseAlarms = 0;
    this.#options.onOutcome(outcome);
    this.#options.interrupt();
  }

  #dismiss(): void {
    this.#timer?.cancel();
    this.#timer = null;
    if (this.#speech !== null) this.#speech.open = false;
    this.#falseAlarms++;
    this.#options.onOutcome('resumed');
    this.#options.resume();
  }

  #allows(means: 'speech' | 'dtmf'): boolean {
    const { allowed, playing } = this.#options;
    const wanted = playing();
    const fits = (setting: Interruptible | null): boolean => setting === 'any' || setting === means;
    return fits(allowed) && fits(wanted);
  }
}

/** How the caller may interrupt an utterance: true = `any`, as when nothing is said of it; false = `none`. */
export function toInterruptible(setting: Interruptible | boolean | undefined): Interruptible {
  if (setting === false) return 'none';
  return setting === undefined || setting === true ? 'any' : setting;
}

/**
 * How the caller may interrupt in a call: as its parameter `bargeIn` says, or else the setting.
 * @throws TrunklineError `invalid_request` for any other value of the parameter
 */
export function readBargeIn(parameters: Readonly<Record<string, string>>, setting: string): Interruptible {
  const value = parameters['bargeIn'] ?? setting;
  if (value === 'off') return 'none';
  if (value === 'speech' || value === 'dtmf' || value === 'any') return value;
  throw new TrunklineError(
    'invalid_request',
    `parameter bargeIn: got ${value.length} other characters, expected off, speech, dtmf or any`,
  );
}
