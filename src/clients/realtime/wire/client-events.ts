/**
 * What a client of OpenAI's Realtime API sends: https://platform.openai.com/docs/api-reference/realtime-client-events
 * One JSON object in a text message.
 */
import { decodeBase64 } from '../../../protocols/base64.ts';
import { describe, isObject, type Json } from '../../../protocols/json.ts';
import { isItemId } from './items.ts';

/** An event that has an effect, one that has none (`ignored`), or one that cannot be understood (`invalid`). */
export type ClientEvent =
  | { readonly type: 'session.update'; readonly session: Json }
  | { readonly type: 'append'; readonly audio: Uint8Array }
  | { readonly type: 'commit' | 'clear' | 'cancel' }
  | { readonly type: 'item.create'; readonly item: Json }
  | { readonly type: 'item.retrieve' | 'item.delete'; readonly itemId: string }
  | { readonly type: 'item.truncate'; readonly itemId: string; readonly audioEndMs: number }
  | { readonly type: 'response.create'; readonly response: Json }
  | { readonly type: 'ignored'; readonly what: string }
  | InvalidEvent;

/** `error` of an answer is made of it. It repeats nothing but short words. */
export interface InvalidEvent {
  readonly type: 'invalid';
  /** The client's own id of the event, if it gave one. */
  readonly eventId: string | null;
  readonly code: 'invalid_json' | 'invalid_event' | 'invalid_value';
  readonly message: string;
  readonly param: string | null;
}

const AUDIO_END_MAX_MS = 86_400_000;
const EVENT_ID_MAX_CHARS = 512;

type Reader = (event: Json) => ClientEvent;

const READERS: Readonly<Record<string, Reader>> = {
  'session.update': readSession,
  'transcription_session.update': (event) => {
    const read = readSession(event);
    return read.type === 'session.update' ? { ...read, session: { ...read.session, type: 'transcription' } } : read;
  },
  'input_audio_buffer.append': readAppend,
  'input_audio_buffer.commit': () => ({ type: 'commit' }),
  'input_audio_buffer.clear': () => ({ type: 'clear' }),
  'conversation.item.create': ({ item }) =>
    isObject(item) ? { type: 'item.create', item } : ignored('conversation.item.create'),
  'conversation.item.retrieve': ({ item_id: itemId }) =>
    isItemId(itemId) ? { type: 'item.retrieve', itemId } : ignored('conversation.item.retrieve'),
  'conversation.item.delete': ({ item_id: itemId }) =>
    isItemId(itemId) ? { type: 'item.delete', itemId } : ignored('conversation.item.delete'),
  'conversation.item.truncate': readTruncate,
  'response.create': ({ response }) => ({ type: 'response.create', response: isObject(response) ? response : {} }),
  'response.cancel': () => ({ type: 'cancel' }),
};

/** Reads one text message. Never throws. */
export function readClientEvent(text: string): ClientEvent {
  let event: unknown;
  try {
    event = JSON.parse(text);
  } catch {
    return invalid(null, 'invalid_json', `got ${text.length} characters that are not JSON, expected one event`);
  }
  if (!isObject(event)) return invalid(null, 'invalid_json', `got ${describe(event)}, expected one event`);
  const { type } = event;
  if (typeof type !== 'string')
    return invalid(event, 'invalid_event', `type: got ${describe(type)}, expected the name of an event`, 'type');
  const read = Object.hasOwn(READERS, type) ? READERS[type] : undefined;
  if (read !== undefined) return read(event);
  return ignored(type);
}

/** A message that is not text. */
export function binaryEvent(bytes: number): InvalidEvent {
  return invalid(
    null,
    'invalid_event',
    `got a binary message of ${bytes} bytes, expected text with one event; sound goes into input_audio_buffer.append`,
  );
}

function ignored(what: string): ClientEvent {
  return { type: 'ignored', what };
}

function invalid(
  event: Json | null,
  code: InvalidEvent['code'],
  message: string,
  param: string | null = null,
): InvalidEvent {
  const id = event?.['event_id'];
  const eventId = typeof id === 'string' && id.length <= EVENT_ID_MAX_CHARS ? id : null;
  return { type: 'invalid', eventId, code, message, param };
}

function readSession(event: Json): ClientEvent {
  const { session } = event;
  if (isObject(session)) return { type: 'session.update', session };
  return invalid(event, 'invalid_value', `session: got ${describe(session)}, expected an object`, 'session');
}

/** Sound that cannot be read is not passed over: nobody would notice that nothing is transcribed. */
function readAppend(event: Json): ClientEvent {
  const { audio } = event;
  const bytes = typeof audio === 'string' ? decodeBase64(audio) : null;
  if (bytes !== null) return { type: 'append', audio: bytes };
  return invalid(event, 'invalid_value', `audio: got ${describe(audio)}, expected sound in base64`, 'audio');
}

function readTruncate({ item_id: itemId, audio_end_ms: endMs }: Json): ClientEvent {
  if (!isItemId(itemId) || typeof endMs !== 'number' || !(endMs >= 0)) return ignored('conversation.item.truncate');
  return { type: 'item.truncate', itemId, audioEndMs: Math.min(Math.round(endMs), AUDIO_END_MAX_MS) };
}
