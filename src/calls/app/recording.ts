/** Fetches recordings that an app wants played: WAV over http(s), within limits of size, time and place. */
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { LookupFunction } from 'node:net';
import { lookupPublic, PrivateAddressError, refusePrivateAddress } from '../../addresses.ts';
import { mixDown } from '../../audio/mix.ts';
import { readWav } from '../../audio/wav.ts';
import type { Clock } from '../../clock.ts';
import { TrunklineError } from '../../errors.ts';
import type { Settings } from '../../settings.ts';

const REDIRECTS_MAX = 3;
const REDIRECT_STATUSES = [301, 302, 303, 307, 308];

/** A recording, mono. */
export interface Recording {
  readonly samples: Int16Array;
  readonly rateHz: number;
}

/** Fetches the recording at an http(s) URL. Aborting the signal fails it. */
export type FetchRecording = (source: string, signal: AbortSignal) => Promise<Recording>;

type RecordingSettings = Pick<Settings, 'APP_PLAY_MAX_BYTES' | 'APP_PLAY_TIMEOUT_MS' | 'APP_PLAY_ALLOW_PRIVATE'>;

interface FetchLimits {
  readonly settings: RecordingSettings;
  /** Finds the addresses of names, where private ones are not allowed. */
  readonly lookup: LookupFunction;
}

/**
 * A {@link FetchRecording} that fails with TrunklineError `invalid_request` saying what is wrong with the URL, its host, the answer or the file.
 * Names are looked up with `lookup` unless private addresses are allowed.
 */
export function recordingFetcher(settings: RecordingSettings, clock: Clock, lookup: LookupFunction = lookupPublic): FetchRecording {
  return async (source, signal) => {
    const late = new AbortController();
    const timer = clock.after(settings.APP_PLAY_TIMEOUT_MS, () => late.abort());
    try {
      const bytes = await download(new URL(source), { settings, lookup }, AbortSignal.any([signal, late.signal]));
      return toMono(bytes);
    } catch (error) {
      if (error instanceof TrunklineError) throw error;
      if (error instanceof PrivateAddressError)
        refuse('its host is in a private network, expected a public address (APP_PLAY_ALLOW_PRIVATE)');
      if (late.signal.aborted) refuse(`it did not come within ${settings.APP_PLAY_TIMEOUT_MS} ms`);
      refuse(`its server cannot be reached (${codeOf(error)})`);
    } finally {
      timer.cancel();
    }
  };
}

async function download(source: URL, limits: FetchLimits, signal: AbortSignal): Promise<Uint8Array> {
  let url = source;
  for (let redirects = 0; redirects <= REDIRECTS_MAX; redirects++) {
    const response = await get(url, limits, signal);
    const status = response.statusCode ?? 0;
    const { location } = response.headers;
    if (status === 200) return await readBody(response, limits.settings.APP_PLAY_MAX_BYTES);
    response.destroy();
    if (!REDIRECT_STATUSES.includes(status) || location === undefined) refuse(`its server answered ${status}, expected 200`);
    if (!URL.canParse(location, url.href)) refuse('its server redirects to what is no URL');
    url = new URL(location, url);
  }
  return refuse(`its server redirects more than ${REDIRECTS_MAX} times`);
}

/** The response's head; each hop is a connection of its own to an address that was looked at. */
function get(url: URL, { settings, lookup }: FetchLimits, signal: AbortSignal): Promise<IncomingMessage> {
  if (url.protocol !== 'http:' && url.protocol !== 'https:') refuse(`its URL begins with ${url.protocol}, expected http: or https:`);
  const isOpen = settings.APP_PLAY_ALLOW_PRIVATE;
  if (!isOpen) refusePrivateAddress(url.hostname);
  const request = url.protocol === 'https:' ? httpsRequest : httpRequest;
  return new Promise((resolve, reject) => {
    const headers = { accept: 'audio/wav, audio/x-wav;q=0.9, */*;q=0.1', 'accept-encoding': 'identity' };
    request(url, { agent: false, headers, signal, ...(isOpen ? {} : { lookup }) }, resolve)
      .on('error', reject)
      .end();
  });
}

async function readBody(response: IncomingMessage, maxBytes: number): Promise<Uint8Array> {
  const announced = Number(response.headers['content-length'] ?? 0);
  const chunks: Buffer[] = [];
  let bytes = announced;
  if (announced <= maxBytes) {
    bytes = 0;
    for await (const chunk of response as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > maxBytes) break;
      chunks.push(chunk);
    }
  }
  response.destroy();
  if (bytes > maxBytes) refuse(`it has more than ${maxBytes} bytes (APP_PLAY_MAX_BYTES)`);
  return Buffer.concat(chunks, bytes);
}

function toMono(bytes: Uint8Array): Recording {
  const { channels, rateHz } = readWav(bytes);
  return { samples: mixDown(channels), rateHz };
}

function refuse(what: string): never {
  throw new TrunklineError('invalid_request', `the recording cannot be played: ${what}`);
}

/** `ECONNREFUSED` and its like; hosts and paths may be private and are not repeated. */
function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'no code';
}
