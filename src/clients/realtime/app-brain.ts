/** The operator's text app as the brain of a Realtime session: to it the session is a call with frames as any other. */
import { appSignatures } from '../../calls/app/app-socket.ts';
import { AppConnection } from '../../calls/app/connection.ts';
import { malformed, readAppFrame, type SetupFrame, type TextFrame } from '../../calls/app/frames.ts';
import { LateText } from '../../calls/app/late-text.ts';
import type { Clock } from '../../foundation/clock.ts';
import { TrunklineError } from '../../foundation/errors.ts';
import type { Settings } from '../../foundation/settings/settings.ts';
import type { Brain, BrainEvents, Question } from './brain.ts';
import type { CancelReason } from './wire/outgoing-response.ts';
import type { OutputConfig } from './wire/output-config.ts';

/** What an app is told of a session's instructions. */
const PARAMETER_MAX_CHARS = 8192;
const CLOSE_NORMAL = 1000;
const GONE = 'the app cannot be reached';
const LOST = 'the connection to the app broke';

/** The settings of the way to the app. */
export type AppBrainSettings = Pick<
  Settings,
  | 'APP_SIGNING_KEY'
  | 'APP_CONNECT_TIMEOUT_MS'
  | 'APP_RECONNECT_MS'
  | 'MESSAGE_MAX_BYTES'
  | 'SEND_BUFFER_MAX_BYTES'
  | 'DEFAULT_LANGUAGE'
>;

interface AppBrainOptions {
  readonly url: string;
  readonly settings: AppBrainSettings;
  readonly sessionId: string;
  readonly model: string;
  readonly clock: Clock;
  readonly events: BrainEvents;
}

/** See above. */
export class AppBrain implements Brain {
  readonly #options: AppBrainOptions;
  readonly #late = new LateText();
  #connection: AppConnection | null = null;
  #output: OutputConfig | null = null;
  /** It was asked, and nothing of its answer has come. */
  #isAsked = false;
  /** An answer has begun and its `last` has not come. */
  #isAnswering = false;
  /** The answer was cut off, and the app does not know. */
  #isCut = false;
  /** It cannot be reached, and is not tried again, or has ended the session. */
  #isGone = false;

  constructor(options: AppBrainOptions) {
    this.#options = options;
  }

  begin(output: OutputConfig): void {
    this.#output = output;
    this.#connection ??= this.#dial();
  }

  ask({ said, output }: Question): void {
    this.begin(output);
    this.#isAnswering = false;
    if (this.#isGone) {
      this.#options.events.onFailed(GONE, null);
      return;
    }
    if (said === '') {
      // It was told all that there is, and nothing else makes it speak.
      this.#options.events.onDone();
      return;
    }
    const { DEFAULT_LANGUAGE } = this.#options.settings;
    this.#connection?.send({ type: 'prompt', voicePrompt: said, lang: DEFAULT_LANGUAGE || 'en-US', last: true });
    this.#isAsked = true;
    this.#late.onAnswerable();
  }

  cancel(reason: CancelReason): boolean {
    const hasBegun = this.#isAnswering;
    // Who goes on speaking before the first word is answered as in calls: by what the app makes of both prompts.
    if (!hasBegun && !(this.#isAsked && reason === 'client_cancelled')) return false;
    this.#isAsked = false;
    this.#isAnswering = false;
    this.#isCut = true;
    this.#late.onInterrupted();
    if (!hasBegun) this.heard('', 0);
    return true;
  }

  heard(text: string, ms: number): void {
    this.#connection?.send({ type: 'interrupt', utteranceUntilInterrupt: text, durationUntilInterruptMs: ms });
    if (!this.#isCut) return;
    this.#isCut = false;
    this.#connection?.fence();
  }

  close(): void {
    this.#connection?.close(CLOSE_NORMAL, 'Closing websocket session');
  }

  #dial(): AppConnection {
    const { url, settings, clock } = this.#options;
    return new AppConnection({
      url,
      headers: appSignatures(url, settings.APP_SIGNING_KEY),
      clock,
      limits: {
        connectTimeoutMs: settings.APP_CONNECT_TIMEOUT_MS,
        reconnectMs: settings.APP_RECONNECT_MS,
        messageMaxBytes: settings.MESSAGE_MAX_BYTES,
        sendBufferMaxBytes: settings.SEND_BUFFER_MAX_BYTES,
      },
      handlers: {
        setup: () => this.#setup(),
        onMessage: (message) => this.#receive(message),
        onFence: () => this.#late.onFence(),
        onLost: () => this.#onLost(),
        onFinished: () => this.#end(),
        onGone: (reason) => this.#onGone(reason),
        onOutcome: () => undefined,
      },
    });
  }

  #setup(): SetupFrame {
    const { sessionId, model } = this.#options;
    const { instructions = '', voice = '' } = this.#output ?? {};
    return {
      type: 'setup',
      sessionId,
      accountSid: '',
      parentCallSid: '',
      callSid: sessionId,
      from: '',
      to: '',
      forwardedFrom: '',
      callerName: '',
      direction: 'inbound',
      callType: 'CLIENT',
      callStatus: 'IN_PROGRESS',
      customParameters: { model, voice, instructions: instructions.slice(0, PARAMETER_MAX_CHARS) },
    };
  }

  #receive(message: string | null): void {
    if (this.#isGone) return;
    const frame = message === null ? malformed('expected text, got a binary message') : readAppFrame(message);
    if (frame.type === 'malformed') {
      this.#connection?.send({ type: 'error', description: frame.description });
    } else if (frame.type === 'text') {
      this.#say(frame);
    } else if (frame.type === 'end') {
      this.#end();
    } else {
      const description = `Realtime sessions take text and end, got ${frame.type}`;
      this.#connection?.send({ type: 'error', description });
    }
  }

  #say(frame: TextFrame): void {
    const { token, last } = frame;
    if (this.#late.isLate(frame)) return;
    try {
      if (token !== '') this.#tell(token);
      if (last) this.#finish();
    } catch (error) {
      if (!(error instanceof TrunklineError)) throw error;
      this.#connection?.send({ type: 'error', description: error.message });
      if (!last) this.#late.refuseRest();
      this.#finish();
    }
  }

  /** What it said without a `last` is said, as in calls. */
  #end(): void {
    if (this.#isGone) return;
    this.#isGone = true;
    this.#finish();
    this.#options.events.onEnd();
  }

  #tell(text: string): void {
    this.#isAsked = false;
    this.#isAnswering = true;
    this.#options.events.onText(text);
  }

  #onGone(reason: string | null): void {
    if (this.#isGone) return;
    this.#isGone = true;
    this.#isAsked = false;
    this.#options.events.onFailed(GONE, reason);
  }

  /** What it said so far is said. What it was asked it may never have read. */
  #onLost(): void {
    this.#late.forget();
    this.#isCut = false;
    const wasAsked = this.#isAsked;
    this.#isAsked = false;
    if (wasAsked) this.#options.events.onFailed(LOST, null);
    else this.#finish();
  }

  #finish(): void {
    if (!this.#isAsked && !this.#isAnswering) return;
    this.#isAsked = false;
    this.#isAnswering = false;
    this.#options.events.onDone();
  }
}
