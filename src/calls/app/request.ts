/**
 * What a stream asks of its app, in its custom parameters (TwiML's `<Parameter>`): which app, and the attributes of
 * `<ConversationRelay>` that mean something here, under their own names. Whatever is not among them is the app's own
 * business and is passed on to it.
 */

import type { Settings } from '../../foundation/settings/settings.ts';
import type { CallStart } from '../../protocols/dialect.ts';
import type { RelayVerb } from '../../protocols/twiml/document.ts';
import type { Interruptible } from '../outbound/barge-in.ts';
import { appAddress } from './reachability.ts';

type Parameters = Readonly<Record<string, string>>;
/** The settings that say which app a call is for. */
export type AppSettings = Pick<
  Settings,
  'APP_URL' | 'APP_TWIML_URL' | 'APP_ALLOWED_ORIGINS' | 'APP_GREETING' | 'APP_PARTIAL_PROMPTS'
>;

/** How one call is to be held with its app. */
export interface AppRequest {
  /** `ws:` or `wss:` */
  readonly url: string;
  /** Those that are not for us. */
  readonly customParameters: Parameters;
  /** Said at once; '' = nothing. */
  readonly greeting: string;
  readonly greetingInterruptible: Interruptible | undefined;
  readonly partialPrompts: boolean;
  /** Of whatever the app says without saying so itself; undefined = as the gateway is set. */
  readonly interruptible: Interruptible | undefined;
  readonly preemptible: boolean;
  /** Input while the app talks that does not interrupt it: which kinds are told. */
  readonly reportDuringSpeech: Interruptible;
  readonly voice: string | undefined;
  /** Voices for languages (BCP 47 in lower case) in place of `voice`. */
  readonly voices: Readonly<Record<string, string>>;
  readonly ttsLanguage: string | undefined;
  /** Undefined = it names none. */
  readonly transcriptionLanguage: string | undefined;
  /** Subscriptions to `info` frames. */
  readonly speakerEvents: boolean;
  readonly tokensPlayed: boolean;
  readonly answerEvents: boolean;
  /** Whether keys are told. */
  readonly dtmf: boolean;
  /**
   * A document named the URL, and not the operator: a private address may not be dialled unless OUTBOUND_ALLOW names
   * it.
   */
  readonly guarded: boolean;
}

/** Ours, in lower case: TwiML libraries spell some of them so. */
const OWN_NAMES = [
  'app',
  'twiml',
  'after',
  'welcomegreeting',
  'welcomegreetinginterruptible',
  'partialprompts',
  'interruptible',
  'preemptible',
  'reportinputduringagentspeech',
  'voice',
  'language',
  'ttslanguage',
  'transcriptionlanguage',
  'events',
  'debug',
  'dtmfdetection',
] as const;
type OwnName = (typeof OWN_NAMES)[number];

/**
 * Which app a call is for and how it is to be held; null = none. `parameters` are those that {@link
 * withoutForbiddenApp} let through.
 */
export function readAppRequest(parameters: Parameters, settings: AppSettings): AppRequest | null {
  const own = ownAmong(parameters);
  const url = own.app ?? settings.APP_URL;
  if (url === '') return null;
  const events = `${own.events ?? ''} ${own.debug ?? ''}`.split(/\s+/);
  return {
    url,
    customParameters: foreignAmong(parameters),
    greeting: own.welcomegreeting ?? settings.APP_GREETING,
    greetingInterruptible: readKinds(own.welcomegreetinginterruptible),
    partialPrompts: readFlag(own.partialprompts) ?? settings.APP_PARTIAL_PROMPTS,
    interruptible: readKinds(own.interruptible),
    preemptible: readFlag(own.preemptible) ?? false,
    reportDuringSpeech: readKinds(own.reportinputduringagentspeech) ?? 'none',
    voice: own.voice?.trim() || undefined,
    voices: {},
    ttsLanguage: own.ttslanguage ?? own.language,
    transcriptionLanguage: own.transcriptionlanguage ?? own.language,
    speakerEvents: events.includes('speaker-events'),
    tokensPlayed: events.includes('tokens-played'),
    answerEvents: events.includes('answered'),
    dtmf: readFlag(own.dtmfdetection) ?? true,
    guarded: false,
  };
}

/** The parameter `name`, whatever the case in which it was written. `name` is in lower case. */
export function callParameter(parameters: Parameters, name: string): string | undefined {
  return Object.entries(parameters).find(([given]) => given.toLowerCase() === name)?.[1];
}

function ownAmong(parameters: Parameters): Partial<Record<OwnName, string>> {
  const own: Partial<Record<OwnName, string>> = {};
  for (const [name, value] of Object.entries(parameters)) {
    const lower = name.toLowerCase();
    if (isOwn(lower)) own[lower] ??= value;
  }
  return own;
}

