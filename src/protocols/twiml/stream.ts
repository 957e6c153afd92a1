/** TwiML that sends a call's media here (https://www.twilio.com/docs/voice/twiml/stream). */
import { TrunklineError } from '../../foundation/errors.ts';
import { escapeXml } from '../xml.ts';

/** Name and value of one `<Parameter>` must stay below this together. */
const PARAMETER_CHARACTERS = 500;
/**
 * A media stream: where it goes, and what `start.customParameters` will hold. Twilio strips a query from `url`: data
 * goes into parameters.
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

/** The verb alone of {@link connectStreamTwiml}. */
export function connectStream(target: StreamTarget): string {
  return `<Connect>${stream(target)}</Connect>`;
}

/**
 * The call talks to us alone: inbound track, and we may play audio. It goes on with the next verb, here none, when our
 * side closes the socket. Throws `invalid_request` for a parameter of 500 characters or more.
 */
export function connectStreamTwiml(target: StreamTarget): string {
  return response(connectStream(target));
}

/** Twilio says `text` in a voice of its own and hangs up. */
export function sayAndHangUpTwiml(text: string): string {
  return response(`<Say>${escapeXml(text)}</Say><Hangup/>`);
}

/**
 * The call goes on to `dial` (a phone number) while we listen to both tracks. Throws as {@link connectStreamTwiml}
 * does.
 */
export function listenAndDialTwiml(target: StreamTarget, dial: string): string {
  return response(`<Start>${stream(target, ' track="both_tracks"')}</Start><Dial>${escapeXml(dial)}</Dial>`);
}
