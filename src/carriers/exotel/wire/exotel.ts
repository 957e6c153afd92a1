/**
 * Exotel AgentStream (https://developer.exotel.com/docs/agentstream/websocket-protocol), Voicebot and Stream applets:
 * linear PCM, little-endian, or µ-law (https://developer.exotel.com/docs/agentstream/stream-voicebot-extension), in
 * messages of about 100 ms. Messages to Exotel must have at least 3200 bytes. Its documents write `stream_sid`; its
 * sample bots (https://github.com/exotel/Agent-Stream, August 2026) also expect `streamSid`, a stream that is named at
 * the top alone, and no `media_format`: then the rate is the one that the URL asked for.
 */
import { frameBytes } from '../../../audio/frames.ts';
import { bytesToMs, type Codec } from '../../../foundation/units.ts';
import { parseContentType, readCodec } from '../../../protocols/codecs.ts';
import type { CallStart } from '../../../protocols/dialect.ts';
import { identifierAt, isObject, type Json, objectAt, readParameters, textAt } from '../../../protocols/json.ts';
import { JsonStream, twilioSpelling } from '../../shared/wire/json-stream.ts';

/** The encodings that Exotel's documents name. All except µ-law mean linear PCM; `base64` names only the transport. */
const ENCODINGS = ['audio/x-raw', 'raw/slin', 'audio/x-l16', 'audio/l16', 'base64', 'audio/x-mulaw', 'mulaw'];
/** Shorter messages cause gaps. */
const MESSAGE_MIN_BYTES = 3200;
/** What `?sample-rate=` may ask for; anything else gets 8000, as from Exotel. */
const RATES_HZ = [8000, 16_000, 24_000];

/** The name of a field as `message` spells it: `snake` unless only the other one is there. */
function spelled(message: Json, snake: string, camel: string): string {
  return message[snake] === undefined && message[camel] !== undefined ? camel : snake;
}

function readFormat(start: Json, rateHz: number): Codec {
  const key = spelled(start, 'media_format', 'mediaFormat');
  const name = `start.${key}`;
  const format = start[key] === undefined ? { sample_rate: rateHz } : objectAt(start, key, name);
  const { encoding, rate } = parseContentType(format['encoding'] ?? 'audio/x-raw');
  const declared = format[spelled(format, 'sample_rate', 'sampleRate')];
  return readCodec({ encoding, rate: declared ?? rate }, ENCODINGS, name);
}

function readStreamId(message: Json, start: Json): string {
  const inner = spelled(start, 'stream_sid', 'streamSid');
  if (start[inner] !== undefined) return identifierAt(start, inner, `start.${inner}`);
  return identifierAt(message, spelled(message, 'stream_sid', 'streamSid'));
}

function readStart(message: Json, rateHz: number): CallStart {
  const start = isObject(message['start']) ? message['start'] : message;
  const custom = spelled(start, 'custom_parameters', 'customParameters');
  const call = spelled(start, 'call_sid', 'callSid');
  const parameters = readParameters(start[custom], `start.${custom}`);
  const codec = readFormat(start, rateHz);
  return {
    carrier: 'exotel',
    callId: identifierAt(start, call, `start.${call}`),
    streamId: readStreamId(message, start),
    from: textAt(start, 'from') ?? (parameters['from'] || null),
    to: textAt(start, 'to') ?? (parameters['to'] || null),
    tracks: ['inbound'],
    codec,
    playback: 'buffered',
    framesPerMessage: Math.ceil(MESSAGE_MIN_BYTES / frameBytes(codec)),
    parameters,
  };
}

/** Whether the stream of a start message is spelled as in Exotel's samples. */
function isCamel(message: Json): boolean {
  const start = isObject(message['start']) ? message['start'] : message;
  return [start, message].some((each) => spelled(each, 'stream_sid', 'streamSid') === 'streamSid');
}

/** The rate that `?sample-rate=` asks for, in Hz: 8000 unless it is one that Exotel has. */
export function exotelRateHz(asked: unknown): number {
  return RATES_HZ.find((rateHz) => String(rateHz) === asked) ?? 8000;
}

/** One Exotel stream. */
export class ExotelDialect extends JsonStream {
  /** `rateHz` = what the URL asked for, which counts where `start` tells no rate. */
  constructor({ rateHz }: { readonly rateHz: number } = { rateHz: 8000 }) {
    let words = twilioSpelling('stream_sid');
    const sent = { messages: 0, bytes: 0 };
    super({
      carrier: 'exotel',
      streamFields: ['stream_sid', 'streamSid'],
      mediaUntimed: true,
      readStart: (message) => {
        words = twilioSpelling(isCamel(message) ? 'streamSid' : 'stream_sid');
        return readStart(message, rateHz);
      },
      readMark: words.readMark,
      nameOther: (event) => (event === 'connected' ? event : null),
      // Exotel's samples say that some streams end early where media have no number and no time.
      writeAudio: (payload, start) => {
        const atMs = Math.round(bytesToMs(sent.bytes, start.codec));
        sent.messages++;
        sent.bytes += Buffer.byteLength(payload, 'base64');
        const counts = `"chunk":"${sent.messages}","timestamp":"${atMs}","sequenceNumber":"${sent.messages}"`;
        return words.writeAudio(payload, start, counts);
      },
      writeMark: (name, start) => words.writeMark(name, start),
      writeClear: (start) => words.writeClear(start),
    });
  }
}