function foreignAmong(parameters: Parameters): Parameters {
  return Object.fromEntries(Object.entries(parameters).filter(([name]) => !isOwn(name.toLowerCase())));
}

/**
 * How a session is to be held that a document asks for. `parameters` are the call's own: the app gets them beside those
 * of the document.
 */
export function readRelayRequest(relay: RelayVerb, parameters: Parameters, settings: AppSettings): AppRequest {
  const { url, attributes, voices } = relay;
  // Keys are told only where the document says so, as with Twilio.
  const request = readAppRequest({ dtmfdetection: 'false', ...attributes }, { ...settings, APP_URL: url });
  if (request === null) throw new RangeError('a session without an app');
  return {
    ...request,
    url,
    voices,
    guarded: true,
    customParameters: { ...foreignAmong(parameters), ...relay.parameters },
  };
}

/**
 * Where the app's TwiML for a call is asked for; null = nowhere. What the call itself says goes before the settings.
 */
export function twimlUrlOf(parameters: Parameters, settings: AppSettings): string | null {
  const own = ownAmong(parameters);
  if (own.twiml !== undefined) return own.twiml;
  return own.app === undefined && settings.APP_TWIML_URL !== '' ? settings.APP_TWIML_URL : null;
}

/**
 * The address of the app of a call, or of the TwiML that says who talks, without user, password, query and fragment;
 * null = there is none, or the call's carrier takes no sound. `flow` = the flow that the call follows, in place of all
 * apps.
 */
export function appAddressOf(start: CallStart, settings: AppSettings, flow: string | null): string | null {
  const { parameters, relay, playback } = start;
  if (playback === 'none') return null;
  if (flow !== null) return `flow:${flow}`;
  const own = ownAmong(parameters).app ?? settings.APP_URL;
  const url = relay === undefined ? (twimlUrlOf(parameters, settings) ?? own) : (relay?.url ?? '');
  return URL.canParse(url) ? appAddress(url) : null;
}

/**
 * The parameters without an `app` that must not be dialled and without a `twiml` that must not be asked: one that is no
 * such URL or, unless the stream is `trusted`, one of an origin that the settings do not name. Otherwise whoever
 * reaches the media endpoint could make us connect to any host that we can reach.
 */
export function withoutForbiddenApp(parameters: Parameters, trusted: boolean, settings: AppSettings): Parameters {
  const { app, twiml } = ownAmong(parameters);
  const others = Object.entries(parameters).filter(([name]) => !['app', 'twiml'].includes(name.toLowerCase()));
  return {
    ...Object.fromEntries(others),
    ...(app !== undefined && mayDial(app, trusted, settings) ? { app } : {}),
    ...(twiml !== undefined && mayAskTwiml(twiml, trusted, settings) ? { twiml } : {}),
  };
}

function mayDial(app: string, trusted: boolean, settings: AppSettings): boolean {
  if (!URL.canParse(app)) return false;
  const { origin, protocol, hash } = new URL(app);
  if ((protocol !== 'wss:' && protocol !== 'ws:') || hash !== '') return false;
  return trusted || isKnownOrigin(origin, settings);
}

/** Whether TwiML may be requested from `url`; `trusted` = a signed webhook gave it, or a peer that showed a secret. */
export function mayAskTwiml(url: string, trusted: boolean, settings: AppSettings): boolean {
  if (!URL.canParse(url)) return false;
  const { origin, protocol } = new URL(url);
  if (protocol !== 'https:' && protocol !== 'http:') return false;
  return trusted || isKnownOrigin(origin.replace(/^http/, 'ws'), settings);
}

/** `origin` begins with `ws:` or `wss:`; one of http stands for that of ws on the same host and port. */
function isKnownOrigin(origin: string, { APP_URL, APP_TWIML_URL, APP_ALLOWED_ORIGINS }: AppSettings): boolean {
  const own = [APP_URL, APP_TWIML_URL]
    .filter((url) => url !== '')
    .map((url) => new URL(url).origin.replace(/^http/, 'ws'));
  return APP_ALLOWED_ORIGINS.includes(origin) || own.includes(origin);
}

function isOwn(lower: string): lower is OwnName {
  return (OWN_NAMES as readonly string[]).includes(lower);
}

/** What is neither is as if it was not there: attributes of TwiML are written by hand. */
function readFlag(value: string | undefined): boolean | undefined {
  if (value === 'true') return true;
  return value === 'false' ? false : undefined;
}

function readKinds(value: string | undefined): Interruptible | undefined {
  switch (value) {
    case 'none':
    case 'dtmf':
    case 'speech':
    case 'any':
      return value;
    case 'true':
      return 'any';
    case 'false':
      return 'none';
    default:
      return undefined;
  }
}
