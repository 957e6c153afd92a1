/** The query of Deepgram's `/v1/speak` and `/v2/speak` (developers.deepgram.com, "Text to Speech"). */
import { SPEED_MAX, SPEED_MIN } from '../../../../engine/contract.ts';
import { MP3_RATES_HZ } from '../../../audio/encode.ts';
import { TrunklineError } from '../../../foundation/errors.ts';
import { otherNames, type Query, textOf, wrong } from './parameters.ts';

const RAW_ENCODINGS = ['linear16', 'mulaw', 'alaw'] as const;
const ENCODINGS = [...RAW_ENCODINGS, 'mp3', 'opus', 'flac', 'aac'] as const;
/** Rates of companded samples, in Hz; the first is meant where none is named. */
const COMPANDED_RATES_HZ: readonly number[] = [8000, 16_000];
const LINEAR_RATE_HZ = 24_000;

const MODEL_MAX_CHARS = 64;
/** `aura-2-celeste-es` and `flux-celeste-es` speak Spanish. */
const MODEL_LANGUAGE = /^(?:aura|flux)-.*-([a-z]{2})$/i;

/** What says how speech is made is read; what says how it is billed, named or improved changes nothing here. */
const KNOWN = [
  ...['model', 'encoding', 'container', 'sample_rate', 'speed'],
  ...['bit_rate', 'mip_opt_out', 'tag', 'token', 'callback_method', 'priority'],
];

export type SpeakEncoding = (typeof ENCODINGS)[number];

/** Whether it is an encoding of bare samples. */
export function isRaw(encoding: SpeakEncoding): encoding is (typeof RAW_ENCODINGS)[number] {
  return RAW_ENCODINGS.some((each) => each === encoding);
}

/** How speech is to be sent. */
export interface SpeakFormat {
  readonly encoding: SpeakEncoding;
  readonly container: 'none' | 'wav' | 'ogg';
  /** Null = the usual rate of the encoding. */
  readonly rateHz: (typeof MP3_RATES_HZ)[number] | null;
}

/** A query that has been read. */
export interface SpeakQuery {
  /** The voice by its name, Deepgram's or ours; null = none is named. */
  readonly model: string | null;
  /** BCP-47, as the model's name says; null = it says nothing. */
  readonly language: string | null;
  readonly format: SpeakFormat;
  /** 1 = the voice's own. */
  readonly speed: number;
  /** Names of parameters that mean nothing here. */
  readonly passedOver: readonly string[];
}

/**
 * Reads the query of a POST, where a file of any encoding is made, or of a WebSocket, which has bare samples alone.
 * @throws TrunklineError `invalid_request`
 */
export function readSpeakQuery(query: Query, use: 'file' | 'socket'): SpeakQuery {
  const model = textOf(query, 'model');
  if (model !== null && model.length > MODEL_MAX_CHARS)
    throw wrong('model', model, `a name of at most ${MODEL_MAX_CHARS} characters`);
  if (textOf(query, 'callback') !== null)
    throw new TrunklineError(
      'invalid_request',
      'callback: got a URL, expected none: speech is the answer itself here',
      'callback',
    );
  return {
    model,
    language: MODEL_LANGUAGE.exec(model ?? '')?.[1] ?? null,
    format: readFormat(query, use),
    speed: readSpeed(textOf(query, 'speed')),
    passedOver: otherNames(query, KNOWN),
  };
}

function readFormat(query: Query, use: 'file' | 'socket'): SpeakFormat {
  const encodings = use === 'file' ? ENCODINGS : RAW_ENCODINGS;
  const asked = textOf(query, 'encoding') || (use === 'file' ? 'mp3' : 'linear16');
  const encoding = encodings.find((each) => each === asked);
  if (encoding === undefined) throw wrong('encoding', asked, `one of ${encodings.join(', ')}`);
  const containers = containersOf(encoding, use);
  const wanted = textOf(query, 'container') || containers[0];
  const container = containers.find((each) => each === wanted);
  if (container === undefined) throw wrong('container', wanted, `${containers.join(' or ')} with ${encoding}`);
  return { encoding, container, rateHz: readRate(textOf(query, 'sample_rate'), encoding) };
}

/** The containers of an encoding; the first is meant where none is named. */
function containersOf(encoding: SpeakEncoding, use: 'file' | 'socket'): readonly SpeakFormat['container'][] {
  if (encoding === 'opus') return ['ogg'];
  if (!isRaw(encoding) || use === 'socket') return ['none'];
  return ['wav', 'none'];
}

function readRate(asked: string | null, encoding: SpeakEncoding): SpeakFormat['rateHz'] {
  if (asked === null) return usualRateHz(encoding);
  const isCompanded = encoding === 'mulaw' || encoding === 'alaw';
  const rates = isCompanded ? MP3_RATES_HZ.filter((rateHz) => COMPANDED_RATES_HZ.includes(rateHz)) : MP3_RATES_HZ;
  const rate = rates.find((rateHz) => String(rateHz) === asked);
  if (rate === undefined) throw wrong('sample_rate', asked, `one of ${rates.join(', ')} with ${encoding}`);
  return rate;
}

function usualRateHz(encoding: SpeakEncoding): SpeakFormat['rateHz'] {
  if (encoding === 'linear16') return LINEAR_RATE_HZ;
  return encoding === 'mulaw' || encoding === 'alaw' ? 8000 : null;
}

function readSpeed(asked: string | null): number {
  if (asked === null) return 1;
  const speed = /^\d{1,2}(\.\d{1,6})?$/.test(asked) ? Number(asked) : Number.NaN;
  if (speed >= SPEED_MIN && speed <= SPEED_MAX) return speed;
  throw wrong('speed', asked, `a number from ${SPEED_MIN} to ${SPEED_MAX}`);
}
