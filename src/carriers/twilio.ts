/**
 * Twilio Media Streams (https://www.twilio.com/docs/voice/media-streams/websocket-messages), both kinds: `<Connect><Stream>`, which takes
 * audio from us, and `<Start><Stream>`, which does not. Every message is a text frame with one JSON object; numbers inside come as strings.
 */
import type { CallStart } from './carrier.ts';
import { readCodec } from './codecs.ts';
import { identifierAt, type Json, objectAt, readParameters, readTracks } from './json.ts';
import { JsonStream, type StreamTerms, twilioSpelling } from './json-stream.ts';

/** Whose encodings these are, and whether messages name their stream. */
interface Variant {
  readonly carrier: string;
  readonly encodings: readonly string[];
  readonly streamRequired: boolean;
  readonly bigEndian?: boolean;
}

/** The terms of Twilio, and of carriers whose messages are Twilio's but for the codecs. */
export function twilioTerms({ carrier, encodings, streamRequired, bigEndian = false }: Variant): StreamTerms {
  return {
    carrier,
    ...twilioSpelling('streamSid'),
    streamRequired,
    bigEndian,
    readStart: (message) => readStart(message, carrier, encodings),
    nameOther: (event) => (event === 'connected' ? event : null),
  };
}

function readStart(message: Json, carrier: string, encodings: readonly string[]): CallStart {
  const start = objectAt(message, 'start');
  const { encoding, sampleRate: rate, channels } = objectAt(start, 'mediaFormat', 'start.mediaFormat');
  const codec = readCodec({ encoding, rate, channels }, encodings, 'start.mediaFormat');
  const parameters = readParameters(start['customParameters'], 'start.customParameters');
  const tracks = readTracks(start['tracks'], 'start.tracks');
  return {
    carrier,
    callId: identifierAt(start, 'callSid', 'start.callSid'),
    streamId: message['streamSid'] === undefined ? identifierAt(start, 'streamSid', 'start.streamSid') : identifierAt(message, 'streamSid'),
    from: parameters['from'] || null,
    to: parameters['to'] || null,
    tracks,
    codec,
    // Only <Start><Stream> delivers the outbound track, and it takes nothing from us.
    playback: tracks.includes('outbound') ? 'none' : 'buffered',
    parameters,
  };
}

/** One Twilio media stream. */
export class TwilioDialect extends JsonStream {
  /** `carrier` = who speaks this dialect. */
  constructor(carrier = 'twilio') {
    super(twilioTerms({ carrier, encodings: ['audio/x-mulaw'], streamRequired: true }));
  }
}
