/** The formats of sound in OpenAI's Realtime API: those of today, and the names that older clients send. */
import { isObject, type Json } from '../../../protocols/json.ts';

/** One channel of sound. */
export interface SoundFormat {
  readonly encoding: 'linear16' | 'mulaw' | 'alaw';
  /** 8000, 16000 or 24000; OpenAI has 24000 alone for `audio/pcm`. */
  readonly rateHz: number;
}

/** What a session has until it is told otherwise. */
export const DEFAULT_FORMAT: SoundFormat = Object.freeze({ encoding: 'linear16', rateHz: 24_000 });

const PCM_RATES_HZ = [8000, 16_000, 24_000];
const G711_RATE_HZ = 8000;

const BY_NAME: Readonly<Record<string, SoundFormat>> = {
  'audio/pcm': DEFAULT_FORMAT,
  pcm16: DEFAULT_FORMAT,
  'audio/pcmu': { encoding: 'mulaw', rateHz: G711_RATE_HZ },
  g711_ulaw: { encoding: 'mulaw', rateHz: G711_RATE_HZ },
  'audio/pcma': { encoding: 'alaw', rateHz: G711_RATE_HZ },
  g711_alaw: { encoding: 'alaw', rateHz: G711_RATE_HZ },
};

/** The format that `value` names, as an object or by an old name; null = one that we do not have. */
export function readSoundFormat(value: unknown): SoundFormat | null {
  const { type, rate }: Json = isObject(value) ? value : { type: value };
  const named = typeof type === 'string' && Object.hasOwn(BY_NAME, type) ? BY_NAME[type] : undefined;
  if (named === undefined) return null;
  if (named.encoding !== 'linear16' || rate === undefined || rate === null) return named;
  return typeof rate === 'number' && PCM_RATES_HZ.includes(rate) ? { encoding: 'linear16', rateHz: rate } : null;
}

/** As sessions of today tell it. */
export function writeSoundFormat({ encoding, rateHz }: SoundFormat): Json {
  if (encoding === 'linear16') return { type: 'audio/pcm', rate: rateHz };
  return { type: encoding === 'mulaw' ? 'audio/pcmu' : 'audio/pcma' };
}

/** The name that beta clients know; one of a rate that they have not is told as `pcm16` too. */
export function oldNameOf({ encoding }: SoundFormat): string {
  return { linear16: 'pcm16', mulaw: 'g711_ulaw', alaw: 'g711_alaw' }[encoding];
}
