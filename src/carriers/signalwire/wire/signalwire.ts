/**
 * SignalWire's `<Stream>` (https://developer.signalwire.com/compatibility-api/cxml/voice/stream). It has Twilio's
 * messages, but most of them do not name their stream, and the codec may be linear PCM at 16 or 24 kHz.
 */
import { JsonStream } from '../../shared/wire/json-stream.ts';
import { twilioTerms } from '../../shared/wire/twilio-media.ts';

/** One SignalWire stream. */
export class SignalWireDialect extends JsonStream {
  constructor(options: { readonly bigEndian: boolean }) {
    super(twilioTerms({ carrier: 'signalwire', encodings: ['audio/x-mulaw', 'audio/x-L16'], ...options }));
  }
}
