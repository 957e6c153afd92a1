/**
 * The text messages of Asterisk's chan_websocket (channels/chan_websocket.c), in both formats: one line of `NAME
 * key:value key:value`, and since 20.18, 22.8 and 23.2 one JSON object. A channel speaks one of them for its life; its
 * first message shows which.
 */
import { TrunklineError } from '../../../foundation/errors.ts';
import { isObject, type Json } from '../../../protocols/json.ts';

/** How a channel's control messages are written. */
export type ControlFormat = 'plain-text' | 'json';

/** A control message, its fields as they came: numbers of the JSON format as text. */
export interface ControlMessage {
  readonly name: string;
  readonly fields: Readonly<Record<string, string>>;
  /** `channel_variables` of the JSON format; the plain format has none. */
  readonly variables: Readonly<Record<string, string>>;
}

/** Longer commands are dropped without a word (MAX_TEXT_MESSAGE_LEN). */
export const COMMAND_MAX_BYTES = 128;

/** The one value that stands in a message whose name tells what it is. */
const ID_FIELD = 'correlation_id';
const NAMES_WITH_ID = ['MEDIA_BUFFERING_COMPLETED', 'MEDIA_MARK_PROCESSED'];
const NAME = /^[A-Z_]{1,64}$/;

/** Which format a text is in: an object can only be JSON. */
export function formatOf(text: string): ControlFormat {
  return text.trimStart().startsWith('{') ? 'json' : 'plain-text';
}

/**
 * Reads a message of the channel.
 * @throws TrunklineError `message_malformed`
 */
export function readControl(text: string, format: ControlFormat): ControlMessage {
  return format === 'json' ? readJson(text) : readPlain(text);
}

/** Writes a command; `id` is what comes back with its event. */
export function writeCommand(command: string, format: ControlFormat, id?: string): string {
  const text =
    format === 'json'
      ? JSON.stringify({ command, correlation_id: id })
      : [command, ...(id === undefined ? [] : [id])].join(' ');
  const bytes = new TextEncoder().encode(text).length;
  if (bytes <= COMMAND_MAX_BYTES) return text;
  throw new TrunklineError(
    'invalid_request',
    `a command of ${bytes} bytes, expected at most ${COMMAND_MAX_BYTES}: Asterisk drops longer ones`,
  );
}

function malformed(what: string): TrunklineError {
  return new TrunklineError('message_malformed', `${what}, expected a control message of chan_websocket`);
}

function readJson(text: string): ControlMessage {
  const json = parseObject(text);
  const { event, channel_variables: variables, ...rest } = json;
  if (typeof event !== 'string' || !NAME.test(event)) throw malformed('got an event without a name');
  return { name: event, fields: scalarsOf(rest), variables: scalarsOf(isObject(variables) ? variables : {}) };
}

function parseObject(text: string): Json {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    throw malformed(`got ${text.length} characters that are not JSON`);
  }
  if (!isObject(json)) throw malformed('got JSON that is no object');
  return json;
}

function scalarsOf(json: Readonly<Record<string, unknown>>): Record<string, string> {
  const fields: Record<string, string> = Object.create(null);
  for (const [key, value] of Object.entries(json)) {
    if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean')
      fields[key] = String(value);
  }
  return fields;
}

function readPlain(text: string): ControlMessage {
  const [, name = '', rest = ''] = /^(\S+)\s*(.*)/s.exec(text.trim()) ?? [];
  if (!NAME.test(name)) throw malformed(`got ${text.length} characters that begin with no name`);
  const fields: Record<string, string> = Object.create(null);
  if (NAMES_WITH_ID.includes(name)) fields[ID_FIELD] = rest;
  else for (const [, key = '', value = ''] of rest.matchAll(/\b(\w+):(\S*)/g)) fields[key] = value;
  return { name, fields, variables: {} };
}
