/**
 * What a server of OpenAI's Realtime API sends. Every event has an `event_id`: without it no event has any effect in
 * OpenAI's agents SDKs.
 * https://platform.openai.com/docs/api-reference/realtime-server-events
 */
import type { Json } from '../../../protocols/json.ts';
import type { InvalidEvent } from './client-events.ts';
import { type Item, writeItem } from './items.ts';

/** An event without its id. */
export interface ServerEvent {
  readonly type: string;
  readonly [field: string]: unknown;
}

/** The names of beta clients. What is not here they know by the same name. */
const BETA_NAMES: Readonly<Record<string, string>> = {
  'conversation.item.added': 'conversation.item.created',
  'response.output_text.delta': 'response.text.delta',
  'response.output_text.done': 'response.text.done',
  'response.output_audio.delta': 'response.audio.delta',
  'response.output_audio.done': 'response.audio.done',
  'response.output_audio_transcript.delta': 'response.audio_transcript.delta',
  'response.output_audio_transcript.done': 'response.audio_transcript.done',
};

/** Parts of items that beta clients know by other names. */
const BETA_PARTS: Readonly<Record<string, string>> = { output_text: 'text', output_audio: 'audio' };

/** Writes the events of one session. */
export class EventWriter {
  readonly #prefix: string;
  readonly #isBeta: boolean;
  #events = 0;

  /** @param prefix makes the ids of this session different from those of others */
  constructor(prefix: string, isBeta: boolean) {
    this.#prefix = prefix;
    this.#isBeta = isBeta;
  }

  /** Null = this client knows no such event. */
  write(event: ServerEvent): string | null {
    const told = this.#isBeta ? toBeta(event) : event;
    if (told === null) return null;
    const { type, ...fields } = told;
    return JSON.stringify({ type, event_id: `event_${this.#prefix}_${++this.#events}`, ...fields });
  }
}

function toBeta(event: ServerEvent): ServerEvent | null {
  const { type, session, item, part, response } = event;
  if (type === 'conversation.item.done') return null;
  const isTranscription = (session as Json | undefined)?.['object'] === 'realtime.transcription_session';
  return {
    ...event,
    type: isTranscription ? `transcription_${type}` : (BETA_NAMES[type] ?? type),
    ...(item === undefined ? {} : { item: toBetaItem(item as Json) }),
    ...(part === undefined ? {} : { part: toBetaPart(part as Json) }),
    ...(response === undefined ? {} : { response: toBetaResponse(response as Json) }),
  };
}

function toBetaResponse({ output, output_modalities: modalities, ...rest }: Json): Json {
  const isSpoken = Array.isArray(modalities) && modalities.includes('audio');
  return {
    ...rest,
    output: Array.isArray(output) ? output.map(toBetaItem) : [],
    modalities: isSpoken ? ['audio', 'text'] : ['text'],
  };
}

function toBetaItem(item: Json): Json {
  const { content } = item;
  return Array.isArray(content) ? { ...item, content: content.map(toBetaPart) } : item;
}

function toBetaPart(part: Json): Json {
  const type = String(part['type']);
  return { ...part, type: BETA_PARTS[type] ?? type };
}

/** `session.created` and `session.updated`. */
export function sessionEvent(type: 'session.created' | 'session.updated', session: Json): ServerEvent {
  return { type, session };
}

/** Speech began; `startMs` lies on the timeline of the sound that came, as all times do. */
export function speechStarted(itemId: string, startMs: number): ServerEvent {
  return { type: 'input_audio_buffer.speech_started', audio_start_ms: startMs, item_id: itemId };
}

/** Speech ended. */
export function speechStopped(itemId: string, endMs: number): ServerEvent {
  return { type: 'input_audio_buffer.speech_stopped', audio_end_ms: endMs, item_id: itemId };
}

/** What was said so far became an item. */
export function committed(itemId: string, previousItemId: string | null): ServerEvent {
  return { type: 'input_audio_buffer.committed', previous_item_id: previousItemId, item_id: itemId };
}

/** An item is there (`added`), and whole (`done`). */
export function itemEvent(type: 'added' | 'done', item: Item, previousItemId: string | null): ServerEvent {
  return { type: `conversation.item.${type}`, previous_item_id: previousItemId, item: writeItem(item) };
}

/** What a client asked for again. */
export function itemRetrieved(item: Item): ServerEvent {
  return { type: 'conversation.item.retrieved', item: writeItem(item) };
}

/** More words of what is said, which are certain. */
export function transcriptDelta(itemId: string, delta: string): ServerEvent {
  return { type: 'conversation.item.input_audio_transcription.delta', item_id: itemId, content_index: 0, delta };
}

/** The text of an item; `durationMs` of speech. */
export function transcriptCompleted(itemId: string, transcript: string, durationMs: number): ServerEvent {
  return {
    type: 'conversation.item.input_audio_transcription.completed',
    item_id: itemId,
    content_index: 0,
    transcript,
    usage: { type: 'duration', seconds: Math.max(durationMs, 0) / 1000 },
  };
}

/** There is no text of an item. */
export function transcriptFailed(itemId: string, message: string): ServerEvent {
  const error = { type: 'server_error', code: 'audio_lost', message, param: null };
  return { type: 'conversation.item.input_audio_transcription.failed', item_id: itemId, content_index: 0, error };
}

/** OpenAI's `error`; the session goes on. */
export function errorEvent(error: {
  readonly type: string;
  readonly code: string;
  readonly message: string;
  readonly param: string | null;
  readonly eventId: string | null;
}): ServerEvent {
  const { type, code, message, param, eventId } = error;
  return { type: 'error', error: { type, code, message, param, event_id: eventId } };
}

/** Answers an event that cannot be understood. */
export function invalidEvent({ code, message, param, eventId }: InvalidEvent): ServerEvent {
  return errorEvent({ type: 'invalid_request_error', code, message, param, eventId });
}
