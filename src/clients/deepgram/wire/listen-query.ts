/** What the URL of a live `/v1/listen` asks for (developers.deepgram.com, "Live audio"). */
import {
  flagOf,
  hotWordsOf,
  languageOf,
  numberOf,
  otherNames,
  type Query,
  shareOf,
  textOf,
  wrong,
} from './parameters.ts';

/** How audio comes. `linear32`: floats; `opus`: each message is one packet (RFC 6716). */
export interface DeepgramAudio {
  readonly encoding: 'linear16' | 'linear32' | 'mulaw' | 'alaw' | 'opus';
  readonly rateHz: number;
  readonly channels: number;
}

/** Options in the URL of `/v1/listen`. */
export interface ListenQuery {
  /** Null = in a file format that its first bytes say. */
  readonly audio: DeepgramAudio | null;
  /** Each channel by itself; else they are mixed. */
  readonly multichannel: boolean;
  readonly interimResults: boolean;
  /** Ms of silence; false = silence ends nothing; null = not said. */
  readonly endpointing: number | false | null;
  /** Ms without a word after which `UtteranceEnd` is told; null = never. */
  readonly utteranceEndMs: number | null;
  readonly vadEvents: boolean;
  /** Whether texts have capitals and punctuation. */
  readonly isPunctuated: boolean;
  /** BCP 47; null = the recogniser finds out, or assumes. */
  readonly language: string | null;
  readonly hotWords: readonly string[];
  /** The live call whose tracks are wanted, an addition of ours; null = audio is sent. */
  readonly callId: string | null;
  /** Names of parameters that change nothing here. */
  readonly passedOver: readonly string[];
}

/** Options in the URL of `/v2/listen` ("Flux"). */
export interface FluxQuery {
  readonly audio: DeepgramAudio | null;
  /** Whether the languages of turns are told: `flux-general-multi`. */
  readonly isMultilingual: boolean;
  /** From this confidence on `EagerEndOfTurn` is told; null = never. */
  readonly eagerThreshold: number | null;
  /** Confidence that ends a turn; null = not said. */
  readonly threshold: number | null;
  /** Silence that ends a turn in any case. */
  readonly timeoutMs: number;
  readonly language: string | null;
  readonly hotWords: readonly string[];
  readonly passedOver: readonly string[];
}

const ENCODINGS = ['linear16', 'linear32', 'mulaw', 'alaw', 'opus'] as const;
/** Deepgram's names for what its first bytes say in any case. */
const FILE_ENCODINGS = ['ogg-opus', 'flac'];
/** Rates that go without saying. */
const USUAL_RATES: Partial<Readonly<Record<DeepgramAudio['encoding'], number>>> = {
  mulaw: 8000,
  alaw: 8000,
  opus: 48_000,
};
const RATES = { min: 8000, max: 48_000, unit: 'Hz' };
/** Each costs the engines as much as a call. */
const CHANNELS = { min: 1, max: 8, unit: '' };
/** Of one stream (RFC 7845 §5.1.1). */
const OPUS_CHANNELS_MAX = 2;
const SILENCE = { min: 0, max: 60_000, unit: 'ms' };
const TIMEOUT_MS = 5000;
/** A word's end is known some hundred ms after it. */
const UTTERANCE_END_MIN_MS = 100;

const AUDIO_NAMES = ['encoding', 'sample_rate', 'channels'];
const SHARED_NAMES = [...AUDIO_NAMES, 'model', 'language', 'keyterm', 'token'];
const LISTEN_NAMES = [
  ...SHARED_NAMES,
  'multichannel',
  'interim_results',
  'endpointing',
  'utterance_end_ms',
  'vad_events',
  'punctuate',
  'smart_format',
  'keywords',
  'call',
];
const MULTILINGUAL_MODEL = 'flux-general-multi';
const FLUX_NAMES = [...SHARED_NAMES, 'eager_eot_threshold', 'eot_threshold', 'eot_timeout_ms', 'language_hint'];

/** @throws TrunklineError `invalid_request` with the parameter, what came and what was expected */
export function readListenQuery(query: Query): ListenQuery {
  if (textOf(query, 'callback') !== null)
    throw wrong('callback', textOf(query, 'callback'), 'nothing: live results come over the socket');
  const utteranceEndMs = numberOf(query, 'utterance_end_ms', { ...SILENCE, min: UTTERANCE_END_MIN_MS });
  return {
    audio: readAudio(query),
    multichannel: flagOf(query, 'multichannel'),
    interimResults: flagOf(query, 'interim_results'),
    endpointing: readEndpointing(query),
    utteranceEndMs,
    vadEvents: flagOf(query, 'vad_events'),
    isPunctuated: flagOf(query, 'punctuate') || flagOf(query, 'smart_format'),
    language: languageOf(query),
    hotWords: hotWordsOf(query),
    callId: textOf(query, 'call'),
    passedOver: otherNames(query, LISTEN_NAMES),
  };
}

/** @throws TrunklineError `invalid_request` as {@link readListenQuery} */
export function readFluxQuery(query: Query): FluxQuery {
  return {
    audio: readAudio(query),
    isMultilingual: textOf(query, 'model') === MULTILINGUAL_MODEL,
    eagerThreshold: shareOf(query, 'eager_eot_threshold'),
    threshold: shareOf(query, 'eot_threshold'),
    timeoutMs: numberOf(query, 'eot_timeout_ms', { ...SILENCE, min: 500 }) ?? TIMEOUT_MS,
    language: languageOf(query) ?? textOf(query, 'language_hint'),
    hotWords: hotWordsOf(query),
    passedOver: otherNames(query, FLUX_NAMES),
  };
}

function readAudio(query: Query): DeepgramAudio | null {
  const name = textOf(query, 'encoding')?.toLowerCase();
  const channels = numberOf(query, 'channels', CHANNELS) ?? 1;
  const rateHz = numberOf(query, 'sample_rate', RATES);
  if (name === undefined || FILE_ENCODINGS.includes(name)) return null;
  const encoding = ENCODINGS.find((each) => each === name);
  if (encoding === undefined) throw wrong('encoding', name, [...ENCODINGS, ...FILE_ENCODINGS].join(', '));
  if (encoding === 'opus' && channels > OPUS_CHANNELS_MAX)
    throw wrong('channels', String(channels), `1 or ${OPUS_CHANNELS_MAX} of opus`);
  const usualHz = rateHz ?? USUAL_RATES[encoding];
  if (usualHz === undefined) throw wrong('sample_rate', undefined, `the rate of ${encoding} in Hz`);
  return { encoding, rateHz: usualHz, channels };
}

function readEndpointing(query: Query): number | false | null {
  const text = textOf(query, 'endpointing')?.toLowerCase();
  if (text === undefined || text === 'true') return null;
  return text === 'false' ? false : numberOf(query, 'endpointing', SILENCE);
}
