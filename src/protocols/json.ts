/**
 * Reading a carrier's JSON messages. Media come 50 times a second per track, so they are checked by hand instead of by
 * schema; every complaint says what came and what was expected, and repeats nothing but short words.
 */
import { TrunklineError } from '../foundation/errors.ts';
import type { Track, WireMessage } from './dialect.ts';

/** A JSON object as it came. */
export type Json = Readonly<Record<string, unknown>>;

const IDENTIFIER = /^[!-~]{1,128}$/;
const DIGIT = /^[0-9*#A-D]$/;
const DIGITS_ONLY = /^\d{1,15}$/;
const TRACKS: Readonly<Record<string, Track>> = {
  inbound: 'inbound',
  outbound: 'outbound',
  // DTMF messages use the names that TwiML has.
  inbound_track: 'inbound',
  outbound_track: 'outbound',
};

/** What an error may say of a value: its kind, and the value itself only where it is a short word. */
export function describe(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  if (Array.isArray(value)) return `a list of ${value.length}`;
  if (typeof value === 'number') return `the number ${value}`;
  if (typeof value !== 'string') return `a ${typeof value}`;
  return /^[\w/.-]{1,32}$/.test(value) ? JSON.stringify(value) : `a string of ${value.length} characters`;
}

/** The complaint that the field `name` holds `value`. */
export function malformed(name: string, value: unknown, expected: string): TrunklineError {
  return new TrunklineError('message_malformed', `${name}: got ${describe(value)}, expected ${expected}`);
}

/** Whether `value` is an object and no list. */
export function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * A text message as one JSON object.
 * @throws TrunklineError `message_binary` or `message_malformed`, as does all that follows
 */
export function parseMessage(message: WireMessage): Json {
  if (typeof message !== 'string') {
    throw new TrunklineError(
      'message_binary',
      `got a binary message of ${message.length} bytes, expected text with one JSON object`,
    );
  }
  let json: unknown;
  try {
    json = JSON.parse(message);
  } catch {
    throw new TrunklineError(
      'message_malformed',
      `got ${message.length} characters that are not JSON, expected one JSON object`,
    );
  }
  if (!isObject(json)) throw malformed('message', json, 'a JSON object');
  return json;
}

/** The object in field `key` of `parent`; `name` is what a complaint calls it. */
export function objectAt(parent: Json, key: string, name = key): Json {
  const value = parent[key];
  if (!isObject(value)) throw malformed(name, value, 'an object');
  return value;
}

/** A name in printable characters without spaces. */
export function identifierAt(parent: Json, key: string, name = key): string {
  const value = parent[key];
  if (typeof value !== 'string' || !IDENTIFIER.test(value))
    throw malformed(name, value, 'an identifier of 1 to 128 characters');
  return value;
}

/** Whether `value` would do as an identifier. */
export function isIdentifier(value: unknown): value is string {
  return typeof value === 'string' && IDENTIFIER.test(value);
}

/** A whole number of 0 or more, written as a number or as a string. */
export function countAt(parent: Json, key: string, name: string): number {
  const value = parent[key];
  if (typeof value === 'string' && DIGITS_ONLY.test(value)) return Number(value);
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value;
  throw malformed(name, value, 'a whole number, 0 or more');
}

/** A text that need not be there; empty counts as not there. */
export function textAt(parent: Json, key: string): string | null {
  const value = parent[key];
  return typeof value === 'string' && value !== '' ? value : null;
}

/** `inbound`, `outbound_track` … */
export function readTrack(value: unknown, name: string): Track {
  const track = typeof value === 'string' && Object.hasOwn(TRACKS, value) ? TRACKS[value] : undefined;
  if (track === undefined) throw malformed(name, value, '"inbound" or "outbound"');
  return track;
}

/** A list of tracks, each once. */
export function readTracks(value: unknown, name: string): readonly Track[] {
  if (!Array.isArray(value) || value.length === 0) throw malformed(name, value, 'a list of "inbound" and "outbound"');
  return [...new Set(value.map((track) => readTrack(track, name)))];
}

/** Custom data: texts by name, none where the field is absent. A parameter called `__proto__` is one like any other. */
export function readParameters(value: unknown, name: string): Readonly<Record<string, string>> {
  if (value === undefined || value === null) return {};
  if (!isObject(value)) throw malformed(name, value, 'an object of strings');
  const parameters: Record<string, string> = Object.create(null);
  for (const [key, text] of Object.entries(value)) {
    if (typeof text !== 'string') throw malformed(name, text, 'strings as values');
    parameters[key] = text;
  }
  return parameters;
}

/** One key of a telephone. */
export function readDigit(value: unknown, name: string): string {
  if (typeof value === 'string' && DIGIT.test(value)) return value;
  throw new TrunklineError('message_malformed', `${name}: got something else, expected one of 0-9 * # A-D`);
}
