/**
 * Listens to the far party of a call for what flows, apps and the feed want to know beside its words: who has answered
 * a call that we make, from when on its answering machine records, and fax machines. Costs next to nothing in calls
 * that others make.
 */
import { meanSquare } from '../../audio/power.ts';
import { BeepDetector } from '../../audio/tones/beeps.ts';
import { type FaxTone, FaxToneDetector } from '../../audio/tones/fax-tones.ts';
import { SampleBlocks } from '../../audio/tones/sample-blocks.ts';
import type { Clock } from '../../foundation/clock.ts';
import type { Log } from '../../foundation/log/log.ts';
import { FRAME_MS, msToSamples, samplesToMs } from '../../foundation/units.ts';
import type { CallStart } from '../../protocols/dialect.ts';
import type { SpeechEvent } from '../../transcription/live-transcriber.ts';
import { callParameter } from '../app/request.ts';
import { AnswerDecider, type AnswerVerdict } from './answer-decider.ts';
import { type AnsweredBy, type AnswerNews, type CallAnswer, readAnsweredBy, type ToldAnswer } from './answered-by.ts';

/** An answering machine that was silent for so long has finished its greeting, and has no beep. */
const GREETING_OVER_MS = 2500;
const FULL_SCALE = 32_768;
/** A carrier that has sent nothing for so long sends nothing while nobody speaks. */
const NO_SOUND_MS = 200;

interface WatchOptions {
  readonly start: Pick<CallStart, 'codec' | 'outgoing' | 'answeredBy' | 'parameters'>;
  readonly log: Log;
  readonly clock: Clock;
  /** Before all other listeners. */
  onNews(news: AnswerNews): void;
}

export class AnswerWatch implements CallAnswer {
  readonly #options: WatchOptions;
  readonly #listeners: ((news: AnswerNews) => void)[];
  readonly #told: ToldAnswer | null;
  readonly #rateHz: number;
  readonly #frames: SampleBlocks;
  /** Null = that is known, or is not to be found out. */
  #decider: AnswerDecider | null;
  /** Null = no beep is waited for any more. */
  #beeps: BeepDetector | null;
  /** Null = a fax machine was heard. */
  #faxTones: FaxToneDetector | null;
  #by: AnsweredBy | null = null;
  #isListening = false;
  /** Up to where sound has come, in ms of the call, and when that was, by the clock. */
  #soundMs = 0;
  #soundAtMs: number;

  constructor(options: WatchOptions) {
    const { start, onNews } = options;
    const { codec, outgoing = false, parameters } = start;
    const given = readAnsweredBy(start.answeredBy ?? callParameter(parameters, 'answeredby'));
    this.#options = options;
    this.#soundAtMs = options.clock.nowMs();
    this.#listeners = [onNews];
    this.#told = typeof given === 'object' ? given : null;
    const detects = given === 'detect' || (given === null && outgoing);
    const isMachine = this.#told?.by === 'machine' && !this.#told.isListening;
    this.#rateHz = codec.rateHz;
    this.#frames = new SampleBlocks(msToSamples(FRAME_MS, codec.rateHz));
    this.#decider = detects || isMachine ? new AnswerDecider() : null;
    this.#beeps = this.#decider === null ? null : new BeepDetector(codec.rateHz);
    this.#faxTones = new FaxToneDetector({ rateHz: codec.rateHz, callingTones: this.#decider === null ? 1 : 2 });
  }

  get by(): AnsweredBy | null {
    return this.#by;
  }

  get isAwaited(): boolean {
    return this.#by === null && this.#decider !== null;
  }

  get isListening(): boolean {
    return this.#isListening;
  }

  onNews(listener: (news: AnswerNews) => void): void {
    this.#listeners.push(listener);
  }

  /** The call begins: tells what is known from the start. */
  begin(): void {
    if (this.#told === null) return;
    this.#settle({ by: this.#told.by, reason: 'told' });
    if (this.#told.isListening) this.#listen(true);
  }

  /** Sound of the far party that begins at `atMs` of the call. */
  onSound(samples: Int16Array, atMs: number): void {
    const tone = this.#faxTones?.push(samples) ?? null;
    this.#soundMs = atMs + samplesToMs(samples.length, this.#rateHz);
    this.#soundAtMs = this.#options.clock.nowMs();
    if (tone !== null) this.#onFax(tone);
    if (this.#decider === null) return;
    this.#measure(samples, atMs);
    if (this.#beeps?.push(samples)) this.#onBeep();
    this.#look(this.#soundMs);
  }

  /** What is recognised of the far party. */
  onSpeech(event: SpeechEvent): void {
    this.#decider?.onSpeech(event);
    this.#look(this.#soundMs);
  }

  /** To be called a few times a second: where no sound comes, the clock tells that nobody speaks. */
  tick(): void {
    const sinceMs = this.#options.clock.nowMs() - this.#soundAtMs;
    if (sinceMs >= NO_SOUND_MS) this.#look(this.#soundMs + sinceMs);
  }

  #measure(samples: Int16Array, atMs: number): void {
    let untilMs = atMs;
    this.#frames.push(samples, (frame) => {
      untilMs = Math.min(untilMs + FRAME_MS, this.#soundMs);
      this.#decider?.onLevel(levelOf(frame), untilMs);
    });
  }

  #look(nowMs: number): void {
    const decider = this.#decider;
    if (decider === null) return;
    if (this.#by === null) {
      const verdict = decider.verdictAt(nowMs);
      // Who pauses before a tone that may be a beep is not yet known to be a person.
      const isEarly = verdict?.by === 'person' && this.#beeps?.isPending === true;
      if (verdict !== null && !isEarly) this.#settle(verdict);
    } else if (decider.quietMsAt(nowMs) >= GREETING_OVER_MS) this.#listen(false);
  }

  #settle({ by, reason }: AnswerVerdict): void {
    this.#by = by;
    if (by !== 'machine') this.#decider = null;
    this.#options.log.info({ by, reason, afterMs: Math.round(this.#soundMs) }, 'who answered');
    this.#tell({ type: 'answered', by });
  }

  #onBeep(): void {
    if (this.#by === null) {
      this.#decider?.onTone('beep');
      this.#look(this.#soundMs);
    }
    if (this.#by === 'machine') this.#listen(true);
  }

  #listen(heard: boolean): void {
    this.#decider = null;
    this.#beeps = null;
    this.#isListening = true;
    this.#tell({ type: 'beep', heard });
  }

  #onFax(tone: FaxTone): void {
    this.#faxTones = null;
    // A flow that has a way for fax machines goes there, and not where its branch leads.
    this.#tell({ type: 'fax', tone });
    if (this.isAwaited) this.#settle({ by: 'fax', reason: 'fax' });
  }

  #tell(news: AnswerNews): void {
    for (const listener of this.#listeners) listener(news);
  }
}

/** In dBov, RMS. */
function levelOf(samples: Int16Array): number {
  return 10 * Math.log10(meanSquare(samples) / FULL_SCALE ** 2 + 1e-10);
}
