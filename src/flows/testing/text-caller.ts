/** A scripted caller in text, on a clock that moves as fast as the flow thinks. */
import { setImmediate } from 'node:timers/promises';
import type { VirtualClock } from '../../foundation/virtual-clock.ts';
import type { ObservedCall } from './observed-call.ts';
import type { ScriptedCaller } from './script.ts';
import type { TextLine } from './text-line.ts';

/** How far the clock moves at once. */
const STEP_MS = 20;
/** As long as speaking takes. */
const MS_PER_CHAR = 60;
const KEY_GAP_MS = 150;
/** A step that asks for nothing in words listens after this time. */
const WORDLESS_MS = 2000;

export class TextCaller implements ScriptedCaller {
  readonly observed: ObservedCall;
  readonly answerMs = 'untimed';
  readonly #clock: VirtualClock;
  readonly #line: TextLine;
  /** What had been noted when the flow did something last, and when that was. */
  #newsCount = 0;
  #quietSinceMs = 0;

  constructor(options: { readonly observed: ObservedCall; readonly clock: VirtualClock; readonly line: TextLine }) {
    this.observed = options.observed;
    this.#clock = options.clock;
    this.#line = options.line;
  }

  get isListenedTo(): boolean {
    if (this.#line.isSpeaking) return false;
    return this.observed.hasAsked || (this.observed.isAtQuestion && this.#quietMs >= WORDLESS_MS);
  }

  get isSpokenTo(): boolean {
    return this.#line.isSpeaking;
  }

  async say(text: string): Promise<void> {
    this.#line.beginSpeech();
    await this.wait(text.length * MS_PER_CHAR);
    this.#line.endSpeech(text);
  }

  async press(keys: string): Promise<void> {
    for (const key of keys) {
      this.#line.press(key);
      await this.wait(KEY_GAP_MS);
    }
  }

  async sound(tone: 'beep' | 'fax'): Promise<void> {
    this.#line.sound(tone);
  }

  async wait(durationMs: number): Promise<void> {
    await this.until(() => false, durationMs);
  }

  async until(holds: () => boolean, timeoutMs: number): Promise<boolean> {
    const endMs = this.#clock.nowMs() + timeoutMs;
    // Promises of the flow settle first: what it does takes no time of the call.
    await setImmediate();
    while (!holds()) {
      const nowMs = this.#clock.nowMs();
      if (nowMs >= endMs) return false;
      this.#clock.advance(Math.min(STEP_MS, endMs - nowMs));
      await setImmediate();
      this.#watch();
    }
    return true;
  }

  hangUp(): void {
    this.#line.hangUp();
  }

  get #quietMs(): number {
    return this.#clock.nowMs() - this.#quietSinceMs;
  }

  #watch(): void {
    if (!this.#line.isSpeaking && this.observed.newsCount === this.#newsCount) return;
    this.#newsCount = this.observed.newsCount;
    this.#quietSinceMs = this.#clock.nowMs();
  }
}
