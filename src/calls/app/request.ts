/**
 * What a stream asks of its app, in its custom parameters (TwiML's `<Parameter>`): which app, and the attributes of `<ConversationRelay>` that mean
 * something here, under their own names. Whatever is not among them is the app's own business and is passed on to it.
 */
import type { Settings } from '../../settings.ts';
import type { Interruptible } from '../bargein.ts';

type Parameters = Readonly<Record<string, string>>;
type AppSettings = Pick<Settings, 'APP_URL' | 'APP_ALLOWED_ORIGINS' | 'APP_GREETING' | 'APP_PARTIAL_PROMPTS'>;

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
  readonly ttsLanguage: string | undefined;
  readonly transcriptionLanguage: string;
  /** Subscriptions to `info` frames. */
  readonly speakerEvents: boolean;
  readonly tokensPlayed: boolean;
}

/** Ours, in lower case: TwiML libraries spell some of them so. */
const OWN_NAMES = [
  'app',
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
] as const;
type OwnName = (typeof OWN_NAMES)[number];

/** What the recogniser understands. */
const TRANSCRIPTION_LANGUAGE = 'en-US';

/** Which app a call is for and how it is to be held; null = none. `parameters` are those that {@link withoutStrangeApp} let through. */
export function readAppRequest(parameters: Parameters, settings: AppSettings): AppRequest | null {
  const own: Partial<Record<OwnName, string>> = {};
  for (const [name, value] of Object.entries(parameters)) {
    const lower = name.toLowerCase();
    if (isOwn(lower)) own[lower] = value;
  }
  const url = own.app ?? settings.APP_URL;
  if (url === '') return null;
  const events = own.events?.split(/\s+/) ?? [];
  return {
    url,
    customParameters: Object.fromEntries(Object.entries(parameters).filter(([name]) => !isOwn(name.toLowerCase()))),
    greeting: own.welcomegreeting ?? settings.APP_GREETING,
    greetingInterruptible: readKinds(own.welcomegreetinginterruptible),
    partialPrompts: readFlag(own.partialprompts) ?? settings.APP_PARTIAL_PROMPTS,
    interruptible: readKinds(own.interruptible),
    preemptible: readFlag(own.preemptible) ?? false,
    reportDuringSpeech: readKinds(own.reportinputduringagentspeech) ?? 'none',
    voice: own.voice,
    ttsLanguage: own.ttslanguage ?? own.language,
    transcriptionLanguage: own.transcriptionlanguage ?? own.language ?? TRANSCRIPTION_LANGUAGE,
    speakerEvents: events.includes('speaker-events'),
    tokensPlayed: events.includes('tokens-played'),
  };
}

/**
 * The parameters without an `app` that must not be dialled: one that is no WebSocket URL or, unless the stream is `vouched` for by a signed webhook,
 * one of an origin that the settings do not name. Otherwise whoever gets at the media door could have us connect to any host that we reach.
 */
export function withoutStrangeApp(parameters: Parameters, vouched: boolean, settings: AppSettings): Parameters {
  const entries = Object.entries(parameters);
  const [[, app] = []] = entries.filter(([name]) => isApp(name));
  if (app === undefined) return parameters;
  const others = Object.fromEntries(entries.filter(([name]) => !isApp(name)));
  return mayDial(app, vouched, settings) ? { ...others, app } : others;
}

function mayDial(app: string, vouched: boolean, { APP_URL, APP_ALLOWED_ORIGINS }: AppSettings): boolean {
  if (!URL.canParse(app)) return false;
  const { origin, protocol, hash } = new URL(app);
  if ((protocol !== 'wss:' && protocol !== 'ws:') || hash !== '') return false;
  return vouched || APP_ALLOWED_ORIGINS.includes(origin) || (APP_URL !== '' && origin === new URL(APP_URL).origin);
}

function isApp(name: string): boolean {
  return name.toLowerCase() === 'app';
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
