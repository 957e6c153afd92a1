/**
 * Twilio Media Streams (https://www.twilio.com/docs/voice/media-streams/websocket-messages), both kinds: `<Connect><Stream>`, which takes
 * audio from us, and `<Start><Stream>`, which does not. Every message is a text frame with one JSON object; numbers inside come as strings.
 * This runs 50 times a second per track, so the messages are checked by hand instead of by schema.
 */
import { TrunklineError } from '../errors.ts';
import { MULAW_8K } from '../units.ts';
import { decodeBase64, encodeBase64 } from './base64.ts';
import type { CallStart, CarrierCommand, CarrierEvent, Dialect, Track, WireMessage } from './carrier.ts';

type Json = Readonly<Record<string, unknown>>;

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
function describe(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  if (Array.isArray(value)) return `a list of ${value.length}`;
  if (typeof value === 'number') return `the number ${value}`;
  if (typeof value !== 'string') return `a ${typeof value}`;
  return /^[\w/.-]{1,32}$/.test(value) ? JSON.stringify(value) : `a string of ${value.length} characters`;
}

function malformed(name: string, value: unknown, expected: string): TrunklineError {
  return new TrunklineError('message_malformed', `${name}: got ${describe(value)}, expected ${expected}`);
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function parseMessage(message: WireMessage): Json {
  if (typeof message !== 'string') {
    throw new TrunklineError('message_binary', `got a binary message of ${message.length} bytes, expected text with one JSON object`);
  }
  let json: unknown;
  try {
    json = JSON.parse(message);
  } catch {
    throw new TrunklineError('message_malformed', `got ${message.length} characters that are not JSON, expected one JSON object`);
  }
  if (!isObject(json)) throw malformed('message', json, 'a JSON object');
  return json;
}

function objectAt(parent: Json, key: string, name = key): Json {
  const value = parent[key];
  if (!isObject(value)) throw malformed(name, value, 'an object');
  return value;
}

function identifierAt(parent: Json, key: string, name = key): string {
  const value = parent[key];
  if (typeof value !== 'string' || !IDENTIFIER.test(value)) throw malformed(name, value, 'an identifier of 1 to 128 characters');
  return value;
}

/** A whole number of 0 or more, written as a number or as a string. */
function countAt(parent: Json, key: string, name: string): number {
  const value = parent[key];
  if (typeof value === 'string' && DIGITS_ONLY.test(value)) return Number(value);
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value;
  throw malformed(name, value, 'a whole number, 0 or more');
}

function parseTrack(value: unknown, name: string): Track {
  const track = typeof value === 'string' && Object.hasOwn(TRACKS, value) ? TRACKS[value] : undefined;
  if (track === undefined) throw malformed(name, value, '"inbound" or "outbound"');
  return track;
}

function parseTracks(value: unknown): readonly Track[] {
  if (!Array.isArray(value) || value.length === 0) throw malformed('start.tracks', value, 'a list of "inbound" and "outbound"');
  return [...new Set(value.map((track) => parseTrack(track, 'start.tracks')))];
}

function parseParameters(value: unknown): Readonly<Record<string, string>> {
  if (value === undefined) return {};
  if (!isObject(value)) throw malformed('start.customParameters', value, 'an object of strings');
  const parameters: Record<string, string> = Object.create(null);
  for (const [name, text] of Object.entries(value)) {
    if (typeof text !== 'string') throw malformed('start.customParameters', text, 'strings as values');
    parameters[name] = text;
  }
  return parameters;
}

function checkMediaFormat(format: Json): void {
  const { encoding, sampleRate, channels } = format;
  if (encoding === 'audio/x-mulaw' && Number(sampleRate) === MULAW_8K.rateHz && Number(channels) === MULAW_8K.channels) return;
  throw new TrunklineError(
    'codec_unsupported',
    `start.mediaFormat: got encoding ${describe(encoding)}, sampleRate ${describe(sampleRate)}, channels ${describe(channels)}, expected audio/x-mulaw, 8000, 1`,
  );
}

function parseStart(message: Json, carrier: string): CallStart {
  const start = objectAt(message, 'start');
  checkMediaFormat(objectAt(start, 'mediaFormat', 'start.mediaFormat'));
  const parameters = parseParameters(start['customParameters']);
  const tracks = parseTracks(start['tracks']);
  return {
    carrier,
    callId: identifierAt(start, 'callSid', 'start.callSid'),
    streamId: identifierAt(message, 'streamSid'),
    from: parameters['from'] || null,
    to: parameters['to'] || null,
    tracks,
    codec: MULAW_8K,
    // Only <Start><Stream> delivers the outbound track, and it takes nothing from us.
    playback: tracks.includes('outbound') ? 'none' : 'buffered',
    parameters,
  };
}

function ignored(what: string): CarrierEvent {
  return { type: 'ignored', what };
}

/** One Twilio media stream. */
export class TwilioDialect implements Dialect {
  readonly carrier: string;
  #start: CallStart | null = null;
  #stopped = false;

  /** `carrier` = who speaks this dialect. */
  constructor(carrier = 'twilio') {
    this.carrier = carrier;
  }

  /** One text message in, one event out. Throws what is in the registry of errors under "A carrier's messages". */
  receive(message: WireMessage): CarrierEvent {
    const json = parseMessage(message);
    if (this.#stopped) return ignored('after_stop');
    switch (json['event']) {
      case 'connected':
        return ignored('connected');
      case 'start':
        return this.#receiveStart(json);
      case 'media':
      case 'dtmf':
      case 'mark':
      case 'stop':
        return this.#receiveStarted(json, json['event']);
      default:
        if (typeof json['event'] !== 'string') throw malformed('event', json['event'], 'a string');
        return ignored('unknown_event');
    }
  }

  /** Audio, a mark or a clear as Twilio takes it. Throws `invalid_request` before `start` and for a stream that only listens. */
  format(command: CarrierCommand): string {
    if (this.#start === null) throw new TrunklineError('invalid_request', 'nothing can be sent before start: the stream has no name yet');
    if (this.#start.playback === 'none')
      throw new TrunklineError('invalid_request', 'this stream only listens: its tracks include outbound');
    const streamSid = JSON.stringify(this.#start.streamId);
    if (command.type === 'audio') return `{"event":"media","streamSid":${streamSid},"media":{"payload":"${encodeBase64(command.bytes)}"}}`;
    if (command.type === 'mark') return `{"event":"mark","streamSid":${streamSid},"mark":{"name":${JSON.stringify(command.name)}}}`;
    return `{"event":"clear","streamSid":${streamSid}}`;
  }

  #receiveStart(json: Json): CarrierEvent {
    if (this.#start !== null) throw new TrunklineError('start_repeated', 'got a second start, expected one per stream');
    this.#start = parseStart(json, this.carrier);
    return { type: 'start', start: this.#start };
  }

  #receiveStarted(json: Json, event: 'media' | 'dtmf' | 'mark' | 'stop'): CarrierEvent {
    if (this.#start === null) {
      if (event === 'media') throw new TrunklineError('media_before_start', 'got media, expected start first');
      return ignored('before_start');
    }
    if (identifierAt(json, 'streamSid') !== this.#start.streamId) return ignored('foreign_stream');
    if (event === 'media') return this.#receiveMedia(objectAt(json, 'media'), this.#start);
    if (event === 'dtmf') return this.#receiveDtmf(objectAt(json, 'dtmf'));
    if (event === 'mark') return this.#receiveMark(objectAt(json, 'mark'));
    this.#stopped = true;
    return { type: 'stop' };
  }

  #receiveMedia(media: Json, start: CallStart): CarrierEvent {
    const track = parseTrack(media['track'], 'media.track');
    const atMs = countAt(media, 'timestamp', 'media.timestamp');
    const sequence = countAt(media, 'chunk', 'media.chunk');
    const payload = media['payload'];
    const bytes = typeof payload === 'string' ? decodeBase64(payload) : null;
    if (bytes === null)
      throw malformed('media.payload', typeof payload === 'string' ? `${payload.length} characters` : payload, 'padded base64');
    if (!start.tracks.includes(track)) return ignored('unannounced_track');
    return { type: 'audio', track, bytes, atMs, sequence };
  }

  #receiveDtmf(dtmf: Json): CarrierEvent {
    const track = parseTrack(dtmf['track'], 'dtmf.track');
    const digit = dtmf['digit'];
    if (typeof digit !== 'string' || !DIGIT.test(digit)) {
      throw new TrunklineError('message_malformed', 'dtmf.digit: got something else, expected one of 0-9 * # A-D');
    }
    return { type: 'dtmf', track, digit };
  }

  #receiveMark(mark: Json): CarrierEvent {
    const name = mark['name'];
    if (typeof name !== 'string') throw malformed('mark.name', name, 'a string');
    return { type: 'mark', name };
  }
}
