/**
 * The app on the line: for one call Trunkline dials a program's WebSocket and speaks ConversationRelay with it, text
 * for text. This introduces the session to its connection, and decides what becomes of the call when the app is done or
 * gone. `docs/guide/apps.md` says it from the app's side.
 */

import { randomUUID } from 'node:crypto';
import { TrunklineError } from '../../foundation/errors.ts';
import type { Log } from '../../foundation/log/log.ts';
import { namedTargets } from '../../foundation/outbound-targets.ts';
import type { CallStart } from '../../protocols/dialect.ts';
import { signTwilio } from '../../protocols/twilio-signature.ts';
import type { CallAnswer } from '../answered/answered-by.ts';
import type { AppTrace } from '../call-tracer.ts';
import type { CallContext, CallSettings } from '../context.ts';
import type { CallLanguages } from '../language/call-languages.ts';
import type { CallVoice } from '../outbound/voice.ts';
import type { CallerEvent } from './call-app.ts';
import { AppConnection, type ConnectionLimits, type ConnectionOutcome } from './connection.ts';
import { malformed, readAppFrame, type SetupFrame } from './frames.ts';
import type { AppRequest } from './request.ts';
import { AppSession } from './session.ts';

/** So many in a row, and the app is not one that speaks our protocol. */
const MALFORMED_MAX = 10;
/** Carriers that are exchanges of one's own, or phones: their calls need not have been on the public network. */
const OWN_EXCHANGES = ['asterisk', 'audiosocket', 'sip'];

const WARNINGS = {
  refused: 'the app cannot be reached; it is dialled again',
  lost: 'the connection to the app broke; it is made again',
} as const;

interface AppSocketOptions {
  readonly start: CallStart;
  readonly request: AppRequest;
  readonly voice: CallVoice;
  readonly languages: CallLanguages;
  readonly answer: CallAnswer;
  readonly context: CallContext;
  readonly log: Log;
  /** Follows the app's turns; null = nothing does. */
  readonly trace: AppTrace | null;
  /** The app is done with the call, or gone with APP_GONE=end; everything that was to be said has been played. */
  onEnd(handoffData: string | null): void;
  /** The connection to the app broke, or is there again. */
  onConnection(state: 'lost' | 'back'): void;
  /** Somebody else makes up for an app that is gone for good, in place of APP_GONE_TEXT. */
  onGone?(): void;
  /** Something of ours failed: the owner ends the call. */
  onFailure(error: unknown): void;
}

/** The app of one call, from dialling to the end of either. */
export class AppSocket {
  readonly #options: AppSocketOptions;
  readonly #log: Log;
  readonly #sessionId = `VX${randomUUID().replaceAll('-', '')}`;
  readonly #session: AppSession;
  readonly #connection: AppConnection;
  #malformed = 0;
  #closed = false;
  #reached = false;
  #refusals = 0;
  #lost = false;
  #muted = false;
  /** The app went for good while the call was taken over from it. */
  #goneLater: (() => void) | null = null;

  /** Dials at once, and greets the caller meanwhile. */
  constructor(options: AppSocketOptions) {
    this.#options = options;
    // The path of the URL may be a secret.
    this.#log = options.log.child({ app: new URL(options.request.url).origin });
    this.#session = this.#openSession();
    this.#connection = this.#dial();
    this.#session.begin();
  }

  /** Its name for the app. */
  get sessionId(): string {
    return this.#sessionId;
  }

  /** Whether there ever was a connection. */
  get reached(): boolean {
    return this.#reached;
  }

  /** Whether the app has refused every connection so far, and the call is not to go on without it. */
  get unreachable(): boolean {
    return !this.#reached && this.#refusals > 0 && this.#options.context.settings.APP_GONE === 'end';
  }

  /** Whether the app is there, or may come again. */
  get listens(): boolean {
    return this.#session.listens;
  }

  /** What the caller says, less what is our own echo; to be told after the voice. */
  onSpeech(event: CallerEvent): void {
    this.#session.onSpeech(event);
  }

  /** The caller pressed a key; to be told after the voice. */
  onDtmf(digit: string): void {
    this.#session.onDtmf(digit);
  }

  /** Somebody takes the call over from the app, or gives it back. */
  mute(isMuted: boolean): void {
    this.#muted = isMuted;
    this.#session.mute(isMuted);
    const goneLater = this.#goneLater;
    if (isMuted || goneLater === null) return;
    this.#goneLater = null;
    goneLater();
  }

  /** The call is over, or nothing more is to be said in it. Idempotent. */
  close(): void {
    this.#closed = true;
    this.#session.close();
    this.#connection.close(1000, 'Closing websocket session');
  }

