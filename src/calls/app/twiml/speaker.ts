/** The verbs that are heard: Say, Play and Pause, one after the other. */

import { TrunklineError } from '../../../foundation/errors.ts';
import type { Log } from '../../../foundation/log/log.ts';
import { settlesWithin } from '../../../foundation/settles-within.ts';
import { FRAME_MS } from '../../../foundation/units.ts';
import type { TwimlVerb } from '../../../protocols/twiml/document.ts';
import type { CallContext } from '../../context.ts';
import type { CallVoice, SayOptions } from '../../outbound/voice.ts';

/** A verb that is heard. */
export type HeardVerb = Extract<TwimlVerb, { type: 'say' | 'play' | 'digits' | 'pause' }>;

interface SpeakerOptions {
  readonly voice: CallVoice;
  readonly context: Pick<CallContext, 'clock' | 'apps'>;
  readonly log: Log;
  /** Aborts when the call is over. */
  readonly signal: AbortSignal;
}

/** Says and plays what verbs ask for. The caller cannot interrupt them. */
export class VerbSpeaker {
  readonly #options: SpeakerOptions;

  constructor(options: SpeakerOptions) {
    this.#options = options;
  }

  /**
   * Does what `verb` asks for and resolves when the caller has heard it. What cannot be said or played is left out,
   * with a line in the log.
   * @throws TrunklineError `twiml_failed` when it lasts beyond `untilMs` of the clock
   */
  async speak(verb: HeardVerb, untilMs: number): Promise<void> {
    if (verb.type === 'pause') {
      await this.#wait(verb.lengthMs);
      this.#checkTime(untilMs);
      return;
    }
    const ask = await this.#prepare(verb);
    this.#checkTime(untilMs);
    const { clock } = this.#options.context;
    for (let times = 0; ask !== null && times < verb.loop && !this.#options.signal.aborted; times++) {
      const sinceMs = clock.nowMs();
      if (!this.#attempt(ask)) return;
      await this.#heard(untilMs);
      // Of silence in no time there is no end, and nobody else would get a turn meanwhile.
      if (clock.nowMs() - sinceMs < FRAME_MS) return;
    }
  }

  /** What has the verb be heard once, each time it is called; null = it cannot be. */
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

  /** Says that something is wrong, after all that was to be said before, and resolves when the caller has heard it. */
  async sayFailure(text: string): Promise<void> {
    const { voice } = this.#options;
    if (this.#attempt(() => voice.say(text, { interruptible: 'none' }))) await voice.drained();
  }

  /**
   * Twilio's voices are not ours: one that is not there gives way to one of the language, and that to our usual one.
   */
  #say(text: string, voice: string | undefined, lang: string | undefined): void {
    if (text === '') return;
    const style: SayOptions = {
      ...(voice === undefined ? {} : { voice, voiceIsWish: true }),
      ...(lang === undefined ? {} : { lang }),
    };
    this.#options.voice.say(text, { ...style, interruptible: 'none' });
  }

  /** Plays the recording at `url` once, each time it is called; null when it cannot be had. */
  async #recorded(url: string): Promise<(() => void) | null> {
    const { voice, context, signal, log } = this.#options;
    try {
      const { samples, rateHz } = await context.apps.fetchAudio(url, signal);
      const { origin, pathname } = new URL(url);
      return () => void voice.play(samples, rateHz, { label: origin + pathname, interruptible: 'none' });
    } catch (error) {
      if (!(error instanceof TrunklineError)) throw error;
      if (!signal.aborted) log.warn({ code: error.code }, `<Play> is left out: ${error.message}`);
      return null;
    }
  }

  /** Whether `action` could be done. */
  #attempt(action: () => void): boolean {
    try {
      action();
      return true;
    } catch (error) {
      if (!(error instanceof TrunklineError)) throw error;
      if (!this.#options.signal.aborted)
        this.#options.log.warn({ code: error.code }, "a verb of the app's TwiML cannot be done");
      return false;
    }
  }

  async #heard(untilMs: number): Promise<void> {
    const { voice, context } = this.#options;
    const leftMs = Math.max(0, untilMs - context.clock.nowMs());
    if (!(await settlesWithin(context.clock, voice.drained(), leftMs))) voice.interrupt();
    this.#checkTime(untilMs);
  }

  #checkTime(untilMs: number): void {
    const { context, signal, log } = this.#options;
    if (signal.aborted || context.clock.nowMs() < untilMs) return;
    log.warn("the verbs of the app's TwiML have held the call for too long");
    throw new TrunklineError('twiml_failed', "the verbs of the app's TwiML have held the call for too long");
  }

  #wait(lengthMs: number): Promise<void> {
    const { context, signal } = this.#options;
    return new Promise((resolve) => {
      if (signal.aborted) return resolve();
      const done = (): void => {
        timer.cancel();
        signal.removeEventListener('abort', done);
        resolve();
      };
      const timer = context.clock.after(lengthMs, done);
      signal.addEventListener('abort', done);
    });
  }
}
