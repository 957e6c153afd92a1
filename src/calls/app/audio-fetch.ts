/** Fetches recordings that an app wants played: sound files over http(s), within limits of size, time and place. */

import type { LookupFunction } from 'node:net';
import { lookupPublic, PrivateAddressError } from '../../foundation/addresses.ts';
import type { Clock } from '../../foundation/clock.ts';
import { type ErrorCode, TrunklineError } from '../../foundation/errors.ts';
import {
  FetchError,
  guardedFetch,
  type Hop,
  networkCode,
  readBody,
  withinTime,
} from '../../foundation/guarded-fetch.ts';
import { namedTargets } from '../../foundation/outbound-targets.ts';
import type { Settings } from '../../foundation/settings/settings.ts';
import { RecordingDecoder } from '../../speech/recording-decoder.ts';
import type { MonoAudio } from '../../speech/wav-leveller.ts';

/** Bytes of a second of the slowest usual WAV file (8 kHz, 8 bits): no other kind may bring more sound in a file. */
const SLOWEST_BYTES_PER_S = 8000;
/** What a decoder says of a file; an app is told that what it asked for is at fault. */
const UNPLAYABLE: readonly ErrorCode[] = ['audio_unreadable', 'audio_too_long'];

/** Fetches the recording at an http(s) URL. Aborting the signal fails it. */
export type FetchAudio = (source: string, signal: AbortSignal) => Promise<MonoAudio>;

type RecordingSettings = Pick<Settings, 'APP_PLAY_MAX_BYTES' | 'APP_PLAY_TIMEOUT_MS' | 'OUTBOUND_ALLOW'>;

interface FetchLimits {
  readonly settings: RecordingSettings;
  /** Finds the addresses of names, where private ones are not allowed. */
  readonly lookup: LookupFunction;
}

/**
 * A {@link FetchAudio} that fails with TrunklineError `invalid_request` saying what is wrong with the URL, its
 * host, the answer or the file. Names are looked up with `lookup` unless private addresses are allowed. What came is
 * decoded in threads that all calls of a gateway share.
 */
export function audioFetcher(
  settings: RecordingSettings,
  clock: Clock,
  lookup: LookupFunction = lookupPublic,
): FetchAudio {
  const decoder = new RecordingDecoder(clock);
  const fetch = downloader({ settings, lookup }, clock);
  const maxSeconds = Math.ceil(settings.APP_PLAY_MAX_BYTES / SLOWEST_BYTES_PER_S);
  return async (source, signal) => {
    const bytes = await fetch(source, signal);
    try {
      return await decoder.decode({ bytes, maxSeconds, silenceAround: 'kept' }, signal);
    } catch (error) {
      if (error instanceof TrunklineError && UNPLAYABLE.includes(error.code))
        throw new TrunklineError('invalid_request', error.message);
      throw error;
    }
  };
}

function downloader(
  limits: FetchLimits,
  clock: Clock,
): (source: string, signal: AbortSignal) => Promise<Uint8Array<ArrayBuffer>> {
  const { APP_PLAY_TIMEOUT_MS: timeoutMs } = limits.settings;
  return async (source, signal) => {
    try {
      return await withinTime({ clock, timeoutMs, signal }, (either) => download(source, limits, either));
    } catch (error) {
      if (error instanceof TrunklineError) throw error;
      if (error instanceof PrivateAddressError)
        refuse('its host is in a private network, expected a public address (OUTBOUND_ALLOW)');
      if (error instanceof FetchError) refuse(error.failure === 'too_large' ? error.message : error.message);
      refuse(`its server cannot be reached (${networkCode(error)})`);
    }
  };
}

async function download(
  source: string,
  { settings, lookup }: FetchLimits,
  signal: AbortSignal,
): Promise<Uint8Array<ArrayBuffer>> {
  const allowPrivate = namedTargets(settings.OUTBOUND_ALLOW, 'apps');
  const { response } = await guardedFetch({ url: source, allowPrivate, signal, lookup, prepare: askForSound });
  if (response.statusCode === 200) return await readBody(response, settings.APP_PLAY_MAX_BYTES);
  response.destroy();
  return refuse(`its server answered ${response.statusCode}, expected 200`);
}

function askForSound(url: URL): Hop {
  return {
    url,
    method: 'GET',
    headers: { accept: 'audio/wav, audio/x-wav;q=0.9, audio/mpeg;q=0.8, audio/flac;q=0.8, audio/ogg;q=0.8, */*;q=0.1' },
  };
}

function refuse(what: string): never {
  throw new TrunklineError('invalid_request', `the recording cannot be played: ${what}`);
}

/** What a recording is called in place of a text: its address without what may be secret in it. */
export function labelOf(source: string): string {
  const { origin, pathname } = new URL(source);
  return origin + pathname;
}
