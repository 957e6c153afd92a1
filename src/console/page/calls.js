/** What a call is called and how it goes, in words. */
import { CARRIER_NAMES } from './carriers.js';

/**
 * `CallView` of src/calls/call-view.ts; an older server leaves out what is optional here.
 * @typedef {{ id: string, carrier: string, from: string | null, to: string | null, state: 'dialing' | 'live' | 'ended',
 *   phase?: 'ringing' | 'queued' | 'live' | 'held' | null, startedAt: string, endedAt: string | null,
 *   names?: { inbound: string | null, outbound: string | null }, agent?: string | null, queue?: string | null,
 *   app?: string | null, flow?: string | null, flowVersion?: string | null, appMuted?: boolean, appLost?: boolean,
 *   tracks: string[], lagMs: number | null,
 *   worstLagMs?: number | null, durationMs: number, endReason: string | null, counts?: { finals: number,
 *   spoken: number, keys: number, gaps: number }, handoffData?: string | null,
 *   sip?: { status: number, reason: string } | null, outcome?: string | null, tags?: string[],
 *   sound?: 'recording' | 'paused' | 'recorded' | null }} CallView
 * @typedef {'inbound' | 'outbound'} Track
 */

/** So much of a long id tells calls apart well enough. */
const ID_CHARS = 12;

/** Captions that are later than this are late enough to be told. */
export const SLOW_MS = 1000;

/** Why calls end: as a sentence, and in a list. */
const END_REASONS = new Map([
  ['hangup', ['it was hung up', 'hung up']],
  ['closed', ['the carrier closed the stream', 'closed by the carrier']],
  ['lost', ['the stream was lost', 'stream lost']],
  ['timeout', ['no more media came', 'no more media']],
  ['error', ['the stream broke the protocol', 'protocol error']],
  ['drained', ['the server was stopped', 'server stopped']],
  ['api', ['it was ended over the API', 'ended over the API']],
  ['app', ['the app ended it', 'ended by the app']],
  ['app_unreachable', ['the app could not be reached', 'app unreachable']],
  ['busy', ['the other side was busy', 'busy']],
  ['unanswered', ['nobody answered', 'not answered']],
  ['refused', ['the other side refused it', 'refused']],
  ['server_lost', ['its server died', 'server lost']],
]);

/** All of them, for people who choose one. */
export const END_REASON_IDS = [...END_REASONS.keys()];

/** Ends that nobody wanted. */
const FAILED_ENDS = new Set(['lost', 'timeout', 'error', 'app_unreachable', 'server_lost']);

/**
 * Why a call ended, to stand behind a colon; a reason that is not known here as it came. @param {string} reason
 * @returns {string}
 */
export function explainEnd(reason) {
  return END_REASONS.get(reason)?.[0] ?? reason;
}

/** The same in a word or two. @param {string} reason @returns {string} */
export function nameEnd(reason) {
  return END_REASONS.get(reason)?.[1] ?? reason;
}

/** Whether something broke. @param {string | null} reason @returns {boolean} */
export function isFailure(reason) {
  return reason !== null && FAILED_ENDS.has(reason);
}

/** What people call the carrier. @param {string} carrier @returns {string} */
export function nameCarrier(carrier) {
  return CARRIER_NAMES.get(carrier) ?? `${carrier.slice(0, 1).toUpperCase()}${carrier.slice(1)}`;
}

/** @param {string} id @returns {string} enough of it to tell calls apart */
export function shortenId(id) {
  return id.length > ID_CHARS ? `${id.slice(0, ID_CHARS)}…` : id;
}

/**
 * The two sides of a call, by name where one was given, else by number; null = neither is known.
 * @param {CallView} call @returns {{ inbound: string | null, outbound: string | null }}
 */
export function sidesOf(call) {
  return {
    inbound: call.names?.inbound ?? call.from,
    outbound: call.names?.outbound ?? call.agent ?? call.queue ?? call.to,
  };
}

/**
 * Who talks to whom, as far as anybody told; its id where nobody did. @param {CallView} call @returns {string}
 */
export function nameCall(call) {
  const { inbound, outbound } = sidesOf(call);
  if (inbound === null && outbound === null) return `Call ${shortenId(call.id)}`;
  return `${isolate(inbound ?? 'unknown')} → ${isolate(outbound ?? 'unknown')}`;
}

/** Letters that are written from right to left, and marks that turn the direction. */
const RIGHT_TO_LEFT = /[\u0590-\u08ff\u200e\u200f\u202a-\u202e\u2066-\u2069\ufb1d-\ufdff\ufe70-\ufefc]/u;

/**
 * A name that cannot turn round what stands beside it: from whom to whom an arrow leads, for example.
 * @param {string} name @returns {string}
 */
export function isolate(name) {
  return RIGHT_TO_LEFT.test(name) ? `\u2068${name}\u2069` : name;
}

/**
 * Who is heard on a track, as captions name them: by name, or by their part. @param {CallView | undefined} call
 * @param {string} track @returns {string}
 */
export function nameSpeaker(call, track) {
  if (track === 'inbound') return call?.names?.inbound ?? 'Caller';
  return call?.names?.outbound ?? call?.agent ?? 'Agent';
}

/** The first word of a name, where there is no room for all of it. @param {string} name @returns {string} */
export function shortenName(name) {
  return name.split(' ')[0] ?? name;
}

/**
 * Who says what the server speaks: its flow or its app, by name where one was given.
 * @param {CallView | undefined} call
 */
export function nameSpoken(call) {
  if (call?.flow !== null && call?.flow !== undefined) return call.names?.outbound ?? 'Flow';
  if (call?.app === null || call?.app === undefined) return 'Trunkline';
  return call.names?.outbound ?? 'App';
}

/** When and why it ended, in a few words. @param {CallView} call @returns {string} */
export function describeEnd(call) {
  const reason = call.endReason === null ? '' : `, ${nameEnd(call.endReason)}`;
  return `ended ${formatClock(call.endedAt)}${reason}`;
}

/** Its state and length in words. @param {CallView} call @returns {string} */
export function describeCall(call) {
  const length = formatTime(call.durationMs);
  if (call.state === 'ended') {
    const reason = call.endReason === null ? '' : `, ${nameEnd(call.endReason)}`;
    return `Ended ${formatClock(call.endedAt)}, ${length}${reason}`;
  }
  if (call.state === 'dialing') return 'Ringing';
  const isSlow = call.lagMs !== null && call.lagMs > SLOW_MS;
  return isSlow ? `Live, ${length}, captions ${formatLag(call.lagMs ?? 0)} late` : `Live, ${length}`;
}

/** @param {number} lagMs @returns {string} in seconds, as `1.4 s` or `12 s` */
export function formatLag(lagMs) {
  const seconds = lagMs / 1000;
  return `${seconds < 10 ? seconds.toFixed(1) : Math.round(seconds)} s`;
}

/** `ms` as m:ss, or h:mm:ss from one hour on. @param {number} ms @returns {string} */
export function formatTime(ms) {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  const minutes = Math.floor(seconds / 60);
  const two = (/** @type {number} */ value) => String(value).padStart(2, '0');
  return minutes < 60
    ? `${minutes}:${two(seconds % 60)}`
    : `${Math.floor(minutes / 60)}:${two(minutes % 60)}:${two(seconds % 60)}`;
}

/**
 * Wall-clock time of an ISO date, as the reader's own country writes it. @param {string | null} iso @returns {string}
 */
export function formatClock(iso) {
  return iso === null ? '' : new Date(iso).toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' });
}
