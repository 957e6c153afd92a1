/** What a call is called and how it goes, in words. */
import { formatTime } from './captions.js';

/**
 * @typedef {{ id: string, carrier: string, from: string | null, to: string | null, state: 'dialing' | 'live' | 'ended',
 * startedAt: string, endedAt: string | null,
 *   tracks: string[], lagMs: number | null, durationMs: number, endReason: string | null }} CallView
 */

/** So much of a long id tells calls apart well enough. */
const ID_CHARS = 12;

/** Carriers whose name is not their id with a capital. */
const CARRIER_NAMES = new Map([
  ['signalwire', 'SignalWire'],
  ['audiosocket', 'AudioSocket'],
  ['sip', 'SIP'],
  ['browser', 'the page’s phone'],
]);

/** Why calls end: as a sentence, and in the list. */
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
]);

/**
 * Why a call ended, to stand behind a colon; a reason that is not known here as it came. @param {string} reason
 * @returns {string}
 */
export function explainEnd(reason) {
  return END_REASONS.get(reason)?.[0] ?? reason;
}

/** What people call the carrier. @param {string} carrier @returns {string} */
export function nameCarrier(carrier) {
  return CARRIER_NAMES.get(carrier) ?? `${carrier.slice(0, 1).toUpperCase()}${carrier.slice(1)}`;
}

/**
 * Who talks to whom, as far as the carrier told; its id where it told neither. @param {CallView} call @returns {string}
 */
export function nameCall(call) {
  if (call.from === null && call.to === null)
    return `Call ${call.id.length > ID_CHARS ? `${call.id.slice(0, ID_CHARS)}…` : call.id}`;
  return `${call.from ?? 'unknown'} → ${call.to ?? 'unknown'}`;
}

/** Its state, length and lag in words. @param {CallView} call @returns {string} */
export function describeCall(call) {
  const length = formatTime(call.durationMs);
  if (call.state === 'ended') return `Ended ${formatClock(call.endedAt)}, ${length}${nameEnd(call.endReason)}`;
  if (call.state === 'dialing') return 'Ringing';
  return call.lagMs === null ? `Live, ${length}` : `Live, ${length}, lag ${Math.round(call.lagMs)} ms`;
}

/**
 * Wall-clock time of an ISO date, as the reader's own country writes it. @param {string | null} iso @returns {string}
 */
export function formatClock(iso) {
  return iso === null ? '' : new Date(iso).toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' });
}

/** @param {string | null} reason @returns {string} */
function nameEnd(reason) {
  return reason === null ? '' : `, ${END_REASONS.get(reason)?.[1] ?? reason}`;
}
