/** What a call and whatever talks in it, an app or its TwiML, know of each other. */

import type { Log } from '../../foundation/log/log.ts';
import type { CallStart } from '../../protocols/dialect.ts';
import type { SpeechEvent } from '../../transcription/live-transcriber.ts';
import type { CallContext } from '../context.ts';
import type { EndReason } from '../feed/events.ts';
import type { CallVoice } from '../outbound/voice.ts';

/** An app, as its call sees it. */
export interface CallApp {
  /** Whether it was tried to reach the app, and never done so far. */
  readonly unreachable: boolean;
  /** What the caller says, less what is our own echo; to be told after the voice. */
  onSpeech(event: SpeechEvent): void;
  /** The caller pressed a key; to be told after the voice. */
  onDtmf(digit: string): void;
  /** The call is over, or nothing more is to be said in it. Idempotent. */
  close(): void;
}

/** The call that it is opened for, and whom it tells. */
export interface CallAppOptions {
  readonly start: CallStart;
  readonly voice: CallVoice;
  readonly context: CallContext;
  readonly log: Log;
  /** The call is to end; everything that was to be said has been played. */
  onEnd(handoffData: string | null, reason: EndReason): void;
  /** Something of ours failed: the owner ends the call. */
  onFailure(error: unknown): void;
}
