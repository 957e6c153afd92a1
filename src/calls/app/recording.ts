/** Fetches recordings that an app wants played: WAV over http(s), within limits of size, time and place. */
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { LookupFunction } from 'node:net';
import { lookupPublic, PrivateAddressError, refusePrivateAddress } from '../../addresses.ts';
import type { Clock } from '../../clock.ts';
import { TrunklineError } from '../../errors.ts';
import { packagePath } from '../../paths.ts';
import type { Settings } from '../../settings.ts';
import { WorkerPool, WorkLostError } from '../../worker-pool.ts';

/** Recordings decoded at once, of all calls, and what the threads may take beside the samples. */
const THREADS_MAX = 2;
const THREAD_HEAP_MB = 64;

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
 * Names are looked up with `lookup` unless private addresses are allowed. What came is decoded in threads that all calls of a gateway share.
 */
export function recordingFetcher(settings: RecordingSettings, clock: Clock, lookup: LookupFunction = lookupPublic): FetchRecording {
  const program = packagePath('dist', 'src', 'calls', 'app', 'wav-worker.js');
  const pool = new WorkerPool<Uint8Array, Recording>({ program, threadsMax: THREADS_MAX, heapMb: THREAD_HEAP_MB, clock });
  const fetch = downloader({ settings, lookup }, clock);
  return async (source, signal) => decode(await fetch(source, signal), pool, signal);
}

async function decode(bytes: Uint8Array<ArrayBuffer>, pool: WorkerPool<Uint8Array, Recording>, signal: AbortSignal): Promise<Recording> {
  const work = pool.open(bytes, [bytes.buffer]);
  try {
    return await work.next(signal);
  } catch (error) {
    if (error instanceof WorkLostError) refuse('its decoder gave up on it');
    throw error;
  } finally {
    work.close();
  }
}

function downloader(limits: FetchLimits, clock: Clock): (source: string, signal: AbortSignal) => Promise<Uint8Array<ArrayBuffer>> {
  const { APP_PLAY_TIMEOUT_MS: timeoutMs } = limits.settings;
  return async (source, signal) => {
    const late = new AbortController();
    const timer = clock.after(timeoutMs, () => late.abort());
    try {
      return await download(new URL(source), limits, AbortSignal.any([signal, late.signal]));
    } catch (error) {
      if (error instanceof TrunklineError) throw error;
      if (error instanceof PrivateAddressError)
        refuse('its host is in a private network, expected a public address (APP_PLAY_ALLOW_PRIVATE)');
      if (late.signal.aborted) refuse(`it did not come within ${timeoutMs} ms`);
      refuse(`its server cannot be reached (${codeOf(error)})`);
    } finally {
      timer.cancel();
    }
  };
}

async function download(source: URL, limits: FetchLimits, signal: AbortSignal): Promise<Uint8Array<ArrayBuffer>> {
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
      .on('upgrade', (response, socket) => {
        // Nobody asked for another protocol. Unheard, such an answer would be neither a response nor an error.
        socket.destroy();
        resolve(response);
      })
      .on('error', reject)
      .end();
  });
}

/** The body, in memory of its own. */
async function readBody(response: IncomingMessage, maxBytes: number): Promise<Uint8Array<ArrayBuffer>> {
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
  const body = new Uint8Array(bytes);
  let at = 0;
  for (const chunk of chunks) {
    body.set(chunk, at);
    at += chunk.length;
  }
  return body;
}

function refuse(what: string): never {
  throw new TrunklineError('invalid_request', `the recording cannot be played: ${what}`);
}

/** `ECONNREFUSED` and its like; hosts and paths may be private and are not repeated. */
function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'no code';
}
