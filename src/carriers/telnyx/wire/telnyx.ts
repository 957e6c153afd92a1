/**
 * Telnyx media streaming (https://developers.telnyx.com/api-reference/websockets/stream-call-media-over-websocket).
 * Messages may arrive out of order; `media.chunk` gives their order. We must send audio in the codec of `start`. Telnyx
 * does not check this: users must set the same codec for both directions, and the bidirectional mode `rtp`.
 */

import { readCodec } from '../../../protocols/codecs.ts';
import type { CallStart } from '../../../protocols/dialect.ts';
import { identifierAt, isObject, type Json, objectAt, readParameters, textAt } from '../../../protocols/json.ts';
import { JsonStream, twilioSpelling } from '../../shared/wire/json-stream.ts';

const ENCODINGS = ['PCMU', 'PCMA', 'L16', 'audio/x-mulaw'];
/** Codes of https://developers.telnyx.com/docs/voice/programmable-voice/media-streaming, "error". */
const ERROR_CODES = ['100002', '100003', '100004', '100005'];

/** The custom parameters and two fields of the call: `clientState` decoded, and `tags` joined by commas. */
function parametersOf(start: Json): Readonly<Record<string, string>> {
  const clientState = textAt(start, 'client_state');
  const tags = Array.isArray(start['tags']) ? start['tags'].filter((tag) => typeof tag === 'string').join(',') : '';
  return {
    ...(clientState === null ? {} : { clientState: Buffer.from(clientState, 'base64').toString() }),
    ...(tags === '' ? {} : { tags }),
    ...readParameters(start['custom_parameters'], 'start.custom_parameters'),
  };
}

function readStart(message: Json): CallStart {
  const start = objectAt(message, 'start');
  const { encoding, sample_rate: rate, channels } = objectAt(start, 'media_format', 'start.media_format');
  const hint = ': set stream_codec and stream_bidirectional_codec to PCMU';
  const parameters = parametersOf(start);
  return {
    carrier: 'telnyx',
    callId: identifierAt(start, 'call_control_id', 'start.call_control_id'),
    streamId: identifierAt(message, 'stream_id'),
    from: textAt(start, 'from') ?? (parameters['from'] || null),
    to: textAt(start, 'to') ?? (parameters['to'] || null),
    // Telnyx does not say which tracks were requested.
    tracks: ['inbound', 'outbound'],
    codec: readCodec({ encoding, rate, channels }, ENCODINGS, 'start.media_format', hint),
    playback: 'buffered',
    parameters,
  };
}

function nameError({ payload }: Json): string {
  const code = isObject(payload) ? payload['code'] : null;
  const known = ERROR_CODES.find((each) => each === code || Number(each) === code);
  return known === undefined ? 'error' : `error_${known}`;
}

/** One Telnyx media stream. */
export class TelnyxDialect extends JsonStream {
  constructor(options: { readonly bigEndian: boolean }) {
    super({
      carrier: 'telnyx',
      ...twilioSpelling('stream_id'),
      ...options,
      readStart,
      nameOther: (event, message) => {
        if (event === 'error') return nameError(message);
        return event === 'connected' ? event : null;
      },
    });
  }
}
