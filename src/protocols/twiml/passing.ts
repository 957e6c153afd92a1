/**
 * Passes an app's TwiML on to Twilio with three changes: its ConversationRelay becomes a stream to us, Twilio requests
 * the documents that follow from us, and relative addresses become absolute. Otherwise Twilio would resolve them
 * against our URL instead of the app's.
 */

import { escapeXml, textOf, writeXml, type XmlElement } from '../xml.ts';
import { methodOf, type RelayVerb, readRelay, type TwimlDocument } from './document.ts';
import { connectStream, type StreamTarget } from './stream.ts';

/**
 * Attributes that hold an address (https://www.twilio.com/docs/voice/twiml), matched by their names in lower case.
 */
const ADDRESSES = /(?:^action|url|callback|callbackurl)$/;

/** The URLs that we give to Twilio. */
interface PassingRoutes {
  /** The stream of one ConversationRelay. */
  stream(relay: RelayVerb): StreamTarget;
  /** Where Twilio requests the next document after a session that has an `action`. */
  readonly after: string;
  /** Where Twilio requests the document at `url` through us. */
  through(url: string, method: 'GET' | 'POST'): string;
}

/** The document for Twilio. Throws `invalid_request` if a parameter of the stream is too long for Twilio. */
export function passOnTwiml({ response, url }: TwimlDocument, routes: PassingRoutes): string {
  const verbs = response.children.map((child) =>
    typeof child === 'string' ? escapeXml(child) : passOn(child, url, routes),
  );
  return `<?xml version="1.0" encoding="UTF-8"?><Response>${verbs.join('')}</Response>`;
}

function passOn(verb: XmlElement, base: string, routes: PassingRoutes): string {
  const relay = readRelay(verb, base);
  if (relay !== null)
    return connectStream(routes.stream(relay)) + (relay.action === null ? '' : redirectTo(routes.after));
  if (verb.name.toLowerCase() !== 'redirect') return writeXml(withAddresses(verb, base));
  const target = resolve(textOf(verb).trim(), base);
  return /^https?:/.test(target) ? redirectTo(routes.through(target, methodOf(verb))) : writeXml(verb);
}

function redirectTo(url: string): string {
  return `<Redirect method="POST">${escapeXml(url)}</Redirect>`;
}

function withAddresses({ name, attributes, children }: XmlElement, base: string): XmlElement {
  const entries = Object.entries(attributes).map(([key, value]) => [
    key,
    ADDRESSES.test(key.toLowerCase()) ? resolveAll(value, base) : value,
  ]);
  const isAddress = name.toLowerCase() === 'play';
  return {
    name,
    attributes: Object.fromEntries(entries),
    children: children.map((child) => {
      if (typeof child !== 'string') return withAddresses(child, base);
      return isAddress && child.trim() !== '' ? resolve(child.trim(), base) : child;
    }),
  };
}

/** Some attributes take several addresses, separated by spaces. */
function resolveAll(value: string, base: string): string {
  return value
    .trim()
    .split(/\s+/)
    .map((address) => resolve(address, base))
    .join(' ');
}

function resolve(address: string, base: string): string {
  return address === '' || URL.canParse(address) || !URL.canParse(address, base)
    ? address
    : new URL(address, base).href;
}
