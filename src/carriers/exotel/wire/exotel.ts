/**
 * Exotel AgentStream (https://developer.exotel.com/docs/agentstream/websocket-protocol), Voicebot and Stream applets:
 * linear PCM, little-endian, or µ-law (https://developer.exotel.com/docs/agentstream/stream-voicebot-extension), in
 * messages of about 100 ms. Messages to Exotel must have at least 3200 bytes.
 */
import { frameBytes } from '../../../audio/frames.ts';
import { parseContentType, readCodec } from '../../../protocols/codecs.ts';
import type { CallStart } from '../../../protocols/dialect.ts';
import { identifierAt, type Json, objectAt, readParameters, textAt } from '../../../protocols/json.ts';
import { JsonStream, twilioSpelling } from '../../shared/wire/json-stream.ts';

/** The encodings that Exotel's documents name. All except µ-law mean linear PCM; `base64` names only the transport. */
const ENCODINGS = ['audio/x-raw', 'raw/slin', 'audio/x-l16', 'audio/l16', 'base64', 'audio/x-mulaw', 'mulaw'];
/** Shorter messages cause gaps. */
const MESSAGE_MIN_BYTES = 3200;

function readStart(message: Json): CallStart {
  const start = objectAt(message, 'start');
  const format = objectAt(start, 'media_format', 'start.media_format');
  const { encoding, rate } = parseContentType(format['encoding'] ?? 'audio/x-raw');
  const parameters = readParameters(start['custom_parameters'], 'start.custom_parameters');
  const codec = readCodec({ encoding, rate: format['sample_rate'] ?? rate }, ENCODINGS, 'start.media_format');
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
      readStart,
      nameOther: (event) => (event === 'connected' ? event : null),
    });
  }
}
