/** TwiML that sends a call's media here (https://www.twilio.com/docs/voice/twiml/stream). */
import { TrunklineError } from '../../foundation/errors.ts';
import { escapeXml } from '../xml.ts';

/** The name and value of one `<Parameter>` together must be shorter than this. */
const PARAMETER_CHARACTERS = 500;
/**
 * A media stream: its URL, and the parameters that come back in `start.customParameters`. Twilio strips the query from
 * `url`, so data goes into parameters.
 */
export interface StreamTarget {
  readonly url: string;
  readonly parameters: Readonly<Record<string, string>>;
}

function parameter(name: string, value: string): string {
  if (name.length + value.length >= PARAMETER_CHARACTERS) {
    throw new TrunklineError(
      'invalid_request',
      `stream parameter: got ${name.length} + ${value.length} characters, expected fewer than ${PARAMETER_CHARACTERS}`,
    );
  }
  return `<Parameter name="${escapeXml(name)}" value="${escapeXml(value)}"/>`;
}

function stream({ url, parameters }: StreamTarget, attributes = ''): string {
  const children = Object.entries(parameters).map(([name, value]) => parameter(name, value));
  return `<Stream url="${escapeXml(url)}"${attributes}>${children.join('')}</Stream>`;
}

function response(verbs: string): string {
  return `<?xml version="1.0" encoding="UTF-8"?><Response>${verbs}</Response>`;
}

/** The verb of {@link connectStreamTwiml} without the document around it. */
export function connectStream(target: StreamTarget): string {
  return `<Connect>${stream(target)}</Connect>`;
}

/**
 * Connects the call to us only: we get the inbound track and may play audio. When we close the socket, Twilio goes on
 * with the next verb; here there is none. Throws `invalid_request` for a parameter of 500 characters or more.
 */
export function connectStreamTwiml(target: StreamTarget): string {
  return response(connectStream(target));
}

/** As {@link connectStreamTwiml}, and when we close the socket Twilio asks `after` (POST) what follows. */
export function connectStreamAndAskTwiml(target: StreamTarget, after: string): string {
  return response(`${connectStream(target)}<Redirect method="POST">${escapeXml(after)}</Redirect>`);
}

/** Twilio speaks `text` with its own voice and hangs up. */
export function sayAndHangUpTwiml(text: string): string {
  return response(`<Say>${escapeXml(text)}</Say><Hangup/>`);
}

/**
 * Twilio forwards the call to `dial` (a phone number) while we listen to both tracks. Throws as
 * {@link connectStreamTwiml} does.
 */
export function listenAndDialTwiml(target: StreamTarget, dial: string): string {
  return response(`<Start>${stream(target, ' track="both_tracks"')}</Start><Dial>${escapeXml(dial)}</Dial>`);
}
