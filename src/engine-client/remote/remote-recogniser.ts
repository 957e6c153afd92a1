/**
 * What a server that recognises speech is to {@link RemoteEngine}, whatever protocol it speaks. Deadlines, retries,
 * hedges and the count of requests in flight are not its business: it asks once, and stops when it is told to.
 */

import type { StretchUrgency } from '../../protocols/remote/trunkline.ts';

/** One stretch of speech for a server to read. */
export interface RemoteRequest {
  /** 16 kHz mono. What is sent is copied before the call returns. */
  readonly samples: Int16Array;
  /** How urgent it is: only another Trunkline has a use for that. */
  readonly urgency: StretchUrgency;
  /** BCP-47 of what is spoken; absent = the server finds out. */
  readonly language?: string;
  /** Names and phrases that are likely to be said; passed over where the server has no use for them. */
  readonly hotWords?: readonly string[];
  /** Running text about the speech; passed over where the server reads none. */
  readonly context?: string;
  /** Aborted when the answer is no longer wanted: the server is to stop, if its protocol can say so. */
  readonly signal: AbortSignal;
}

/** What a server made of it. */
export interface RemoteText {
  /** As {@link readRemoteText} leaves it. */
  readonly text: string;
  /** BCP-47, where the server says what it heard. */
  readonly language?: string;
}

/**
 * Why there is no text. `busy`: it has too much to do (429, 503); `refused`: it does not want the request, its key or
 * its model; `failed`: it could not be reached, or broke off; `unusable`: what it answered is no text.
 */
export type RemoteFailure = 'busy' | 'refused' | 'failed' | 'unusable';

/** The one way in which a {@link RemoteRecogniser} fails. Its message repeats nothing that was sent or answered. */
export class RemoteError extends Error {
  readonly failure: RemoteFailure;
  /** With `busy`: when it wants to be asked again, in ms; null = it does not say. */
  readonly retryAfterMs: number | null;

  constructor(failure: RemoteFailure, message: string, retryAfterMs: number | null = null) {
    super(message);
    this.name = 'RemoteError';
    this.failure = failure;
    this.retryAfterMs = retryAfterMs;
  }
}

/** A server that recognises speech. It holds no timers. */
export interface RemoteRecogniser {
  /** Requests at the same time that suit the server, unless the operator says otherwise. */
  readonly inFlightMax: number;
  /**
   * Resolves with the text; fails with {@link RemoteError}, and in any way once `signal` is aborted, soon after.
   */
  recognise(request: RemoteRequest): Promise<RemoteText>;
  /** Closes its connections; requests under way fail. */
  close(): void;
}
