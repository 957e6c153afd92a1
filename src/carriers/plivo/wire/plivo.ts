/**
 * Plivo's audio streaming (https://www.plivo.com/docs/voice-agents/audio-streaming/concepts/audio-streaming-reference).
 * There is no `connected` and no `stop`: the socket opens and closes. A mark is called a checkpoint, and a cleared one
 * never comes back. The event for a played one is `playedStream`, or `played` in Plivo's help centre
 * (https://support.plivo.com/hc/en-us/articles/32800564168345).
 */

import { readCodec } from '../../../protocols/codecs.ts';
import type { CallStart } from '../../../protocols/dialect.ts';
import { identifierAt, type Json, objectAt, readTracks } from '../../../protocols/json.ts';
import { JsonStream } from '../../shared/wire/json-stream.ts';

const ENCODINGS = ['audio/x-mulaw', 'audio/x-l16'];

/**
 * Reads `extraHeaders` of the XML, one string such as `from=14155550100,app=…`. Plivo's documents use both commas and
 * semicolons as separators.
 */
function parametersOf(headers: unknown): Readonly<Record<string, string>> {
  const parameters: Record<string, string> = Object.create(null);
  if (typeof headers !== 'string') return parameters;
  for (const pair of headers.split(/[,;]/)) {
    const equals = pair.indexOf('=');
    if (equals > 0) parameters[pair.slice(0, equals).trim()] = pair.slice(equals + 1).trim();
  }
  return parameters;
}

function readStart(message: Json): CallStart {
  const start = objectAt(message, 'start');
  const { encoding, sampleRate: rate } = objectAt(start, 'mediaFormat', 'start.mediaFormat');
  const parameters = parametersOf(message['extra_headers']);
  const tracks = readTracks(start['tracks'], 'start.tracks');
  return {
    carrier: 'plivo',
    callId: identifierAt(start, 'callId', 'start.callId'),
    streamId: identifierAt(start, 'streamId', 'start.streamId'),
    from: parameters['from'] || null,
    to: parameters['to'] || null,
    tracks,
    codec: readCodec({ encoding, rate }, ENCODINGS, 'start.mediaFormat'),
    // bidirectional="true" excludes the outbound track.
    playback: tracks.includes('outbound') ? 'none' : 'buffered',
    parameters,
  };
}

function writeAudio(payload: string, { codec }: CallStart): string {
  const contentType = codec.name === 'mulaw' ? 'audio/x-mulaw' : 'audio/x-l16';
  const media = `{"contentType":"${contentType}","sampleRate":${codec.rateHz},"payload":"${payload}"}`;
  return `{"event":"playAudio","media":${media}}`;
}

/** One Plivo stream. */
export class PlivoDialect extends JsonStream {
  constructor(options: { readonly bigEndian: boolean }) {
    super({
      carrier: 'plivo',
      markEvents: ['playedStream', 'played'],
      streamFields: ['streamId'],
      wallTimestamps: true,
      ...options,
      readStart,
      readMark: (message) => message['name'],
      nameOther: (event) => (event === 'clearedAudio' ? 'cleared' : null),
      writeAudio,
      writeMark: (name, { streamId }) => JSON.stringify({ event: 'checkpoint', streamId, name }),
      writeClear: ({ streamId }) => JSON.stringify({ event: 'clearAudio', streamId }),
    });
  }
}
