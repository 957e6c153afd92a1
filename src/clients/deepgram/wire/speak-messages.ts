/** The messages of Deepgram's `WS /v1/speak`, what clients say on `WS /v2/speak`, and the body of a POST to either. */
import { TrunklineError } from '../../../foundation/errors.ts';
import { describe, type Json, parseMessage } from '../../../protocols/json.ts';

/** What a client says on the socket. */
export type SpeakMessage = { readonly type: 'Speak'; readonly text: string } | { readonly type: SpeakCommand };

/** All that a client of `/v1/speak` says beside `Speak`. */
export const SPEAK_COMMANDS = ['Flush', 'Clear', 'Close'] as const;
/** One of {@link SPEAK_COMMANDS}. */
export type SpeakCommand = (typeof SPEAK_COMMANDS)[number];

/**
 * Reads a client's message, `Speak` or one of `commands`. Unknown fields are passed over.
 * @throws TrunklineError `message_malformed`, or `message_too_large` for a text of more than `textMaxChars`
 */
export function readSpeakMessage(
  text: string,
  textMaxChars: number,
  commands: readonly SpeakCommand[] = SPEAK_COMMANDS,
): SpeakMessage {
  const message = parseMessage(text);
  const { type } = message;
  if (type === 'Speak') return { type, text: textOf(message, textMaxChars) };
  const command = commands.find((each) => each === type);
  if (command !== undefined) return { type: command };
  const expected = `${['Speak', ...commands.slice(0, -1)].join(', ')} or ${commands.at(-1)}`;
  throw new TrunklineError('message_malformed', `type: got ${describe(type)}, expected ${expected}`);
}

/**
 * Reads the body of a POST: JSON with `text`, or the text itself where its type is `text/plain`.
 * @throws TrunklineError `message_malformed`, `invalid_request`, or `message_too_large` for a text of more than
 * `textMaxChars`
 */
export function readSpeakBody(body: string, contentType: string | undefined, textMaxChars: number): string {
  const message = /^text\/plain\b/i.test(contentType ?? '') ? { text: body } : parseMessage(body);
  if (message['text'] === undefined && message['url'] !== undefined)
    throw new TrunklineError('invalid_request', 'url: got a URL, expected the text itself in text', 'url');
  const text = textOf(message, textMaxChars);
  if (text.trim() === '') throw new TrunklineError('invalid_request', 'text: got nothing to say', 'text');
  return text;
}

function textOf(message: Json, textMaxChars: number): string {
  const { text } = message;
  if (typeof text !== 'string')
    throw new TrunklineError('message_malformed', `text: got ${describe(text)}, expected a string`, 'text');
  if (text.length <= textMaxChars) return text;
  throw new TrunklineError(
    'message_too_large',
    `text: got ${text.length} characters, expected at most ${textMaxChars}`,
    'text',
  );
}

/** The voice that speaks, as messages and headers name it. */
export interface SpokenModel {
  readonly name: string;
  readonly version: string;
  /** Made of the name: the same one always has the same. */
  readonly uuid: string;
}

/** The first message of a socket. */
export function metadataMessage(requestId: string, { name, version, uuid }: SpokenModel): string {
  return JSON.stringify({
    type: 'Metadata',
    request_id: requestId,
    model_name: name,
    model_version: version,
    model_uuid: uuid,
    additional_model_uuids: [],
  });
}

/** Says that all sound of a Flush, or nothing of what a Clear dropped, follows. */
export function sequenceMessage(type: 'Flushed' | 'Cleared', sequenceId: number): string {
  return JSON.stringify({ type, sequence_id: sequenceId });
}

/** Says what was passed over; the socket goes on. SDKs read the one pair of fields or the other, by their version. */
export function warningMessage(code: string, description: string): string {
  return JSON.stringify({ type: 'Warning', description, code, warn_code: code, warn_msg: description });
}

/** Says why the socket is closed next. */
export function errorMessage(code: string, description: string): string {
  return JSON.stringify({ type: 'Error', description, code, err_code: code, err_msg: description });
}

/**
 * What stands between two pieces of text. Words come with their spaces, sentences of some clients without: one that
 * ends and one that begins are two.
 */
export function joinerOf(before: string, next: string): '' | ' ' {
  return /[.!?…]["'”’)]?$/.test(before) && /^["'“‘(]?\p{Lu}/u.test(next) ? ' ' : '';
}
