/** What the URL of a `POST /v1/listen` asks for (developers.deepgram.com, "Pre-recorded audio"). */
import { TrunklineError } from '../../../foundation/errors.ts';
import type { Codec } from '../../../foundation/units.ts';
import { parseMessage } from '../../../protocols/json.ts';
import { flagOf, hotWordsOf, languageOf, numberOf, otherNames, type Query, textOf, wrong } from './parameters.ts';

/** Pause between two utterances, in ms, where none is named. */
const UTTERANCE_SPLIT_MS = 800;
const SECONDS = /^\d{1,2}(?:\.\d{1,6})?$/;
const URL_MAX_CHARS = 4096;

const RAW = { linear16: 'pcm16', mulaw: 'mulaw', alaw: 'alaw' } as const satisfies Record<string, Codec['name']>;
const RATES = { min: 8000, max: 48_000, unit: 'Hz' };
const CHANNELS = { min: 1, max: 8, unit: '' };

const KNOWN = [
  ...['model', 'language', 'detect_language', 'keyterm', 'keywords', 'punctuate', 'smart_format', 'paragraphs'],
  ...['multichannel', 'diarize', 'utterances', 'utt_split', 'callback', 'callback_method', 'token'],
  ...['encoding', 'sample_rate', 'channels', 'mimetype'],
];

/** Options in the URL. */
export interface FileQuery {
  /** How bare samples come; null = the bytes say what they are. */
  readonly samples: Codec | null;
  /** Each channel by itself, else they are mixed. */
  readonly multichannel: boolean;
  /** Whether it is told who speaks: the speaker of a channel is its number. */
  readonly diarize: boolean;
  readonly utterances: boolean;
  /** Pause between two utterances of one speaker. */
  readonly utteranceSplitMs: number;
  readonly paragraphs: boolean;
  /** Whether texts have capitals and punctuation. */
  readonly isPunctuated: boolean;
  readonly detectLanguage: boolean;
  /** BCP 47; null = the recogniser finds out, or assumes. */
  readonly language: string | null;
  readonly hotWords: readonly string[];
  /** Where the answer is sent; null = it is the answer of the request. */
  readonly callback: string | null;
  /** Names of parameters that change nothing here. */
  readonly passedOver: readonly string[];
}

/** @throws TrunklineError `invalid_request` with the parameter, what came and what was expected */
export function readFileQuery(query: Query): FileQuery {
  const isSmart = flagOf(query, 'smart_format');
  return {
    samples: readSamples(query),
    multichannel: flagOf(query, 'multichannel'),
    diarize: flagOf(query, 'diarize'),
    utterances: flagOf(query, 'utterances'),
    utteranceSplitMs: readSplit(textOf(query, 'utt_split')),
    paragraphs: flagOf(query, 'paragraphs') || isSmart,
    isPunctuated: flagOf(query, 'punctuate') || flagOf(query, 'paragraphs') || isSmart,
    detectLanguage: readDetection(query),
    language: languageOf(query),
    hotWords: hotWordsOf(query),
    callback: readCallback(query),
    passedOver: otherNames(query, KNOWN),
  };
}

/** Of other encodings than those of samples the bytes themselves tell. */
function readSamples(query: Query): Codec | null {
  const encoding = textOf(query, 'encoding')?.toLowerCase() ?? '';
  const rateHz = numberOf(query, 'sample_rate', RATES);
  const channels = numberOf(query, 'channels', CHANNELS) ?? 1;
  if (!Object.hasOwn(RAW, encoding)) return null;
  const name = RAW[encoding as keyof typeof RAW];
  if (rateHz === null && name === 'pcm16') throw wrong('sample_rate', undefined, 'the rate of linear16 in Hz');
  return { name, rateHz: rateHz ?? RATES.min, channels, bytesPerSample: name === 'pcm16' ? 2 : 1 };
}

function readSplit(text: string | null): number {
  if (text === null) return UTTERANCE_SPLIT_MS;
  if (!SECONDS.test(text)) throw wrong('utt_split', text, 'seconds, such as 0.8');
  return Number(text) * 1000;
}

/** A client may name the languages among which to choose. */
function readDetection(query: Query): boolean {
  const text = textOf(query, 'detect_language');
  return text !== null && !['true', 'false', '1', '0'].includes(text.toLowerCase())
    ? true
    : flagOf(query, 'detect_language');
}

function readCallback(query: Query): string | null {
  const method = textOf(query, 'callback_method');
  if (method !== null && method.toLowerCase() !== 'post') throw wrong('callback_method', method, 'post');
  const callback = textOf(query, 'callback');
  return callback === null ? null : webUrl(callback, 'callback');
}

/**
 * The URL in the body of a request that sends no recording.
 * @throws TrunklineError `message_malformed` or `invalid_request`
 */
export function readFileUrl(body: string): string {
  const { url } = parseMessage(body);
  if (typeof url === 'string') return webUrl(url, 'url');
  throw wrong('url', url, 'the URL of a recording, or a recording as the body');
}

function webUrl(text: string, name: string): string {
  const isUrl = text.length <= URL_MAX_CHARS && /^https?:\/\//i.test(text) && URL.canParse(text);
  if (isUrl) return text;
  throw new TrunklineError(
    'invalid_request',
    `${name}: got a string of ${text.length} characters, expected an http or https URL of at most ${URL_MAX_CHARS}`,
    name,
  );
}
