/**
 * Vonage's Voice API WebSocket (https://developer.vonage.com/en/voice/voice-api/guides/websockets). Audio is binary,
 * little-endian, 20 ms in each message, in both directions; control messages are JSON. Only the headers that the NCCO
 * sets for the endpoint can name the call; they come in the first message. There is no stop. We use notifications as
 * marks.
 */
import { TrunklineError } from '../../../foundation/errors.ts';
import { parseContentType, readCodec } from '../../../protocols/codecs.ts';
import type { CallStart, CarrierCommand, CarrierEvent, Dialect, WireMessage } from '../../../protocols/dialect.ts';
import { isIdentifier, isObject, type Json, malformed, parseMessage, readDigit } from '../../../protocols/json.ts';

/**
 * Headers that may name the call; the first one present counts. Vonage sends `uuid` and `conversation_uuid` to the
 * answer webhook.
 */
const CALL_NAMES = ['callId', 'uuid', 'conversation_uuid'];
const OWN_FIELDS = ['event', 'content-type'];

function parametersOf(message: Json): Readonly<Record<string, string>> {
  const parameters: Record<string, string> = Object.create(null);
  const nested = isObject(message['headers']) ? message['headers'] : {};
  for (const [name, value] of [...Object.entries(message), ...Object.entries(nested)]) {
    if (typeof value === 'string' && !OWN_FIELDS.includes(name)) parameters[name] = value;
  }
  return parameters;
}

function readStart(message: Json, streamId: string): CallStart {
  const parameters = parametersOf(message);
  const named = CALL_NAMES.map((name) => parameters[name]).find(isIdentifier);
  return {
    carrier: 'vonage',
    callId: named ?? streamId,
    streamId,
    from: parameters['from'] || null,
    to: parameters['to'] || null,
    tracks: ['inbound'],
    codec: readCodec(parseContentType(message['content-type']), ['audio/l16'], 'content-type'),
    playback: 'buffered',
    parameters,
  };
}

function ignored(what: string): CarrierEvent {
  return { type: 'ignored', what };
}

/** One Vonage WebSocket. */
export class VonageDialect implements Dialect {
  readonly carrier = 'vonage';
  readonly #streamId: string;
  #start: CallStart | null = null;
  #sequence = 0;

  /** `streamId` names the stream, and also the call if no header does. */
  constructor(options: { readonly streamId: string }) {
    this.#streamId = options.streamId;
  }

  /** One message in, one event out. Throws errors of the registry's section "A carrier's messages". */
  receive(message: WireMessage): CarrierEvent {
    if (typeof message !== 'string') return this.#receiveMedia(message);
    const json = parseMessage(message);
    const event = json['event'];
    if (typeof event !== 'string') throw malformed('event', event, 'a string');
    if (event === 'websocket:connected') return this.#receiveStart(json);
    if (event === 'websocket:dtmf') return receiveDtmf(json);
    if (this.#start === null) return ignored('before_start');
    if (event === 'websocket:notify') return receiveNotification(json);
    return ignored(event === 'websocket:cleared' ? 'cleared' : 'unknown_event');
  }

  /** Formats audio, a request for a notification, or a clear. Throws `invalid_request` before the first message. */
  format(command: CarrierCommand): WireMessage {
    if (this.#start === null)
      throw new TrunklineError('invalid_request', 'nothing can be sent before websocket:connected');
    if (command.type === 'audio') return command.bytes;
    if (command.type === 'clear') return '{"action":"clear"}';
    return JSON.stringify({ action: 'notify', payload: { name: command.name } });
  }

  #receiveStart(json: Json): CarrierEvent {
    if (this.#start !== null)
      throw new TrunklineError('start_repeated', 'got a second websocket:connected, expected one per stream');
    this.#start = readStart(json, this.#streamId);
    return { type: 'start', start: this.#start };
  }

  /** Audio may arrive before the first message. */
  #receiveMedia(bytes: Uint8Array): CarrierEvent {
    this.#sequence++;
    return { type: 'audio', track: 'inbound', bytes, atMs: null, sequence: this.#sequence };
  }
}

/** The digit is in the message itself or within its `dtmf`. */
function receiveDtmf(json: Json): CarrierEvent {
  const digit = json['digit'] ?? (isObject(json['dtmf']) ? json['dtmf']['digit'] : undefined);
  return { type: 'dtmf', track: 'inbound', digit: readDigit(digit, 'digit') };
}

function receiveNotification({ payload }: Json): CarrierEvent {
  const name = isObject(payload) ? payload['name'] : payload;
  if (typeof name !== 'string') throw malformed('payload.name', name, 'a string');
  return { type: 'mark', name };
}
