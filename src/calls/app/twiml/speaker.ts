/** Executes the verbs that produce sound or silence: Say, Play and Pause, one after the other. */

import { pause } from '../../../foundation/abortable-pause.ts';
import { TrunklineError } from '../../../foundation/errors.ts';
import type { Log } from '../../../foundation/log/log.ts';
import { settlesWithin } from '../../../foundation/settles-within.ts';
import { FRAME_MS } from '../../../foundation/units.ts';
import type { TwimlVerb } from '../../../protocols/twiml/document.ts';
import type { CallContext } from '../../context.ts';
import type { CallVoice, SayOptions } from '../../outbound/voice.ts';
import type { TakeOver } from './take-over.ts';

/** A verb that produces sound or silence. */
export type HeardVerb = Extract<TwimlVerb, { type: 'say' | 'play' | 'digits' | 'pause' }>;

interface SpeakerOptions {
  readonly voice: CallVoice;
  readonly context: Pick<CallContext, 'clock' | 'apps'>;
  readonly log: Log;
  /** Aborts when the call is over. */
  readonly signal: AbortSignal;
  /** While somebody has taken the call over, nothing is said. */
  readonly takeOver: Pick<TakeOver, 'isOn' | 'over'>;
}

/** The caller cannot interrupt these verbs. */
export class VerbSpeaker {
  readonly #options: SpeakerOptions;

  constructor(options: SpeakerOptions) {
    this.#options = options;
  }

  /**
   * Executes `verb` and resolves when the caller has heard it. A verb that cannot be spoken or played is skipped and
   * logged.
   * @throws TrunklineError `twiml_failed` when it lasts longer than `untilMs` of the clock
   */
  async speak(verb: HeardVerb, untilMs: number): Promise<void> {
    if (verb.type === 'pause') {
      await this.#wait(verb.lengthMs);
      this.checkTime(untilMs);
      return;
    }
    const ask = await this.#prepare(verb);
    this.checkTime(untilMs);
    const { clock } = this.#options.context;
    for (let times = 0; ask !== null && times < verb.loop && !this.#isStopped; times++) {
      const sinceMs = clock.nowMs();
      if (!this.#attempt(ask)) return;
      await this.#heard(untilMs);
      // Playing nothing takes no time: a loop of it would block the event loop.
      if (clock.nowMs() - sinceMs < FRAME_MS) return;
    }
  }

  get #isStopped(): boolean {
    return this.#options.signal.aborted || this.#options.takeOver.isOn;
  }

  /** Returns a function that plays the verb once each time it is called; null = the verb cannot be played. */
  async #prepare(verb: Exclude<HeardVerb, { type: 'pause' }>): Promise<(() => void) | null> {
    switch (verb.type) {
      case 'say':
        return () => this.#say(verb.text, verb.voice, verb.language);
      case 'digits':
        return () => this.#options.voice.sendDigits(verb.digits);
      case 'play':
        return await this.#recorded(verb.url);
    }
  }

  /** Tells the caller, after all earlier speech, that something is wrong. Resolves when the caller has heard it. */
  async sayFailure(text: string): Promise<void> {
    const { voice, takeOver } = this.#options;
    await takeOver.over();
    if (this.#attempt(() => voice.say(text, { interruptible: 'none' }))) await voice.drained();
  }

  /**
   * Twilio's voices are not ours. For a voice that we do not have, we use one of the language, or else our default.
   */
  #say(text: string, voice: string | undefined, lang: string | undefined): void {
    if (text === '') return;
    const style: SayOptions = {
      ...(voice === undefined ? {} : { voice, voiceIsWish: true }),
      ...(lang === undefined ? {} : { lang }),
    };
    this.#options.voice.say(text, { ...style, interruptible: 'none' });
  }

  /** Returns a function that plays the recording at `url` once each time it is called; null = it cannot be fetched. */
  async #recorded(url: string): Promise<(() => void) | null> {
    const { voice, context, signal, log } = this.#options;
    try {
      const { samples, rateHz } = await context.apps.fetchAudio(url, signal);
      const { origin, pathname } = new URL(url);
      return () => void voice.play(samples, rateHz, { label: origin + pathname, interruptible: 'none' });
    } catch (error) {
      if (!(error instanceof TrunklineError)) throw error;
      if (!signal.aborted) log.warn({ code: error.code }, `skipped <Play>: ${error.message}`);
      return null;
    }
  }

  /** Whether `action` succeeded. */
  #attempt(action: () => void): boolean {
    try {
      action();
      return true;
    } catch (error) {
      if (!(error instanceof TrunklineError)) throw error;
      if (!this.#options.signal.aborted)
        this.#options.log.warn({ code: error.code }, "a verb of the app's TwiML could not be executed");
      return false;
    }
  }

  async #heard(untilMs: number): Promise<void> {
    const { voice, context } = this.#options;
    const leftMs = Math.max(0, untilMs - context.clock.nowMs());
    if (!(await settlesWithin(context.clock, voice.drained(), leftMs))) voice.interrupt();
    this.checkTime(untilMs);
  }

  /**
   * For verbs without sound of ours: they, too, may hold the call until `untilMs` of the clock.
   * @throws TrunklineError `twiml_failed` when it is later
   */
  checkTime(untilMs: number): void {
    const { context, signal, log } = this.#options;
    if (signal.aborted || context.clock.nowMs() < untilMs) return;
    log.warn("the verbs of the app's TwiML held the call for too long");
    throw new TrunklineError('twiml_failed', "the verbs of the app's TwiML held the call for too long");
  }

  #wait(lengthMs: number): Promise<void> {
    const { context, signal } = this.#options;
    return pause(context.clock, lengthMs, signal);
  }
}
