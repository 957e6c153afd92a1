/** The interface between a call and its app, or the app's TwiML. */

import type { Log } from '../../foundation/log/log.ts';
import type { CallStart } from '../../protocols/dialect.ts';
import type { Revision, SpeechEvent, TurnEnded } from '../../transcription/live-transcriber.ts';
import type { CallAnswer } from '../answered/answered-by.ts';
import type { AppTrace } from '../call-tracer.ts';
import type { CallContext } from '../context.ts';
import type { FlowNews } from '../feed/call-feed.ts';
import type { EndReason } from '../feed/events.ts';
import type { CallLanguages } from '../language/call-languages.ts';
import type { TransferOutcome, TransferRequest } from '../leg.ts';
import type { CallVoice } from '../outbound/voice.ts';
import type { CallRecording } from '../sound/call-recording.ts';

/** What is told of the caller's speech: what was recognised, better texts of it, and where a turn ends. */
export type CallerEvent = SpeechEvent | Revision | TurnEnded;

/** An app, as its call sees it. */
export interface CallApp {
  /** Whether we tried to reach the app and never succeeded so far. */
  readonly unreachable: boolean;
  /** Whether there is an app that waits for what the caller says. */
  readonly listens: boolean;
  /** The caller's speech without our own echo. Call this after the voice has been told. */
  onSpeech(event: CallerEvent): void;
  /** The caller pressed a key. Call this after the voice has been told. */
  onDtmf(digit: string): void;
  /**
   * Somebody takes the call over from the app, or gives it back: meanwhile what the app says is passed over, it is told
   * nothing of the caller, and it cannot end the call.
   */
  mute(isMuted: boolean): void;
  /** The call is over, or nothing more is to be said in it. Idempotent. */
  close(): void;
}

/** The call for which an app is opened, and the functions that the app calls. */
export interface CallAppOptions {
  readonly start: CallStart;
  readonly voice: CallVoice;
  readonly languages: CallLanguages;
  /** Who has answered it. */
  readonly answer: CallAnswer;
  readonly context: CallContext;
  readonly log: Log;
  /** Of the call's sound, and of messages; null = nothing keeps sound. */
  readonly recording: Pick<CallRecording, 'beginMessage' | 'keepMessage'> | null;
  /** Follows the app's turns; null = nothing does. */
  readonly trace: AppTrace | null;
  /** The connection to the app broke, or is there again. */
  onConnection(state: 'lost' | 'back'): void;
  /** The call is to end. All speech has been played. */
  onEnd(handoffData: string | null, reason: EndReason): void;
  /** A flow tells of itself. */
  onFlow(news: FlowNews): void;
  /** From now on what the caller says and presses is in no event and no recorded sound, or is again. */
  onPrivate(isPrivate: boolean): void;
  /** Gives the call to somebody else; where that is done the app ends the call. Never rejects. */
  transfer(request: TransferRequest): Promise<TransferOutcome>;
  /** Something of ours failed: the owner ends the call. */
  onFailure(error: unknown): void;
}
