/** Codecs as carriers name them in the first message of a stream. */
import { TrunklineError } from '../foundation/errors.ts';
import { type Codec, MULAW_8K } from '../foundation/units.ts';
import { describe } from './json.ts';

/**
 * Encodings by their names in lower case: https://www.iana.org/assignments/media-types (audio) with Twilio's `x-`, and
 * SDP's short ones.
 */
const ENCODINGS: Readonly<Record<string, Codec['name']>> = {
  'audio/x-mulaw': 'mulaw',
  pcmu: 'mulaw',
  mulaw: 'mulaw',
  'audio/x-alaw': 'alaw',
  pcma: 'alaw',
  'audio/x-l16': 'pcm16',
  'audio/l16': 'pcm16',
  l16: 'pcm16',
  'audio/x-raw': 'pcm16',
  'raw/slin': 'pcm16',
  base64: 'pcm16',
};

const PARAMETER = /^([\w-]+)\s*=\s*"?(\d{1,6})"?$/;

/** Rates that linear PCM comes in somewhere. */
const LINEAR_RATES_HZ = [8000, 16_000, 22_050, 24_000, 48_000];

const PARAMETERS_MAX = 8;

/**
 * A content type as the format that it declares: `audio/l16;rate=16000;channels=1` (RFC 2045 §5.1, RFC 2586).
 * Parameters come in any order, their names in any case, their values with or without quotes; those that we do not know
 * are passed over. Anything but a text declares nothing.
 */
export function parseContentType(value: unknown): DeclaredFormat {
  if (typeof value !== 'string') return { encoding: value, rate: undefined };
  const [encoding = '', ...parameters] = value.split(';', PARAMETERS_MAX + 1).map((part) => part.trim());
  const numberIn = (name: string) =>
    parameters.map((each) => PARAMETER.exec(each)).find((match) => match?.[1]?.toLowerCase() === name)?.[2];
  return { encoding, rate: numberIn('rate'), channels: numberIn('channels') };
}

/** A format as a carrier declared it; absent channels are one. */
export interface DeclaredFormat {
  readonly encoding: unknown;
  readonly rate: unknown;
  readonly channels?: unknown;
}

/**
 * The codec of a declared format.
 * @param accepted the carrier's encodings, as its documents spell them
 * @param name what a complaint calls the format
 * @param hint what to do about a codec that is not taken
 * @throws TrunklineError `codec_unsupported`
 */
export function readCodec(format: DeclaredFormat, accepted: readonly string[], name: string, hint = ''): Codec {
  const { encoding, rate, channels = 1 } = format;
  const lower = typeof encoding === 'string' ? encoding.toLowerCase() : '';
  const known =
    accepted.some((each) => each.toLowerCase() === lower) && Object.hasOwn(ENCODINGS, lower)
      ? ENCODINGS[lower]
      : undefined;
  const rateHz = numberOf(rate);
  if (known !== undefined && ratesOf(known).includes(rateHz) && numberOf(channels) === 1) return codec(known, rateHz);
  const expected = accepted.map((each) => `${each}, ${rangeOf(each)}, 1`).join('; ');
  const got = `encoding ${describe(encoding)}, sampleRate ${describe(rate)}, channels ${describe(channels)}`;
  throw new TrunklineError('codec_unsupported', `${name}: got ${got}, expected ${expected}${hint}`);
}

/** Of a number or a text; anything else is none. `Number` would look into lists and objects, as deep as they go. */
function numberOf(value: unknown): number {
  return typeof value === 'number' || typeof value === 'string' ? Number(value) : Number.NaN;
}

function ratesOf(name: Codec['name']): readonly number[] {
  return name === 'pcm16' ? LINEAR_RATES_HZ : [MULAW_8K.rateHz];
}

function rangeOf(encoding: string): string {
  const rates = ratesOf(ENCODINGS[encoding.toLowerCase()] ?? 'mulaw');
  return rates.length === 1 ? String(rates[0]) : `${rates[0]} to ${rates.at(-1)}`;
}

function codec(name: Codec['name'], rateHz: number): Codec {
  if (name === 'mulaw') return MULAW_8K;
  return { name, rateHz, channels: 1, bytesPerSample: name === 'pcm16' ? 2 : 1 };
}

/** The two bytes of each sample the other way round, in memory of their own; an odd byte at the end is left out. */
export function swapByteOrder(bytes: Uint8Array): Uint8Array {
  return Buffer.from(bytes.subarray(0, bytes.length & ~1)).swap16();
}
