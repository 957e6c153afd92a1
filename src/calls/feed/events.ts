/**
 * What the caption feed says, one JSON object each. These shapes are public: other programs are written against them.
 */
import type { FaxTone } from '../../audio/tones/fax-tones.ts';
import type { CallReferences, Track } from '../../protocols/dialect.ts';
import type { LossReason } from '../../transcription/live-transcriber.ts';
import type { AnsweredBy } from '../answered/answered-by.ts';
import type { CallNames } from '../call-names.ts';
import type { CallPhase } from '../call-phase.ts';
import type { LanguageSource } from '../language/spoken-language.ts';
import type { SipAnswer } from '../leg.ts';

/**
 * A call has begun. Its first event, but for those that we make: they are `ringing` first, and begin when they are
 * answered.
 */
export interface CallStartedEvent {
  readonly type: 'call.started';
  readonly callId: string;
  readonly carrier: string;
  readonly from: string | null;
  readonly to: string | null;
  /** ISO 8601. */
  readonly startedAt: string;
  readonly tracks: readonly Track[];
  /** Who speaks on each track. */
  readonly names: CallNames;
  /** Whose call it is, and the queue that it waited in; null = not told. */
  readonly agent: string | null;
  readonly queue: string | null;
  /** The address of the call's app or of its TwiML, without its query; null = it has none. */
  readonly app: string | null;
  /** What the system that the call comes from calls it; left out = that is not told. */
  readonly references?: CallReferences;
}

/** Somebody begins to speak on a track, or has stopped. */
export interface SpeechEvent {
  readonly type: 'speech.started' | 'speech.stopped';
  readonly callId: string;
  readonly track: Track;
  /** Ms of the call, as its sound counts them. */
  readonly atMs: number;
}

/** What is being said, or with `final` what was said. */
export interface CaptionEvent {
  readonly type: 'caption';
  readonly callId: string;
  readonly track: Track;
  /** Counts the track's utterances from 1. */
  readonly utterance: number;
  /** Words that will not change; never shrinks inside an utterance. */
  readonly stable: string;
  /** Words that may still change. */
  readonly tail: string;
  readonly text: string;
  readonly final: boolean;
  readonly startMs: number;
  readonly endMs: number;
  /** Wall time from the arrival of the last audio used to the emit. */
  readonly lagMs: number;
  /**
   * Of a final: the share of its words, from 0 to 1, that may be expected to be right. Absent where the recogniser does
   * not say, and for a text that no decode of its own could be had for.
   */
  readonly confidence?: number;
  /** Of a final: its confidence is below 0.5; about two thirds of the words of such finals are wrong. */
  readonly lowConfidence?: true;
  /**
   * Of a final: BCP-47 of the language that it was read in, where somebody named it or the recogniser found it out.
   * Null = what is said on the track is probably in no language that the recogniser understands; while that is certain,
   * `text` is empty.
   */
  readonly language?: string | null;
  /** Of a final: it was said far below the caller's level, by somebody behind him or by a television. */
  readonly background?: true;
}

/** Which language is spoken on a track from now on: somebody named it, or the recogniser found it out. */
export interface LanguageEvent {
  readonly type: 'language';
  readonly callId: string;
  readonly track: Track;
  /** BCP-47; null = the recogniser is to find out. */
  readonly language: string | null;
  readonly atMs: number;
  readonly by: LanguageSource;
  /** The language that was named, and that is not understood here: the captions go on in `language`. */
  readonly refused?: string;
}

/**
 * A better text of an utterance whose final caption is out: it was read again together with what was said around it.
 * The version with the highest number counts.
 */
export interface RevisionEvent {
  readonly type: 'revision';
  readonly callId: string;
  readonly track: Track;
  /** As in the caption. */
  readonly utterance: number;
  /** From 2: the final caption is version 1. */
  readonly version: number;
  /** Empty when, as it turned out, nothing was said. */
  readonly text: string;
  /** As in the final caption. */
  readonly startMs: number;
  readonly endMs: number;
}