  #openSession(): AppSession {
    const { context, request, voice, answer, languages, trace, onFailure } = this.#options;
    return new AppSession({
      request,
      voice,
      answer,
      trace,
      channel: {
        send: (frame) => this.#connection.send(frame),
        sendNow: (frame) => this.#connection.sendNow(frame),
        fence: () => this.#connection.fence(),
        pause: () => this.#connection.pause(),
        resume: () => this.#connection.resume(),
      },
      fetchAudio: context.apps.fetchAudio,
      clock: context.clock,
      flushMs: context.settings.APP_FLUSH_MS,
      onFlush: () => context.metrics.appFlushes.inc(),
      language: languages,
      speaks: (language) => this.#speaks(language),
      onEnd: (handoffData) => this.#onEnd(handoffData),
      onFailure,
    });
  }

  #dial(): AppConnection {
    const { context, request, trace } = this.#options;
    const { clock, metrics, settings } = context;
    const signatures = appSignatures(request.url, settings.APP_SIGNING_KEY);
    return new AppConnection({
      url: request.url,
      headers: trace === null ? signatures : { ...signatures, traceparent: trace.traceparent },
      clock,
      limits: limitsOf(settings),
      lookup: request.guarded ? namedTargets(settings.OUTBOUND_ALLOW, 'apps').lookup : undefined,
      handlers: {
        setup: () => this.#setup(),
        onMessage: (message) => this.#receive(message),
        onFence: () => this.#session.onFence(),
        onLost: () => this.#onLost(),
        onFinished: () => this.#session.receive({ type: 'end' }),
        onGone: (reason) => void this.#onGone('it cannot be reached', reason),
        onOutcome: (outcome, reason) => {
          metrics.appConnections.inc({ outcome });
          context.apps.reachability.note(request.url, outcome, reason);
          this.#noteOutcome(outcome, reason);
        },
      },
    });
  }

  #onLost(): void {
    this.#session.onLost();
    this.#lost = true;
    this.#options.onConnection('lost');
  }

  /** The first refusal of a series is a warning: the rest of them say the same. */
  #noteOutcome(outcome: ConnectionOutcome, reason: string | null): void {
    if (outcome === 'connected') {
      this.#reached = true;
      this.#refusals = 0;
      if (this.#lost) this.#options.onConnection('back');
      this.#lost = false;
    }
    if (outcome === 'refused') this.#refusals += 1;
    if (outcome === 'lost' || (outcome === 'refused' && this.#refusals === 1))
      this.#log.warn({ outcome, reason }, WARNINGS[outcome]);
    else this.#log.info(reason === null ? { outcome } : { outcome, reason }, 'app connection');
  }

  #setup(): SetupFrame {
    const { start, request } = this.#options;
    const { from: caller, details = {} } = start;
    const from = caller ?? '';
    return {
      type: 'setup',
      sessionId: this.#sessionId,
      accountSid: details.accountSid ?? '',
      parentCallSid: details.parentCallSid ?? '',
      callSid: start.callId,
      from,
      to: start.to ?? '',
      forwardedFrom: details.forwardedFrom ?? '',
      callerName: details.callerName ?? '',
      direction: start.outgoing === true ? 'outbound-api' : 'inbound',
      callType: callTypeOf(start.carrier, from),
      callStatus: 'IN_PROGRESS',
      customParameters: request.customParameters,
    };
  }

  #receive(message: string | null): void {
    const frame = message === null ? malformed('expected text, got a binary message') : readAppFrame(message);
    this.#options.context.metrics.appMessages.inc({ type: frame.type });
    if (frame.type !== 'malformed') {
      this.#malformed = 0;
      this.#session.receive(frame);
      return;
    }
    this.#malformed += 1;
    this.#connection.send({ type: 'error', description: frame.description });
    if (this.#malformed < MALFORMED_MAX) return;
    this.#connection.close(1007, 'Too many consecutive malformed messages');
    void this.#onGone('it does not speak the protocol');
  }

  /** The caller hears that something is wrong, after all that was said before. */
  async #onGone(why: string, reason: string | null = null): Promise<void> {
    const { context, voice, onEnd } = this.#options;
    const { APP_GONE, APP_GONE_TEXT } = context.settings;
    if (this.#muted) {
      this.#goneLater = () => void this.#onGone(why, reason);
      return;
    }
    this.#log.warn({ why, reason, action: APP_GONE }, 'the app is gone');
    this.#session.close();
    if (this.#options.onGone !== undefined) {
      if (!this.#closed) this.#options.onGone();
      return;
    }
    try {
      voice.say(APP_GONE_TEXT, { interruptible: 'none' });
    } catch (error) {
      if (!(error instanceof TrunklineError)) this.#options.onFailure(error);
    }
    if (APP_GONE === 'captions') return;
    await voice.drained();
    if (this.#closed) return;
    if (this.#muted) this.#goneLater = () => onEnd(null);
    else onEnd(null);
  }

  #onEnd(handoffData: string | null): void {
    this.#log.info({ handoffChars: handoffData?.length ?? 0 }, 'the app ended the call');
    this.#options.onEnd(handoffData);
  }

  /** True while no engine has said which voices there are. */
  #speaks(language: string): boolean {
    const { voices } = this.#options.context.engine;
    const primary = (tag: string): string | undefined => tag.toLowerCase().split('-')[0];
    return voices.length === 0 || voices.some((voice) => primary(voice.language) === primary(language));
  }
}

/**
 * Both names of one signature, Twilio's scheme for handshakes: apps that were written for Twilio look for theirs. Empty
 * key = unsigned.
 */
export function appSignatures(url: string, key: string): Record<string, string> {
  if (key === '') return {};
  const signature = signTwilio(key, url.replace(/^wss?:/i, 'wss:').replace(/^(wss:\/\/[^/?]+)(?=\?|$)/, '$1/'));
  return { 'x-trunkline-signature': signature, 'x-twilio-signature': signature };
}

function limitsOf(settings: CallSettings): ConnectionLimits {
  return {
    connectTimeoutMs: settings.APP_CONNECT_TIMEOUT_MS,
    reconnectMs: settings.APP_RECONNECT_MS,
    messageMaxBytes: settings.MESSAGE_MAX_BYTES,
    sendBufferMaxBytes: settings.SEND_BUFFER_MAX_BYTES,
  };
}

function callTypeOf(carrier: string, from: string): SetupFrame['callType'] {
  if (carrier === 'browser' || from.startsWith('client:')) return 'CLIENT';
  return OWN_EXCHANGES.includes(carrier) || from.startsWith('sip:') ? 'SIP' : 'PSTN';
}
