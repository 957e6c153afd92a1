/**
 * Reads an app's TwiML (https://www.twilio.com/docs/voice/twiml): a document into verbs. Verbs that we do not support
 * become `other`. Names of attributes match in any case, because Twilio's own libraries spell some in two ways. Pure:
 * text in, verbs out.
 */
import { elementsOf, readXml, textOf, type XmlElement, XmlError, type XmlLimits } from '../xml.ts';

/** Twilio accepts 64 kB. The deepest nesting in TwiML is the speech markup in a verb's noun. */
const LIMITS: XmlLimits = { maxChars: 65_536, maxDepth: 10, maxElements: 500 };
/** The largest UTF-8 document with that many characters. */
export const TWIML_MAX_BYTES = 4 * LIMITS.maxChars;
const LOOPS_MAX = 1000;
/** Twilio has no limit. Ours is the longest silence that an app may ask for. */
const PAUSE_MAX_S = 300;
const DIGITS = /^[0-9*#wW]{1,100}$/;
/** How long a `<Dial>` rings: Twilio's own usual time, least and most. */
const RING_S = { usual: 30, min: 5, max: 600 };
const DIAL_MAX_CHARS = 256;

/** Where a document says to request the next one. */
export interface TwimlLink {
  /** Absolute, http or https. */
  readonly url: string;
  readonly method: 'GET' | 'POST';
  /** Nobody has named the method: an app that does not take POST there is asked by GET. */
  readonly orGet?: true;
}

/** `<Connect><ConversationRelay>`: the app, the options of its session, and the URL to request when it is over. */
export interface RelayVerb {
  /** `ws:` or `wss:`, as written in the document. */
  readonly url: string;
  /** The attributes, their names in lower case. */
  readonly attributes: Readonly<Record<string, string>>;
  /** `<Parameter>`s. */
  readonly parameters: Readonly<Record<string, string>>;
  /** The voices of `<Language>` elements, by language code in lower case. */
  readonly voices: Readonly<Record<string, string>>;
  /** Requested when the session is over; null = the next verb follows. */
  readonly action: TwimlLink | null;
}

/** `<Dial>` of a single number or SIP address. */
export interface DialVerb {
  /** As written; a `<Sip>` is an address with its scheme. */
  readonly to: string;
  /** `callerId`; null = the caller's own. */
  readonly from: string | null;
  /** How long it may ring. */
  readonly timeoutMs: number;
  /** Told when nobody took the call; null = the next verb follows. */
  readonly action: TwimlLink | null;
}

/**
 * One step of a document. `other` is a verb that we do not support; `takesCall` = it would hand the caller over or wait
 * for the caller.
 */
export type TwimlVerb =
  | {
      readonly type: 'say';
      readonly text: string;
      readonly voice: string | undefined;
      readonly language: string | undefined;
      readonly loop: number;
    }
  | { readonly type: 'play'; readonly url: string; readonly loop: number }
  | { readonly type: 'digits'; readonly digits: string; readonly loop: number }
  | { readonly type: 'pause'; readonly lengthMs: number }
  | { readonly type: 'relay'; readonly relay: RelayVerb }
  | { readonly type: 'dial'; readonly dial: DialVerb }
  | { readonly type: 'redirect'; readonly link: TwimlLink }
  | { readonly type: 'hangup' }
  | { readonly type: 'other'; readonly name: string; readonly takesCall: boolean };

/** A document: its `<Response>`, and the URL that it came from, which is the base of its relative addresses. */
export interface TwimlDocument {
  readonly response: XmlElement;
  readonly url: string;
}

/** Verbs that cannot be skipped, because the verbs after them rely on their result. */
const TAKES_CALL = [
  'connect',
  'dial',
  'enqueue',
  'gather',
  'leave',
  'pay',
  'prompt',
  'queue',
  'record',
  'refer',
  'conference',
];
/** Longest name in a log line or message. */
const NAME_MAX_CHARS = 40;

/**
 * The document that was fetched from `url`. An empty one has no verbs.
 * @throws XmlError when it is not TwiML, or too large
 */
export function readTwiml(text: string, url: string): TwimlDocument {
  if (text.trim() === '') return { response: { name: 'Response', attributes: {}, children: [] }, url };
  const response = readXml(text, LIMITS);
  if (response.name !== 'Response') throw new XmlError('its root element is not <Response>');
  return { response, url };
}

/** The verbs of a document, in order. A malformed verb counts as unsupported. */
export function verbsOf({ response, url }: TwimlDocument): TwimlVerb[] {
  return elementsOf(response).map((element) => readVerb(element, url));
}

function readVerb(element: XmlElement, base: string): TwimlVerb {
  switch (element.name.toLowerCase()) {
    case 'say':
      return {
        type: 'say',
        text: textOf(element).trim(),
        voice: given(element, 'voice'),
        language: given(element, 'language'),
        loop: loopOf(element),
      };
    case 'play':
      return readPlay(element, base) ?? other(element);
    case 'pause':
      return { type: 'pause', lengthMs: 1000 * wholeOf(attribute(element, 'length'), 1, PAUSE_MAX_S) };
    case 'connect':
      return readConnect(element, base) ?? other(element);
    case 'dial':
      return readDial(element, base) ?? other(element);
    case 'redirect':
      return readRedirect(element, base) ?? other(element);
    case 'hangup':
    case 'reject':
      return { type: 'hangup' };
    default:
      return other(element);
  }
}

function other({ name }: XmlElement): TwimlVerb {
  return { type: 'other', name: name.slice(0, NAME_MAX_CHARS), takesCall: TAKES_CALL.includes(name.toLowerCase()) };
}

function readPlay(element: XmlElement, base: string): TwimlVerb | null {
  const digits = attribute(element, 'digits');
  const loop = loopOf(element);
  if (digits !== undefined)
    return DIGITS.test(digits) ? { type: 'digits', digits: digits.replaceAll('W', 'ww'), loop } : null;
  const url = absolute(textOf(element).trim(), base);
  return url === null ? null : { type: 'play', url, loop };
}

function readRedirect(element: XmlElement, base: string): TwimlVerb | null {
  const url = absolute(textOf(element).trim(), base);
  return url === null ? null : { type: 'redirect', link: { url, method: methodOf(element) } };
}

/** Null = it is for several, or for somebody whom only Twilio knows: a client, a conference, a queue. */
function readDial(element: XmlElement, base: string): TwimlVerb | null {
  const [noun, another] = elementsOf(element);
  const kind = noun?.name.toLowerCase() ?? 'number';
  const text = textOf(noun ?? element).trim();
  if (another !== undefined || !['number', 'sip'].includes(kind)) return null;
  if (text === '' || text.length > DIAL_MAX_CHARS) return null;
  const action = absolute(attribute(element, 'action')?.trim() ?? '', base);
  const rings = wholeOf(attribute(element, 'timeout'), RING_S.usual, RING_S.max);
  const dial: DialVerb = {
    to: kind === 'sip' && !/^sips?:/i.test(text) ? `sip:${text}` : text,
    from: given(element, 'callerid') ?? null,
    timeoutMs: 1000 * Math.max(rings, RING_S.min),
    action: action === null ? null : { url: action, method: methodOf(element) },
  };
  return { type: 'dial', dial };
}

function readConnect(element: XmlElement, base: string): TwimlVerb | null {
  const relay = readRelay(element, base);
  return relay === null ? null : { type: 'relay', relay };
}

/**
 * Reads the ConversationRelay in a `<Connect>`; null = it connects to something else. `base` = the document's URL.
 */
export function readRelay(connect: XmlElement, base: string): RelayVerb | null {
  if (connect.name.toLowerCase() !== 'connect') return null;
  const noun = elementsOf(connect).find(({ name }) => name.toLowerCase() === 'conversationrelay');
  const url = noun === undefined ? undefined : attribute(noun, 'url')?.trim();
  if (noun === undefined || url === undefined || !isSocketUrl(url)) return null;
  const children = elementsOf(noun);
  const action = absolute(attribute(connect, 'action')?.trim() ?? '', base);
  return {
    url,
    attributes: lowerNames(noun),
    parameters: pairs(children, 'parameter', 'name', 'value', (name) => name),
    voices: pairs(children, 'language', 'code', 'voice', (code) => code.toLowerCase()),
    action: action === null ? null : { url: action, method: methodOf(connect) },
  };
}

function isSocketUrl(url: string): boolean {
  return URL.canParse(url) && /^wss?:$/.test(new URL(url).protocol) && new URL(url).hash === '';
}

/**
 * Maps attribute `key`, spelled by `spell`, to attribute `value` for all children of one kind. Children without them
 * are skipped.
 */
function pairs(
  children: readonly XmlElement[],
  kind: string,
  key: string,
  value: string,
  spell: (name: string) => string,
): Record<string, string> {
  const found: Record<string, string> = Object.create(null);
  for (const child of children.filter(({ name }) => name.toLowerCase() === kind)) {
    const name = attribute(child, key);
    const content = attribute(child, value);
    if (name !== undefined && name !== '' && content !== undefined) found[spell(name)] = content;
  }
  return found;
}

function lowerNames({ attributes }: XmlElement): Record<string, string> {
  const lower: Record<string, string> = Object.create(null);
  for (const [name, value] of Object.entries(attributes)) lower[name.toLowerCase()] ??= value;
  return lower;
}

/** The value of an attribute, whose `name` is in lower case. */
function attribute(element: XmlElement, name: string): string | undefined {
  return Object.entries(element.attributes).find(([own]) => own.toLowerCase() === name)?.[1];
}

function given(element: XmlElement, name: string): string | undefined {
  return attribute(element, name)?.trim() || undefined;
}

/** The method with which a verb requests the next document: POST unless it says GET. */
export function methodOf(element: XmlElement): 'GET' | 'POST' {
  return attribute(element, 'method')?.trim().toUpperCase() === 'GET' ? 'GET' : 'POST';
}

/** How often to repeat a verb. 0 in a document means as often as we allow. */
function loopOf(element: XmlElement): number {
  return wholeOf(attribute(element, 'loop'), 1, LOOPS_MAX) || LOOPS_MAX;
}

function wholeOf(text: string | undefined, usual: number, max: number): number {
  return text !== undefined && /^\d+$/.test(text.trim()) ? Math.min(Number(text), max) : usual;
}

/** The absolute form of an http or https address in a document; null = it is not valid. */
function absolute(address: string, base: string): string | null {
  if (address === '' || !URL.canParse(address, base)) return null;
  const url = new URL(address, base);
  url.hash = '';
  return /^https?:$/.test(url.protocol) ? url.href : null;
}
