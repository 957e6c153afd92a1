/**
 * Twilio Media Streams (https://www.twilio.com/docs/voice/media-streams/websocket-messages), both kinds:
 * `<Connect><Stream>`, which takes audio from us, and `<Start><Stream>`, which does not. Every message is a text frame
 * with one JSON object; numbers inside come as strings. Simulators leave out fields that are always the same with
 * Twilio (`mediaFormat`, `tracks`) or that a program can do without (`streamSid`, `timestamp`, `chunk`). Missing fields
 * get the values of Twilio's documents; present fields must be valid.
 */
import { type Codec, MULAW_8K } from '../../../foundation/units.ts';
import { readCodec } from '../../../protocols/codecs.ts';
import type { CallStart } from '../../../protocols/dialect.ts';
import { identifierAt, type Json, objectAt, readParameters, readTracks } from '../../../protocols/json.ts';
import { JsonStream, type StreamTerms, twilioSpelling } from './json-stream.ts';

/** A carrier and its encodings. The first one is the default for a start message without a format. */
interface Variant {
  readonly carrier: string;
  readonly encodings: readonly string[];
  readonly bigEndian?: boolean;
}

/** The terms of Twilio, and of carriers whose messages differ from Twilio's only in the codecs. */
export function twilioTerms({ carrier, encodings, bigEndian = false }: Variant): StreamTerms {
  return {
    carrier,
    ...twilioSpelling('streamSid'),
    mediaUntimed: true,
    bigEndian,
    readStart: (message) => readStart(message, carrier, encodings),
    nameOther: (event) => (event === 'connected' ? event : null),
  };
}

function readStart(message: Json, carrier: string, encodings: readonly string[]): CallStart {
  const start = objectAt(message, 'start');
  const codec = readFormat(start, encodings);
  const parameters = readParameters(start['customParameters'], 'start.customParameters');
  const tracks = start['tracks'] === undefined ? (['inbound'] as const) : readTracks(start['tracks'], 'start.tracks');
  const callId = identifierAt(start, 'callSid', 'start.callSid');
  return {
    carrier,
    callId,
    streamId: readStreamId(message, start) ?? callId,
    from: parameters['from'] || null,
    to: parameters['to'] || null,
    tracks,
    codec,
    // Only <Start><Stream> delivers the outbound track, and it accepts no audio from us.
    playback: tracks.includes('outbound') ? 'none' : 'buffered',
    parameters,
    ...(typeof start['accountSid'] === 'string' ? { details: { accountSid: start['accountSid'] } } : {}),
  };
}

function readFormat(start: Json, encodings: readonly string[]): Codec {
  const format = start['mediaFormat'] === undefined ? {} : objectAt(start, 'mediaFormat', 'start.mediaFormat');
  const { encoding = encodings[0], sampleRate: rate = MULAW_8K.rateHz, channels } = format;
  return readCodec({ encoding, rate, channels }, encodings, 'start.mediaFormat');
}

/** The stream's id from the message or from its `start` object; null = neither has one. */
function readStreamId(message: Json, start: Json): string | null {
  if (message['streamSid'] !== undefined) return identifierAt(message, 'streamSid');
  return start['streamSid'] === undefined ? null : identifierAt(start, 'streamSid', 'start.streamSid');
}

/** One Twilio media stream. */
export class TwilioDialect extends JsonStream {
  /** `carrier` = the name of the peer that uses this dialect. */
  constructor(carrier = 'twilio') {
    super(twilioTerms({ carrier, encodings: ['audio/x-mulaw'] }));
  }
}
