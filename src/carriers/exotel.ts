/**
 * Exotel AgentStream (https://developer.exotel.com/docs/agentstream/websocket-protocol), Voicebot and Stream applets: linear PCM, little-endian, in
 * messages of about 100 ms, and nothing shorter than 3200 bytes taken back.
 */
import { frameBytes } from '../audio/frames.ts';
import type { CallStart } from './carrier.ts';
import { readCodec } from './codecs.ts';
import { identifierAt, type Json, objectAt, readParameters, textAt } from './json.ts';
import { JsonStream, twilioSpelling } from './json-stream.ts';

/** All the names that its documents have for the one encoding; `base64` is how it travels. */
const ENCODINGS = ['audio/x-raw', 'raw/slin', 'audio/x-l16', 'base64'];
/** Shorter messages are heard as gaps. */
const MESSAGE_MIN_BYTES = 3200;

function readStart(message: Json): CallStart {
  const start = objectAt(message, 'start');
  const { encoding, sample_rate: rate } = objectAt(start, 'media_format', 'start.media_format');
  const parameters = readParameters(start['custom_parameters'], 'start.custom_parameters');
  const codec = readCodec({ encoding: encoding ?? 'audio/x-raw', rate }, ENCODINGS, 'start.media_format');
  return {
    carrier: 'exotel',
    callId: identifierAt(start, 'call_sid', 'start.call_sid'),
    streamId: identifierAt(start, 'stream_sid', 'start.stream_sid'),
    from: textAt(start, 'from') ?? (parameters['from'] || null),
    to: textAt(start, 'to') ?? (parameters['to'] || null),
    tracks: ['inbound'],
    codec,
    playback: 'buffered',
    framesPerMessage: Math.ceil(MESSAGE_MIN_BYTES / frameBytes(codec)),
    parameters,
  };
}

/** One Exotel stream. */
export class ExotelDialect extends JsonStream {
  constructor() {
    super({
      carrier: 'exotel',
      ...twilioSpelling('stream_sid'),
      streamRequired: false,
      readStart,
      nameOther: (event) => (event === 'connected' ? event : null),
    });
  }
}