/**
 * Why a stretch has no final caption: as a {@link LossReason}, or `media`: its sound was lost on the way to us. Silence
 * that a carrier does not send is no gap.
 */
export type GapReason = LossReason | 'media';

/** A stretch of a track is missing: no final caption comes of it, and none came. */
export interface GapEvent {
  readonly type: 'gap';
  readonly callId: string;
  readonly track: Track;
  readonly startMs: number;
  readonly endMs: number;
  readonly reason: GapReason;
}

/**
 * The captions of a track have fallen behind what is said on it, or have caught up. They take turns, and a new
 * `lag.started` comes some seconds after the last `lag.ended` at the earliest.
 */
export interface LagEvent {
  readonly type: 'lag.started' | 'lag.ended';
  readonly callId: string;
  readonly track: Track;
  readonly atMs: number;
  /** How far behind: when it was noticed, or, at the end, at the worst. */
  readonly lagMs: number;
}

/** Something that we said is over; once for each utterance. */
export interface SpokenEvent {
  readonly type: 'spoken';
  readonly callId: string;
  /** As the API named it when it was asked for. */
  readonly utterance: string;
  /** What was to be said; only the first {@link SPOKEN_TEXT_MAX_CHARS} characters. */
  readonly text: string;
  /** What of it the caller heard, in whole words; cut like `text`. */
  readonly heardText: string;
  /** Cut off, or never begun. */
  readonly interrupted: boolean;
  /** From when until when the caller heard it; both are `atMs` of what was never begun. */
  readonly startMs: number;
  readonly endMs: number;
  readonly atMs: number;
}

/** Longer texts are cut in the feed, which keeps many events. */
export const SPOKEN_TEXT_MAX_CHARS = 4000;

/** A key was pressed. */
export interface DtmfEvent {
  readonly type: 'dtmf';
  readonly callId: string;
  readonly digit: string;
  readonly atMs: number;
}

/**
 * Why a call ended. `hangup`: the carrier said stop; `closed`: the socket closed cleanly; `lost`: it vanished; `app`:
 * the app ended it, or is gone; `app_unreachable`: the app could never be reached in this call: it was given up, or the
 * caller hung up before that. `server_lost`: its gateway died. `busy`, `unanswered`, `refused`: we made it, and that is
 * what the other side did.
 */
export type EndReason =
  | 'hangup'
  | 'closed'
  | 'lost'
  | 'timeout'
  | 'error'
  | 'drained'
  | 'api'
  | 'app'
  | 'app_unreachable'
  | 'busy'
  | 'unanswered'
  | 'refused'
  | 'server_lost';

/** A call is over; the last event of its id, unless `server_lost` was wrong: see {@link CallResumedEvent}. */
export interface CallEndedEvent {
  readonly type: 'call.ended';
  readonly callId: string;
  readonly reason: EndReason;
  readonly durationMs: number;
  /** What the app gave to whoever takes over the call; null = nothing. */
  readonly handoffData: string | null;
  /** What the SIP trunk answered last to a call of ours that did not begin; left out = nothing, or another call. */
  readonly sip?: SipAnswer;
}

/**
 * What a call is doing has changed. A call that we make is `ringing` before its `call.started`; `queued`: the caller
 * waits in a queue and hears prompts; `held`: the far side holds it; `live`: people or an app talk.
 */
export interface CallStateEvent {
  readonly type: 'call.state';
  readonly callId: string;
  readonly state: Exclude<CallPhase, 'ringing'>;
  readonly atMs: number;
}

/**
 * A call goes on with somebody else, at the wish of whoever it was with. `refer`: that one asked us to call them (SIP);
 * `replaces`: they called us (SIP); `asterisk`: Asterisk connected them.
 */
