/** What an AudioHook client says of its session when it opens it. */
import { TrunklineError } from '../../../foundation/errors.ts';
import { ALAW_8K, type Codec, MULAW_8K } from '../../../foundation/units.ts';
import type { CallStart, Track } from '../../../protocols/dialect.ts';
import { identifierAt, isObject, type Json, malformed, objectAt, textAt } from '../../../protocols/json.ts';

const NO_UUID = '00000000-0000-0000-0000-000000000000';
const RATE_HZ = 8000;
const CODECS: Readonly<Record<string, Codec>> = { PCMU: MULAW_8K, PCMA: ALAW_8K };
const OFFERS_MAX = 16;
/** The far party speaks on `external`, the agent on `internal`. */
const TRACKS: Readonly<Record<string, Track>> = { external: 'inbound', internal: 'outbound' };
const PARAMETERS_MAX = 64;
const SESSION_ID = /^[!-~]{1,128}$/;
/** A conversation is not reconnected more often than that. */
const CONTINUED_MAX = 32;

/** One of the client's offers, as it came and as we read it. */
export interface AudioHookMedia {
  readonly offer: Json;
  readonly codec: Codec;
  /** In the order of the samples. */
  readonly tracks: readonly Track[];
}

/** What was opened. */
export interface AudioHookOpening {
  /** Null = a probe: nothing will be said, and it is no call. */
  readonly start: CallStart | null;
  /** Null = of none. */
  readonly media: AudioHookMedia | null;
  /** Whether the client asks which languages are understood. */
  readonly asksLanguages: boolean;
  /** Ids of the sessions that this one goes on with; empty = it is the first. */
  readonly continues: readonly string[];
}

/**
 * Reads the parameters of `open`. Of the offers the one with both sides goes first.
 * @throws TrunklineError `message_malformed`; `codec_unsupported` when nothing is offered that we take
 */
export function readOpen(message: Json, streamId: string): AudioHookOpening {
  const sessionId = identifierAt(message, 'id');
  const parameters = objectAt(message, 'parameters');
  const conversationId = identifierAt(parameters, 'conversationId', 'parameters.conversationId');
  const participant = objectAt(parameters, 'participant', 'parameters.participant');
  const asksLanguages = parameters['supportedLanguages'] === true;
  const media = chooseMedia(parameters['media']);
  const continues = readContinued(parameters['continuedSessions']);
  if (conversationId === NO_UUID || participant['id'] === NO_UUID)
    return { start: null, media, asksLanguages, continues: [] };
  if (media === null) throw new TrunklineError('codec_unsupported', 'got no media offer, expected PCMU at 8000 Hz');
  const start: CallStart = {
    carrier: 'genesys',
    callId: sessionId,
    streamId,
    from: textAt(participant, 'ani'),
    to: textAt(participant, 'dnis'),
    tracks: media.tracks,
    codec: media.codec,
    timed: true,
    playback: 'none',
    parameters: parametersOf(parameters, participant),
    references: { conversationId, ...(continues.length > 0 && { continuedSessions: continues.join(' ') }) },
  };
  return { start, media, asksLanguages, continues };
}

/** What cannot be read is left out: the conversation is worth more than its past. */
function readContinued(sessions: unknown): string[] {
  if (!Array.isArray(sessions)) return [];
  const ids = sessions.slice(0, CONTINUED_MAX).map((session) => (isObject(session) ? session['id'] : null));
  return ids.filter((id): id is string => typeof id === 'string' && SESSION_ID.test(id));
}

/** The text values of customConfig are parameters of the call, after what names the conversation. */
function parametersOf(parameters: Json, participant: Json): Readonly<Record<string, string>> {
  const config = isObject(parameters['customConfig']) ? parameters['customConfig'] : {};
  const custom = Object.entries(config).filter((entry): entry is [string, string] => typeof entry[1] === 'string');
  const named: readonly (readonly [string, string | null])[] = [
    ['conversationId', textAt(parameters, 'conversationId')],
    ['organizationId', textAt(parameters, 'organizationId')],
    ['callerName', textAt(participant, 'aniName')],
    ['language', textAt(parameters, 'language')],
  ];
  const result: Record<string, string> = Object.create(null);
  for (const [name, value] of [...custom.slice(0, PARAMETERS_MAX), ...named]) if (value !== null) result[name] = value;
  return result;
}

function chooseMedia(offers: unknown): AudioHookMedia | null {
  if (!Array.isArray(offers)) throw malformed('parameters.media', offers, 'a list');
  const readable = offers
    .slice(0, OFFERS_MAX)
    .map(readOffer)
    .filter((media) => media !== null);
  const [first] = readable.sort((a, b) => rank(b) - rank(a));
  if (first === undefined && offers.length > 0) {
    throw new TrunklineError('codec_unsupported', 'got media offers that are not PCMU or PCMA at 8000 Hz');
  }
  return first ?? null;
}

function rank({ tracks }: AudioHookMedia): number {
  return 2 * tracks.length + (tracks.includes('inbound') ? 1 : 0);
}

function readOffer(offer: unknown): AudioHookMedia | null {
  if (!isObject(offer) || offer['type'] !== 'audio' || offer['rate'] !== RATE_HZ) return null;
  const { format, channels } = offer;
  const codec = typeof format === 'string' && Object.hasOwn(CODECS, format) ? CODECS[format] : undefined;
  if (codec === undefined || !Array.isArray(channels)) return null;
  const tracks = channels.map(readChannel).filter((track) => track !== null);
  if (tracks.length !== channels.length || tracks.length === 0 || new Set(tracks).size !== tracks.length) return null;
  return { offer, codec, tracks };
}

function readChannel(channel: unknown): Track | null {
  return typeof channel === 'string' && Object.hasOwn(TRACKS, channel) ? (TRACKS[channel] ?? null) : null;
}
