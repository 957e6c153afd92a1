/**
 * One `<ConversationRelay>` of a document: a session with an app, until the app or the call ends it, and its result.
 */

import { PrivateAddressError } from '../../../foundation/addresses.ts';
import { namedTargets } from '../../../foundation/outbound-targets.ts';
import type { RelayVerb } from '../../../protocols/twiml/document.ts';
import { AppSocket } from '../app-socket.ts';
import type { CallApp, CallAppOptions, CallerEvent } from '../call-app.ts';
import { readRelayRequest } from '../request.ts';
import type { SessionEnd } from './fields.ts';

/**
 * What Twilio reports about an app that was never reached, and about one that was lost
 * (https://www.twilio.com/docs/api/errors/64102, …/64105).
 */
const UNREACHABLE = { code: 64_102, message: 'Unable to connect to websocket URL' };
const LOST = { code: 64_105, message: 'Websocket ended' };

export class RelaySession implements CallApp {
  /** Resolves once, when the session is over. */
  readonly ended: Promise<SessionEnd>;
  readonly #options: CallAppOptions & { readonly relay: RelayVerb };
  readonly #sinceMs: number;
  #app: AppSocket | null = null;
  #resolve: (end: SessionEnd) => void = () => undefined;

  /** Dials at once. */
  constructor(options: CallAppOptions & { readonly relay: RelayVerb }) {
    this.#options = options;
    this.#sinceMs = options.context.clock.nowMs();
    this.ended = new Promise((resolve) => {
      this.#resolve = resolve;
    });
    if (this.#mayDial()) this.#app = this.#dial();
    else this.#end('failed');
  }

  /** Whether the app was ever connected. */
  get reached(): boolean {
    return this.#app?.reached === true;
  }

  /** Whether the app may not be dialled, or has refused every connection so far. */
  get unreachable(): boolean {
    return this.#app?.unreachable ?? true;
  }

  /** Whether the app waits for what the caller says. */
  get listens(): boolean {
    return this.#app?.listens ?? false;
  }

  /** To the app. */
  onSpeech(event: CallerEvent): void {
    this.#app?.onSpeech(event);
  }

  /** To the app. */
  onDtmf(digit: string): void {
    this.#app?.onDtmf(digit);
  }

  /** To the app. */
  mute(isMuted: boolean): void {
    this.#app?.mute(isMuted);
  }

  /** The call is over. */
  close(): void {
    this.#end('completed');
  }

  #mayDial(): boolean {
    const { relay, context, log } = this.#options;
    try {
      namedTargets(context.settings.OUTBOUND_ALLOW, 'apps').check(new URL(relay.url).hostname);
      return true;
    } catch (error) {
      if (!(error instanceof PrivateAddressError)) throw error;
      log.warn(
        { app: new URL(relay.url).origin },
        'the app that the TwiML names is in a private network, expected a public address (OUTBOUND_ALLOW)',
      );
      return false;
    }
  }

  #dial(): AppSocket {
    const { relay, start, context } = this.#options;
    return new AppSocket({
      ...this.#options,
      request: readRelayRequest(relay, start.parameters, context.settings),
      onEnd: (handoffData) => this.#end('ended', handoffData),
      onGone: () => this.#end('failed'),
    });
  }

  /** Only the first end counts. */
  #end(status: SessionEnd['status'], handoffData: string | null = null): void {
    this.#app?.close();
    const error = status === 'failed' ? (this.reached ? LOST : UNREACHABLE) : null;
    const durationMs = this.#options.context.clock.nowMs() - this.#sinceMs;
    this.#resolve({ sessionId: this.#app?.sessionId ?? '', status, durationMs, handoffData, error });
  }
}
