/**
 * Decides who has answered a call that we make: by what is said, how long it is and where it pauses, how loud it is,
 * and by tones. People say little, then wait to be answered; machines go on. Pure: events and times in, a verdict out.
 * All times are in ms of the call.
 */
import type { Caption, SpeechEvent } from '../../transcription/live-transcriber.ts';
import { readAnswer } from './answer-words.ts';
import type { AnsweredBy } from './answered-by.ts';

/** What a verdict rests on. */
export type AnswerReason = 'words' | 'length' | 'pause' | 'beep' | 'fax' | 'silence' | 'told';

/** Who has answered. */
export interface AnswerVerdict {
  readonly by: AnsweredBy;
  readonly reason: AnswerReason;
}

/** A person who has said so waits for an answer; the pauses of machines after their hello are shorter. */
const PAUSE_AFTER_GREETING_MS = 700;
/** Whoever has said something else might go on. Of the 1.2 s that a person waits for us the rest is for the voice. */
const PAUSE_MS = 920;
/** People who say nothing that shows them to be people talk no longer than this. */
const LENGTH_MAX_MS = 3600;
/** With a company's name and their own, or a question. */
const COMPANY_LENGTH_MAX_MS = 6500;
/** Late engines tell the end of speech late, and its words a little later: these would cut our voice off. */
const WORDS_WAIT_MS = 250;
/** Nobody speaks. */
const SILENCE_MS = 4000;
/** The same where there is a sound all the time, such as music or a street. */
const SOUND_MS = 8000;
/** Less is a click, unless it has words. */
const BLIP_MS = 200;
/** So far below the loudest a speaker is not heard any more over a noise: dB. */
const QUIET_DB = 14;
/** Sound is louder than this, dBov. */
const SOUND_DB = -46;

/** Frames that must be loud in a row: clicks are louder than people. */
const LOUD_FRAMES = 3;

export class AnswerDecider {
  /** Of the speech that counts: where it began, and where it ended as far as is known; null = none, or it goes on. */
  #startedMs: number | null = null;
  #stoppedMs: number | null = null;
  /** Up to where sound had come when the end was told. */
  #stopToldMs = 0;
  /** The pauses within it. */
  #pausedMs = 0;
  #finals = '';
  #partial = '';
  /** A final is still to come of what was said. */
  #awaitsWords = false;
  /** Levels of the last frames, and the loudest that lasted. */
  readonly #lastDb: number[] = [];
  #loudestDb = Number.NEGATIVE_INFINITY;
  #loudUntilMs = 0;
  #soundMs = 0;
  #heardUntilMs = 0;
  #tone: 'beep' | 'fax' | null = null;

  /** What the voice detection and the recogniser say of the track. */
  onSpeech(event: SpeechEvent): void {
    if (event.type === 'speech.started') {
      this.#startedMs ??= event.atMs;
      if (this.#stoppedMs !== null) this.#pausedMs += Math.max(0, event.atMs - this.#stoppedMs);
      this.#stoppedMs = null;
      this.#awaitsWords = true;
    } else if (event.type === 'speech.stopped') {
      this.#stoppedMs = event.atMs;
      this.#stopToldMs = this.#heardUntilMs;
    } else if (event.type === 'caption') this.#onCaption(event);
  }

  #onCaption({ final, text }: Caption): void {
    if (!final) {
      this.#partial = text;
      return;
    }
    this.#finals = `${this.#finals} ${text}`.trim();
    this.#partial = '';
    this.#awaitsWords = this.#stoppedMs === null;
  }

  /** A frame of the track that ends at `untilMs` has this level, in dBov. */
  onLevel(levelDb: number, untilMs: number): void {
    if (levelDb > SOUND_DB) this.#soundMs += untilMs - this.#heardUntilMs;
    this.#heardUntilMs = untilMs;
    if (this.#lastDb.push(levelDb) > LOUD_FRAMES) this.#lastDb.shift();
    const lastingDb = Math.min(...this.#lastDb);
    if (this.#lastDb.length === LOUD_FRAMES) this.#loudestDb = Math.max(this.#loudestDb, lastingDb);
    if (lastingDb > Math.max(this.#loudestDb - QUIET_DB, SOUND_DB)) this.#loudUntilMs = untilMs;
  }

  /** How long nothing has been said, and nothing loud been heard, at `nowMs`. */
  quietMsAt(nowMs: number): number {
    return nowMs - Math.max(this.#spokenUntilMs(nowMs), this.#loudUntilMs);
  }

  /** A tone was heard that only machines make. */
  onTone(tone: 'beep' | 'fax'): void {
    this.#tone ??= tone;
  }

  /** What is known at `nowMs`; null = nothing yet. */
  verdictAt(nowMs: number): AnswerVerdict | null {
    if (this.#tone !== null) return { by: this.#tone === 'fax' ? 'fax' : 'machine', reason: this.#tone };
    const words = readAnswer(`${this.#finals} ${this.#partial}`);
    if (words === 'machine') return { by: 'machine', reason: 'words' };
    this.#forgetBlip(nowMs);
    if (this.#startedMs === null) return this.#silenceAt(nowMs);
    const spokenUntilMs = this.#spokenUntilMs(nowMs);
    const lengthMs = spokenUntilMs - this.#startedMs - this.#pausedMs;
    if (lengthMs > (words === null ? LENGTH_MAX_MS : COMPANY_LENGTH_MAX_MS)) return { by: 'machine', reason: 'length' };
    const isGreeting = words === 'person' && !this.#awaitsWords;
    const pauseMs = nowMs - spokenUntilMs;
    if (pauseMs < (isGreeting ? PAUSE_AFTER_GREETING_MS : PAUSE_MS)) return null;
    const mayBeLate = this.#awaitsWords && this.#stoppedMs !== null;
    if (mayBeLate && nowMs - this.#stopToldMs < WORDS_WAIT_MS) return null;
    return { by: 'person', reason: isGreeting ? 'words' : 'pause' };
  }

  /** Where speech ends as far as is known: with a noise behind it, where it is no longer loud. */
  #spokenUntilMs(nowMs: number): number {
    if (this.#startedMs === null) return 0;
    if (this.#stoppedMs !== null) return this.#stoppedMs;
    return this.#heardUntilMs === 0 ? nowMs : Math.max(this.#startedMs, this.#loudUntilMs);
  }

  #silenceAt(nowMs: number): AnswerVerdict | null {
    const limitMs = this.#soundMs > SILENCE_MS / 2 ? SOUND_MS : SILENCE_MS;
    return nowMs >= limitMs ? { by: 'unknown', reason: 'silence' } : null;
  }

  /** What was as short as a click, and had no words by the time a person would be answered, was nobody. */
  #forgetBlip(nowMs: number): void {
    const [startedMs, stoppedMs] = [this.#startedMs, this.#stoppedMs];
    if (startedMs === null || stoppedMs === null || stoppedMs - startedMs >= BLIP_MS) return;
    if (this.#finals !== '' || this.#partial !== '' || nowMs - stoppedMs < PAUSE_MS) return;
    this.#startedMs = null;
    this.#stoppedMs = null;
    this.#pausedMs = 0;
  }
}
