/** What Twilio does over HTTP before a stream: signs its requests and asks the voice webhook what to do with a call. */
import { createHmac } from 'node:crypto';
import { describeAnswer } from './http-answer.ts';

const WEBHOOK_TIMEOUT_MS = 15_000;

/**
 * The value of `X-Twilio-Signature`: base64 of HMAC-SHA1 over the url and the form's fields, sorted by name
 * (https://www.twilio.com/docs/usage/webhooks/webhooks-security). A WebSocket handshake has no fields and a `wss:` url.
 */
export function signTwilio(authToken: string, url: string, form: Readonly<Record<string, string>> = {}): string {
  const fields = Object.entries(form).sort(([a], [b]) => (a < b ? -1 : 1));
  return createHmac('sha1', authToken)
    .update(url + fields.flat().join(''))
    .digest('base64');
}

/**
 * The url that Twilio signs for a handshake with `url`: always `wss:`, at `publicOrigin` (https://host) where the
 * server has one.
 */
export function signedStreamUrl(url: string, publicOrigin = ''): string {
  if (publicOrigin === '') return url.replace(/^wss?:/, 'wss:');
  return publicOrigin.replace(/^https?:/, 'wss:') + url.replace(/^wss?:\/\/[^/]+/, '');
}

/** What a voice webhook's TwiML says about the stream. */
export interface StreamOrder {
  readonly url: string;
  readonly parameters: Readonly<Record<string, string>>;
}

/**
 * Announces a call to the voice webhook at `url` and returns the stream that its TwiML asks for.
 * @throws Error when the webhook does not answer 200 with a `<Stream>`.
 */
export async function askVoiceWebhook(options: {
  readonly url: string;
  /** Signs the request; empty = unsigned. */
  readonly authToken: string;
  /** The origin under which Twilio knows the server; empty = as in `url`. */
  readonly publicOrigin: string;
  readonly callSid: string;
  readonly from: string;
  readonly to: string;
}): Promise<StreamOrder> {
  const form = {
    AccountSid: `AC${'0'.repeat(32)}`,
    ApiVersion: '2010-04-01',
    CallSid: options.callSid,
    CallStatus: 'ringing',
    Direction: 'inbound',
    From: options.from,
    To: options.to,
  };
  const signedUrl =
    options.publicOrigin === '' ? options.url : options.publicOrigin + options.url.replace(/^https?:\/\/[^/]+/, '');
  const response = await fetch(options.url, {
    method: 'POST',
    body: new URLSearchParams(form),
    headers: options.authToken === '' ? {} : { 'x-twilio-signature': signTwilio(options.authToken, signedUrl, form) },
    signal: AbortSignal.timeout(WEBHOOK_TIMEOUT_MS),
  });
  const body = await response.text();
  if (response.status !== 200)
    throw new Error(`the voice webhook answered ${describeAnswer(response.status, body)} (expected 200 with TwiML)`);
  return readStreamOrder(body);
}

/** Attribute values may hold `>`. */
const STREAM_ELEMENT = /<Stream\b(?:[^<>"']|"[^"<]*"|'[^'<]*')*>/;
const PARAMETER_ELEMENTS = /<Parameter\b(?:[^<>"']|"[^"<]*"|'[^'<]*')*>/g;

/**
 * The `<Stream>` of a TwiML document.
 * @throws Error when there is none.
 */
export function readStreamOrder(twiml: string): StreamOrder {
  const url = attribute(STREAM_ELEMENT.exec(twiml)?.[0], 'url');
  if (url === undefined) throw new Error('the voice webhook answered without a <Stream url="…">');
  const parameters: Record<string, string> = {};
  for (const [element] of twiml.matchAll(PARAMETER_ELEMENTS)) {
    const name = attribute(element, 'name');
    if (name !== undefined) parameters[name] = attribute(element, 'value') ?? '';
  }
  return { url, parameters };
}

function attribute(element: string | undefined, name: string): string | undefined {
  const [, double, single] = new RegExp(`\\s${name}=(?:"([^"]*)"|'([^']*)')`).exec(element ?? '') ?? [];
  const value = double ?? single;
  return value === undefined ? undefined : unescapeXml(value);
}

const ENTITIES: Readonly<Record<string, string>> = { lt: '<', gt: '>', quot: '"', apos: "'", amp: '&' };

function unescapeXml(text: string): string {
  return text.replace(/&(?:#x([0-9a-f]+)|#(\d+)|(\w+));/gi, (whole, hex?: string, decimal?: string, name?: string) => {
    if (hex !== undefined) return String.fromCodePoint(Number.parseInt(hex, 16));
    if (decimal !== undefined) return String.fromCodePoint(Number(decimal));
    return ENTITIES[name ?? ''] ?? whole;
  });
}