export interface CallTransferredEvent {
  readonly type: 'call.transferred';
  readonly callId: string;
  readonly by: 'refer' | 'replaces' | 'asterisk';
  /** The number, user or extension that the call was with, and that it goes on with; null = not told. */
  readonly from: string | null;
  readonly to: string | null;
  /** `attended`: whoever gave the call on spoke with them first; `warm`: all three spoke together. */
  readonly kind: 'blind' | 'warm' | 'attended';
  readonly atMs: number;
}

/** Whose call it is, the queue that it waited in, and who speaks, from now on; null = not known. */
export interface CallAssignedEvent {
  readonly type: 'call.assigned';
  readonly callId: string;
  readonly agent: string | null;
  readonly queue: string | null;
  readonly names: CallNames;
  /** What the far side is in with others, each of whom may be a call of its own; left out = nothing. */
  readonly conference?: string;
  readonly atMs: number;
}

/** Who has answered a call that we make; once in a call. */
export interface AnsweredEvent {
  readonly type: 'answered';
  readonly callId: string;
  /** `unknown`: nobody spoke. */
  readonly by: AnsweredBy;
  readonly atMs: number;
}

/** An answering machine records from now on; once in a call. */
export interface BeepEvent {
  readonly type: 'beep';
  readonly callId: string;
  /** False = it fell silent behind its greeting, and there was no beep. */
  readonly heard: boolean;
  readonly atMs: number;
}

/** The far party is a fax machine; once in a call. */
export interface FaxEvent {
  readonly type: 'fax';
  readonly callId: string;
  readonly track: Track;
  /** `cng`: one that calls; `ced`, `v21`: one that answers. */
  readonly tone: FaxTone;
  readonly atMs: number;
}

/** We make a call, and nobody has answered yet: its first event. */
export interface CallRingingEvent
  extends Pick<CallStartedEvent, 'callId' | 'carrier' | 'from' | 'to' | 'names' | 'agent' | 'queue' | 'startedAt'> {
  readonly type: 'call.state';
  readonly state: 'ringing';
  readonly atMs: 0;
}

/** The app's connection broke and is being opened again, or is back. */
export interface AppConnectionEvent {
  readonly type: 'app.lost' | 'app.back';
  readonly callId: string;
  readonly atMs: number;
}

/** Somebody took a call over from its app, or gave it back. `by` = who. */
export interface AppMutedEvent {
  readonly type: 'app.muted' | 'app.unmuted';
  readonly callId: string;
  readonly by: string;
  readonly atMs: number;
}

/** Somebody wrote a note on a call, maybe after its end. */
export interface NoteEvent {
  readonly type: 'note';
  readonly callId: string;
  /** The note's name. */
  readonly note: string;
  readonly author: string;
  readonly text: string;
  /** ISO 8601. */
  readonly at: string;
}

/** Somebody marked a moment of a call. */
export interface MarkEvent {
  readonly type: 'mark';
  readonly callId: string;
  readonly author: string;
  readonly label: string;
  readonly atMs: number;
}

/** What people say of a call has changed. */
export interface CallUpdatedEvent {
  readonly type: 'call.updated';
  readonly callId: string;
  readonly outcome: string | null;
  readonly tags: readonly string[];
  readonly by: string;
}

/** The recording of a call's sound began, pauses or is over. */
export interface SoundStateEvent {
  readonly type: 'recording';
  readonly callId: string;
  readonly state: 'on' | 'paused' | 'off';
  readonly atMs: number;
}

/** Advice for whoever is on the call, found in what was said. */
export interface HintEvent {
  readonly type: 'hint';
  readonly callId: string;
  /** Names it within its call; the same name again replaces it. */
  readonly hint: string;
  /** From HINTS_FILE, or from a language model. */
  readonly source: 'card' | 'model';
  readonly title: string;
  readonly text: string;
  readonly link: string | null;
  /** The words that brought it; null where no single ones did. */
  readonly words: string | null;
  readonly track: Track | null;
  readonly atMs: number;
}

