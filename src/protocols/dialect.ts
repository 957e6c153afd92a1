/**
 * The seam between carriers and calls. A carrier is a {@link Dialect}: pure functions from wire messages to {@link
 * CarrierEvent}s and from {@link CarrierCommand}s to wire messages, with no socket, clock or log. `leg.ts` moves the
 * messages.
 */
import type { Codec } from '../foundation/units.ts';
import type { RelayVerb } from './twiml/document.ts';

/** Which side of the call a sound comes from: `inbound` = the far party speaks, `outbound` = what is played to it. */
export type Track = 'inbound' | 'outbound';

/**
 * How a carrier plays what we send: `buffered` = at its own pace from a buffer, with marks and clear; `paced` = each
 * frame as it comes; `none` = the stream only listens.
 */
export type Playback = 'buffered' | 'paced' | 'none';

/** One text (string) or binary (bytes) message of a carrier's WebSocket. */
export type WireMessage = string | Uint8Array;

/** What Twilio tells apps of a call beside its parties. */
export const CALL_DETAILS = ['accountSid', 'parentCallSid', 'callerName', 'forwardedFrom'] as const;

/** By what a recording of a call can be joined with the records of the system that it comes from. */
export const CALL_REFERENCES = [
  'sipCallId',
  'originalCallId',
  'sessionId',
  'groupId',
  'sipSessionId',
  'ucid',
  'conversationId',
  'continuedSessions',
] as const;

/** Those of them that are known. */
export type CallDetails = { readonly [name in (typeof CALL_DETAILS)[number]]?: string };

/** What other systems call a call: see `events.md`. */
export type CallReferences = { readonly [name in (typeof CALL_REFERENCES)[number]]?: string };

/** What is known of a call when its media begins. */
export interface CallStart {
  readonly carrier: string;
  /** The carrier's name for the call, e.g. Twilio's `CA…`. */
  readonly callId: string;
  /** The carrier's name for this stream of the call, e.g. Twilio's `MZ…`. */
  readonly streamId: string;
  /** Caller and callee as the carrier or the custom parameters say; null = not told. */
  readonly from: string | null;
  readonly to: string | null;
  readonly tracks: readonly Track[];
  readonly codec: Codec;
  /**
   * Its sound has times of its own from the first chunk on, so that before it the call's time stands still; left out =
   * the chunks show that.
   */
  readonly timed?: boolean;
  /** How long sound had come before there was a call that could take it; left out = none had. */
  readonly soundForMs?: number;
  readonly playback: Playback;
  /**
   * How many frames a message to the carrier must hold at least, where one is too few: every sound is filled up to such
   * messages.
   */
  readonly framesPerMessage?: number;
  /** The carrier plays whole sounds: each is sent well before it is due, and ends with its mark. */
  readonly wholeSounds?: true;
  readonly parameters: Readonly<Record<string, string>>;
  readonly details?: CallDetails;
  /** Names by which other systems know the call, such as its Call-ID at a PBX. */
  readonly references?: CallReferences;
  /**
   * The session with an app that the carrier was told to begin; null = the app's TwiML, which would say, could not be
   * had.
   */
  readonly relay?: RelayVerb | null;
  /** Whether we made the call; it was made to us unless this says so. */
  readonly outgoing?: boolean;
  /** Who answered it, in the carrier's own word; left out = the carrier does not say. */
  readonly answeredBy?: string;
}

/**
 * The call goes on with somebody else. `by`: whoever it was with asked us to call them (`refer`), they called us
 * (`replaces`), or the PBX connected them (`asterisk`). `blind`: the one that it was with did not speak with them
 * first, `attended`: did, `warm`: all three spoke together.
 */
export interface CallTransfer {
  readonly type: 'transferred';
  readonly by: 'refer' | 'replaces' | 'asterisk';
  /** Whom it was with, and who it goes on with; null = not told. */
  readonly from: string | null;
  readonly to: string | null;
  readonly kind: 'blind' | 'warm' | 'attended';
}

export type CarrierEvent =
  | { readonly type: 'start'; readonly start: CallStart }
  /**
   * `bytes` in the call's codec; `atMs` = time of its first sample since the stream began; `sequence` counts the
   * track's chunks. A carrier without timestamps has `null`: the time is when the chunk arrives, and a number left out
   * is a frame of 20 ms that the carrier knows to be lost. What is `concealed` was made up in place of lost sound.
   * `waitedMs` = how long it waited for a call that could take it.
   */
  | {
      readonly type: 'audio';
      readonly track: Track;
      readonly bytes: Uint8Array;
      readonly atMs: number | null;
      readonly sequence: number;
      readonly concealed?: true;
      readonly waitedMs?: number;
    }
  | { readonly type: 'dtmf'; readonly track: Track; readonly digit: string }
  | { readonly type: 'mark'; readonly name: string }
  | { readonly type: 'stop' }
  /** What the call does has changed. A call is `live` from its start on unless this says otherwise. */
  | { readonly type: 'state'; readonly state: 'queued' | 'live' | 'held' }
  | CallTransfer
  /** Whose call it is from now on, and who is heard on `outbound`; null = not known, of `conference`: it is in none. */
  | {
      readonly type: 'assigned';
      readonly agent: string | null;
      readonly queue: string | null;
      readonly name: string | null;
      readonly conference: string | null;
    }
  /** What is spoken from now on, as the carrier names it. */
  | { readonly type: 'language'; readonly language: string }
  /** A message that the protocol tells us to ignore; `what` says which kind, for the counter. */
  | { readonly type: 'ignored'; readonly what: string };

export type CarrierCommand =
  | { readonly type: 'audio'; readonly bytes: Uint8Array }
  | { readonly type: 'mark'; readonly name: string }
  | { readonly type: 'clear' };

/**
 * What a carrier may have to be told about the call itself: that we take it, that we end it, and, so that one that says
 * nothing while nobody speaks can be told from one that is gone, something that it answers.
 */
export type CarrierSignal = 'answer' | 'hangup' | 'probe';

/** What a carrier may be told of what somebody said. */
export interface TranscribedCaption {
  readonly track: Track;
  readonly text: string;
  /** Ms of the call's audio. */
  readonly startMs: number;
  readonly endMs: number;
  /** From 0 to 1; absent where the recogniser does not say. */
  readonly confidence?: number | undefined;
  readonly language?: string | null | undefined;
}

/**
 * One carrier's protocol for one stream. Stateful (it knows whether `start` came), yet pure: same messages in, same
 * events out.
 */
export interface Dialect {
  readonly carrier: string;
  /**
   * One message in, one event out, or several in their order. Throws a TrunklineError with a close code when the
   * message breaks the protocol.
   */
  receive(message: WireMessage): CarrierEvent | readonly CarrierEvent[];
  /**
   * The wire form of a command: one message, or several in their order. Throws when the stream cannot take it (not
   * started, or unidirectional).
   */
  format(command: CarrierCommand): WireMessage | readonly WireMessage[];
  /** The wire form of a signal, after `start`; null, or absent, where the protocol has none. */
  signal?(signal: CarrierSignal): WireMessage | null;
  /** The wire form of a final caption, after `start`; absent where the carrier is told of none. */
  transcript?(caption: TranscribedCaption): WireMessage;
}
