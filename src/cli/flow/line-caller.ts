/** A scripted caller on a simulated telephone line: it speaks with a voice, and hears what the flow says. */
import type { FeedEvent } from '../../calls/feed/events.ts';
import type { CallNews, ObservedCall } from '../../flows/testing/observed-call.ts';
import type { ScriptedCaller } from '../../flows/testing/script.ts';
import { newsOfFlow } from '../../flows/testing/text-line.ts';
import { sleep, systemClock } from '../../foundation/clock.ts';
import { bytesToMs, MULAW_8K } from '../../foundation/units.ts';
import { Microphone } from '../../simulator/microphone.ts';
import { TwilioCaller } from '../../simulator/twilio-caller.ts';

/** A test that lasts for longer has its line cut. */
const CALL_MAX_MS = 600_000;
/** From the end of what the flow says to what the caller says. */
const BREATH_MS = 300;
/** A prompt may be followed by another one within this time. */
const QUIET_MS = 250;
/** A step that asks for nothing in words listens after this time. */
const WORDLESS_MS = 2000;
const KEY_GAP_MS = 150;
const LOOK_MS = 10;

/** The call of a test. */
export interface LineCallerOptions {
  /** Of the gateway, `http:`. */
  readonly url: string;
  readonly callSid: string;
  readonly from: string;
  readonly to: string;
  readonly parameters: Readonly<Record<string, string>>;
  readonly observed: ObservedCall;
  /** Makes what the caller says, at 8 kHz. */
  speech(text: string): Promise<Int16Array>;
}

export class LineCaller implements ScriptedCaller {
  readonly observed: ObservedCall;
  /** Resolves when the line is dead; rejects when the gateway refuses the call. */
  readonly ended: Promise<unknown>;
  readonly #options: LineCallerOptions;
  readonly #microphone = new Microphone(CALL_MAX_MS);
  readonly #line: TwilioCaller;
  /** Until when what has come plays, in ms of the call. */
  #playsUntilMs = 0;
  /** When the caller was done with what is not answered yet. */
  #actedAtMs: number | null = null;
  /** What was sounding when the caller cut in is still coming. */
  #isCuttingIn = false;
  #answerMs: number | null = null;

  constructor(options: LineCallerOptions) {
    const { url, callSid, from, to, parameters } = options;
    this.#options = options;
    this.observed = options.observed;
    this.#line = new TwilioCaller({
      url: `${url.replace(/^http/, 'ws')}/twilio/media`,
      tracks: { inbound: this.#microphone.track },
      pace: 'realtime',
      clock: systemClock,
      callSid,
      from,
      to,
      parameters,
      onAudio: (payload) => this.#onAudio(payload.length),
      onClear: () => this.#onClear(),
    });
    this.ended = this.#line.run().finally(() => this.observed.note({ type: 'over' }));
    this.ended.catch(() => undefined);
  }

  get isListenedTo(): boolean {
    const quietMs = this.#line.sentMs - this.#playsUntilMs;
    return this.observed.hasAsked ? quietMs >= QUIET_MS : this.observed.isAtQuestion && quietMs >= WORDLESS_MS;
  }

  get isSpokenTo(): boolean {
    return this.#playsUntilMs > this.#line.sentMs;
  }

  get answerMs(): number | null {
    return this.#answerMs;
  }

  /** An event of the call. */
  onEvent(event: FeedEvent): void {
    const news = newsOf(event);
    if (news !== null) this.observed.note(news);
  }

  async say(text: string): Promise<void> {
    const samples = await this.#options.speech(text);
    const isCuttingIn = this.isSpokenTo;
    const endMs = this.#microphone.speak(samples, this.#line.sentMs + (isCuttingIn ? 0 : BREATH_MS));
    const durationMs = endMs - this.#line.sentMs;
    this.#act(systemClock.nowMs() + durationMs, isCuttingIn);
    await sleep(systemClock, durationMs);
  }

  async press(keys: string): Promise<void> {
    for (const [index, key] of [...keys].entries()) {
      if (index > 0) await sleep(systemClock, KEY_GAP_MS);
      this.#act(systemClock.nowMs(), this.isSpokenTo);
      this.#line.sendDtmf(key);
    }
  }

  wait(durationMs: number): Promise<void> {
    return sleep(systemClock, durationMs);
  }

  async until(holds: () => boolean, timeoutMs: number): Promise<boolean> {
    const endMs = systemClock.nowMs() + timeoutMs;
    while (!holds()) {
      if (systemClock.nowMs() >= endMs) return false;
      await sleep(systemClock, LOOK_MS);
    }
    return true;
  }

  hangUp(): void {
    this.#line.hangup();
  }

  #act(atMs: number, isCuttingIn: boolean): void {
    this.#actedAtMs = atMs;
    this.#isCuttingIn = isCuttingIn;
    this.#answerMs = null;
  }

  #onAudio(bytes: number): void {
    this.#playsUntilMs = Math.max(this.#playsUntilMs, this.#line.sentMs) + bytesToMs(bytes, MULAW_8K);
    if (this.#actedAtMs === null || this.#isCuttingIn) return;
    this.#answerMs = Math.max(systemClock.nowMs() - this.#actedAtMs, 0);
    this.#actedAtMs = null;
  }

  #onClear(): void {
    this.#playsUntilMs = this.#line.sentMs;
    this.#isCuttingIn = false;
  }
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