/** A flow of FLOWS_DIR begins to talk to the caller. */
export interface FlowStartedEvent {
  readonly type: 'flow.started';
  readonly callId: string;
  readonly flow: string;
  /** Of the flow and of those that it calls: 8 hexadecimal digits, another one with every change of their files. */
  readonly version: string;
  readonly atMs: number;
}

/** A step of a flow begins. */
export interface FlowStepEvent {
  readonly type: 'flow.step';
  readonly callId: string;
  /** The flow that the step is of: the call's, or one that it calls. */
  readonly flow: string;
  readonly step: string;
  readonly verb: string;
  /**
   * What led here, where it was not the step before: a key that always works, a fax machine, or that the step could
   * not be done.
   */
  readonly by?: 'key' | 'fax' | 'failed';
  readonly atMs: number;
}

/** What became of a question of a flow, once for each try. */
export interface FlowInputEvent {
  readonly type: 'flow.input';
  readonly callId: string;
  readonly flow: string;
  readonly step: string;
  readonly kind: 'keys' | 'speech' | 'none';
  readonly outcome: 'match' | 'noMatch' | 'noInput';
  /** What the caller said or pressed; null = nothing, or the flow keeps it private. */
  readonly text: string | null;
  /** What it was understood as; null = as nothing, or the flow keeps it private. */
  readonly value: string | number | boolean | null;
  readonly atMs: number;
}

/** How a flow ended. `done`: it came to its end; `hangup`: the caller or somebody else ended the call before that. */
export type FlowOutcome = 'done' | 'transferred' | 'hangup' | 'failed';

/** A caller has left a message. */
export interface FlowMessageEvent {
  readonly type: 'flow.message';
  readonly callId: string;
  readonly flow: string;
  readonly step: string;
  /** Names it within its call: `message-1`. */
  readonly message: string;
  /** Its stretch of the call. */
  readonly startMs: number;
  readonly endMs: number;
  readonly atMs: number;
}

/** A flow no longer talks to the caller. */
export interface FlowEndedEvent {
  readonly type: 'flow.ended';
  readonly callId: string;
  readonly flow: string;
  readonly outcome: FlowOutcome;
  /** The step that it ended in; that of a flow that it had called where one was under way. */
  readonly step: string;
  /** Why it failed, or who ended it; null = there is nothing to say. */
  readonly reason: string | null;
  readonly atMs: number;
}

/** A call was deleted with all that was kept of it; the last event of its id. */
export interface CallDeletedEvent {
  readonly type: 'call.deleted';
  readonly callId: string;
}

/**
 * Others told the end of a call (`server_lost`), for its gateway could be reached by nobody; it is back, and the call
 * goes on. What it told meanwhile comes before this, and is `late`.
 */
export interface CallResumedEvent {
  readonly type: 'call.resumed';
  readonly callId: string;
  readonly atMs: number;
}

/** What any event may have. */
interface AnyEvent {
  /** It comes after an end of its call that others told, and happened before it came. */
  readonly late?: true;
}

/** An event of the feed. */
export type FeedEvent = AnyEvent & KindOfEvent;

type KindOfEvent =
  | CallStartedEvent
  | CallStateEvent
  | CallTransferredEvent
  | CallAssignedEvent
  | CallRingingEvent
  | AppConnectionEvent
  | AppMutedEvent
  | NoteEvent
  | MarkEvent
  | CallUpdatedEvent
  | SoundStateEvent
  | HintEvent
  | FlowStartedEvent
  | FlowStepEvent
  | FlowInputEvent
  | FlowEndedEvent
  | FlowMessageEvent
  | AnsweredEvent
  | BeepEvent
  | FaxEvent
  | CallDeletedEvent
  | SpeechEvent
  | CaptionEvent
  | LanguageEvent
  | RevisionEvent
  | GapEvent
  | LagEvent
  | SpokenEvent
  | DtmfEvent
  | CallResumedEvent
  | CallEndedEvent;
