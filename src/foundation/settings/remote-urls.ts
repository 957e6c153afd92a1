/** ASR_URL and TTS_URL: servers that recognise or speak for this one, as they are written. */
import { z } from 'zod';
import { type SettingSpec, splitList } from './setting-kinds.ts';

/** The servers that are taken at most; more are no longer told apart in metrics. */
const SERVERS_MAX = 16;
const WEIGHT_MAX = 100;
const IN_FLIGHT_MAX = 1000;
const RATE_MIN_HZ = 8000;
const RATE_MAX_HZ = 48_000;

/** What the first part of a URL of ASR_URL may be; it says which protocol the server speaks. */
export const ASR_SCHEMES = ['http', 'https', 'triton', 'sherpa+ws', 'wyoming'] as const;
export type AsrScheme = (typeof ASR_SCHEMES)[number];

/** The same of TTS_URL. */
export const TTS_SCHEMES = ['http', 'https'] as const;

/** One server of ASR_URL or TTS_URL. */
export interface RemoteUrl<S extends string = string> {
  readonly scheme: S;
  /** Without the options behind it. */
  readonly url: URL;
  /** It gets so many parts of the work, beside the others' weights. */
  readonly weight: number;
  /** Requests at the same time at most; null = what suits the protocol. */
  readonly inFlightMax: number | null;
  /** What it understands, in BCP-47; empty = what the embedded recogniser understands. */
  readonly languages: readonly string[];
  /** The rate of the bare samples that it is asked for; null = it is asked for a WAV file, which says its own. */
  readonly rateHz: number | null;
  /** The voices that it is asked for; empty = the usual one. */
  readonly voices: readonly string[];
}

type Options = Omit<RemoteUrl, 'url' | 'scheme'>;

/** Each option: what it is called, and how its value is read; null = it is not allowed. */
const OPTIONS: Readonly<Record<string, (value: string) => Partial<Options> | null>> = {
  weight: (value) => wholeOf(value, 1, WEIGHT_MAX, (weight) => ({ weight })),
  max: (value) => wholeOf(value, 1, IN_FLIGHT_MAX, (inFlightMax) => ({ inFlightMax })),
  rate: (value) => wholeOf(value, RATE_MIN_HZ, RATE_MAX_HZ, (rateHz) => ({ rateHz })),
  voices: (value) => (/^[\w.:-]{1,48}(\+[\w.:-]{1,48}){0,99}$/.test(value) ? { voices: value.split('+') } : null),
  languages: (value) =>
    /^[a-zA-Z]{2,3}(-\w{2,8})*(\+[a-zA-Z]{2,3}(-\w{2,8})*)*$/.test(value) ? { languages: value.split('+') } : null,
};

function wholeOf(
  value: string,
  minimum: number,
  maximum: number,
  make: (number: number) => Partial<Options>,
): Partial<Options> | null {
  const number = /^\d{1,9}$/.test(value) ? Number(value) : Number.NaN;
  return number >= minimum && number <= maximum ? make(number) : null;
}

/**
 * Reads `URL[;weight=n][;max=n][;languages=de+fr][;rate=n][;voices=a+b]`; null when it is no such thing. A URL with a
 * user is none: keys have settings of their own, which are never printed.
 */
export function parseRemoteUrl<S extends string>(text: string, schemes: readonly S[]): RemoteUrl<S> | null {
  const [address = '', ...options] = text.split(';').map((part) => part.trim());
  if (!URL.canParse(address)) return null;
  const url = new URL(address);
  const scheme = schemes.find((one) => `${one}:` === url.protocol);
  const isPlain = url.hostname !== '' && url.username === '' && url.password === '' && url.hash === '';
  if (!isPlain || scheme === undefined) return null;
  let read: Options = { weight: 1, inFlightMax: null, languages: [], rateHz: null, voices: [] };
  for (const option of options) {
    const [name = '', value = ''] = option.split('=', 2);
    const found = Object.hasOwn(OPTIONS, name) ? OPTIONS[name]?.(value) : null;
    if (!found) return null;
    read = { ...read, ...found };
  }
  return { scheme, url, ...read };
}

/** A list of servers with one of these URL `schemes`, as they were written: {@link parseRemoteUrl} reads each. */
export function remoteUrls(
  schemes: readonly string[],
  example: string,
  meaning: string,
): SettingSpec<readonly string[]> {
  return {
    schema: z
      .string()
      .transform(splitList)
      .refine(
        (list) => list.length <= SERVERS_MAX && list.every((text) => parseRemoteUrl(text, schemes) !== null),
        `up to ${SERVERS_MAX} URLs without a user (${schemes.join(', ')}), such as ${example}`,
      )
      .refine((list) => new Set(list.map((text) => text.split(';', 1)[0])).size === list.length, 'each URL once'),
    defaultText: '',
    unit: 'URLs, comma-separated',
    meaning,
  };
}
