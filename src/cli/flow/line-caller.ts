/** A scripted caller on a simulated telephone line: it speaks with a voice, and hears what the flow says. */
import { toneSamples } from '../../audio/tones/tone-samples.ts';
import type { FeedEvent } from '../../calls/feed/events.ts';
import type { CallNews, ObservedCall } from '../../flows/testing/observed-call.ts';
import type { ScriptedCaller } from '../../flows/testing/script.ts';
import { newsOfFlow } from '../../flows/testing/text-line.ts';
import { type Clock, sleep, systemClock } from '../../foundation/clock.ts';
import { bytesToMs, MULAW_8K } from '../../foundation/units.ts';
import { Patience } from './patience.ts';

/** From the end of what the flow says to what the caller says. */
const BREATH_MS = 300;
/** A prompt may be followed by another one within this time. */
const QUIET_MS = 250;
/** A step that asks for nothing in words listens after this time. */
const WORDLESS_MS = 5000;
const KEY_GAP_MS = 150;
const LOOK_MS = 10;
/** A look that comes later than this found a process that had no time: the rest does not count. */
const LOOK_MAX_MS = 50;
/** That of a fax machine that calls is CNG (ITU-T T.30). */
const SOUNDS = { beep: { toneHz: 1000, durationMs: 400 }, fax: { toneHz: 1100, durationMs: 500 } } as const;

/** What comes of a line. */
export interface LineListener {
  /** Sound of the flow, µ-law. */
  onAudio(payload: Uint8Array): void;
  /** What is not heard yet was thrown away. */
  onClear(): void;
}

/** A simulated telephone line, on which the caller's sound is silence but for what is said. */
export interface CallerLine {
  /** As the gateway names the call. */
  readonly callId: string;
  /** Time of the call. */
  readonly sentMs: number;
  /** Says `samples` (8 kHz) from `fromMs` of the call on. Returns when they end, in ms of the call. */
  speak(samples: Int16Array, fromMs: number): number;
  press(key: string): void;
  hangUp(): void;
  /** Calls. Resolves when the line is dead; rejects when the gateway refuses the call. */
  run(listener: LineListener): Promise<unknown>;
}

interface LineCallerOptions {
  readonly line: CallerLine;
  readonly observed: ObservedCall;
  /** The system's unless given. */
  readonly clock?: Clock;
  /** Makes what the caller says, at 8 kHz. */
  speech(text: string): Promise<Int16Array>;
}

export class LineCaller implements ScriptedCaller {
  readonly observed: ObservedCall;
  readonly #options: LineCallerOptions;
  readonly #clock: Clock;
  readonly #patience = new Patience();
  /** Until when what has come plays, in ms of the call. */
  #playsUntilMs = 0;
  /** When the flow did something last, in ms of the call. */
  #newsAtMs = 0;
  /** When the caller was done with what is not answered yet. */
  #actedAtMs: number | null = null;
  /** What was sounding when the caller cut in is still coming. */
  #isCuttingIn = false;
  #answerMs: number | null = null;

  constructor(options: LineCallerOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.observed = options.observed;
  }

  /** Calls. Resolves when the line is dead, and says why it never lived; null = it did. */
  async call(): Promise<string | null> {
    const listener = {
      onAudio: (payload: Uint8Array) => this.#onAudio(payload),
      onClear: () => this.#onClear(),
    };
    try {
      await this.#line.run(listener);
      return null;
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    } finally {
      this.observed.note({ type: 'over' });
    }
  }

  get isListenedTo(): boolean {
    const nowMs = this.#line.sentMs;
    if (this.observed.hasAsked) return nowMs - this.#playsUntilMs >= QUIET_MS;
    return this.observed.isAtQuestion && nowMs - Math.max(this.#playsUntilMs, this.#newsAtMs) >= WORDLESS_MS;
  }

  get isSpokenTo(): boolean {
    return this.#playsUntilMs > this.#line.sentMs;
  }

  get answerMs(): number | null {
    return this.#answerMs;
  }

  /** An event of the call. */
  onEvent(event: FeedEvent): void {
    this.#patience.onEvent(event);
    const news = newsOf(event);
    if (news === null) return;
    this.#newsAtMs = this.#line.sentMs;
    this.observed.note(news);
  }

  async say(text: string): Promise<void> {
    const samples = await this.#options.speech(text);
    const isCuttingIn = this.isSpokenTo;
    const endMs = this.#line.speak(samples, this.#line.sentMs + (isCuttingIn ? 0 : BREATH_MS));
    this.#patience.onSaid(endMs);
    const durationMs = endMs - this.#line.sentMs;
    this.#act(this.#clock.nowMs() + durationMs, isCuttingIn);
    await sleep(this.#clock, durationMs);
  }

  async press(keys: string): Promise<void> {
    for (const [index, key] of [...keys].entries()) {
      if (index > 0) await sleep(this.#clock, KEY_GAP_MS);
      this.#act(this.#clock.nowMs(), this.isSpokenTo);
      this.#line.press(key);
    }
  }

  async sound(tone: 'beep' | 'fax'): Promise<void> {
    const samples = toneSamples(SOUNDS[tone], MULAW_8K.rateHz);
    const endMs = this.#line.speak(samples, this.#line.sentMs);
    this.#act(this.#clock.nowMs() + endMs - this.#line.sentMs, false);
    await sleep(this.#clock, endMs - this.#line.sentMs);
  }

  wait(durationMs: number): Promise<void> {
    return sleep(this.#clock, durationMs);
  }

  async until(holds: () => boolean, timeoutMs: number): Promise<boolean> {
    let waitedMs = 0;
    while (!holds()) {
      if (waitedMs >= timeoutMs) return false;
      const beganMs = this.#clock.nowMs();
      await sleep(this.#clock, LOOK_MS);
      const passedMs = Math.min(this.#clock.nowMs() - beganMs, LOOK_MAX_MS);
      waitedMs += this.#patience.countOf(passedMs);
    }
    return true;
  }

  hangUp(): void {
    this.#line.hangUp();
  }

  #act(atMs: number, isCuttingIn: boolean): void {
    this.#actedAtMs = atMs;
    this.#isCuttingIn = isCuttingIn;
    this.#answerMs = null;
  }

  get #line(): CallerLine {
    return this.#options.line;
  }

  #onAudio(payload: Uint8Array): void {
    if (isSilent(payload)) return;
    this.#playsUntilMs = Math.max(this.#playsUntilMs, this.#line.sentMs) + bytesToMs(payload.length, MULAW_8K);
    if (this.#actedAtMs === null || this.#isCuttingIn) return;
    this.#answerMs = Math.max(this.#clock.nowMs() - this.#actedAtMs, 0);
    this.#actedAtMs = null;
  }

  #onClear(): void {
    this.#playsUntilMs = this.#line.sentMs;
    this.#isCuttingIn = false;
  }
}

/** Below about −60 dBm0: some carriers are sent silence where nothing is said. */
function isSilent(payload: Uint8Array): boolean {
  return payload.every((byte) => (byte & 0x7f) >= 0x7a);
}

/** Null = nothing that a test looks at. */
function newsOf(event: FeedEvent): CallNews | null {
  switch (event.type) {
    case 'flow.step':
    case 'flow.input':
    case 'flow.ended':
      return newsOfFlow(event);
    case 'spoken':
      return { type: 'spoken', text: event.text, heard: event.heardText, interrupted: event.interrupted };
    case 'call.ended':
      return { type: 'over' };
    default:
      return null;
  }
}
